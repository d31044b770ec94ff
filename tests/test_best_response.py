"""The best response: it gains where there is something to gain, and nothing over itself."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")

from agents.players import load_player
from sixnimmt_env.trained.network import load_policy
from sixnimmt_env.variants import make_rules
from training import best_response, evaluate
from training.best_response import main, make_config, measure, respond
from training.checkpoint import Stopped
from training.lookahead import LookaheadConfig
from training.lookahead_trainer import Learner

from .networks import write_network


@pytest.fixture(autouse=True)
def few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_response, "GAMES", 50)


def few(against: str, **options: Any) -> LookaheadConfig:
    """Settings of a short run."""
    config = make_config(against, **options)
    return replace(config, evaluations=1, held_rounds=8, average=0.9)


@pytest.mark.parametrize(
    ("variant", "against", "title"),
    [("base", "lowest", "heads per round"), ("plus", "closest_gap", "heads collected per round")],
)
def test_it_gains_against_a_weak_player(variant: str, against: str, title: str, tmp_path: Path):
    config = few(against, variant=variant, players=3, steps=10_000, rounds=1000)
    gain = respond(config, tmp_path)
    assert gain.heads > 3 * gain.heads_interval > 0 and gain.wins > 3 * gain.wins_interval > 0
    assert gain.copy.wins == pytest.approx(1 / 3)
    # What is measured is the policy as it was at the end.
    policy = load_policy(tmp_path / "policy.npz")
    again = evaluate.evaluate(policy, against, config.rules, 1000, best_response.SEED)
    assert again["heads"] == pytest.approx(gain.response.heads)
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert results["heads"] == gain.heads and results["against"] == against
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert f"Best response to {against}: {variant} with 3 players" in text
    assert f"2 × {against}" in text and title in text and "Gain over a copy" in text
    assert (tmp_path / "learning_curve.png").stat().st_size > 0


@pytest.mark.parametrize(("variant", "players"), [("base", 4), ("base", 9), ("plus", 6)])
def test_nothing_is_gained_over_oneself(variant: str, players: int):
    name = "sixth_card" if variant == "plus" else "closest_gap"
    gain = measure(load_player(name), load_player(name), make_rules(variant, players), 300)
    assert (gain.heads, gain.heads_interval, gain.wins, gain.wins_interval) == (0, 0, 0, 0)
    assert gain.copy.heads == pytest.approx(gain.response.heads)


@pytest.mark.parametrize(("variant", "better"), [("base", "closest_gap"), ("plus", "sixth_card")])
def test_a_gain_is_positive(variant: str, better: str):
    rules = make_rules(variant, 3)
    gain = measure(load_player(better), load_player("random"), rules, 900)
    assert gain.heads > gain.heads_interval > 0 and gain.wins > gain.wins_interval > 0
    loss = measure(load_player("random"), load_player(better), rules, 900)
    assert loss.heads < 0 and loss.wins < 0


def test_deals_are_the_observations():
    rules = make_rules(num_players=3)
    gain = measure(load_player("closest_gap"), load_player("lowest"), rules, 299)
    assert gain.deals == 100
    plain = evaluate.evaluate("closest_gap", "lowest", rules, 300, best_response.SEED)
    assert gain.response.heads == pytest.approx(plain["heads"])
    assert gain.response.heads_interval == pytest.approx(plain["heads_interval"])
    assert gain.heads == pytest.approx(gain.copy.heads - gain.response.heads)


def test_the_learner_is_alone():
    config = make_config("closest_gap", players=5, seed=3)
    learner = Learner(config)
    (table,) = learner.tables
    owners = learner._owners(table)
    assert owners.shape == (5, 50)
    assert ((owners == 0).sum(axis=0) == 1).all() and ((owners == 1).sum(axis=0) == 4).all()
    assert set(owners.argmin(axis=0)) == set(range(5))


def test_resume_is_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    config = few("random", players=2, steps=2000, rounds=100)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    gain = respond(config, whole)
    play = Learner.play

    def stop(learner: Learner) -> object:
        if learner.updates == 2:
            signal.raise_signal(signal.SIGINT)
        return play(learner)

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "play", stop)
        with pytest.raises(Stopped):
            respond(config, parts)
    assert not (parts / "results.md").exists()
    main(["--resume", str(parts)])
    left, right = (load_policy(folder / "policy.npz").weights for folder in (whole, parts))
    for name in left:
        np.testing.assert_array_equal(left[name], right[name], err_msg=name)
    results = json.loads((parts / "results.json").read_text(encoding="utf-8"))
    assert results["heads"] == gain.heads
    assert "Gain over a copy" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--against", "nobody"], "player 'nobody' is not known"),
        (["--against", "nothing.npz"], "there is no policy file"),
        (["--against", "random", "--players", "11"], "num_players=11"),
        (["--against", "random", "--rounds", "0"], "rounds=0"),
        (["--against", "random", "--steps", "0"], "steps=0"),
        (["--against", "random", "--seed", "-1"], "seed=-1"),
        (["--resume", "nothing"], "no run folder"),
    ],
)
def test_what_is_wrong_is_said(
    given: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=f"error: .*{said}"):
        main(given)
    assert not any(tmp_path.iterdir())


def test_a_player_of_another_game_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    write_network(tmp_path / "three.npz", make_rules(num_players=3))
    with pytest.raises(SystemExit, match=r"error: .*three\.npz.*num_players"):
        main(["--against", "three.npz"])
    assert not (tmp_path / "runs").exists()


def test_runs_are_neither_overwritten_nor_mixed_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    tiny = ["--against", "random", "--players", "2", "--steps", "1", "--rounds", "4"]
    main([*tiny, "--run", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"^error: .* has a run already"):
        main([*tiny, "--run", str(tmp_path)])
    for given, said in (
        (["--resume", str(tmp_path), "--seed", "1"], "leave all else out"),
        (["--run", str(tmp_path)], "--against PLAYER is needed"),
    ):
        with pytest.raises(SystemExit):
            main(given)
        assert said in capsys.readouterr().err
    config = (tmp_path / "config.yaml").read_text(encoding="utf-8")
    (tmp_path / "config.yaml").write_text(config.replace("preset: best_response", "preset: mine"))
    with pytest.raises(SystemExit, match="its own trainer"):
        main(["--resume", str(tmp_path)])
