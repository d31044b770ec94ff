"""Evaluation of one player in every seat: means, intervals, and the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sixnimmt_env.policy import play
from sixnimmt_env.variants import make_rules
from tests.networks import write_network
from training import evaluate


def test_random_players_score_the_known_mean():
    rules = make_rules(row_choice="fewest_heads")
    result = evaluate.evaluate("random", "random", rules, rounds=20_000, seed=5)
    assert result["rounds"] == 20_000
    assert abs(result["heads"] - 12.14) < result["heads_interval"] + 0.1
    assert abs(result["wins"] - 0.25) < 0.02


def test_the_policy_sits_in_every_seat():
    rules = make_rules()
    better = evaluate.evaluate("closest_gap", ["random", "random", "random"], rules, rounds=400)
    assert better["heads"] < 9 and better["wins"] > 0.4
    assert 0 < better["wins_interval"] < 0.1


def test_opponents_sit_clockwise_on_the_same_deals():
    """The mean over its seats of what `play` gives."""
    rules = make_rules(num_players=3)
    result = evaluate.evaluate("closest_gap", ["lowest", "highest"], rules, rounds=60, seed=4)
    seats = ["closest_gap", "lowest", "highest"]
    rounds = [play(seats[-s:] + seats[:-s], rules, 20, 4) for s in range(3)]
    heads = np.mean([each.heads[:, seat] for seat, each in enumerate(rounds)], axis=0)
    wins = np.mean([each.wins[:, seat] for seat, each in enumerate(rounds)], axis=0)
    assert result["heads"] == pytest.approx(heads.mean())
    assert result["wins"] == pytest.approx(wins.mean())
    width = 1.959964 * heads.std(ddof=1) / np.sqrt(20)
    assert result["heads_interval"] == pytest.approx(width)


def test_players_of_the_checkout_are_known_by_name():
    """As `agents.players` knows them, not only those of the package."""
    rules = make_rules(num_players=2)
    result = evaluate.evaluate("coldest_row:cheapest_row", "coldest_row", rules, rounds=20)
    assert result["rounds"] == 20


def test_at_least_one_round_is_needed():
    with pytest.raises(ValueError, match="rounds=0"):
        evaluate.evaluate("random", "random", make_rules(), rounds=0)


@pytest.mark.parametrize(
    ("games", "arguments", "title"),
    [
        ([make_rules()], [], "3 × closest_gap"),
        ([make_rules(num_players=3)], [], "2 × closest_gap"),
        ([make_rules(num_players=p) for p in (2, 4, 6)], [], "3 × closest_gap"),
        ([make_rules(num_players=p) for p in (2, 6)], [], "5 × closest_gap"),
        ([make_rules(num_players=p) for p in (2, 6)], ["--players", "2"], "1 × closest_gap"),
        ([make_rules(row_choice="fewest_heads")], [], "3 × closest_gap"),
        ([make_rules("plus", 3)], [], "2 × sixth_card"),
    ],
)
def test_a_network_is_measured_in_its_own_game(
    games: list[Any],
    arguments: list[str],
    title: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    write_network(tmp_path / "mine.npz", *games)
    evaluate.main(["--policy", str(tmp_path / "mine.npz"), "--rounds", "8", *arguments])
    out = capsys.readouterr().out
    assert title in out and f"| {tmp_path / 'mine.npz'}" in out


def test_a_model_is_measured_in_its_own_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("sb3_contrib")
    pytest.importorskip("tensorboard")
    pytest.importorskip("tyro")
    pytest.importorskip("yaml")
    from training.ppo_trainer import make_model

    from .runs import PPO

    config = PPO.config(players=(3,), row_choice="fewest_heads")
    make_model(config).save(tmp_path / "mine.zip")
    evaluate.main(["--policy", str(tmp_path / "mine.zip"), "--rounds", "6"])
    assert "2 × closest_gap" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"^error: .*trained for base with 3 players"):
        evaluate.main(["--policy", str(tmp_path / "mine.zip"), "--players", "4"])


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "mine.npz"
    write_network(path, make_rules())
    evaluate.main(["--policy", str(path), "--against", "random,highest", "--rounds", "40"])
    out = capsys.readouterr().out
    assert "3 × random" in out and "3 × highest" in out and "±" in out
    for arguments, said in (
        (["--policy", str(path), "--against", "nobody"], "player 'nobody' is not known"),
        (["--policy", str(tmp_path / "none.npz")], r"none\.npz"),
        (["--policy", str(path), "--rounds", "0"], "rounds=0"),
        (["--policy", str(path), "--players", "3"], "3 players"),
        (["--policy", "random", "--players", "11"], "num_players=11"),
        (["--policy", str(path), "--row-choice", "fewest_heads", "--variant", "plus"], "plus"),
    ):
        with pytest.raises(SystemExit, match=f"^error: .*{said}"):
            evaluate.main(arguments)


@pytest.mark.parametrize(
    ("variant", "simple", "title"),
    [
        ("base", "closest_gap", "heads per round"),
        ("plus_equal", "sixth_card", "heads collected per round"),
        ("original_zeros", "closest_gap", "heads per round"),
    ],
)
def test_opponents_fit_the_aim(
    variant: str, simple: str, title: str, capsys: pytest.CaptureFixture[str]
):
    evaluate.main(["--policy", "lowest", "--variant", variant, "--rounds", "8"])
    out = capsys.readouterr().out
    assert "3 × random" in out and f"3 × {simple}" in out and title in out
