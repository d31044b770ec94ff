"""The PettingZoo AEC face where seats play one by one, against the parallel face."""

import warnings

import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, render_test
from pettingzoo.utils.wrappers import BaseWrapper

from sixnimmt_env import make_rules, sixnimmt_v0
from sixnimmt_env.engine import Engine, IllegalActionError
from sixnimmt_env.envs.aec import SixNimmtAECEnv
from sixnimmt_env.envs.options import REWARDS, make_options
from sixnimmt_env.envs.registration import PETTINGZOO_ID, register
from sixnimmt_env.state import OVER
from sixnimmt_env.variants import VARIANTS

from .rounds import random_actions
from .test_parallel import expected

ONE_BY_ONE = [variant for variant in VARIANTS if make_rules(variant).one_by_one]
VARIANT = ONE_BY_ONE[0]
GAMES = [
    {"num_players": 2},
    {"num_players": 4, "episode": "match", "rounds": 3},
    {"num_players": 7},
]


def make(**options):
    return sixnimmt_v0.env(variant=VARIANT, **options)


def episode(env, seed=None):
    """Play to the end; for every step the agent and what `last` says of it, and the action."""
    env.reset(seed=seed)
    rng = np.random.default_rng(0)
    seen = []
    for agent in env.agent_iter():
        observation, reward, over, truncated, info = env.last()
        action = None
        if not over:
            action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
        seen.append((agent, observation, reward, over, truncated, dict(info), action))
        env.step(action)
    return seen


