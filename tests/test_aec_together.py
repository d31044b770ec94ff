"""The PettingZoo AEC face in all games, against the parallel face: who is asked, what it gets."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.wrappers import TerminateIllegalWrapper

from sixnimmt_env import Rules, sixnimmt_v0
from sixnimmt_env.engine import IllegalActionError
from sixnimmt_env.variants import VARIANTS

GAMES: list[dict[str, Any]] = [{"variant": variant, "num_players": 3} for variant in VARIANTS] + [
    {"num_players": 10, "row_choice": "fewest_heads"},
    {"num_players": 2, "variant": "pro", "episode": "match", "rounds": 2},
    {"rules": Rules(2, num_cards=8, hand_size=2)},
    {"rules": Rules(2, num_cards=104, hand_size=2, low_card="append", one_by_one=True)},
]
all_games = pytest.mark.parametrize("options", GAMES, ids=str)


def choose(rng: np.random.Generator, mask: np.ndarray) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


@pytest.mark.parametrize("observation", ["dict", "flat"])
@all_games
def test_checkers(options: dict[str, Any], observation: str) -> None:
    options = options | {"observation": observation}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Observation space for each agent probably")
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        api_test(sixnimmt_v0.env(**options), num_cycles=40)
        api_test(sixnimmt_v0.env(**options, max_cycles=2), num_cycles=20)
    seed_test(lambda: sixnimmt_v0.env(**options), num_cycles=20)


@all_games
def test_equals_the_parallel_env(options: dict[str, Any]) -> None:
    """Step for step: who decides is asked in order, sees the same and is given the same."""
    options = options | {"reward": "relative"}
    env, parallel = sixnimmt_v0.env(**options), sixnimmt_v0.parallel_env(**options)
    rng = np.random.default_rng(1)
    for seed in (5, None):
        env.reset(seed=seed)
        observations, infos = parallel.reset(seed=seed)
        owed = dict.fromkeys(parallel.agents, 0.0)
        while parallel.agents:
            deciding = [a for a, o in observations.items() if o["action_mask"][1:].any()]
            actions = dict.fromkeys(parallel.agents, 0)
            state = env.state()
            assert (state == parallel.state()).all()
            for agent in deciding:
                assert env.agent_selection == agent
                # Nobody can see what those before it have chosen.
                assert data_equivalence({a: env.observe(a) for a in env.agents}, observations)
                assert (env.state() == state).all() and env.infos == infos
                _, reward, over, truncated, _ = env.last()
                assert reward == pytest.approx(owed[agent]) and not over and not truncated
                owed[agent] = 0.0
                actions[agent] = choose(rng, observations[agent]["action_mask"])
                env.step(actions[agent])
                if agent != deciding[-1]:
                    assert env.rewards == dict.fromkeys(env.agents, 0.0)
            observations, rewards, terminations, _, infos = parallel.step(actions)
            owed = {agent: owed[agent] + reward for agent, reward in rewards.items()}
            assert env.rewards == rewards and env.terminations == terminations
        # At the end every agent is asked once more, and is given all that it has not yet got.
        for agent in env.agent_iter():
            observation, reward, over, truncated, info = env.last()
            assert over and not truncated and info == infos[agent]
            assert data_equivalence(observation, observations[agent])
            assert reward == pytest.approx(owed.pop(agent))
            env.step(None)
        assert not owed


@pytest.mark.parametrize("observation", ["dict", "flat"])
@all_games
def test_illegal_actions_end_the_game_with_their_wrapper(
    options: dict[str, Any], observation: str
) -> None:
    plain = sixnimmt_v0.env(**options, observation=observation, illegal_action="raise")
    env = TerminateIllegalWrapper(plain, illegal_reward=-7)
    for seed in range(3):
        env.reset(seed=seed)
        for _ in range(seed):
            env.step(int(np.flatnonzero(env.action_mask(env.agent_selection))[0]))
        culprit = env.agent_selection
        env.observe(culprit)
        env.step(int(np.flatnonzero(env.action_mask(culprit) == 0)[-1]))
        given = {}
        for agent in env.agent_iter():
            _, given[agent], over, truncated, _ = env.last()
            assert over and truncated
            env.step(None)
        assert given.keys() == set(env.possible_agents)
        assert given[culprit] == -7
    env.reset(seed=0)
    assert not any(env.terminations.values())


def test_an_illegal_action_is_refused_when_it_is_made() -> None:
    env = sixnimmt_v0.env(num_players=3)
    env.reset(seed=1)
    other = sixnimmt_v0.env(num_players=3)
    other.reset(seed=1)
    before = env.state()
    for agent in env.possible_agents:
        for action in (0, 108, 1000, 10**30):
            with pytest.raises((IllegalActionError, TypeError), match=agent):
                env.unwrapped.step(action)
            assert env.agent_selection == agent and (env.state() == before).all()
        action = int(env.observe(agent)["action_mask"].argmax())
        env.step(action)
        other.step(action)
    assert (env.state() == other.state()).all()


@pytest.mark.parametrize("mode", ["lowest", "penalty"])
def test_an_illegal_action_is_replaced_when_all_have_answered(mode: str) -> None:
    env = sixnimmt_v0.env(num_players=3, illegal_action=mode, illegal_penalty=50)
    env.reset(seed=1)
    lowest = {a: int(env.observe(a)["action_mask"].argmax()) for a in env.agents}
    for action in (0, lowest["player_1"], 108):
        assert not any(info["illegal_actions"] for info in env.infos.values())
        env.step(action)
    assert [info["illegal_actions"] for info in env.infos.values()] == [1, 0, 1]
    plain = sixnimmt_v0.env(num_players=3)
    plain.reset(seed=1)
    for action in lowest.values():
        plain.step(action)
    fine = 50 if mode == "penalty" else 0
    want = {a: r - fine * (a != "player_1") for a, r in plain.rewards.items()}
    assert env.rewards == want and (env.state() == plain.state()).all()


@pytest.mark.parametrize("cycles", [1, 4, 30])
@all_games
def test_episodes_are_cut_off_at_the_same_state(options: dict[str, Any], cycles: int) -> None:
    options = options | {"max_cycles": np.int64(cycles)}
    env, parallel = sixnimmt_v0.env(**options), sixnimmt_v0.parallel_env(**options)
    free = sixnimmt_v0.parallel_env(**{n: v for n, v in options.items() if n != "max_cycles"})
    for seed in (3, None):  # the count begins anew with every episode
        env.reset(seed=seed)
        observations, _ = parallel.reset(seed=seed)
        free.reset(seed=seed)
        steps = 0
        while parallel.agents:
            deciding = [a for a, o in observations.items() if o["action_mask"][1:].any()]
            actions = {a: int(o["action_mask"].argmax()) for a, o in observations.items()}
            observations, rewards, over, cut_off, _ = parallel.step(actions)
            _, free_rewards, free_over, never, _ = free.step(actions)
            assert rewards == free_rewards and over == free_over and not any(never.values())
            steps += 1
            assert cut_off == dict.fromkeys(parallel.possible_agents, steps == cycles)
            for agent in deciding:
                env.step(actions[agent])
        assert steps == cycles or any(over.values())
        assert env.truncations == cut_off and env.terminations == over
        assert (env.state() == parallel.state()).all()
        with pytest.raises(RuntimeError, match="the episode is over"):
            parallel.step(actions)
        asked = []
        for agent in env.agent_iter():
            asked.append(agent)
            env.step(None)
        assert sorted(asked) == sorted(env.possible_agents)


@all_games
def test_flat_observations_have_their_masks_in_infos(options: dict[str, Any]) -> None:
    flat = {"observation": "flat", **options}
    plain, parallel = sixnimmt_v0.parallel_env(**options), sixnimmt_v0.parallel_env(**flat)
    env = sixnimmt_v0.env(**flat)
    want, _ = plain.reset(seed=2)
    got, infos = parallel.reset(seed=2)
    env.reset(seed=2)
    while plain.agents:
        for agent, seen in want.items():
            assert parallel.observation_space(agent).contains(got[agent])
            assert (got[agent] == seen["observation"]).all()
            assert (env.observe(agent) == seen["observation"]).all()
            for mask in (infos[agent]["action_mask"], env.infos[agent]["action_mask"]):
                assert (mask == seen["action_mask"]).all() and mask.dtype == np.int8
            for each in (plain, parallel, env):
                assert (each.action_mask(agent) == seen["action_mask"]).all()
        actions = {a: int(o["action_mask"].argmax()) for a, o in want.items()}
        for agent in [a for a, o in want.items() if o["action_mask"][1:].any()]:
            env.step(actions[agent])
        want, *_ = plain.step(actions)
        got, _, _, _, infos = parallel.step(actions)


@pytest.mark.parametrize("observation", ["dict", "flat"])
@pytest.mark.parametrize("make", [sixnimmt_v0.parallel_env, sixnimmt_v0.env])
def test_spaces_and_rules_as_attributes(make: Any, observation: str) -> None:
    env = make(num_players=3, observation=observation)
    assert env.rules == env.unwrapped.rules and env.rules.num_players == 3
    assert list(env.observation_spaces) == list(env.action_spaces) == env.possible_agents
    for agent in env.possible_agents:
        assert env.observation_spaces[agent] is env.observation_space(agent)
        assert env.action_spaces[agent] is env.action_space(agent)
    env.reset(seed=0)


@pytest.mark.parametrize("observation", ["dict", "flat"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_no_array_leads_to_those_of_others(variant: str, observation: str) -> None:
    def arrays(seen: Any, info: dict[str, Any]) -> list[np.ndarray]:
        found = [*seen.values()] if isinstance(seen, dict) else [seen]
        return found + [v for v in info.values() if isinstance(v, np.ndarray)]

    options: dict[str, Any] = {"variant": variant, "num_players": 3, "observation": observation}
    env = sixnimmt_v0.env(**options)
    env.reset(seed=0)
    given = [arrays(env.observe(a), env.infos[a]) for a in env.agents]
    observations, infos = sixnimmt_v0.parallel_env(**options).reset(seed=0)
    given += [arrays(observations[a], infos[a]) for a in infos]
    for mine in given:
        assert len(mine) == 2
        assert all(array.base is None for array in mine)
