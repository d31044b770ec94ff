"""Checkpoints that are either whole or refused, and from which a run continues exactly."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import torch

MAGIC = b"sixnimmt checkpoint 2\n"
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


def save(path: Path, content: dict[str, Any]) -> None:
    """Save all that the rest of a run depends on."""
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
    try:
        content: dict[str, Any] = torch.load(
            io.BytesIO(data[start:]), map_location="cpu", weights_only=False
        )
    except Exception as error:  # what it was written from is not here any more
        raise CheckpointError(
            f"{path} cannot be read by this version ({error!r}): use the one that wrote it, or "
            "begin a new run"
        ) from error
    return content
