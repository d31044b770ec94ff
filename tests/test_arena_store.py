"""Folders of arenas: nothing is lost, damage is named, and only one arena writes into one."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openskill")
pytest.importorskip("matplotlib")
pytest.importorskip("tqdm")

from agents.runfolder import claim
from benchmarks.arena import main, run_arena
from benchmarks.lineups import CHUNK, Config, chunks, lineups
from benchmarks.store import CHUNKS, CONFIG, Store

SMALL = Config(("lowest", "highest"), seats=2, rounds=CHUNK + 1, seed=4)
KEYS = [chunk.key for chunk in chunks(SMALL, lineups(SMALL))]


def result(number: int) -> dict[str, Any]:
    lineup, chunk = KEYS[number]
    return {"lineup": lineup, "chunk": chunk, "heads": [[[1, 2], [3, number]]], "cpu": {}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An arena with three chunks."""
    with Store(tmp_path, SMALL, False, KEYS) as store:
        for number in range(3):
            store.add(result(number))
    return tmp_path


def reopened(folder: Path, config: Config = SMALL) -> list[Any]:
    with Store(folder, config, True, KEYS) as store:
        return list(store.results.values())


def test_lines_come_back(folder: Path):
    assert reopened(folder) == [result(0), result(1), result(2)]


@pytest.mark.parametrize("length", range(1, 60, 7))
def test_a_torn_last_line_is_dropped(folder: Path, length: int):
    path = folder / CHUNKS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:-length])
    assert reopened(folder) == [result(0), result(1)]
    with Store(folder, SMALL, True, KEYS) as store:
        store.add(result(2))
    assert path.read_bytes() == b"".join(lines)


class FullDisk:
    """Takes some bytes, then no more."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def write(self, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        count: int = self.file.write(data[: self.room])
        self.room -= count
        return count

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def test_a_short_write_is_taken_back(tmp_path: Path):
    with Store(tmp_path, SMALL, False, KEYS) as store:
        store.add(result(0))
        store._file = FullDisk(store._file, 40)
        with pytest.raises(OSError, match="No space"):
            store.add(result(1))
        assert (tmp_path / CHUNKS).read_bytes().count(b"\n") == 1
        store._file.room = 10**6
        store.add(result(2))
    assert reopened(tmp_path) == [result(0), result(2)]


def test_writes_in_parts_are_finished(tmp_path: Path):
    class Slow(FullDisk):
        def write(self, data: bytes) -> int:
            return int(self.file.write(data[:7]))

    with Store(tmp_path, SMALL, False, KEYS) as store:
        store._file = Slow(store._file, 0)
        store.add(result(0))
    assert reopened(tmp_path) == [result(0)]


Change = Callable[[bytes], bytes]
DEEP = b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.replace(b"[3,1]", b"[3,0]"),
        lambda line: line.replace(b'"heads":[[[1,2],[3,1]]]', b'"failure":{"player":"lowest"}'),
        lambda line: line.replace(b'"chunk":0', b'"chunk":1'),
        lambda line: line[: len(line) // 2],
        lambda line: line + line,
        lambda line: b"",
        lambda line: b"{}",
        lambda line: b"null",
        lambda line: b"\x00" * 40,
        lambda line: b"\xff\xfe",
        lambda line: DEEP,
        lambda line: b'{"lineup":' + DEEP + b',"check":"0123456789abcdef"}',
        lambda line: b'{"lineup":[],"chunk":{},"check":"0123456789abcdef"}',
        lambda line: line.replace(b'"cpu":{}', b'"cpu":3'),
        lambda line: re.sub(b',"check".*', b"}", line),
        lambda line: line.replace(b",", b"\r"),
    ],
)
def test_damage_within_is_named_with_a_remedy_that_helps(folder: Path, change: Change):
    path = folder / CHUNKS
    lines = path.read_bytes().split(b"\n")[:-1]
    lines[1] = change(lines[1])
    path.write_bytes(b"\n".join(lines) + b"\n")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"chunks\.jsonl is damaged .*: line 2 is not.* Delete"):
        reopened(folder)
    assert path.read_bytes() == before
    path.write_bytes(lines[0] + b"\n" + lines[2] + b"\n")
    assert reopened(folder) == [result(0), result(2)]


def test_lines_of_another_arena_are_refused(folder: Path, tmp_path_factory: pytest.TempPathFactory):
    other = tmp_path_factory.mktemp("other")
    with Store(other, Config(SMALL.players, 2, CHUNK + 1, seed=5), False, KEYS):
        pass
    (other / CHUNKS).write_bytes((folder / CHUNKS).read_bytes())
    with pytest.raises(ValueError, match="line 1, 2, 3 is not"):
        reopened(other, Config(SMALL.players, 2, CHUNK + 1, seed=5))


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"\xff", DEEP, b"\x00" * 9, b'{"a": 1' + b"0" * 5000]
)
def test_a_damaged_config_is_named(folder: Path, text: bytes):
    (folder / CONFIG).write_bytes(text)
    with pytest.raises(ValueError, match=r"config\.json is damaged.*another folder"):
        reopened(folder)


def test_a_folder_in_use_is_refused_by_name(tmp_path: Path):
    """Neither of two arenas plays what the other one does."""
    out = tmp_path / "arena"
    options = ["--players", "lowest,highest", "--seats", "2", "--out", str(out)]
    message = f"error: .*process {os.getpid()}.*there is nothing to continue"
    with claim(out), pytest.raises(SystemExit, match=message):
        main(options)
    assert not (out / CONFIG).exists()


def _arena(out: Path, answers: Any) -> None:
    try:
        run_arena(SMALL, out, 1, quiet=True)
        answers.put("done")
    except (OSError, ValueError) as error:
        answers.put(str(error))


def test_of_two_at_once_one_plays(tmp_path: Path):
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    started = [context.Process(target=_arena, args=(tmp_path / "a", answers)) for _ in range(2)]
    for process in started:
        process.start()
    found = sorted(answers.get(timeout=60) for _ in started)
    for process in started:
        process.join()
    assert found[1] == "done" or found[0] == "done"
    other = next(text for text in found if text != "done")
    assert "is in use by" in other or "holds an arena: add --resume" in other
    lines = (tmp_path / "a" / CHUNKS).read_text().splitlines()
    played = [(line["lineup"], line["chunk"]) for line in map(json.loads, lines)]
    assert sorted(played) == sorted(KEYS)
