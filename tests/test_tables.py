"""Several games as one VecEnv: it is its members side by side, and MaskablePPO learns from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("tyro")
pytest.importorskip("yaml")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

from agents.network import CardPolicy, network
from sixnimmt_env.encoding import field_table
from sixnimmt_env.engine import IllegalActionError
from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from sixnimmt_env.trained.layout import widened
from training.ppo_trainer import make_model
from training.tables import Tables

from .runs import PPO


def _members() -> list[SixNimmtVecEnv]:
    """Other numbers of players, row choices, learning seats and opponents."""
    return [
        SixNimmtVecEnv(3, num_players=2, row_choice="fewest_heads"),
        SixNimmtVecEnv(2, num_players=4),
        SixNimmtVecEnv(2, [2, 0], ["lowest"], num_players=3),
        SixNimmtVecEnv(2, "random", "closest_gap", num_players=2),
    ]


def _random(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(masks.shape) * masks).argmax(axis=1)


def test_it_equals_its_members_step_by_step():
    tables, alone = Tables(_members()), _members()
    assert tables.num_envs == 6 + 8 + 4 + 2
    assert tables.rules == alone[1].rules
    seeds = tables.seed(40)
    first = 40
    for env in alone:
        env.seed(first)
        first += env._batch.num_games
    assert seeds == [seed for env in alone for seed in env._seeds]

    def wide(parts: list[np.ndarray]) -> np.ndarray:
        return np.concatenate(
            [widened(p, env.rules, tables.rules) for p, env in zip(parts, alone, strict=True)]
        )

    seen = tables.reset()
    np.testing.assert_array_equal(seen, wide([env.reset() for env in alone]))
    assert seen.shape == (tables.num_envs, *tables.observation_space.shape)
    rng, ended = np.random.default_rng(0), np.zeros(tables.num_envs)
    for _ in range(45):
        masks = tables.action_masks()
        np.testing.assert_array_equal(masks, np.concatenate([e.action_masks() for e in alone]))
        actions = _random(masks, rng)
        seen, rewards, dones, infos = tables.step(actions)
        cut = np.split(actions, np.cumsum([env.num_envs for env in alone])[:-1])
        steps = [env.step(part) for env, part in zip(alone, cut, strict=True)]
        np.testing.assert_array_equal(seen, wide([step[0] for step in steps]))
        np.testing.assert_array_equal(rewards, np.concatenate([step[1] for step in steps]))
        np.testing.assert_array_equal(dones, np.concatenate([step[2] for step in steps]))
        assert rewards.dtype == seen.dtype == np.float32 and dones.dtype == np.bool_
        heads = [info.get("heads") for step in steps for info in step[3]]
        assert [info.get("heads") for info in infos] == heads
        assert [("terminal_observation" in info) for info in infos] == dones.tolist()
        ended += dones
    assert (ended >= 2).all()


def test_fewer_players_are_laid_out_by_the_names_of_the_fields():
    tables = Tables(_members())
    tables.seed(1)
    seen = tables.reset()[:6]
    tables.envs[0].seed(1)
    own = tables.envs[0].reset()
    here = {field.name: field for field in field_table(tables.envs[0].rules)}
    for field in field_table(tables.rules):
        mine = own[:, here[field.name].start : here[field.name].stop]
        wide = seen[:, field.start : field.stop]
        np.testing.assert_array_equal(wide[:, : mine.shape[1]], mine, err_msg=field.name)
        assert not wide[:, mine.shape[1] :].any()


def test_a_single_member_is_left_as_it_is():
    tables, alone = (make(SixNimmtVecEnv(2)) for make in (lambda env: Tables([env]), lambda e: e))
    for env in (tables, alone):
        env.seed(3)
    np.testing.assert_array_equal(tables.reset(), alone.reset())
    rng = np.random.default_rng(0)
    for _ in range(25):
        actions = _random(alone.action_masks(), rng)
        (seen, *_, infos), (wanted, *_, others) = tables.step(actions), alone.step(actions)
        np.testing.assert_array_equal(seen, wanted)
        for info, other in zip(infos, others, strict=True):
            assert info.keys() == other.keys()
            for name in info:
                np.testing.assert_array_equal(info[name], other[name])


def test_no_two_games_are_dealt_alike():
    """Not even where two members play the same game, nor in the episodes that follow."""
    tables = Tables([SixNimmtVecEnv(games, num_players=2) for games in (3, 2, 4)])
    seeds = tables.seed(7)
    assert sorted(set(seeds)) == list(range(7, 16))
    deals: set[bytes] = set()
    for _ in range(3):
        tables.reset()
        for env in tables.envs:
            hands = env._batch.state.hand
            deals |= {hands[..., game].tobytes() for game in range(hands.shape[-1])}
    assert len(deals) == 3 * 9
    assert len(set(tables.seed())) == 9  # of chance


def test_illegal_actions_are_refused():
    tables = Tables(_members())
    tables.seed(0)
    tables.reset()
    actions = tables.action_masks().argmax(axis=1)
    actions[8] = (~tables.action_masks()[8]).argmax()
    with pytest.raises(IllegalActionError):
        tables.step(actions)


def test_attributes_and_methods():
    tables = Tables(_members())
    tables.reset()
    assert is_masking_supported(tables)
    masks = tables.action_masks()
    assert (get_action_masks(tables) == masks).all() and masks.dtype == np.bool_
    assert (tables.env_method("action_masks", indices=[2, 19])[1] == masks[19]).all()
    assert tables.get_attr("render_mode", indices=[0, 1]) == [None, None]
    assert tables.env_is_wrapped(Monitor) == [False] * 20
    tables.set_attr("note", 1)
    assert tables.get_attr("note") == [1] * 20
    with pytest.raises(AttributeError, match="no method 'shuffle'"):
        tables.env_method("shuffle")
    tables.close()


def test_maskable_ppo_learns_from_it():
    env = VecMonitor(Tables(_members()))
    options: dict[str, Any] = {"policy_kwargs": network(env.rules, width=16, card_width=8)}
    model = MaskablePPO(CardPolicy, env, n_steps=12, batch_size=80, n_epochs=1, seed=1, **options)
    before = [weight.clone() for weight in model.policy.parameters()]
    model.learn(2 * 12 * env.num_envs)
    assert model.num_timesteps == 2 * 12 * env.num_envs
    assert any((w != old).any() for w, old in zip(model.policy.parameters(), before, strict=True))
    assert model.ep_info_buffer  # rounds have ended, and were noted
    masks = get_action_masks(env)
    actions, _ = model.predict(env.reset(), action_masks=masks)
    assert masks[np.arange(env.num_envs), actions].all()


@pytest.mark.parametrize(
    ("changes", "games"),
    [
        ({"seats": 16}, [4]),
        ({"seats": 48, "players": (2, 4, 3), "row_choice": "both"}, [4, 4, 2, 2, 2, 2]),
        ({"seats": 20, "players": (2, 2, 3)}, [3, 3, 2]),
    ],
)
def test_ppo_plays_as_many_games_as_it_says(changes: dict[str, Any], games: list[int]):
    config = PPO.config(**changes)
    env = make_model(config).env
    assert config.env_games == games == [table._batch.num_games for table in env.envs]
    assert [table.rules for table in env.envs] == list(config.games)
    assert config.rollout_steps == config.n_steps * env.num_envs
