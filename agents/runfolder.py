"""Folders that one process at a time writes into, and files that are never half there.

Training runs and arenas share it. A claim is a lock of the operating system: it ends with the
process, however that ends.
"""

from __future__ import annotations

import itertools
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from filelock import FileLock, Timeout

LOCK: Final = ".lock"
HOLDER: Final = ".holder"
PART: Final = ".sixnimmt-part"
"""How the names of files end that are being written; so that nobody else's are taken for these."""


class HeldError(OSError):
    """A folder that another process writes into; the message says which."""


@contextmanager
def claim(folder: Path) -> Iterator[None]:
    """Hold a folder, made if need be, until the `with` block is left or the process ends.

    What a process that was killed had half written is removed.

    Raises
    ------
    HeldError
        At once, if another process (or thread) holds it.
    OSError
        If the folder or a file in it cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise HeldError(
            f"{folder} is in use by {_holder(folder)}: wait until that ends, or use another folder"
        ) from None
    try:
        for part in folder.glob(f"*{PART}"):
            part.unlink(missing_ok=True)
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        me = f"process {os.getpid()} on {platform.node()}, since {now}"
        with suppress(OSError):  # a full disk: the lock holds all the same
            write_atomically(folder / HOLDER, lambda file: file.write(me.encode()))
        yield
    finally:
        with suppress(OSError):
            (folder / HOLDER).unlink()
        lock.release()


def _holder(folder: Path) -> str:
    try:
        return (folder / HOLDER).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # it has only begun, or its disk is full
        return "another process"


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Make a folder that nobody else has, and give its path: PATH, or PATH-2, PATH-3, ...

    It is removed when the `with` block is left, unless something was written into it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        folder = path if number == 1 else path.with_name(f"{path.name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        break
    try:
        yield folder
    finally:
        with suppress(OSError):
            folder.rmdir()


def write_atomically(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write a file so that at any moment its old or its new content is there, whole.

    Raises
    ------
    OSError
        If it cannot be written: the old content is still there, and nothing takes room.
    """
    spare = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    try:
        with spare.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(spare, path)
    except BaseException:
        with suppress(OSError):
            spare.unlink()
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically, in UTF-8 whatever the locale."""
    write_atomically(path, lambda file: file.write(text.encode("utf-8", "backslashreplace")))
