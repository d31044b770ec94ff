"""Exported networks play as the models they were made of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO

from agents.learned import SB3Policy
from agents.network import CardPolicy, network
from agents.players import load_player
from sixnimmt_env import load_policy, make_rules
from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, PLAY, SECOND, TAKE
from sixnimmt_env.trained.scope import scope_of
from sixnimmt_env.variants import VARIANTS
from tests.networks import counts_of, random_views, write_network
from tests.rounds import row_choices
from training.export import export, exported, main

ROOT = Path(__file__).parent.parent
LARGEST_FILE = 1_000_000


def _model(*games: Rules, policy: Any = CardPolicy) -> MaskablePPO:
    """A model as the trainer makes it, with weights that are far from indifferent."""
    torch.set_num_threads(1)
    scope = scope_of(list(games))
    rules = scope.rules
    env = SixNimmtVecEnv(2, num_players=rules.num_players, variant=rules.name)
    kwargs = network(rules) if policy is CardPolicy else {}
    model = MaskablePPO(policy, env, n_steps=2, batch_size=4, policy_kwargs=kwargs, seed=0)
    model.scope = scope
    rng = torch.Generator().manual_seed(1)
    large = 2.0 if rules.open_hands else 2.5  # inputs are larger where hands are open
    for name, weights in model.policy.named_parameters():
        spread = 0.1 if name.endswith("bias") else large / weights.shape[-1] ** 0.5
        weights.data = spread * torch.randn(weights.shape, generator=rng)
    return model


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_the_probabilities_are_those_of_the_model(variant: str):
    games = [
        make_rules(variant, players, row_choice=choice)
        for players in counts_of(variant)
        for choice in row_choices(variant)
    ]
    model = _model(*games)
    before, policy = SB3Policy(model), exported(model, {})
    met, most, fair = dict.fromkeys((DRAFT, PLAY, TAKE, SECOND), 0), [], []
    for rules in games:
        for episode in ("round", "match"):
            ends = {"rounds": 2} if episode == "match" else {}
            played = make_rules(
                variant, rules.num_players, row_choice=rules.row_choice, episode=episode, **ends
            )
            for seen in random_views(played, 2):
                want = np.exp(before.log_probabilities(seen))
                found = policy.probabilities(seen)
                np.testing.assert_allclose(found, want, rtol=0, atol=1e-5)
                chooses = seen.decides & (seen.action_mask.sum(axis=1) > 1)
                most += found[chooses].max(axis=1).tolist()
                fair += (1 / seen.action_mask[chooses].sum(axis=1)).tolist()
                for phase in met:
                    met[phase] += int((chooses & (seen.phase == phase)).sum())
                # Actions differ at most where two are as good as equally probable.
                chosen = policy.act(seen, np.random.default_rng(0))
                assert (want[np.arange(len(seen)), chosen] > want.max(axis=1) - 1e-5).all()
    assert met[PLAY] > 500
    assert (met[TAKE] > 100) == (games[0].low_card == "take")
    assert (met[DRAFT] > 500) == games[0].draft
    assert (met[SECOND] > 500) == (games[0].cards_per_turn > 1)
    # Decided, but not the same everywhere.
    assert 1.5 * np.mean(fair) < np.mean(most) < 0.97


def test_an_exported_policy_learns_no_more():
    model = _model(make_rules(num_players=2))
    policy = exported(model, {})
    before = {name: weights.copy() for name, weights in policy.weights.items()}
    with torch.no_grad():
        for weights in model.policy.parameters():
            weights += 1
    for name, weights in policy.weights.items():
        np.testing.assert_array_equal(weights, before[name])


def test_without_a_scope_it_plays_the_game_its_network_was_made_for():
    model = _model(make_rules("plus", 3), make_rules("plus", 2))
    assert exported(model, {}).scope.players == (2, 3)
    del model.scope
    assert exported(model, {}).scope == scope_of([make_rules("plus", 3)])


@pytest.mark.parametrize("source", ["run", "policy.zip"])
def test_the_command(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run = tmp_path / "run"
    run.mkdir()
    model = _model(*(make_rules(num_players=n) for n in range(2, 11)))
    model.save(run / "policy.zip")
    target = tmp_path / "mine.npz"
    main([str(run if source == "run" else run / source), str(target)])
    out = capsys.readouterr().out
    assert f"{target}: " in out and "KiB, plays base with 2, 3" in out
    assert target.stat().st_size <= LARGEST_FILE
    policy = load_policy(target)
    assert policy.about["steps"] == 0 and "version" in policy.about
    for name, weights in exported(model, {}).weights.items():
        np.testing.assert_array_equal(policy.weights[name], weights)
    seen = next(random_views(make_rules(num_players=3), 2))
    rng = np.random.default_rng(0)
    both = [load_player(str(file)).act(seen, rng) for file in (target, run / "policy.zip")]
    np.testing.assert_array_equal(*both)
    for file in (target, run / "policy.zip"):
        assert not load_player(f"{file}:sampled").greedy
    with pytest.raises(ValueError, match=r"base with 2.*cannot play tactics.*'name'"):
        load_player(str(run / "policy.zip")).act(
            next(random_views(make_rules("tactics", 3), 2)), rng
        )


def test_the_file_plays_without_torch(tmp_path: Path):
    model = _model(make_rules(num_players=2))
    model.save(tmp_path / "policy.zip")
    export(tmp_path, tmp_path / "policy.npz")
    code = (
        "import sys; from agents.players import load_player; from sixnimmt_env import *\n"
        f"player = load_player({str(tmp_path / 'policy.npz')!r})\n"
        "play([player, 'random'], make_rules(num_players=2), games=5)\n"
        "assert not {'torch', 'stable_baselines3', 'sb3_contrib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_a_run_that_has_a_file_is_copied(tmp_path: Path):
    target = tmp_path / "mine.npz"
    policy = write_network(tmp_path / "policy.npz", make_rules(num_players=2))
    assert export(tmp_path, target).about == policy.about
    assert target.read_bytes() == (tmp_path / "policy.npz").read_bytes()


def test_other_models_are_refused(tmp_path: Path):
    model = _model(make_rules(num_players=2), policy="MlpPolicy")
    with pytest.raises(ValueError, match="MaskableActorCriticPolicy cannot be exported"):
        exported(model, {})
    model.save(tmp_path / "policy.zip")
    for source, target, said in (
        (tmp_path, "a.npz", "MaskableActorCriticPolicy cannot be exported"),
        (tmp_path / "policy.zip", "a.zip", r"a\.zip is no name .*\.npz"),
        (tmp_path / "nothing", "a.npz", r"error: there is no policy file .*nothing"),
        (ROOT / "README.md", "a.npz", "is not a saved MaskablePPO"),
    ):
        with pytest.raises(SystemExit, match=said):
            main([str(source), str(tmp_path / target)])
    assert [file.name for file in tmp_path.iterdir()] == ["policy.zip"]


# Models as policies


def test_a_model_without_a_scope_plays_what_its_observations_fit():
    model = _model(make_rules(num_players=2), policy="MlpPolicy")
    del model.scope
    policy, rng = SB3Policy(model), np.random.default_rng(0)
    for rules in (make_rules(num_players=2), make_rules("tactics", 2)):
        assert policy.act(next(random_views(rules, 3)), rng).shape == (6,)
    for rules in (make_rules(num_players=3), make_rules(num_players=2, episode="match")):
        with pytest.raises(ValueError, match=r"observations of 251 numbers, but base with"):
            policy.act(next(random_views(rules, 3)), rng)


def test_a_scope_that_does_not_fit_its_model_is_named():
    model = _model(make_rules(num_players=2))
    model.scope = scope_of([make_rules(num_players=n) for n in (2, 4)])
    seen = next(random_views(make_rules(num_players=2), 3))
    with pytest.raises(ValueError, match="but base with 4 players"):
        SB3Policy(model).act(seen, np.random.default_rng(0))
