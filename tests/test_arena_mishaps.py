"""Whatever a player does costs its own chunk, and nothing outlives the arena."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("openskill")
pytest.importorskip("matplotlib")
pytest.importorskip("tqdm")

from benchmarks import pool
from benchmarks.arena import run_arena
from benchmarks.clock import Clock
from benchmarks.failures import LONGEST_ERROR, safe
from benchmarks.lineups import Chunk, Config, Lineup
from benchmarks.pool import Pool
from benchmarks.tournament import _Table, play_chunk

from .arena_mishaps import Keeps

ROOT = Path(__file__).parent.parent
MINE = "tests.arena_mishaps:"
GOOD = ("lowest", "random")
EXPECTED = {
    "SlowToMake": ("stalled", "no answer within 1 seconds"),
    "ExitsWhenMade": ("crashed", "SystemExit: 3"),
    "DiesWhenMade": ("crashed", "its process died, exit code 9"),
    "Exits": ("crashed", "SystemExit: I have had enough"),
    "ClosesFiles": ("crashed", "connection of its process was closed"),
    "ClosesFilesAndWaits": ("crashed", "connection of its process was closed"),
    "Forks": ("crashed", "RuntimeError: a player must not fork"),
    "ForksBelow": ("stalled", "no answer within 1 seconds"),
    "OddText": ("crashed", r"lone \\ud800 surrogate, \\x1b\[31mred"),
    "RaisesUntellable": ("crashed", "Untellable"),
    "DiesLater": ("crashed", "exit code 5"),
    "StopsTheEngine": ("stalled", "no answer within 1 seconds"),
    "AnswersByPickle": ("crashed", "gave an answer that is none: no JSON"),
    "AnswersItself": ("crashed", "gave an answer that is none: another chunk"),
    "BreaksTheEngine": ("crashed", "could not go on after it: (.*\n)*.*not callable"),
}


# They finish their chunk, and are gone then.
HARMLESS = ("DiesMuchLater", "SlowToGo", "LeavesTraces")


@pytest.fixture(scope="module")
def module_monkeypatch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bomb") / "gone off"


@pytest.fixture(scope="module")
def played(module_monkeypatch: pytest.MonkeyPatch, bomb: Path) -> list[dict[str, Any]]:
    """A chunk of every player that breaks down, each followed by one of two that do not."""
    module_monkeypatch.setattr(pool, "_IDLE", 1.0)
    module_monkeypatch.chdir(bomb.parent)
    specs = [MINE + name for name in (*EXPECTED, *HARMLESS)]
    config = Config((*GOOD, *specs), seats=2, rounds=2)
    pairs = [pair for spec in specs for pair in (("lowest", spec), GOOD)]
    with Pool(config, 2, 1.0) as processes:
        chunks = (Chunk(Lineup("one", pair), 0, config.rounds) for pair in pairs)
        return list(processes.play(chunks))


@pytest.mark.xdist_group("players that break down")
@pytest.mark.parametrize("name", EXPECTED)
def test_each_costs_its_own_chunk(played: list[dict[str, Any]], name: str):
    mine = [result for result in played if result["lineup"].endswith(f"{MINE}{name}")]
    what, error = EXPECTED[name]
    assert len(mine) == 1 and mine[0]["failure"]["player"] == MINE + name
    assert mine[0]["failure"]["what"] == what
    assert re.search(error, mine[0]["failure"]["error"])


@pytest.mark.xdist_group("players that break down")
def test_the_chunks_of_others_are_what_they_are_alone(played: list[dict[str, Any]]):
    config = Config(GOOD, seats=2, rounds=2)
    alone = play_chunk(config, Chunk(Lineup("one", GOOD), 0, 2), 1e4, Clock())
    others = [result for result in played if MINE not in result["lineup"]]
    assert len(others) == len(EXPECTED) + len(HARMLESS)
    assert all(result["heads"] == alone["heads"] for result in others)


@pytest.mark.xdist_group("players that break down")
@pytest.mark.parametrize("name", HARMLESS)
def test_what_it_leaves_behind_costs_nothing(played: list[dict[str, Any]], name: str):
    mine = [result for result in played if result["lineup"].endswith(f"{MINE}{name}")]
    assert len(mine) == 1 and len(mine[0]["heads"]) == 2


@pytest.mark.xdist_group("players that break down")
def test_what_a_player_sends_runs_nothing(played: list[dict[str, Any]], bomb: Path):
    assert played and not bomb.exists()


def test_such_players_are_told_of_in_the_results(tmp_path: Path):
    """They pass the check, and what they say can be written; the others play to the end."""
    names = ("Exits", "DiesWhenMade", "OddText")
    config = Config(("lowest", *(MINE + name for name in names)), seats=2, rounds=2, parts="cross")
    tables = run_arena(config, tmp_path / "arena", quiet=True)["tables"]
    assert {row["player"] for row in tables["failed"]} == {MINE + name for name in names}
    assert [row["player"] for row in tables["cross"]] == ["lowest"]
    text = (tmp_path / "arena" / "results.md").read_text(encoding="utf-8")
    assert r"lone \ud800 surrogate" in text
    assert re.search("^````\n.*```fence.*\n````$", text, re.MULTILINE)


def test_what_a_player_returned_is_out_of_its_hands():
    config = Config((f"{MINE}Keeps", "lowest"), seats=2, rounds=2)
    chunk = Chunk(Lineup("one", config.players), 0, 2)
    table = _Table(config, chunk, 1e4, Clock(), {name: [0.0, 0] for name in config.players})
    chosen = table._choose(0, *np.nonzero(table.who == 0))
    assert Keeps.kept and not np.shares_memory(chosen, Keeps.kept[-1])


def test_no_player_sees_the_hands_of_others():
    """Not even in the memory behind its arrays, alone or in batches."""
    for variant, rounds in (("base", 1), ("base", 60), ("plus", 3), ("pro", 3)):
        config = Config((f"{MINE}Spies", "lowest"), 3, rounds, variant)
        chunk = Chunk(Lineup("one", (config.players[0], "lowest", "lowest")), 0, rounds)
        result = play_chunk(config, chunk, 1e4, Clock())
        assert "failure" not in result, result["failure"]["error"]


def test_text_of_players_can_be_written():
    assert safe("ends: ≥ 3 \n ok") == "ends: ≥ 3 \n ok"
    assert safe("\udc80\x00\x1b\u2028") == r"\udc80\x00\x1b\u2028"
    assert len(safe("x" * 10**7)) == LONGEST_ERROR + 1


def _alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    if stat.parent.parent.joinpath("self").exists():
        return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_the_arena(kill: signal.Signals, tmp_path: Path):
    """Not a process that blocks all signals, nor one that such a player has started."""
    told = tmp_path / "pids"
    command = [sys.executable, "-m", "benchmarks.arena", "--players", f"{MINE}BlocksSignals,lowest"]
    command += ["--seats", "2", "--rounds", "2", "--processes", "1", "--out", str(tmp_path / "a b")]
    started = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"ARENA_PIDS": str(told)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until = time.monotonic() + 60
        while not told.exists():
            assert time.monotonic() < until and started.poll() is None
            time.sleep(0.02)
        pids = [int(pid) for pid in told.read_text().split()]
        assert all(map(_alive, pids))
        started.send_signal(kill)
        _, errors = started.communicate(timeout=30)
        if kill == signal.SIGTERM:
            assert started.returncode == 130
            assert f"to continue, add: --out '{tmp_path}/a b' --resume" in errors
        until = time.monotonic() + 30
        while any(map(_alive, pids)):
            assert time.monotonic() < until
            time.sleep(0.02)
    finally:
        started.kill()
        for pid in map(int, told.read_text().split() if told.exists() else []):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
