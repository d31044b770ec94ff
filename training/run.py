"""A training run from outside: folder, progress, measurements, checkpoints, and how it ends."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.logger import Logger, configure
from tqdm import tqdm

from agents.players import load_player
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import Policy
from sixnimmt_env.rules import Rules
from sixnimmt_env.trained.network import NetworkPolicy, policy_bytes
from training import checkpoint, report
from training.config import Config, write_settings
from training.evaluate import compare, evaluate, usual_opponents

CHECKPOINT = "checkpoint.bin"
CHECKPOINT_SECONDS = 60.0
POLICY, BEST = "policy.npz", "best.npz"
HELD_SEED = 1


class Stopped(Exception):
    """The user asked for a stop, and the checkpoint is written."""


def load_players(names: Iterable[str], games: Iterable[Rules]) -> dict[str, Policy]:
    """Players by name. Each of them has to know the games, which is tried out.

    Raises
    ------
    ValueError, OSError
        If there is no such player, or it does not know one of the games.
    """
    players = {name: load_player(name) for name in names}
    for rules in games:
        state = Engine(rules).reset()
        first = observe(rules, state, int(state.acting()[:, 0].argmax()))
        for name, player in players.items():
            try:
                player.act(first, np.random.default_rng(0))
            except ValueError as error:
                raise ValueError(f"player {name!r} cannot be used here: {error}") from error
    return players


class Run:
    """Accompanies a trainer's updates. Use it in a `with` statement.

    Parameters
    ----------
    config : Config
        All settings.
    folder : Path
        Where everything is written.
    resume : bool
        Continue from the folder's checkpoint, whose trainer's part is then in `content`.

    Raises
    ------
    CheckpointError
        If it cannot be continued from.
    ValueError, OSError
        If a player that the run is measured against cannot be loaded.
    """

    def __init__(self, config: Config, folder: Path, resume: bool) -> None:
        self.config, self.folder = config, folder
        self.content: dict[str, Any] | None = None
        self.metrics: report.Metrics = []
        self.seconds, self.best = 0.0, -float("inf")
        self.held = load_players(config.held, [config.rules])
        self.stop = False
        if resume:
            saved = checkpoint.load(folder / CHECKPOINT)
            if saved.get("settings") != self._settings():
                raise checkpoint.CheckpointError(
                    f"{folder / CHECKPOINT} was written with other settings than those in "
                    f"{folder}, or by another version: restore them, or begin a new run"
                )
            self.content, self.metrics = saved["trainer"], saved["metrics"]
            self.seconds, self.best = saved["seconds"], saved["best"]
        self.resume = resume
        self.saved_at = self.tick = time.monotonic()

    def _settings(self) -> dict[str, Any]:
        return {"trainer": self.config.trainer, **asdict(self.config)}

    def __enter__(self) -> Run:
        """Begin the folder, and take over Ctrl-C."""
        if not self.resume:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_settings(self.config, self.folder)
        self.former = signal.signal(signal.SIGINT, self._ask)
        self.logger: Logger = configure(str(self.folder / "tensorboard"), ["tensorboard"])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Give Ctrl-C back."""
        signal.signal(signal.SIGINT, self.former)
        with self._tolerant():
            self.logger.close()
        if hasattr(self, "bar"):
            self.bar.close()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.stop:
            raise KeyboardInterrupt
        self.stop = True
        tqdm.write("stopping after this update; press Ctrl-C again to stop at once", sys.stderr)

    def begin(self, done: int) -> None:
        """Show progress from `done` decisions on."""
        self.done = done
        self.bar = tqdm(
            total=self.config.steps,
            initial=done,
            unit=" decisions",
            unit_scale=True,
            mininterval=0.5 if sys.stderr.isatty() else 20,
        )

    def after_update(
        self,
        done: int,
        numbers: dict[str, float],
        policy: Callable[[], Policy],
        content: Callable[[], dict[str, Any]],
    ) -> None:
        """Note, measure and save what is due; stop here if asked to.

        Parameters
        ----------
        done : int
            Decisions learned from so far.
        numbers : dict
            The trainer's own, for the metrics.
        policy, content : callable
            Give the player as it stands, and the trainer's part of a checkpoint.

        Raises
        ------
        Stopped
            After Ctrl-C, when the checkpoint is written.
        """
        row = {"steps": float(done), **numbers}
        before, self.done = self.done, done
        due = (done * self.config.evaluations) // self.config.steps
        measured = due > (before * self.config.evaluations) // self.config.steps
        if measured:
            row |= self._measure(policy())
        self.bar.update(done - before)
        self.metrics.append(row)
        with self._tolerant():
            for name, value in row.items():
                self.logger.record(name.replace(" ", "/", 1), value)
            self.logger.dump(done)
        if self.stop or measured or time.monotonic() - self.saved_at > CHECKPOINT_SECONDS:
            self.save(policy(), content(), final=self.stop)
        if self.stop:
            raise Stopped

    def _measure(self, policy: Policy) -> dict[str, float]:
        """Play the held players, on the same deals every time, and keep the best weights."""
        rules, row = self.config.rules, {}
        for name, player in self.held.items():
            result = evaluate(policy, player, rules, self.config.held_rounds, HELD_SEED)
            for key in ("heads", "heads_interval", "wins", "wins_interval"):
                row[f"{key} {name}"] = result[key]
        name = self.config.held[-1]
        heads = row[f"heads {name}"]
        self.bar.set_postfix_str(
            f"{heads:.2f} heads, {row[f'wins {name}']:.0%} wins against {name}"
        )
        if (worth := heads if rules.collect else -heads) > self.best:
            with self._tolerant():
                self._write(BEST, policy)
                self.best = worth
        return row

    @contextmanager
    def _tolerant(self) -> Iterator[None]:
        """Go on where the disk is full for a while."""
        try:
            yield
        except OSError as error:
            tqdm.write(f"cannot write to {self.folder} ({error}); trying again later", sys.stderr)

    def check_finite(self, weights: Iterable[torch.Tensor]) -> None:
        """Stop before numbers that are none get into a checkpoint.

        Raises
        ------
        ValueError
            Saying what to do.
        """
        if not all(bool(torch.isfinite(weight).all()) for weight in weights):
            raise ValueError(
                f"the weights are not finite after {self.done:,} decisions: begin a new run with a "
                f"lower learning_rate, or continue from the last checkpoint in {self.folder}"
            )

    def save(self, policy: Policy, content: dict[str, Any], final: bool = True) -> None:
        """Write checkpoint, policy and metrics.

        A disk that is full stops a run only at its end: until then it is tried again later.

        Raises
        ------
        OSError
            If it cannot be written at the end.
        """
        now = time.monotonic()
        self.seconds += now - self.tick
        self.tick = self.saved_at = now
        state = {
            "settings": self._settings(),
            "trainer": content,
            "metrics": self.metrics,
            "seconds": self.seconds,
            "best": self.best,
        }
        if not final:
            with self._tolerant():
                self._write_all(policy, state)
            return
        try:
            self._write_all(policy, state)
        except OSError as error:
            raise OSError(
                f"cannot write to {self.folder} ({error}): make room there, then --resume goes on "
                "from the last checkpoint"
            ) from error

    def _write_all(self, policy: Policy, state: dict[str, Any]) -> None:
        checkpoint.save(self.folder / CHECKPOINT, state)
        self._write(POLICY, policy)
        report.write_metrics(self.metrics, self.folder / "metrics.csv")

    def _write(self, name: str, policy: Policy) -> None:
        if not isinstance(policy, NetworkPolicy):
            return  # the trainer keeps other players itself
        policy.about = {
            "trainer": self.config.trainer,
            "preset": self.config.preset,
            "seed": self.config.seed,
            "decisions": self.done,
            "of": self.config.steps,
        }
        data = policy_bytes(policy)
        checkpoint.write_atomically(self.folder / name, lambda file: file.write(data))


def finish(config: Config, folder: Path, player: Policy | None = None) -> str:
    """Evaluate, write results and learning curve, and return the table."""
    rules = config.rules
    content = checkpoint.load(folder / CHECKPOINT)
    trained = player or load_player(str(folder / POLICY))
    usual = usual_opponents(rules)
    lines = compare(
        {"trained": trained, **{name: name for name in usual}}, usual, rules, config.table_rounds, 2
    )
    for name in config.held:
        if name not in usual:
            lines += compare({"trained": trained}, [name], rules, 5 * config.held_rounds, 2)
    text = report.write_results(lines, config, content["seconds"], folder)
    report.draw_curve(content["metrics"], config, folder / "learning_curve.png")
    return text
