"""Runs of both trainers: seeds, exact resume, what is written, what is learned."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("tyro")
pytest.importorskip("yaml")
pytest.importorskip("matplotlib")

import torch
import yaml

from agents.learned import load_policy
from sixnimmt_env.policy import play
from training import checkpoint, ppo_trainer, report
from training.checkpoint import CHECKPOINT, Stopped
from training.config import CONFIG, write_settings
from training.run import BEST, POLICY
from training.samples import Table

from .runs import (
    LOOKAHEAD,
    POOL,
    PPO,
    Trainer,
    Whole,
    arguments_for,
    assert_same,
    both,
    stop_after,
    whole_runs,
    without_times,
)


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Whole]:
    return whole_runs(tmp_path_factory)


@pytest.fixture
def whole(trainer: Trainer, wholes: dict[str, Whole]) -> Whole:
    return wholes[trainer.kind.trainer]


def _stopped(
    trainer: Trainer,
    config: Any,
    folder: Path,
    updates: int,
    monkeypatch: pytest.MonkeyPatch,
    resume: bool = False,
) -> None:
    with monkeypatch.context() as patch:
        stop_after(patch, updates)
        with pytest.raises(Stopped):
            trainer.train(config, folder, resume)
    # Whoever uses these in between changes nothing.
    np.random.seed(99)
    torch.manual_seed(99)


# Seeds


@both
def test_same_seed_same_weights(trainer: Trainer, whole: Whole, tmp_path: Path):
    assert_same(without_times(trainer.train(trainer.config(), tmp_path)), without_times(whole[1]))


@both
def test_another_seed_other_weights(trainer: Trainer, whole: Whole, tmp_path: Path):
    other = trainer.train(trainer.config(seed=1), tmp_path)
    mine, others = (content["trainer"]["average"] for content in (whole[1], other))
    assert all((mine[name] != others[name]).any() for name in mine if name.endswith("weight"))


def test_games_of_other_seeds_are_dealt_otherwise():
    first, other = (ppo_trainer.make_model(PPO.config(seed=seed)).env for seed in (0, 1))
    hands = []
    for env in (first, other):
        env.reset()
        hands += [env.envs[0]._batch.state.hand.copy()]
    assert (hands[0] != hands[1]).any(axis=(0, 1)).all()


# Resume

GAMES = {"players": (2, 4, 3), "row_choice": "both", "seats": 24, "steps": 700}


@pytest.mark.parametrize(
    ("trainer", "changes", "stops"),
    [
        (PPO, {}, [3]),
        (PPO, {}, [1, 1]),
        (PPO, GAMES, [2]),
        (PPO, {"variant": "plus"}, [2]),
        (LOOKAHEAD, {}, [3]),
        (LOOKAHEAD, {}, [1, 1]),
        (LOOKAHEAD, POOL | GAMES, [2]),
        (LOOKAHEAD, POOL, [1]),
    ],
)
def test_resume_is_exact(
    trainer: Trainer,
    changes: dict[str, Any],
    stops: list[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    wholes: dict[str, Whole],
):
    parts = tmp_path / "parts"
    if changes:
        config = trainer.config(**changes)
        whole = tmp_path, trainer.train(config, tmp_path)
    else:
        config, whole = trainer.config(), wholes[trainer.kind.trainer]
    for number, updates in enumerate(stops):
        _stopped(trainer, config, parts, updates, monkeypatch, resume=number > 0)
    steps = [row["steps"] for row in whole[1]["metrics"]]
    stopped = checkpoint.load(parts / CHECKPOINT)["metrics"]
    assert [row["steps"] for row in stopped] == steps[: sum(stops)] != steps
    assert_same(without_times(trainer.train(config, parts, resume=True)), without_times(whole[1]))
    metrics = (folder / "metrics.csv" for folder in (whole[0], parts))
    assert len({path.read_text(encoding="utf-8") for path in metrics}) == 1
    for name in (POLICY, BEST):
        assert_same(*(load_policy(folder / name).weights for folder in (whole[0], parts)))


def test_earlier_versions_play_along(tmp_path: Path):
    config = LOOKAHEAD.config(**POOL)
    past = LOOKAHEAD.train(config, tmp_path)["trainer"]["past"]
    assert len(past) > 3 and not any(policy.greedy for policy in past)
    assert len({policy.weights["trunk.0.weight"].tobytes() for policy in past}) == len(past)


# From the command line


@pytest.mark.parametrize(
    ("trainer", "changes", "said"),
    [
        (PPO, {}, ["base with 4 players", "| heads per round |", "3 × closest_gap"]),
        (LOOKAHEAD, {}, ["base with 4 players", "| heads per round |", "3 × closest_gap"]),
        (PPO, {"variant": "simplified", "row_choice": "player"}, ["3 × closest_gap"]),
        (
            LOOKAHEAD,
            {"variant": "plus", "row_choice": "player", "players": (2, 4)},
            ["plus", "| heads collected per round (more is better) |", "3 × sixth_card"],
        ),
    ],
)
def test_ctrl_c_says_how_to_continue(
    trainer: Trainer,
    changes: dict[str, Any],
    said: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    folder, name = tmp_path / "run", trainer.kind.trainer
    begin = [*arguments_for(trainer, tmp_path / "file", **changes), "--run", str(folder)]
    with monkeypatch.context() as patch:
        stop_after(patch, 1)
        with pytest.raises(SystemExit, match="--resume") as stop:
            trainer.module.main(begin)
    assert f"python -m training.{name} --resume {folder}" in str(stop.value)
    assert "stopping after this update" in capsys.readouterr().err
    trainer.module.main(["--resume", str(folder)])
    out = capsys.readouterr().out
    results = (folder / "results.md").read_text(encoding="utf-8")
    for words in said:
        assert words in out + results
    assert "±" in results and "seed 0" in results
    assert ("row_choice" in results) == (not changes)
    names = [CONFIG, "versions.yaml", "metrics.csv", POLICY, BEST, "learning_curve.png"]
    names += ["policy.zip"] if trainer is PPO else []
    for file in names:
        assert (folder / file).stat().st_size > 0
    assert list((folder / "tensorboard").iterdir())
    assert not list(folder.glob("*part"))
    table = json.loads((folder / "results.json").read_text(encoding="utf-8"))["table"]
    assert {line["player"] for line in table} > {"trained", "random"}
    assert all(line["heads_interval"] > 0 for line in table if line["player"] == "trained")
    assert set(yaml.safe_load((folder / "versions.yaml").read_text())) > {"python", "torch"}
    about = load_policy(folder / POLICY).about
    assert about["trainer"] == name and about["preset"] == "tiny"
    assert about["decisions"] >= about["of"] == trainer.config(**changes).steps


def test_ctrl_c_twice_stops_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    play_round = Table.play

    def pressed(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return play_round(*arguments)

    monkeypatch.setattr(Table, "play", pressed)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit, match="stopped; continue with"):
        LOOKAHEAD.module.main(
            [*arguments_for(LOOKAHEAD, tmp_path / "file"), "--run", str(tmp_path / "a")]
        )
    assert "press Ctrl-C again" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before
    assert not checkpoint.load(tmp_path / "a" / CHECKPOINT)["metrics"]  # as it began


@both
def test_a_finished_run_is_left_as_it_is(trainer: Trainer, whole: Whole):
    again = trainer.train(trainer.config(), whole[0], resume=True)
    assert_same(without_times(again), without_times(whole[1]))


@both
def test_a_run_is_not_overwritten(trainer: Trainer, whole: Whole, tmp_path: Path):
    write_settings(trainer.config(), tmp_path)  # begun, but not saved yet
    for folder in (whole[0], tmp_path):
        said = "has a run already: continue it with --resume"
        with pytest.raises(SystemExit, match=f"^error: .*{said}"):
            trainer.module.main(["--run", str(folder)])
        with pytest.raises(ValueError, match=said):
            trainer.train(trainer.config(), folder)


# What is learned


@both
@pytest.mark.parametrize(("variant", "players"), [("tactics", 2), ("pro", 3), ("base", 10)])
def test_other_games_can_be_trained(trainer: Trainer, variant: str, players: int, tmp_path: Path):
    config = trainer.config(variant=variant, players=(players,), steps=1, evaluations=1)
    trainer.train(config, tmp_path)
    play([load_policy(tmp_path / POLICY)] * players, config.rules, games=5)


@both
def test_saved_policies_play_legally(trainer: Trainer, whole: Whole):
    for file in (POLICY, BEST, *(["policy.zip"] if trainer is PPO else [])):
        for sampled in ("", ":sampled"):
            policy = load_policy(f"{whole[0] / file}{sampled}")
            play([policy] * 4, trainer.config().rules, games=50)  # refuses illegal actions


def test_both_files_of_ppo_play_the_same(wholes: dict[str, Whole]):
    archive, model = (
        play([load_policy(wholes["ppo"][0] / file)] * 4, PPO.config().rules, games=50)
        for file in (POLICY, "policy.zip")
    )
    np.testing.assert_array_equal(archive.heads, model.heads)


def test_self_play_heads_are_left_out_where_no_round_ended(tmp_path: Path):
    config = PPO.config(variant="simplified", steps=5 * 16 * 12)
    metrics = PPO.train(config, tmp_path)["metrics"]
    # A round has 48 decisions and a rollout 12 of each seat.
    assert ["heads_self_play" in row for row in metrics] == [False, False, False, True, False]
    assert metrics[3]["heads_self_play"] > 0
    report.draw_curve(metrics[:3], config, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 0
