"""What players' processes say is checked; their server may die; the folder may go."""

from __future__ import annotations

import copy
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openskill")
pytest.importorskip("matplotlib")
pytest.importorskip("tqdm")

from benchmarks import pool, throughput, variance
from benchmarks.answers import ForgedError, checked, decode
from benchmarks.arena import run_arena
from benchmarks.clock import Clock
from benchmarks.identity import foreign
from benchmarks.lineups import Chunk, Config, Lineup
from benchmarks.pool import Pool
from benchmarks.tournament import play_chunk

MINE = "tests.arena_mishaps:"
CONFIG = Config(("lowest", "random", f"{MINE}Exits"), seats=2, rounds=2)
CHUNK = Chunk(Lineup("one", ("lowest", "random")), 0, 2)
LOST = Chunk(Lineup("one", ("lowest", f"{MINE}Exits")), 0, 2)


def answered(chunk: Chunk) -> dict[str, Any]:
    found: dict[str, Any] = decode(json.dumps(play_chunk(CONFIG, chunk, 1e4, Clock())).encode())
    return found


@pytest.mark.parametrize("chunk", [CHUNK, LOST])
def test_answers_of_the_arena_pass(chunk: Chunk):
    answer = answered(chunk)
    assert checked(CONFIG, chunk, copy.deepcopy(answer)) == answer
    assert ("failure" in answer) == (chunk is LOST)


@pytest.mark.parametrize(
    ("chunk", "path", "value"),
    [
        (CHUNK, ("lineup",), "4 lowest"),
        (CHUNK, ("lineup",), []),
        (CHUNK, ("chunk",), 1),
        (CHUNK, ("chunk",), False),
        (CHUNK, ("more",), 1),
        (CHUNK, ("failure",), {}),
        (CHUNK, ("heads",), None),
        (CHUNK, ("heads",), []),
        (CHUNK, ("heads", 0), [1, 2]),
        (CHUNK, ("heads", 0, 1), [1, 2, 3]),
        (CHUNK, ("heads", 0, 1, 1), 1.0),
        (CHUNK, ("heads", 0, 1, 1), -1),
        (CHUNK, ("heads", 0, 1, 1), 10**30),
        (CHUNK, ("heads", 0, 1, 1), True),
        (CHUNK, ("cpu",), {}),
        (CHUNK, ("cpu",), []),
        (CHUNK, ("cpu", "lowest"), [1.0]),
        (CHUNK, ("cpu", "lowest", 0), float("nan")),
        (CHUNK, ("cpu", "lowest", 0), "1"),
        (CHUNK, ("cpu", "lowest", 1), 1.5),
        (LOST, ("failure",), None),
        (LOST, ("failure", "player"), "random"),
        (LOST, ("failure", "player"), []),
        (LOST, ("failure", "what"), "won"),
        (LOST, ("failure", "error"), "\x1b[31m"),
        (LOST, ("failure", "error"), "x" * 10**5),
        (LOST, ("failure", "record"), None),
        (LOST, ("failure", "deal"), 2),
        (LOST, ("failure", "seat"), 2),
        (LOST, ("failure", "seat"), None),
        (LOST, ("failure", "decisions"), "1"),
        (LOST, ("failure", "more"), 1),
    ],
)
def test_forged_answers_are_named(chunk: Chunk, path: tuple[Any, ...], value: Any):
    answer = inner = answered(chunk)
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(ForgedError):
        checked(CONFIG, chunk, answer)


@pytest.mark.parametrize("data", [b"", b"\xff", b"\x80\x05N.", b"[" * 100_000, b"9" * 5000])
def test_what_is_no_json_says_nothing(data: bytes):
    with pytest.raises(ForgedError):
        decode(data)


@pytest.mark.parametrize("since", [float("nan"), float("inf"), -1.0])
def test_a_clock_that_a_player_wrote_into(since: float):
    clock = Clock()
    clock.shared[1] = since
    assert clock.read()[0] is None


def test_whose_players_are_foreign():
    for spec in ("mine:Mine", "considerate_row:mine:Mine"):
        assert foreign(spec)
    for spec in ("lowest", "trained:sampled", "monte_carlo:10", "considerate_row:closest_gap"):
        assert not foreign(spec)
    assert not foreign("runs/mine/policy.zip")


def test_only_processes_of_our_players_are_used_again():
    pairs = [("lowest", "random"), ("lowest", f"{MINE}LeavesTraces"), ("random", "lowest")]
    config = Config(("lowest", "random", f"{MINE}LeavesTraces"), 2, 2)
    left = []
    with Pool(config, 1, 60.0) as processes:
        chunks = [Chunk(Lineup("one", pair), 0, 2) for pair in pairs]
        for result in processes.play(chunks):
            assert "heads" in result
            left.append(len(processes._workers))
        processes._config = Config((f"{MINE}LeavesTraces",) * 2, 2, 2)
        processes.check()
        assert not processes._workers
    assert left == [1, 0, 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no server forks the processes there")
def test_a_player_may_kill_the_server_of_processes():
    name = f"{MINE}KillsTheServer"
    config = Config(("lowest", "random", name), 2, 150)
    chunks = [Chunk(Lineup("one", ("lowest", name)), k, 150) for k in range(3)]
    chunks.append(Chunk(Lineup("one", ("lowest", "random")), 0, 150))
    with Pool(config, 2, 60.0) as processes:
        assert all("heads" in result for result in processes.play(chunks))


@pytest.mark.parametrize("error", [EOFError(), OSError(24, "Too many open files")])
def test_processes_that_cannot_be_started(error: Exception, monkeypatch: pytest.MonkeyPatch):
    def fail(*arguments: Any) -> None:
        raise error

    monkeypatch.setattr(pool, "_Worker", fail)
    monkeypatch.setattr(pool, "_PAUSE", 0.0)
    why = re.escape(str(error) or "EOFError")
    with (
        Pool(CONFIG, 1, 60.0) as processes,
        pytest.raises(RuntimeError, match=f"no process .* could be started.*{why}"),
    ):
        processes.check()


@pytest.mark.skipif(os.name == "nt", reason="files in use cannot be removed there")
def test_a_folder_that_was_removed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    config = Config(("lowest", f"{MINE}RemovesTheFolder"), 2, 2)
    with pytest.raises(OSError, match=r"chunks\.jsonl was removed while the arena ran"):
        run_arena(config, tmp_path / "arena", quiet=True)


def test_too_little_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(SystemExit, match="heads=1e-300 is not possible"):
        variance.main(["--players", "lowest,random", "--heads", "1e-300"])
    with pytest.raises(ValueError, match=r"limit=1e-09 is not possible: 0\.001"):
        run_arena(CONFIG, tmp_path / "arena", limit=1e-9)
    with pytest.raises(ValueError, match="at least two are needed"):
        run_arena(Config(("closest_gap",)), tmp_path / "arena")
    (tmp_path / "file").touch()
    monkeypatch.setattr("sys.argv", ["throughput", "--out", str(tmp_path / "file" / "x")])
    with pytest.raises(SystemExit, match=r"error: .*file"):
        throughput.main()
