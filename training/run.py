"""A training run from outside: folder, progress, measurements, checkpoints, and how it ends."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from tqdm import tqdm

from agents.runfolder import claim, write_atomically
from agents.terminal import on_signals
from sixnimmt_env.policy import Policy
from sixnimmt_env.trained.network import NetworkPolicy, policy_bytes
from training import board, checkpoint, report
from training.checkpoint import CHECKPOINT, Stopped, must_write
from training.config import CONFIG, Config, refuse_begun, write_settings
from training.evaluate import evaluate
from training.players import digests, load_players

CHECKPOINT_SECONDS = 60.0
PATIENCE = 600.0
"""Seconds of training that may be lost to a full disk, before the run stops."""
POLICY, BEST, METRICS = "policy.npz", "best.npz", "metrics.csv"
HELD_SEED = 1


class Run:
    """Accompanies a trainer's updates. Use it in a `with` statement, which holds the folder.

    Parameters
    ----------
    config : Config
        All settings.
    folder : Path
        Where everything is written.
    resume : bool
        Continue from the folder's checkpoint, whose trainer's part is then in `content`; that is
        None where the run was killed before its first one, and begins again.

    Raises
    ------
    HeldError
        On entering it, if another process writes into the folder.
    CheckpointError
        If it cannot be continued from.
    ValueError, OSError
        If a player that the run is measured against cannot be loaded, or the folder has a run
        already.
    """

    def __init__(self, config: Config, folder: Path, resume: bool) -> None:
        self.config, self.folder, self.resume = config, folder, resume
        self.content: dict[str, Any] | None = None
        self.metrics: report.Metrics = []
        self.seconds, self.best = 0.0, -float("inf")
        self.best_policy: bytes | None = None
        self.results: Any = None
        self.held = load_players(config.held, [config.rules])
        self.files = digests(config.named)
        self.stop = False

    def _settings(self) -> dict[str, Any]:
        return {"trainer": self.config.trainer, **asdict(self.config)}

    def __enter__(self) -> Run:
        """Claim the folder, begin or read it, and take over Ctrl-C and SIGTERM."""
        if not self.resume:
            refuse_begun(self.folder)
        elif not (self.folder / CONFIG).is_file():
            raise ValueError(f"{self.folder} is no run folder: it has no {CONFIG}")
        with ExitStack() as stack:
            stack.enter_context(claim(self.folder))
            if self.resume and self._was_saved():
                self._restore()
            else:
                if not self.resume:
                    refuse_begun(self.folder)  # it may have been begun since it was looked at
                with must_write(self.folder):
                    write_settings(self.config, self.folder)
            with must_write(self.folder):
                self.logger = board.tensorboard(self.folder / "tensorboard")
            stack.callback(self._close)
            stack.enter_context(on_signals(self._ask, signal.SIGINT, signal.SIGTERM))
            self._stack = stack.pop_all()
        self.saved_at = self.safe_at = self.tick = time.monotonic()
        return self

    def __exit__(self, *error: Any) -> None:
        """Give the signals and the folder back."""
        self._stack.__exit__(*error)

    def _was_saved(self) -> bool:
        """Whether there is a checkpoint, or once was: the first file that a run saves is one."""
        return any((self.folder / name).exists() for name in (CHECKPOINT, POLICY, BEST, METRICS))

    def _restore(self) -> None:
        path = self.folder / CHECKPOINT
        saved = checkpoint.load(path)
        if saved.get("settings") != self._settings():
            raise checkpoint.CheckpointError(
                f"{path} was written with other settings than those in {self.folder}, or by "
                "another version: restore them, or begin a new run"
            )
        before, now = saved["files"], self.files
        if odd := [name for name in {**before, **now} if before.get(name) != now.get(name)]:
            raise checkpoint.CheckpointError(
                f"the files of {odd} are others than when {self.folder} was begun: put those back, "
                "or begin a new run"
            )
        self.content, self.metrics = saved["trainer"], saved["metrics"]
        self.seconds, self.results = saved["seconds"], saved["results"]
        self.best, self.best_policy = saved["best"], saved["best_policy"]

    def _close(self) -> None:
        with self._tolerant():
            self.logger.close()
        if hasattr(self, "bar"):
            self.bar.close()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.stop:
            raise KeyboardInterrupt
        self.stop = True
        tqdm.write("stopping after this update; press Ctrl-C again to stop at once", sys.stderr)

    def begin(
        self, done: int, policy: Callable[[], Policy], content: Callable[[], dict[str, Any]]
    ) -> None:
        """Save what there is, and show progress from `done` decisions on.

        So a full disk is noticed before any training (OSError), and what is missing or damaged
        in the folder of a run that is continued is written again.
        """
        self.done = done
        self.save(policy(), content())
        finished = done >= self.config.steps
        if finished:
            print("its training is finished; its files are written again", flush=True)
        self.bar = tqdm(
            disable=finished,
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
        self.results = None  # of weights that were
        due = (done * self.config.evaluations) // self.config.steps
        measured = due > (before * self.config.evaluations) // self.config.steps
        if measured:
            row |= self._measure(policy())
        self.bar.update(done - before)
        self.metrics.append(row)
        with self._tolerant():
            board.log(self.logger, row, done)
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
            self.best, self.best_policy = worth, self._file(policy)
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
        """Write checkpoint, policies and metrics.

        A disk that is full stops a run at its beginning and its end, and in between once so much
        is unsaved that it would be a loss; until then it is tried again later.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        now = time.monotonic()
        if self.results is None:
            self.seconds += now - self.tick
        self.tick = self.saved_at = now
        state = {
            "settings": self._settings(),
            "files": self.files,
            "trainer": content,
            "metrics": self.metrics,
            "seconds": self.seconds,
            "best": self.best,
            "best_policy": self.best_policy,
            "results": self.results,
        }
        final = final or now - self.safe_at > PATIENCE
        with must_write(self.folder) if final else self._tolerant():
            self._write_all(policy, state)
            self.safe_at = now

    def write(self, name: str, write: Callable[[Any], Any]) -> None:
        """Write one more file into the folder; OSError, saying what to do, if it is full."""
        with must_write(self.folder):
            write_atomically(self.folder / name, write)

    def _write_all(self, policy: Policy, state: dict[str, Any]) -> None:
        """Write what there is room for: a policy is smaller than a checkpoint."""
        errors = []
        for write in (
            lambda: checkpoint.save(self.folder / CHECKPOINT, state),
            lambda: self._write(POLICY, self._file(policy)),
            lambda: self._write(BEST, self.best_policy),
            lambda: report.write_metrics(self.metrics, self.folder / METRICS),
        ):
            try:
                write()
            except OSError as error:
                if not (self.folder / CHECKPOINT).exists():
                    raise  # or the folder would look like one that has lost it
                errors.append(error)
        if errors:
            raise errors[0]

    def _file(self, policy: Policy) -> bytes | None:
        if not isinstance(policy, NetworkPolicy):
            return None  # the trainer keeps other players itself
        policy.about = {
            "trainer": self.config.trainer,
            "preset": self.config.preset,
            "seed": self.config.seed,
            "decisions": self.done,
            "of": self.config.steps,
        }
        return policy_bytes(policy)

    def _write(self, name: str, data: bytes | None) -> None:
        if data is not None:
            write_atomically(self.folder / name, lambda file: file.write(data))
