"""The arena: repeatable whatever the processes and interruptions, fair, and hard to break."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("openskill")
pytest.importorskip("matplotlib")
pytest.importorskip("tqdm")

from benchmarks import leaderboard, variance
from benchmarks.arena import main, run_arena
from benchmarks.bootstrap import Bootstrap
from benchmarks.clock import Clock
from benchmarks.lineups import CHUNK, Chunk, Config, Lineup, chunks, draw_tables, lineups
from benchmarks.progress import Progress
from benchmarks.standings import WIN, collected, shared_places
from benchmarks.store import Store
from benchmarks.tournament import _Table, examine, play_chunk
from sixnimmt_env.notation import read
from sixnimmt_env.policy import play

ROOT = Path(__file__).parent.parent
SMALL = Config(("closest_gap", "random", "lowest"), seats=3, rounds=CHUNK + 10, seed=4)
MINE = "tests.arena_players:"


def run(config: Config, out: Path, **options: Any) -> dict[str, Any]:
    return run_arena(config, out, quiet=True, **options)


def cells(tables: dict[str, Any], first: str = "player", second: str = "against") -> dict[Any, Any]:
    return {(row[first], row[second]): row for row in tables}


# Repeatable


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run(SMALL, tmp_path_factory.mktemp("whole") / "arena", processes=1)


@pytest.mark.parametrize("processes", [2, 5])
def test_any_number_of_processes_gives_the_same(
    whole: dict[str, Any], processes: int, tmp_path: Path
):
    assert run(SMALL, tmp_path / "arena", processes=processes)["tables"] == whole["tables"]


def test_results_are_written(whole: dict[str, Any], tmp_path: Path):
    out = tmp_path / "arena"
    results = run(SMALL, out, command="the command")
    written = json.loads((out / "results.json").read_text())
    assert written["tables"] == results["tables"] == whole["tables"]
    assert written["command"] == "the command" and written["versions"]["numpy"] == np.__version__
    assert all(spent["decisions"] > 0 for spent in written["cpu"].values())
    text = (out / "results.md").read_text()
    assert "## One against 2" in text and "heads per round" in text
    lines = (out / "results.csv").read_text().splitlines()
    assert len(lines) == 1 + 3 + 3 + 2 * 6  # one table, three of a kind, six ordered pairs
    for name in ("heads.png", "wins.png", "cross.png"):
        assert (out / name).stat().st_size > 0


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_resumed_is_as_never_stopped(kill: signal.Signals, tmp_path: Path):
    players = (f"{MINE}SlowRandom", "lowest")
    config = Config(players, seats=2, rounds=2 * CHUNK)
    out = tmp_path / "arena"
    command = [sys.executable, "-m", "benchmarks.arena", "--players", ",".join(players)]
    command += ["--seats", "2", "--rounds", str(config.rounds), "--out", str(out)]
    started = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"ARENA_SLOW": "0.03"},
        stderr=subprocess.PIPE,
        text=True,
    )
    file = out / "chunks.jsonl"
    until = time.monotonic() + 30
    while not (file.exists() and file.read_bytes().count(b"\n") >= 2):
        assert time.monotonic() < until and started.poll() is None
        time.sleep(0.02)
    started.send_signal(kill)
    _, errors = started.communicate(timeout=30)
    assert (kill != signal.SIGINT) or ("--resume" in errors and started.returncode == 130)
    before = file.read_bytes()
    assert before.count(b"\n") < len(chunks(config, lineups(config)))
    with file.open("ab") as torn:
        torn.write(b'{"lineup":"table: ')
    with pytest.raises(ValueError, match="--resume"):
        run(config, out)
    resumed = run(config, out, resume=True)
    assert file.read_bytes().startswith(before)
    assert resumed["tables"] == run(config, tmp_path / "whole")["tables"]


def test_only_the_same_arena_is_resumed(whole: dict[str, Any], tmp_path: Path):
    out = tmp_path / "arena"
    config = replace(SMALL, rounds=10)
    first = run(config, out)
    assert run(config, out, resume=True)["tables"] == first["tables"]
    with pytest.raises(ValueError, match=r"another arena.*seed: 4, not 5"):
        run(replace(config, seed=5), out, resume=True)
    with pytest.raises(ValueError, match="nothing to resume"):
        run(config, tmp_path / "nowhere", resume=True)
    (out / "chunks.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match=r"damaged .* line 1 is not"):
        run(config, out, resume=True)


def test_a_chunk_does_not_depend_on_what_was_played_before(tmp_path: Path):
    config = Config((f"{MINE}Remembers", "lowest"), seats=2, rounds=3 * CHUNK, parts="cross")
    every = chunks(config, lineups(config))
    forwards = [play_chunk(config, chunk, 1e4, Clock())["heads"] for chunk in every]
    backwards = [play_chunk(config, chunk, 1e4, Clock())["heads"] for chunk in every[::-1]]
    assert forwards == backwards[::-1]


def test_lineups_do_not_depend_on_who_else_plays(whole: dict[str, Any], tmp_path: Path):
    fewer = replace(SMALL, players=("random", "lowest"))
    tables = run(fewer, tmp_path / "arena")["tables"]
    more = cells(whole["tables"]["cross"])
    for pair, row in cells(tables["cross"]).items():
        assert row["heads"]["mean"] == more[pair]["heads"]["mean"]


# Fair


def test_rotations_are_the_same_deal():
    config = Config(("lowest", "highest", "random", "closest_gap"))
    lineup = lineups(config)[0]
    table = _Table(config, Chunk(lineup, 0, 20), 1e4, Clock(), {})
    hands = table.state.hand.reshape(4, 10, 20, 4)  # seat, card, deal, rotation
    assert (hands == hands[..., :1]).all()  # the same hand lies at a seat in every rotation
    slots = table.slots.T.reshape(20, 4, 4)
    for deal in range(20):
        for slot in range(4):
            seats = [int(np.flatnonzero(slots[deal, r] == slot)[0]) for r in range(4)]
            assert sorted(seats) == [0, 1, 2, 3]  # every player has held every hand
            assert np.diff(seats, append=seats[0]).tolist().count(1) == 3  # one seat further on
    assert len({tuple(order) for order in slots[:, 0].tolist()}) > 5  # other neighbours
    assert Lineup("one", ("a", "b", "b")).plays == 3
    assert Lineup("same", ("a", "a", "a")).plays == 1
    assert Lineup("split", ("a", "b", "a", "b")).plays == 2


def test_a_deterministic_lineup_is_what_play_says():
    config = Config(("highest", "closest_gap"), rounds=30, parts="cross")
    every = chunks(config, lineups(config))
    played = collected(config, [play_chunk(config, chunk, 1e4, Clock()) for chunk in every])
    part = played["1 highest against 3 closest_gap"]
    for seat in range(4):
        seats = ["closest_gap"] * 4
        seats[seat] = "highest"
        expected = play(seats, config.rules, 30, config.seed)
        np.testing.assert_array_equal(part.heads[:, seat, 0], expected.heads[:, seat])
        np.testing.assert_allclose(part.wins[:, seat, 0] / WIN, expected.wins[:, seat])


def test_against_copies_of_itself(tmp_path: Path):
    """Nothing at all for a deterministic player; for a random one, nothing but chance."""
    players = ("closest_gap", "closest_gap", "random", "random")
    tables = run(Config(players, rounds=100, split=2), tmp_path / "arena")["tables"]
    cross = cells(tables["cross"])
    exact = cross["closest_gap", "closest_gap#2"]
    for what in ("heads_difference", "wins_difference"):
        assert exact[what] == {"mean": 0, "low": 0, "high": 0}
        chance = cross["random", "random#2"][what]
        assert chance["low"] < 0 < chance["high"] and chance["mean"] != 0
    split = cells(tables["split"], second="other")
    assert split["closest_gap", "closest_gap#2"]["heads_difference"]["high"] == 0
    assert cross["random", "random"]["wins"]["mean"] == 0.25


def test_differences_pair_the_same_deals(whole: dict[str, Any], tmp_path: Path):
    out = tmp_path / "arena"
    tables = run(SMALL, out)["tables"]
    lines = [json.loads(line) for line in (out / "chunks.jsonl").read_text().splitlines()]
    lines.sort(key=lambda line: line["chunk"])
    name = "table: closest_gap, random, lowest"
    heads = np.concatenate([line["heads"] for line in lines if line["lineup"] == name])
    values = heads[:, :, 0].mean(axis=1) - heads[:, :, 2].mean(axis=1)
    row = cells(tables["differences"], second="other")["closest_gap", "lowest"]
    assert row["heads"]["mean"] == pytest.approx(values.mean(), abs=1e-6)
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert row["heads"]["high"] - row["heads"]["mean"] == pytest.approx(half, rel=0.2)
    back = cells(tables["differences"], second="other")["lowest", "closest_gap"]
    assert back["heads"]["mean"] == -row["heads"]["mean"]
    standing = {row["player"]: row for row in tables["players"]}
    difference = standing["closest_gap"]["heads"]["mean"] - standing["lowest"]["heads"]["mean"]
    assert row["heads"]["mean"] == pytest.approx(difference, abs=1e-5)


def test_bootstrap_agrees_with_the_normal_approximation():
    values = np.random.default_rng(1).poisson(12, 800)
    boot = Bootstrap(seed=3)
    figure = boot.add(values * 4, 4)
    constant = boot.add(np.full(800, 8), 4)
    single = boot.add(np.array([3]), 1)
    boot.run()
    half = 1.96 * values.std() / np.sqrt(800)
    assert figure.mean == values.mean()
    assert figure.low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert figure.high == pytest.approx(values.mean() + half, abs=0.1 * half)
    assert (constant.mean, constant.low, constant.high) == (2, 2, 2)
    assert (single.mean, single.low) == (3, None)
    again = Bootstrap(seed=3)
    same = again.add(values * 4, 4)
    again.run()
    assert same == figure


def test_ties_are_split():
    places = shared_places(np.array([5, 3, 3, 9])) / WIN
    np.testing.assert_array_equal(
        places, [[0, 0, 1, 0], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 1]]
    )
    assert (shared_places(np.zeros((7, 9), int)).sum(axis=-1) == WIN).all()


def test_tables_are_balanced():
    assert len(draw_tables(5, 4, seed=0)) == 5 and len(draw_tables(10, 10, seed=0)) == 1
    for players, size in ((10, 4), (10, 6), (13, 4), (20, 2)):
        tables = draw_tables(players, size, seed=0)
        assert tables == draw_tables(players, size, seed=0) != draw_tables(players, size, seed=1)
        sat = np.bincount(np.concatenate(tables), minlength=players)
        assert len(set(sat.tolist())) == 1 and all(len(set(table)) == size for table in tables)


def test_ratings_follow_the_heads(whole: dict[str, Any]):
    players = whole["tables"]["players"]
    assert [row["player"] for row in players] == ["closest_gap", "lowest", "random"]
    means = [row["rating"]["mu"] for row in players]
    assert means == sorted(means, reverse=True)
    assert all(0 < row["rating"]["sigma"] < 8 for row in players)
    assert sum(row["wins"]["mean"] for row in players) == pytest.approx(1, abs=1e-5)
    for row in players:
        assert row["places"][0] == row["wins"]["mean"]
        assert sum(row["places"]) == pytest.approx(1, abs=1e-5)


# Every game


@pytest.mark.parametrize(
    ("variant", "seats", "more"),
    [
        ("base", 2, {}),
        ("base", 10, {}),
        ("base", 3, {"episode": "match", "target": 30}),
        ("plus", 4, {}),
        ("simplified", 4, {}),
        ("pro", 3, {"row_choice": "fewest_heads"}),
    ],
)
def test_every_game_runs(variant: str, seats: int, more: dict[str, Any], tmp_path: Path):
    names = ("closest_gap", "random", "lowest", "sixth_card", "highest")
    players = (names * 2)[:seats] if seats > 2 else names
    config = Config(players, seats, 3, variant, parts="tables" if seats > 4 else "all", **more)
    tables = run(config, tmp_path / "arena", processes=1)["tables"]
    assert {row["player"] for row in tables["players"]} == set(config.names)
    if more.get("episode") == "match":
        assert max(row["heads"]["mean"] for row in tables["players"]) > 15
    text = (tmp_path / "arena" / "results.md").read_text()
    if variant == "plus":
        assert "heads collected per round (more is better)" in text
        means = [row["heads"]["mean"] for row in tables["players"]]
        assert means == sorted(means, reverse=True)


def test_the_player_of_the_manual_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")
    (tmp_path / "mine.py").write_text(text.split("```python\n")[1].split("```")[0])
    monkeypatch.syspath_prepend(tmp_path)
    config = Config(("mine:Mine", "random"), rounds=5)
    tables = run(config, tmp_path / "arena", processes=1)["tables"]
    assert len(tables["cross"]) == 4 and not tables["failed"]


def test_a_saved_network_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    sb3_contrib = pytest.importorskip("sb3_contrib")
    import torch

    from sixnimmt_env.envs.sb3 import SixNimmtVecEnv

    monkeypatch.chdir(tmp_path)
    for seed in (0, 1):
        env = SixNimmtVecEnv(num_games=1, num_players=2)
        sb3_contrib.MaskablePPO("MlpPolicy", env, n_steps=2, seed=seed).save(f"net{seed}.zip")
    config = Config(("net0.zip", "random"), seats=2, rounds=5)
    config.check()
    threads = torch.get_num_threads()
    result = play_chunk(config, chunks(config, lineups(config))[0], 1e4, Clock())
    torch.set_num_threads(threads)
    assert len(result["heads"]) == 5
    assert examine(config, "net0.zip", 1e4, Clock()) is None
    problem = examine(replace(config, seats=3), "net0.zip", 1e4, Clock())
    assert problem is not None and re.search(r"'net0.zip' cannot play this.*trained", problem)
    (tmp_path / "arena").mkdir()
    for resume in (False, True):
        with Store(tmp_path / "arena", config, resume, ()):
            pass
    Path("net1.zip").replace("net0.zip")
    with pytest.raises(ValueError, match=r"another arena.*file of net0.zip"):
        Store(tmp_path / "arena", config, True, ())


# Hard to break


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    kinds = ("Crashes", "Illegal", "Stalls", "WrongShape", "Dies", "StallsStubbornly")
    players = ("lowest", "random", *(f"{MINE}{kind}" for kind in kinds))
    out = tmp_path_factory.mktemp("broken") / "arena"
    config = Config(players, seats=2, rounds=20, parts="cross")
    results = run(config, out, processes=4, limit=1.0)
    return results["tables"], (out / "results.md").read_text()


@pytest.mark.xdist_group("broken players")
@pytest.mark.parametrize(
    ("player", "what", "error", "turns"),
    [
        ("Crashes", "crashed", "ZeroDivisionError.*arena_players.py, line", 2),
        ("Illegal", "played illegally", "chose card .*legal actions were", 1),
        ("Stalls", "stalled", "no answer within 1 seconds", 1),
        ("WrongShape", "played illegally", r"shape \(1,\)", 0),
        ("Dies", "crashed", "exit code 7", None),
        ("StallsStubbornly", "stalled", "no answer within 1 seconds", None),
    ],
)
def test_a_broken_player_is_reported(
    broken: tuple[dict[str, Any], str], player: str, what: str, error: str, turns: int | None
):
    tables, text = broken
    row = next(row for row in tables["failed"] if row["player"] == MINE + player)
    assert row["what"] == what and row["failed"] > 0
    assert re.search(error, row["error"])
    assert f"**{MINE}{player}** {what} in {row['failed']} of its" in text
    if turns is None:
        assert row["record"] == ""
    else:
        record = read(row["record"])
        assert len(record.turns) == turns and row["record"] in text
        if player == "Crashes":
            assert 42 in record.start.hands[row["seat"]]


@pytest.mark.xdist_group("broken players")
def test_broken_players_cost_the_others_nothing(broken: tuple[dict[str, Any], str], tmp_path: Path):
    tables, _ = broken
    alone = run(Config(("lowest", "random"), seats=2, rounds=20), tmp_path / "arena")["tables"]
    mine, theirs = cells(alone["cross"]), cells(tables["cross"])
    assert all(theirs[pair] == row for pair, row in mine.items())


@pytest.mark.xdist_group("broken players")
def test_a_stalled_player_sits_out_soon(broken: tuple[dict[str, Any], str]):
    row = next(row for row in broken[0]["failed"] if row["player"] == MINE + "StallsStubbornly")
    assert row["failed"] + row["left_out"] <= row["chunks"] and row["left_out"] > 0


def test_a_rare_crash_costs_its_chunks_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    players = (f"{MINE}Crashes", "lowest")
    config = Config(players, seats=2, rounds=5 * CHUNK, variant="base", seed=3)
    results = run(config, tmp_path / "arena")
    lost = results["tables"]["failed"][0]
    assert 0 < lost["failed"] <= lost["chunks"] and lost["left_out"] == 0
    mirror = cells(results["tables"]["cross"])["lowest", "lowest"]
    assert mirror["deals"] == config.rounds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--players nobody", "closest_gap"),
        ("--players random,tests.arena_players:Nobody", "Nobody"),
        ("--players random,tests.arena_mishaps:ExitsWhenMade", "cannot be made: SystemExit: 3"),
        ("--players closest_gap", "at least two are needed"),
        ("--players random,random --seats 11", "2 to 10"),
        ("--players random,random --variant pro --seats 7", "2 to 6"),
        ("--players random,random --rounds 0", "rounds=0"),
        ("--players random,random --target 30", "episode='match'"),
        ("--players random,random --split 3", "split=3"),
        ("--players random,random --lineups tables", "do not fill a table"),
        ("--players random,random --variant plus --row-choice fewest_heads", "row_choice"),
        ("--players random,random --processes 0", "processes=0"),
        ("--players random,nothing.zip", "nothing.zip"),
    ],
)
def test_what_cannot_be_is_refused_at_once(
    options: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=f"error: .*{message}"):
        main(options.split())
    assert not list(tmp_path.iterdir())


# Built on the arena


def test_variance(capsys: pytest.CaptureFixture[str]):
    variance.main(["--players", "highest,closest_gap", "--rounds", "60", "--processes", "1"])
    lines = capsys.readouterr().out.splitlines()
    games = [int(line.split("|")[-2]) for line in lines if "seat" in line and "|" in line]
    assert games[2] < games[0]  # duplicate deals are worth it


def test_leaderboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(leaderboard, "AVOIDING", ("random", "lowest", "closest_gap"))
    monkeypatch.setattr(leaderboard, "COLLECTING", ("random", "sixth_card", "lowest", "highest"))
    monkeypatch.setattr(leaderboard, "BOARDS", (("base", 2), ("plus", 4)))
    options = ["--rounds", "12", "--out", str(tmp_path), "--processes", "1"]
    leaderboard.main(options)
    text = (tmp_path / "leaderboard.md").read_text()
    assert "**Base, 2 players**" in text and "heads collected per round" in text
    boards = json.loads((tmp_path / "leaderboard.json").read_text())
    assert set(boards) == {"base-2", "plus-4"}
    leaderboard.main(options)
    again = json.loads((tmp_path / "leaderboard.json").read_text())
    assert all(again[name]["tables"] == boards[name]["tables"] for name in boards)


@pytest.mark.parametrize("seed", range(5))
def test_stalls_leave_out_the_same_chunks_in_any_order(seed: int) -> None:
    """What counts is the order of the arena, not the order in which chunks are done."""
    config = Config(("random", "lowest"), 2, 600)
    every = chunks(config, lineups(config))
    mine = [chunk for chunk in every if "lowest" in chunk.lineup.players]
    stalling = {mine[i].key for i in (1, 4, 6, 7, 11)}
    order = np.random.default_rng(seed).permutation(len(every)).tolist()
    progress = Progress(config, every, [], quiet=True)
    done = []
    for number in order:
        chunk = every[number]
        if progress.wanted(chunk):
            result: dict[str, Any] = {"lineup": chunk.lineup.name, "chunk": chunk.key[1]}
            if chunk.key in stalling:
                result["failure"] = {"player": "lowest", "what": "stalled"}
            else:
                result["heads"] = np.ones((len(chunk.deals), chunk.lineup.plays, 2), int).tolist()
            progress.add(result)
            done.append(result)
    kept = {(r["lineup"], r["chunk"]) for r in progress.counted(done)}
    last = [chunk.key for chunk in every].index(mine[6].key)
    expected = {c.key for i, c in enumerate(every) if i <= last or "lowest" not in c.lineup.players}
    assert kept == expected


def test_odd_folders_and_options_are_refused(tmp_path: Path) -> None:
    config = Config(("random", "lowest"), 2, 2)
    for limit in (0.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="limit="):
            run_arena(config, tmp_path / "a", limit=limit, quiet=True)
    with pytest.raises(ValueError, match="split=2 has no meaning"):
        Config(
            ("random", "lowest", "highest", "closest_gap"), 4, 2, split=2, parts="tables"
        ).check()
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / "chunks.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match=r"has results but no config\.json"):
        run_arena(config, folder, quiet=True)
    for text in ("{", "[]"):
        (folder / "config.json").write_text(text)
        with pytest.raises(ValueError, match=r"config\.json is damaged"):
            run_arena(config, folder, resume=True, quiet=True)
