"""The examples run."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples import gymnasium_loop, pettingzoo_loop, play_policies


def test_play_policies(capsys: pytest.CaptureFixture[str]):
    play_policies.main(games=20)
    assert "closest_gap" in capsys.readouterr().out


def test_pettingzoo_loop(capsys: pytest.CaptureFixture[str]):
    pettingzoo_loop.main()
    assert capsys.readouterr().out.strip()


def test_gymnasium_loop(capsys: pytest.CaptureFixture[str]):
    gymnasium_loop.main(rounds=2)
    assert "heads a round" in capsys.readouterr().out


def test_train_with_sb3(tmp_path: Path):
    pytest.importorskip("sb3_contrib")
    from examples import train_with_sb3

    train_with_sb3.main(steps=160, num_games=2, path=str(tmp_path / "policy.zip"))
    assert (tmp_path / "policy.zip").exists()


def test_every_example_is_tested():
    tested = {"gymnasium_loop", "pettingzoo_loop", "play_policies", "train_with_sb3"}
    folder = Path(__file__).parent.parent / "examples"
    assert {path.stem for path in folder.glob("*.py")} == tested | {"__init__"}
