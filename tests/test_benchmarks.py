"""The programs of the arena: options, terminals, signals, scripts of one's own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("openskill")
pytest.importorskip("matplotlib")
pytest.importorskip("tqdm")

from benchmarks import leaderboard, search_speed, variance
from benchmarks.arena import main, run_arena
from benchmarks.clock import Clock
from benchmarks.lineups import MOST_ROUNDS, Config
from benchmarks.tournament import examine
from sixnimmt_env import trained

ROOT = Path(__file__).parent.parent
GAME = Config(("lowest", "highest"), seats=2, rounds=2)


def python(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments], env=env, cwd=cwd, capture_output=True, text=True
    )


def test_benchmarks_need_no_docstrings():
    """Optimised Python has none."""
    pytest.importorskip("sb3_contrib")
    pytest.importorskip("tensorboard")
    files = sorted((ROOT / "benchmarks").glob("*.py"))
    names = [
        file.stem for file in files if '\nif __name__ == "__main__"' in file.read_text("utf-8")
    ]
    assert len(names) == 7
    code = (
        "import importlib, sys\n"
        "sys.argv[1:] = ['--help']\n"
        f"for name in {names}:\n"
        "    try:\n"
        "        importlib.import_module(f'benchmarks.{name}').main()\n"
        "    except SystemExit as exit:\n"
        "        assert not exit.code\n"
    )
    done = python("-OO", "-c", code)
    assert done.stdout.count("usage: python -m benchmarks.") == len(names), done.stderr


def test_a_script_without_a_main_guard_is_told(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(
        "from benchmarks.arena import run_arena\n"
        "from benchmarks.lineups import Config\n"
        "run_arena(Config(('lowest', 'highest'), 2, 2), 'arena', quiet=True)\n"
    )
    done = python(str(script), cwd=tmp_path)
    said = [line for line in done.stderr.splitlines() if line.startswith("RuntimeError")]
    assert done.returncode == 1 and len(said) == 2  # of the process, and of the script
    assert all('if __name__ == "__main__":' in line for line in said)
    assert not (tmp_path / "arena").exists()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_any_terminal_shows_the_results(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    policies = Path(trained.__file__).parent / "policies"
    (tmp_path / "Ж.npz").write_bytes((policies / "base4.npz").read_bytes())
    monkeypatch.chdir(tmp_path)
    shown = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", shown)
    options = ["--players", "Ж.npz,lowest", "--lineups", "cross", "--rounds", "3", "--out", "ä"]
    main(options)
    shown.flush()
    text = shown.buffer.getvalue().decode(encoding)
    assert "wrote " in text and ".npz" in text
    assert "Ж.npz" in (tmp_path / "ä" / "results.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"players": "random"}, "players='random': a tuple"),
        ({"players": ()}, r"players=\(\)"),
        ({"players": ("random", 7)}, "player 7: a name"),
        ({"players": ("random", "")}, "player '': a name"),
        ({"players": ("random", "\udc80.npz")}, "characters that can be printed"),
        ({"players": ("random", "closest_gab")}, "closest_gap"),
        ({"players": ("random",) * 101}, "101 players"),
        ({"players": ("random", "none.npz")}, "no policy file none.npz"),
        ({"seats": "2"}, "num_players='2'"),
        ({"seats": 2.0}, r"num_players=2\.0"),
        ({"rounds": "2"}, "rounds='2'"),
        ({"rounds": True}, "rounds=True"),
        ({"rounds": 2.5}, r"rounds=2\.5"),
        ({"rounds": 10**20}, f"rounds=10+ .* to {MOST_ROUNDS} is"),
        ({"rounds": MOST_ROUNDS, "players": ("random",) * 10}, "at most [0-9]+, or use fewer"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**64}, "seed=1844"),
        ({"seed": None}, "seed=None"),
        ({"split": "2"}, "split='2'"),
        ({"parts": "crosses"}, "parts='crosses' is not known: did you mean 'cross'"),
        ({"parts": []}, r"parts=\[\]"),
        ({"variant": "bass"}, "'bass'"),
        ({"row_choice": "me"}, "row_choice='me'"),
        ({"episode": "match", "target": 0}, "target=0"),
    ],
)
def test_odd_options_are_named_at_once(changes: dict[str, Any], message: str, tmp_path: Path):
    with pytest.raises((ValueError, OSError), match=message):
        run_arena(replace(GAME, **changes), tmp_path / "arena")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"processes": "2"}, "processes='2'"),
        ({"processes": 10**6}, "processes=1000000"),
        ({"limit": "1"}, "limit='1'"),
        ({"limit": float("nan")}, "limit=nan"),
    ],
)
def test_odd_ways_to_run_are_named(options: dict[str, Any], message: str, tmp_path: Path):
    with pytest.raises(ValueError, match=message):
        run_arena(GAME, tmp_path / "arena", **options)


def test_numbers_of_numpy_are_taken():
    config = Config(["lowest", "random"], np.int64(2), np.uint8(3), seed=np.uint64(2**63))
    config.check()
    assert type(config.rounds) is int and config == Config(("lowest", "random"), 2, 3, seed=2**63)


def test_other_benchmarks_refuse_at_once():
    for options, message in (
        ("--players lowest,nobody", "'nobody' is not known"),
        ("--players lowest", "two are needed"),
        ("--players lowest,random --rounds 1", "rounds=1"),
        ("--players lowest,random --rounds 2 --heads nan", "heads=nan"),
        ("--players lowest,random --processes 0", "processes=0"),
    ):
        with pytest.raises(SystemExit, match=f"error: .*{message}"):
            variance.main(options.split())
    with pytest.raises(SystemExit, match=r"error: .*'nobody' is not known"):
        search_speed.main(["--players", "closest_gap,nobody"])
    with pytest.raises(SystemExit, match="error: limit=0"):
        leaderboard.main(["--limit", "0"])


def test_the_leaderboard_has_the_trained_players():
    for config in leaderboard.boards(2, 0).values():
        assert "trained" in config.players
        config.check()
        assert examine(config, "trained", 1e4, Clock()) is None