@pytest.mark.parametrize("variant", VARIANTS)
def test_native_and_wrapped(variant):
    env = sixnimmt_v0.env(variant=variant, num_players=3)
    assert isinstance(env.unwrapped, SixNimmtAECEnv)
    assert isinstance(env, BaseWrapper)
    with pytest.raises(AttributeError, match="before reset"):
        _ = env.agent_selection


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_checker_and_render(options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Observation space for each agent probably")
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        api_test(make(**options), num_cycles=100)
    env = make(**options)
    assert env.metadata["is_parallelizable"] is False
    assert str(env) == "sixnimmt_v0"
    env.close()


def test_render(capsys):
    render_test(make)
    env = make(render_mode="ansi")
    env.reset(seed=0)
    parallel = sixnimmt_v0.parallel_env(variant=VARIANT, render_mode="ansi")
    parallel.reset(seed=0)
    assert env.render() == parallel.render()
    env = make(render_mode="human", num_players=2)
    steps = episode(env, seed=0)
    assert capsys.readouterr().out.count("row 1") >= len(steps) - 2
    env = make()
    env.reset()
    with pytest.raises(RuntimeError, match="render_mode='ansi'"):
        env.unwrapped.render()


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_only_who_decides_is_asked(options):
    env = make(**options)
    agents = env.possible_agents
    for seed in range(2):
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        while not any(env.terminations.values()):
            for agent in agents:
                observation = env.observe(agent)
                assert env.observation_space(agent).contains(observation)
                can_play = observation["action_mask"][1:].any()
                assert can_play == (agent == env.agent_selection)
                assert observation["action_mask"][0] != can_play
            assert env.state_space.contains(env.state())
            mask = env.observe(env.agent_selection)["action_mask"]
            env.step(int(rng.choice(np.flatnonzero(mask))))
        assert env.terminations == dict.fromkeys(agents, True)
        assert env.truncations == dict.fromkeys(agents, False)
        assert env.observe(agents[1])["action_mask"].nonzero()[0].tolist() == [0]


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_equals_the_parallel_env(options):
    options = options | {"reward": "relative"}
    env, parallel = make(**options), sixnimmt_v0.parallel_env(variant=VARIANT, **options)
    rng = np.random.default_rng(1)
    for seed in (5, None):
        env.reset(seed=seed)
        observations, infos = parallel.reset(seed=seed)
        rewards = dict.fromkeys(parallel.agents, 0.0)
        while parallel.agents:
            assert data_equivalence({a: env.observe(a) for a in env.agents}, observations)
            assert env.rewards == rewards and env.infos == infos
            assert (env.state() == parallel.state()).all()
            agent = env.agent_selection
            action = int(rng.choice(np.flatnonzero(observations[agent]["action_mask"])))
            observations, rewards, over, _, infos = parallel.step(
                dict.fromkeys(parallel.agents, 0) | {agent: action}
            )
            env.step(action)
            assert env.terminations == over
        assert env.rewards == rewards and env.infos == infos


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_same_seed_same_episodes(options):
    one, two = make(**options), make(**options)
    first = [episode(one, 9), episode(one)]
    assert data_equivalence(first, [episode(two, 9), episode(two)], exact=True)
    assert not data_equivalence(first[0][0][1], first[1][0][1])
    # A reset among the last steps with None is like any other.
    two.reset(seed=9)
    while not any(two.terminations.values()):
        two.step(int(two.observe(two.agent_selection)["action_mask"].argmax()))
    two.step(None)
    assert data_equivalence(episode(two, 9), first[0], exact=True)


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("options", GAMES, ids=str)
def test_rewards_add_up_to_the_score(options, reward):
    env = make(**options, reward=reward)
    for seed in range(3):
        seen = episode(env, seed)
        heads = [0] * env.max_num_agents
        sums = [0.0] * env.max_num_agents
        for agent, _, value, _, _, info, _ in seen:
            seat = env.possible_agents.index(agent)
            sums[seat] += value
            heads[seat] = info["heads"]
        assert sums == pytest.approx(list(expected(reward, heads)))


def test_the_end():
    env = make(num_players=3)
    env.reset(seed=1)
    while not any(env.terminations.values()):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.unwrapped.step(0)
    dead = []
    while env.agents:
        dead.append(env.agent_selection)
        *_, over, truncated, info = env.last()
        assert over and not truncated
        assert info.keys() == {"heads", "turn", "round", "illegal_actions"}
        env.step(None)
    assert sorted(dead) == env.possible_agents
    with pytest.raises(RuntimeError, match="the episode is over"):
        env.unwrapped.step(None)
    fresh = SixNimmtAECEnv(make_options(variant=VARIANT))
    with pytest.raises(RuntimeError, match=r"call reset\(\) before step"):
        fresh.step(1)
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        fresh.observe("player_0")


@pytest.mark.parametrize("mode", ["raise", "lowest", "penalty"])
def test_illegal_action(mode):
    env = make(num_players=3, illegal_action=mode, illegal_penalty=2.5)
    env.reset(seed=3)
    agent, before = env.agent_selection, env.state()
    legal = np.flatnonzero(env.observe(agent)["action_mask"]).tolist()
    if mode == "raise":
        message = rf"{agent} .*legal actions are \[{legal[0]}, "
        for action in (0, 105, next(c for c in range(1, 105) if c not in legal)):
            with pytest.raises(IllegalActionError, match=message):
                env.step(action)
            assert env.agent_selection == agent
            assert (env.state() == before).all()
        env.step(legal[0])
        return
    env.step(0)
    other = make(num_players=3)
    other.reset(seed=3)
    other.step(legal[0])
    assert (env.state() == other.state()).all()
    penalty = 2.5 if mode == "penalty" else 0
    assert env.rewards == other.rewards | {agent: other.rewards[agent] - penalty}
    assert {a: info["illegal_actions"] for a, info in env.infos.items()} == dict.fromkeys(
        env.agents, 0
    ) | {agent: 1}
    env.reset()
    assert env.infos[agent]["illegal_actions"] == 0


@pytest.mark.parametrize("odd", [True, 1.5, "5", None, [3], np.array([3])])
def test_an_odd_action_is_named(odd):
    env = make(num_players=3)
    env.reset(seed=1)
    agent, before = env.agent_selection, env.state()
    with pytest.raises((TypeError, ValueError), match=rf"{agent} is .*(integers|single numbers)"):
        env.unwrapped.step(odd)
    with pytest.raises(IllegalActionError, match=agent):
        env.unwrapped.step(1000)
    with pytest.raises(AssertionError, match="not in action space"):
        env.step(1000)
    assert (env.state() == before).all()


@pytest.mark.parametrize("players", [2, 4, 7])
def test_who_starts_a_round(players):
    """Most heads so far, on a tie the lowest seat; the agents' order follows it."""
    env = make(num_players=players, episode="match", rounds=4)
    agents = env.possible_agents
    starts, round_ = 0, 0
    env.reset(seed=3)
    for agent in env.agent_iter():
        observation, _, over, _, info = env.last()
        if not over and info["round"] > round_:
            heads = [env.infos[a]["heads"] for a in agents]
            assert agent == agents[heads.index(max(heads))]
            round_ = info["round"]
            starts += 1
        env.step(None if over else int(observation["action_mask"].argmax()))
    assert starts == 3


def test_a_tie_is_started_by_the_lowest_seat():
    rules = make_rules(VARIANT, 2, episode="match", rounds=2)
    engine, rng = Engine(rules), np.random.default_rng(0)
    state = engine.reset(0, 1500)
    drawn = np.bincount(state.first_seat)
    assert drawn.min() > 600
    while (state.round == 0).all():
        engine.step(state, random_actions(state, rng))
    totals = state.totals()
    tied = totals[0] == totals[1]
    assert tied.sum() > 10
    assert (state.first_seat == totals.argmax(axis=0)).all()
    assert not state.first_seat[tied].any()
    assert (state.phase != OVER).all()


def test_registry():
    register()
    if not hasattr(pettingzoo, "make"):
        pytest.skip("this PettingZoo has no registry")
    env = pettingzoo.make("aec", PETTINGZOO_ID, variant=VARIANT, num_players=3)
    assert isinstance(env.unwrapped, SixNimmtAECEnv)
    assert len(episode(env, 0)) == 3 * 12 + 3
