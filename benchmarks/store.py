"""Folder of an arena, `Store`: what is played, and a line for every chunk that is done.

A line is written at once and counts when it is complete, so that nothing but the chunks being
played is lost when the power goes. It ends with a checksum of itself and of the arena: what has
been changed, or is of another arena, is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from agents.runfolder import write_text
from benchmarks.identity import identity
from benchmarks.lineups import Config
from benchmarks.tournament import Result

CONFIG: Final = "config.json"
CHUNKS: Final = "chunks.jsonl"
_LINE: Final = re.compile(rb'(\{.*),"check":"([0-9a-f]{16})"\}', re.DOTALL)
_NAMED: Final = 10  # damaged lines


def check_folder(folder: Path, resume: bool) -> None:
    """Refuse a folder that an arena cannot be begun or continued in, with a ValueError."""
    if resume and not folder.exists():
        raise ValueError(f"{folder} does not exist: there is nothing to resume")
    if (folder / CONFIG).exists():
        if not resume:
            raise ValueError(f"{folder} holds an arena: add --resume, or use another folder")
    elif (folder / CHUNKS).exists():
        raise ValueError(f"{folder} has results but no {CONFIG}: use another folder")


class Store:
    """Results of an arena on disk. A context manager; the folder has to be claimed.

    Parameters
    ----------
    folder : Path
        Of the arena.
    config : Config
        What is played.
    resume : bool
        Continue what is there, or begin in a folder that has no arena.
    keys : collection of (lineup, chunk)
        Chunks that there are.

    Raises
    ------
    ValueError
        If the folder holds something else, or something damaged.
    """

    def __init__(
        self, folder: Path, config: Config, resume: bool, keys: Collection[tuple[str, int]]
    ) -> None:
        self._keys = keys
        self.results: dict[tuple[str, int], Result] = {}
        mine = identity(config)
        self._seal = json.dumps(mine, sort_keys=True).encode()
        check_folder(folder, resume)
        path, lines = folder / CONFIG, folder / CHUNKS
        if path.exists():
            _compare(path, mine)
        else:
            write_text(path, json.dumps(mine, indent=1) + "\n")
        self._lines = lines
        self._size = self._read(lines) if lines.exists() else 0
        self._file = lines.open("ab", buffering=0)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def _read(self, path: Path) -> int:
        """Read all lines; returns how many bytes they are."""
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        damaged = [
            number
            for number, line in enumerate(data[:whole].split(b"\n")[:-1], 1)
            if not self._read_line(line)
        ]
        if damaged:
            some = ", ".join(map(str, damaged[:_NAMED])) + ", …" * (len(damaged) > _NAMED)
            raise ValueError(
                f"{path} is damaged or has been changed: line {some} is not what was written (its "
                "checksum differs). Delete the line and add --resume: its chunk is played again"
            )
        if whole < len(data):  # cut off in the middle of a line
            os.truncate(path, whole)
        return whole

    def _read_line(self, line: bytes) -> bool:
        found = _LINE.fullmatch(line)
        if found is None or found[2] != self._check(found[1]):
            return False
        result = json.loads(line)
        del result["check"]
        key = result["lineup"], result["chunk"]
        self.results[key] = result
        return key in self._keys

    def _check(self, body: bytes) -> bytes:
        return hashlib.sha256(self._seal + body).hexdigest()[:16].encode()

    def add(self, result: Result) -> None:
        """Keep a chunk, on disk before anything else.

        Raises
        ------
        OSError
            Where there is no room, or if the file was removed meanwhile.
        """
        body = json.dumps(result, separators=(",", ":"))[:-1].encode()
        rest = line = body + b',"check":"' + self._check(body) + b'"}\n'
        try:
            while rest:  # a disk that is full takes a part of a line
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                os.truncate(self._file.fileno(), self._size)
            raise
        if not self._lines.exists():
            raise FileNotFoundError(
                f"{self._lines} was removed while the arena ran, perhaps by a player, and with it "
                "what was played"
            )
        self._size += len(line)
        self.results[result["lineup"], result["chunk"]] = result


def _compare(path: Path, mine: dict[str, Any]) -> None:
    """Refuse to go on with another arena."""
    try:
        theirs = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(theirs, dict):
            raise ValueError("it is no configuration of an arena")
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged ({error}): use another folder") from error
    differ = [key for key in {**theirs, **mine} if mine.get(key) != theirs.get(key)]
    if differ:
        found = "; ".join(f"{k}: {theirs.get(k)!r}, not {mine.get(k)!r}" for k in differ)
        raise ValueError(
            f"{path.parent} holds another arena and cannot be continued: {found}. Use another "
            "folder"
        )
