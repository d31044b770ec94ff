"""Tiny training runs by both trainers, for several tests."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents import runfolder
from sixnimmt_env.state import FIELDS
from sixnimmt_env.trained.network import NetworkPolicy
from training import checkpoint, lookahead, ppo, run
from training.checkpoint import CHECKPOINT
from training.config import CONFIG, Config, write_settings
from training.run import Run
from training.tables import Tables

UPDATES = 4
SHARED: dict[str, Any] = {
    "width": 16,
    "card_width": 8,
    "held": ("random",),
    "held_rounds": 8,
    "evaluations": 2,
    "table_rounds": 40,
}


@dataclass(frozen=True)
class Trainer:
    """One of the trainers, and settings with which it is done after `UPDATES` updates."""

    module: Any
    kind: type[Config]
    tiny: dict[str, Any]
    network: str

    def config(self, **changes: Any) -> Any:
        return self.kind(**{**SHARED, **self.tiny, **changes})

    def train(self, config: Config, folder: Path, resume: bool = False) -> dict[str, Any]:
        """Train and give what the checkpoint holds in the end."""
        self.module.train(config, folder, resume)
        return checkpoint.load(folder / CHECKPOINT)


PPO = Trainer(
    ppo,
    ppo.PPOConfig,
    {"seats": 16, "n_steps": 12, "batch_size": 64, "steps": UPDATES * 16 * 12},
    "policy",
)
LOOKAHEAD = Trainer(
    lookahead,
    lookahead.LookaheadConfig,
    {"seats": 16, "share": 1.0, "batch_size": 64, "row_choice": "fewest_heads"}
    | {"steps": UPDATES * 16 * 10},
    "network",
)
TRAINERS = {"ppo": PPO, "lookahead": LOOKAHEAD}

POOL = {"pool": ("past", "closest_gap"), "pool_share": 0.7, "past_updates": 1, "seats": 32}

both = pytest.mark.parametrize("trainer", TRAINERS.values(), ids=TRAINERS)

Whole = tuple[Path, dict[str, Any]]


def whole_runs(factory: pytest.TempPathFactory) -> dict[str, Whole]:
    """Folder of a run of each trainer that nothing interrupts, and what its checkpoint holds."""
    done = {}
    for name, trainer in TRAINERS.items():
        folder = factory.mktemp(name)
        done[name] = folder, trainer.train(trainer.config(), folder)
    return done


def arguments_for(trainer: Trainer, folder: Path, **changes: Any) -> list[str]:
    """Arguments that begin a tiny run, whose settings are put into a new folder."""
    folder.mkdir()
    write_settings(trainer.config(preset="tiny", **changes), folder)
    return ["--preset", str((folder / CONFIG).rename(folder / "tiny.yaml"))]


def stop_after(monkeypatch: pytest.MonkeyPatch, updates: int) -> None:
    """As if Ctrl-C was pressed in one of the updates to come."""
    check, seen = Run.check_finite, []

    def pressed(run: Run, weights: Any) -> None:
        seen.append(run)
        if len(seen) == updates:
            signal.raise_signal(signal.SIGINT)
        check(run, weights)

    monkeypatch.setattr(Run, "check_finite", pressed)


def assert_same(left: Any, right: Any, at: str = "") -> None:
    """Assert that what two checkpoints hold is the same, bit for bit."""
    assert type(left) is type(right), at
    if isinstance(left, dict):
        assert left.keys() == right.keys(), at
        for key in left:
            assert_same(left[key], right[key], f"{at}/{key}")
    elif isinstance(left, (list, tuple)):
        assert len(left) == len(right), at
        for number, pair in enumerate(zip(left, right, strict=True)):
            assert_same(*pair, f"{at}/{number}")
    elif isinstance(left, (np.ndarray, torch.Tensor)):
        np.testing.assert_array_equal(np.asarray(left), np.asarray(right), err_msg=at)
    elif isinstance(left, NetworkPolicy):
        assert_same(left.weights, right.weights, at)
    elif isinstance(left, Tables):
        for number, pair in enumerate(zip(left.envs, right.envs, strict=True)):
            mine, other = (env._batch.state for env in pair)
            for name in FIELDS:
                assert_same(getattr(mine, name), getattr(other, name), f"{at}/{number}/{name}")
    else:
        assert left == right, at


def without_times(content: dict[str, Any]) -> dict[str, Any]:
    """What a checkpoint holds, but for how long it took."""
    return {name: part for name, part in content.items() if name != "seconds"}


class Full:
    """A disk on which some writes of files with a name fail, but for the `first` ones."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, first: int = 0, **fails: int) -> None:
        self.fails, self.refused = fails, 0
        self.first = dict.fromkeys(fails, first)
        self.write = runfolder.write_atomically
        for module in (runfolder, checkpoint, run):
            monkeypatch.setattr(module, "write_atomically", self)

    def __call__(self, path: Path, write: Any) -> None:
        if self.first.get(path.stem, 0):
            self.first[path.stem] -= 1
        elif self.fails.get(path.stem, 0):
            self.fails[path.stem] -= 1
            self.refused += 1
            raise OSError(28, "No space left on device")
        self.write(path, write)
