"""The folder of a run: written so that a crash at any moment loses nothing that was saved."""

from __future__ import annotations

import csv
import json
import os
import platform
import random
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from training.config import Config

PACKAGES = ("numpy", "torch", "gymnasium", "stable-baselines3", "sb3-contrib")


class CheckpointError(RuntimeError):
    """A checkpoint that cannot be used; the message says why and what to do."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


class Run:
    """A run folder.

    Parameters
    ----------
    folder : Path
        `config.json`, `metrics.csv`, `checkpoint.pt`, `policy.zip`, `results.json`,
        `results.md`, `learning_curve.png` and `tensorboard/` come here.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkpoint = folder / "checkpoint.pt"
        self.metrics = folder / "metrics.csv"

    def create(self, config: Config) -> None:
        """Begin a new run; refuses a folder that holds one."""
        if (self.folder / "config.json").exists():
            raise FileExistsError(
                f"{self.folder} holds a run already: go on with --resume {self.folder}, "
                "or choose another --run"
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        about = {
            "config": config.as_dict(),
            "versions": {name: version(name) for name in PACKAGES},
            "python": platform.python_version(),
            "command": " ".join(sys.argv),
        }
        write_atomically(self.folder / "config.json", json.dumps(about, indent=2).encode())

    def config(self) -> Config:
        """Settings the run was begun with."""
        path = self.folder / "config.json"
        if not path.exists():
            raise FileNotFoundError(f"{self.folder} holds no run: there is no {path.name}")
        return Config(**json.loads(path.read_text())["config"])

    def save(self, model: MaskablePPO, seconds: float) -> None:
        """Save all that the rest of the training depends on, between two rollouts."""
        import io

        buffer = io.BytesIO()
        torch.save(
            {
                "parameters": model.get_parameters(),
                "env": model.get_env(),
                "last_obs": model._last_obs,
                "last_episode_starts": model._last_episode_starts,
                "num_timesteps": model.num_timesteps,
                "n_updates": model._n_updates,
                "seconds": seconds,
                "torch": torch.get_rng_state(),
                "numpy": np.random.get_state(),
                "python": random.getstate(),
            },
            buffer,
        )
        write_atomically(self.checkpoint, buffer.getvalue())

    def load(self) -> dict[str, Any]:
        """Read the checkpoint; a run that has none yet begins anew."""
        try:
            saved: dict[str, Any] = torch.load(self.checkpoint, weights_only=False)
        except Exception as error:  # torch names no common base for what a torn file raises
            raise CheckpointError(
                f"{self.checkpoint} cannot be read ({type(error).__name__}: {error}). It was "
                "damaged after it was written: restore it, or begin a new run"
            ) from error
        return saved

    def restore(self, model: MaskablePPO, saved: dict[str, Any]) -> None:
        """Put a model, made with the checkpoint's env, back to where it was."""
        model.set_parameters(saved["parameters"], exact_match=True)
        model._last_obs = saved["last_obs"]
        model._last_episode_starts = saved["last_episode_starts"]
        model.num_timesteps = saved["num_timesteps"]
        model._n_updates = saved["n_updates"]
        self._drop_metrics_after(saved["num_timesteps"])
        torch.set_rng_state(saved["torch"])
        np.random.set_state(saved["numpy"])
        random.setstate(saved["python"])

    def add_metrics(self, row: dict[str, float]) -> None:
        """Append one line to `metrics.csv`."""
        new = not self.metrics.exists()
        with self.metrics.open("a", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            if new:
                writer.writeheader()
            writer.writerow(row)

    def read_metrics(self) -> list[dict[str, float]]:
        """Lines of `metrics.csv`."""
        if not self.metrics.exists():
            return []
        with self.metrics.open(newline="") as file:
            return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]

    def _drop_metrics_after(self, steps: int) -> None:
        rows = [row for row in self.read_metrics() if row["steps"] <= steps]
        self.metrics.unlink(missing_ok=True)
        for row in rows:
            self.add_metrics(row)
