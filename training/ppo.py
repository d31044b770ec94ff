"""Self-play PPO: every seat of many games learns. `python -m training.ppo --help`

python -m training.ppo --preset quick              # at most five minutes on two cores
python -m training.ppo --resume runs/FOLDER        # continue, exactly as if never stopped
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from tqdm import tqdm

from agents.learned import SB3Policy
from agents.network import CardPolicy, network
from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from sixnimmt_env.policy import Policy
from sixnimmt_env.rules import ROW_CHOICES
from sixnimmt_env.variants import VARIANTS
from training import checkpoint, report
from training.config import PRESETS, Config, read_config, write_config
from training.evaluate import compare, evaluate, usual_opponents

CHECKPOINT = "checkpoint.bin"
CHECKPOINT_SECONDS = 60.0
LOGGED = ("train/entropy_loss", "train/value_loss", "train/approx_kl", "train/explained_variance")


class Stopped(Exception):
    """The user asked for a stop, and the checkpoint is written."""


def make_model(config: Config) -> MaskablePPO:
    """Make a model at its first step, with its environment."""
    torch.set_num_threads(config.threads)
    # Checks every distribution in every step otherwise, for nothing.
    torch.distributions.Distribution.set_default_validate_args(False)
    env = SixNimmtVecEnv(
        num_games=config.num_games,
        learning_seats="all",
        num_players=config.num_players,
        variant=config.variant,
        row_choice=config.row_choice,
    )
    model = MaskablePPO(
        CardPolicy,
        env,
        learning_rate=Falling(config.learning_rate),
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.n_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        ent_coef=config.ent_coef,
        vf_coef=config.vf_coef,
        policy_kwargs=network(config.rules),
        seed=config.seed,
        device="cpu",
    )
    # Game i has this seed + i: neither other runs nor evaluations shall share games with it.
    env.seed((config.seed + 1) << 32)
    model.rules = config.rules  # saved with the model, so that a policy knows its game
    return model


class Falling:
    """Learning rate that falls to 0 in a straight line."""

    def __init__(self, start: float) -> None:
        self.start = start

    def __call__(self, remaining: float) -> float:
        return self.start * remaining


class Watch(BaseCallback):
    """Progress, metrics and checkpoints between rollouts; stops there when asked to."""

    def __init__(self, config: Config, folder: Path, metrics: report.Metrics) -> None:
        super().__init__()
        self.config = config
        self.folder = folder
        self.metrics = metrics
        self.heads = "heads collected" if config.rules.collect else "heads"
        self.stop = False
        self.finished: list[int] = []
        self.saved_at = time.monotonic()

    def _on_training_start(self) -> None:
        self.bar = tqdm(
            total=self.config.num_rollouts * self.config.rollout_steps,
            initial=self.num_timesteps,
            unit=" decisions",
            unit_scale=True,
            mininterval=0.5 if sys.stderr.isatty() else 20,
        )
        self.begun_at = self.num_timesteps

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        self.finished += [info["heads"] for info in infos if "heads" in info]
        self.bar.update(len(infos))
        return True

    def _on_rollout_start(self) -> None:
        if self.num_timesteps > self.begun_at:  # a rollout is done and learned from
            self._after_update()
        if self.stop or time.monotonic() - self.saved_at > CHECKPOINT_SECONDS:
            self.save()
        if self.stop:
            raise Stopped

    def _on_training_end(self) -> None:
        if self.num_timesteps > self.begun_at:
            self._after_update()
        self.save()

    def close(self) -> None:
        self.bar.close()

    def save(self) -> None:
        """Write checkpoint and policy."""
        checkpoint.save(self.folder / CHECKPOINT, self.model, self.metrics)
        checkpoint.write_atomically(self.folder / "policy.zip", self.model.save)
        self.saved_at = time.monotonic()

    def _after_update(self) -> None:
        row = {"steps": float(self.num_timesteps)}
        if self.finished:  # rounds of one length all end in the same rollout, or in none
            row["heads_self_play"] = sum(self.finished) / len(self.finished)
        values = self.logger.name_to_value
        row |= {name.removeprefix("train/"): float(values[name]) for name in LOGGED}
        self.finished = []
        if self._curve_point():
            test = evaluate(
                SB3Policy(self.model), "random", self.config.rules, self.config.curve_rounds, seed=1
            )
            row["heads_vs_random"] = test["heads"]
            row["heads_vs_random_interval"] = test["heads_interval"]
            self.bar.set_postfix_str(f"{test['heads']:.2f} {self.heads} among random players")
        for name in ("heads_self_play", "heads_vs_random"):
            if name in row:
                self.logger.record(f"rollout/{name}", row[name])
        self.logger.dump(self.num_timesteps)
        self.metrics.append(row)
        report.write_metrics(self.metrics, self.folder / "metrics.csv")

    def _curve_point(self) -> bool:
        total, points = self.config.num_rollouts, self.config.curve_points
        done = self.num_timesteps // self.config.rollout_steps
        return done * points // total > (done - 1) * points // total


def train(config: Config, folder: Path, resume: bool = False) -> MaskablePPO:
    """Train until the run's end, or until Ctrl-C.

    Parameters
    ----------
    config : Config
        All settings.
    folder : Path
        Where everything is written; it has a checkpoint if `resume`.
    resume : bool
        Continue from the checkpoint.

    Raises
    ------
    Stopped
        After Ctrl-C, when the checkpoint is written.
    CheckpointError
        If it cannot be continued from.
    """
    content = checkpoint.load(folder / CHECKPOINT) if resume else None
    model = make_model(config)
    metrics: report.Metrics = []
    if content is not None:
        metrics = checkpoint.restore(model, content)
    model.set_logger(configure(str(folder / "tensorboard"), ["tensorboard"]))
    watch = Watch(config, folder, metrics)
    left = config.num_rollouts * config.rollout_steps - model.num_timesteps
    former = signal.signal(signal.SIGINT, _asker(watch))
    try:
        if left > 0:
            model.learn(left, callback=watch, reset_num_timesteps=not resume)
    finally:
        signal.signal(signal.SIGINT, former)
        model.logger.close()
        if hasattr(watch, "bar"):
            watch.close()
    return model


def _asker(watch: Watch) -> Any:
    def ask(number: int, frame: FrameType | None) -> None:
        if watch.stop:
            raise KeyboardInterrupt
        watch.stop = True
        tqdm.write("stopping after this update; press Ctrl-C again to stop at once", sys.stderr)

    return ask


def finish(config: Config, folder: Path, model: MaskablePPO, seconds: float) -> str:
    """Evaluate, write results and learning curve, and return the table."""
    players: dict[str, str | Policy] = {"trained": SB3Policy(model)}
    opponents = usual_opponents(config.rules)
    players |= {name: name for name in opponents}
    lines = compare(players, opponents, config.rules, config.table_rounds, seed=2)
    text = report.write_results(lines, config, seconds, folder)
    metrics = checkpoint.load(folder / CHECKPOINT)["metrics"]
    report.draw_curve(metrics, lines, config.rules, folder / "learning_curve.png")
    return text


def parse(arguments: Sequence[str] | None) -> tuple[Config, Path, bool]:
    """Settings, run folder and whether to resume."""
    parser = argparse.ArgumentParser(
        prog="python -m training.ppo", description="Train a 6 nimmt! agent by self-play."
    )
    parser.add_argument("--preset", choices=sorted(PRESETS), help="default: quick")
    parser.add_argument("--players", dest="num_players", type=int)
    parser.add_argument("--variant", choices=sorted(VARIANTS))
    parser.add_argument("--row-choice", choices=ROW_CHOICES)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--steps", dest="total_steps", type=int, help="decisions to learn from")
    parser.add_argument("--run", type=Path, help="run folder; default: a new one in runs/")
    parser.add_argument("--resume", type=Path, metavar="RUN", help="continue this run folder")
    given = {k: v for k, v in vars(parser.parse_args(arguments)).items() if v is not None}
    resume = given.pop("resume", None)
    if resume is not None:
        if given:
            parser.error(f"--resume continues a run as it was begun: leave out {sorted(given)}")
        return read_config(resume), resume, True
    preset = given.pop("preset", "quick")
    folder = given.pop("run", Path("runs") / f"{preset}-{time.strftime('%Y%m%d-%H%M%S')}")
    if (folder / CHECKPOINT).exists():
        parser.error(f"{folder} has a run already: continue it with --resume, or choose another")
    config = replace(PRESETS[preset], **given)
    if config.total_steps < 1 or not 0 <= config.seed < 2**31:
        parser.error("--steps has to be at least 1 and --seed between 0 and 2147483647")
    return config, folder, False


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    start = time.monotonic()
    try:
        config, folder, resume = parse(arguments)
        game = config.game
        if not resume:
            folder.mkdir(parents=True, exist_ok=True)
            write_config(config, folder)
        print(f"{game}: {config.total_steps:,} decisions, seed {config.seed}\nrun folder: {folder}")
        model = train(config, folder, resume)
    except Stopped:
        sys.exit(f"stopped; continue with: python -m training.ppo --resume {folder}")
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    seconds = time.monotonic() - start
    print("evaluating", flush=True)
    print(f"\n{finish(config, folder, model, seconds)}\n")
    print(f"trained in {seconds:.0f} s, all in {time.monotonic() - start:.0f} s; see {folder}")


if __name__ == "__main__":
    main()
