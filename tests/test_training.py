"""The trainer: exact resume, seeds, saved policies, honest tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch

from agents.learned import SB3Policy
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import make_policy, play
from sixnimmt_env.variants import make_rules
from training import ppo
from training.config import PRESETS
from training.evaluate import Estimate, evaluate
from training.report import table
from training.run import CheckpointError, Run

CONFIG = replace(PRESETS["test"], steps=3 * PRESETS["test"].steps_per_update)


def weights(model) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in model.policy.parameters()])


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "whole"
    return ppo.train(folder, CONFIG), folder


def test_resume_is_bit_for_bit(trained, tmp_path):
    model, folder = trained
    after_one = CONFIG.steps_per_update
    assert ppo.train(tmp_path / "cut", CONFIG, stop_after=after_one) is None
    resumed = ppo.train(tmp_path / "cut")
    assert resumed.num_timesteps == model.num_timesteps == CONFIG.steps
    assert torch.equal(weights(resumed), weights(model))
    whole, cut = (Run(f).read_metrics() for f in (folder, tmp_path / "cut"))
    assert [r["heads"] for r in whole] == [r["heads"] for r in cut]
    assert [r["steps"] for r in whole] == [r["steps"] for r in cut]


def test_one_seed_gives_one_model_and_another_gives_another(trained, tmp_path):
    again = ppo.train(tmp_path / "again", CONFIG)
    other = ppo.train(tmp_path / "other", replace(CONFIG, seed=1))
    assert torch.equal(weights(again), weights(trained[0]))
    assert not torch.equal(weights(other), weights(trained[0]))


def test_saved_policy_plays_and_knows_its_rules(trained):
    policy = SB3Policy.load(trained[1])
    rules = policy.rules
    state = Engine(rules).reset(seed=0, games=64)
    seen = observe(rules, state, 2)
    actions = policy.act(seen, np.random.default_rng(0))
    assert (seen.action_mask[np.arange(64), actions] == 1).all()
    assert play([policy, "random", policy, "random"], rules, games=20).heads.shape == (20, 4)
    drawn = SB3Policy(policy.model, rules, deterministic=False)
    once, twice = (drawn.act(seen, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(once, twice)
    with pytest.raises(ValueError, match="trained for base with 4 players, not for base with 5"):
        play([policy] * 5, make_rules("base", 5), games=2)
    with pytest.raises(ValueError, match="give the rules it was trained for"):
        SB3Policy(policy.model, make_rules("pro", 4))


def test_files_that_are_missing_or_broken(trained, tmp_path):
    with pytest.raises(FileNotFoundError, match="no trained policy"):
        SB3Policy.load(tmp_path)
    (tmp_path / "policy.zip").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="not a saved model"):
        SB3Policy.load(tmp_path, make_rules())
    with pytest.raises(FileNotFoundError, match="holds no run"):
        ppo.train(tmp_path / "nothing")
    with pytest.raises(FileExistsError, match="--resume"):
        ppo.train(trained[1], CONFIG)
    run = Run(tmp_path / "torn")
    run.create(CONFIG)
    whole = (trained[1] / "checkpoint.pt").read_bytes()
    run.checkpoint.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match="cannot be read"):
        ppo.train(run.folder)


def test_command_line(tmp_path, capsys):
    folder = tmp_path / "run"
    ppo.main(["--preset", "test", "--steps", "1024", "--run", str(folder)])
    printed = capsys.readouterr().out
    assert "| trained | random |" in printed
    assert "±" in printed
    for name in ("policy.zip", "results.json", "results.md", "learning_curve.png", "metrics.csv"):
        assert (folder / name).stat().st_size > 0
    for arguments, match in (
        (["--preset", "none"], "not known"),
        (["--resume", str(tmp_path / "no")], "holds no run"),
        (["--resume", str(folder), "--seed", "1"], "nothing else"),
        (["--num-players", "11", "--run", str(tmp_path / "x")], "num_players=11"),
    ):
        with pytest.raises(SystemExit, match=match):
            ppo.main(arguments)
    assert not (tmp_path / "x").exists()


def test_evaluation_reproduces_known_means():
    rules = make_rules("base", 4, row_choice="fewest_heads")
    strength = evaluate("random", "random", rules, rounds=3000)
    assert abs(strength.heads.mean - 12.14) < 2 * strength.heads.half + 0.02
    assert abs(strength.wins.mean - 0.25) < 2 * strength.wins.half
    same = make_policy("closest_gap")
    copies = evaluate(same, same, rules, rounds=50)
    assert copies.heads.mean == pytest.approx(copies.others.mean)
    assert copies.wins.mean == pytest.approx(0.25)
    assert "± " in table({("a", "b"): strength}, rules)
    with pytest.raises(ValueError, match="rounds=1"):
        evaluate("random", "random", rules, rounds=1)


def test_interval_covers():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(2000):
        e = Estimate.of(rng.normal(3, 2, 50))
        hits += abs(e.mean - 3) < e.half
    assert 0.92 < hits / 2000 < 0.97
