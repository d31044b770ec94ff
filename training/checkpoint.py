"""Checkpoints that are either whole or refused, and from which a run continues exactly.

torch is imported when one is written or read: settings are checked before that.
"""

from __future__ import annotations

import errno
import hashlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents.runfolder import write_atomically
from training.config import CONFIG

CHECKPOINT = "checkpoint.bin"
"""Its name in the folder of a run."""
MAGIC = b"sixnimmt checkpoint 3\n"
DIGEST = 32


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the message says which, why and what to do."""


class Stopped(Exception):
    """The user asked for a stop, and the checkpoint is written."""


@contextmanager
def must_write(folder: Path) -> Iterator[None]:
    """Say what to do where the disk is full, or cannot be written for another reason."""
    try:
        yield
    except OSError as error:
        remedy = "begin it again"
        if (folder / CONFIG).exists():
            remedy = "--resume begins it"
        if (folder / CHECKPOINT).exists():
            remedy = "--resume goes on from the last checkpoint"
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        first = "make room there" if full else "put that right"
        raise OSError(f"cannot write to {folder} ({error}): {first}, then {remedy}") from error


def save(path: Path, content: dict[str, Any]) -> None:
    """Save all that the rest of a run depends on."""
    import torch

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
    import torch

    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"there is no readable checkpoint {path}: {error}") from error
    if not data.startswith(MAGIC):
        raise CheckpointError(
            f"{path} is not a checkpoint of this version of the trainers: begin a new run"
        )
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
