"""Checkpoints that are either whole or refused, and from which a run continues exactly."""

from __future__ import annotations

import hashlib
import io
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from sb3_contrib import MaskablePPO

MAGIC = b"sixnimmt checkpoint 1\n"
DIGEST = 32


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message says which, why and what to do."""


def write_atomically(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write a file so that at any moment its old or its new content is there, whole."""
    spare = path.with_name(path.name + ".part")
    with spare.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(spare, path)


def save(path: Path, model: MaskablePPO, metrics: list[dict[str, float]]) -> None:
    """Save all that the rest of the run depends on. Call it between two rollouts."""
    content = {
        "policy": model.policy.state_dict(),
        "optimizer": model.policy.optimizer.state_dict(),
        "steps": model.num_timesteps,
        "updates": model._n_updates,
        "env": model.env,
        "last_obs": model._last_obs,
        "last_starts": model._last_episode_starts,
        "python_rng": random.getstate(),
        "numpy_rng": np.random.get_state(),
        "torch_rng": torch.get_rng_state(),
        "metrics": metrics,
    }
    buffer = io.BytesIO()
    torch.save(content, buffer)
    payload = buffer.getvalue()
    digest = hashlib.sha256(payload).digest()
    write_atomically(path, lambda file: file.write(MAGIC + digest + payload))


def load(path: Path) -> dict[str, Any]:
    """Read a checkpoint that `save` wrote. Only load files that you trust.

    Raises
    ------
    CheckpointError
        If it is missing, damaged or something else.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"there is no readable checkpoint {path}: {error}") from error
    if not data.startswith(MAGIC):
        raise CheckpointError(f"{path} is not a checkpoint of this trainer: begin a new run")
    start = len(MAGIC) + DIGEST
    if hashlib.sha256(data[start:]).digest() != data[len(MAGIC) : start]:
        raise CheckpointError(
            f"{path} is damaged (its checksum does not match): restore a copy or begin a new run"
        )
    content: dict[str, Any] = torch.load(
        io.BytesIO(data[start:]), map_location="cpu", weights_only=False
    )
    return content


def restore(model: MaskablePPO, content: dict[str, Any]) -> list[dict[str, float]]:
    """Put a freshly made model where the checkpoint was, and return the metrics so far."""
    model.policy.load_state_dict(content["policy"])
    model.policy.optimizer.load_state_dict(content["optimizer"])
    model.set_env(content["env"], force_reset=False)
    model.num_timesteps = content["steps"]
    model._n_updates = content["updates"]
    model._last_obs = content["last_obs"]
    model._last_episode_starts = content["last_starts"]
    random.setstate(content["python_rng"])
    np.random.set_state(content["numpy_rng"])
    torch.set_rng_state(content["torch_rng"])
    metrics: list[dict[str, float]] = content["metrics"]
    return metrics
