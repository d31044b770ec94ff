"""The examples run."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from agents.players import load_player
from examples import gymnasium_loop, pettingzoo_loop, play_policies
from sixnimmt_env import make_rules, play


def test_play_policies(capsys: pytest.CaptureFixture[str]):
    play_policies.main(games=20)
    assert "closest_gap" in capsys.readouterr().out


def test_pettingzoo_loop(capsys: pytest.CaptureFixture[str]):
    pettingzoo_loop.main()
    assert capsys.readouterr().out.strip()


def test_gymnasium_loop(capsys: pytest.CaptureFixture[str]):
    gymnasium_loop.main(rounds=2)
    assert "heads a round" in capsys.readouterr().out


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder with the model that examples/train_with_sb3.py makes."""
    pytest.importorskip("sb3_contrib")
    from examples import train_with_sb3

    monkeypatch.chdir(tmp_path)
    train_with_sb3.main(steps=160, num_games=2)


def test_train_with_sb3(trained: None):
    policy = load_player("policy.zip")
    assert "4 players" in str(policy.scope)
    play([policy] * 4, make_rules(num_players=4), games=2)


def test_evaluate_own_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Which makes a model where there is none."""
    pytest.importorskip("sb3_contrib")
    pytest.importorskip("openskill")
    from examples import evaluate_own_model

    monkeypatch.chdir(tmp_path)
    evaluate_own_model.main("mine.zip", rounds=4, steps=160)
    out = capsys.readouterr().out
    assert "there is no mine.zip yet" in out and "ep_rew_mean" in out and "3 × random" in out
    assert list(Path("results/arena").glob("*/results.md"))


def test_own_network(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("sb3_contrib")
    from examples import own_network

    own_network.main(steps=1, num_games=2, rounds=8)
    assert "heads a round" in capsys.readouterr().out


def test_continue_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip("tensorboard")
    pytest.importorskip("sb3_contrib")
    from examples import continue_a_run
    from training.lookahead_trainer import Learner

    folder = str(tmp_path / "run")
    settings = {"steps": 900, "seats": 80, "held_rounds": 8, "table_rounds": 8}
    play = Learner.play

    def press_ctrl_c(learner: Learner) -> object:
        signal.raise_signal(signal.SIGINT)
        return play(learner)

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "play", press_ctrl_c)
        continue_a_run.main(folder, **settings)
    assert "start it again" in capsys.readouterr().out
    continue_a_run.main(folder)
    assert "3 × closest_gap" in capsys.readouterr().out


def test_every_example_is_tested():
    text = Path(__file__).read_text(encoding="utf-8")
    tested = set(re.findall(r"def test_(\w+)\(", text))
    folder = Path(__file__).parent.parent / "examples"
    assert {path.stem for path in folder.glob("*.py")} <= tested | {"__init__"}
