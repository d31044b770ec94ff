"""The PettingZoo face: its checkers, seeds, rewards, illegal actions and the registry."""

import warnings
from collections import Counter

import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test

from sixnimmt_env import make_rules, sixnimmt_v0
from sixnimmt_env.engine import Engine, IllegalActionError
from sixnimmt_env.envs.options import ILLEGAL_ACTIONS, REWARDS
from sixnimmt_env.envs.registration import PETTINGZOO_ID, register

GAMES = [
    {"num_players": 2},
    {"num_players": 4, "row_choice": "fewest_heads"},
    {"num_players": 10},
    {"num_players": 3, "variant": "tactics", "episode": "match", "rounds": 2},
    {"num_players": 6, "variant": "pro"},
    {
        "num_players": 2,
        "variant": "pro",
        "row_choice": "fewest_heads",
        "episode": "match",
        "target": 12,
    },
]


def legal(env, observations):
    return {
        agent: env.action_space(agent).sample(observations[agent]["action_mask"])
        for agent in env.agents
    }


def episode(env, seed=None, space_seed=0):
    """Play one episode; all that was seen, step by step."""
    seen = [env.reset(seed=seed)]
    for i, agent in enumerate(env.agents):
        env.action_space(agent).seed(space_seed + i)
    while env.agents:
        seen.append(env.step(legal(env, seen[-1][0])))
    return seen


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_pettingzoo_checkers(options):
    with warnings.catch_warnings():
        # PettingZoo wants Box observations of the envs that it does not know by name.
        warnings.filterwarnings("ignore", "Observation space for each agent probably")
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        parallel_api_test(sixnimmt_v0.parallel_env(**options), num_cycles=100)
        api_test(sixnimmt_v0.env(**options), num_cycles=20)
    # This checker samples without masks.
    parallel_seed_test(lambda: sixnimmt_v0.parallel_env(**options, illegal_action="lowest"))


def test_render():
    render_test(sixnimmt_v0.env)
    with pytest.raises(RuntimeError, match="render_mode='ansi'"):
        sixnimmt_v0.parallel_env().render()


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_same_seed_same_episodes_to_the_end(options):
    one, two = (sixnimmt_v0.parallel_env(**options) for _ in range(2))
    first = [episode(one, seed=7), episode(one)]
    second = [episode(two, seed=7), episode(two)]
    assert data_equivalence(first, second, exact=True)
    assert not data_equivalence(first[0][0], first[1][0])
    assert first[0][-1][2] == dict.fromkeys(one.possible_agents, True)


def test_reset_goes_through_the_games_of_a_seed():
    env = sixnimmt_v0.parallel_env()
    games = Engine(env.rules).reset(seed=5, games=3)
    env.reset(seed=5)
    for game in range(3):
        held = np.flatnonzero(env.state()[-420:-4].reshape(4, 104)[2]) + 1
        assert held.tolist() == games.hand[2, :, game].tolist()
        env.reset()


def test_observations_are_new_and_in_their_space():
    env = sixnimmt_v0.parallel_env(variant="pro", num_players=3)
    seen = episode(env, seed=1)
    kept = [{a: {k: v.copy() for k, v in o.items()} for a, o in s[0].items()} for s in seen]
    episode(env)
    assert data_equivalence([s[0] for s in seen], kept, exact=True)
    for observations, *_ in seen:
        for agent, observation in observations.items():
            assert env.observation_space(agent).contains(observation)
            assert env.observation_space(agent) is env.observation_space(agent)
    assert env.state_space.contains(env.state())


def test_infos_have_the_same_numbers_from_the_start():
    for *_, infos in episode(sixnimmt_v0.parallel_env(), seed=2):
        for info in infos.values():
            assert {k: type(v) for k, v in info.items()} == dict.fromkeys(
                ("heads", "turn", "round", "illegal_actions"), int
            )


def expected(reward, heads):
    """What the rewards of an episode add up to, for one seat after the other."""
    others = [[h for j, h in enumerate(heads) if j != i] for i in range(len(heads))]
    counts = Counter(heads)
    for own, rest in zip(heads, others, strict=True):
        if reward == "heads":
            yield -own
        elif reward == "relative":
            yield sum(rest) / len(rest) - own
        elif reward == "win":
            yield 1 / counts[own] if own == min(heads) else 0
        else:
            better, worse = sum(h < own for h in rest), sum(h > own for h in rest)
            yield (worse - better) / len(rest)


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("options", GAMES, ids=str)
def test_rewards_add_up_to_the_score(options, reward):
    env = sixnimmt_v0.parallel_env(**options, reward=reward)
    for seed in range(4):
        seen = episode(env, seed=seed)
        sums = [sum(step[1][agent] for step in seen[1:]) for agent in env.possible_agents]
        heads = [seen[-1][-1][agent]["heads"] for agent in env.possible_agents]
        assert sums == pytest.approx(list(expected(reward, heads)))
        assert all(type(value) is float for step in seen[1:] for value in step[1].values())


@pytest.mark.parametrize("mode", ILLEGAL_ACTIONS)
def test_illegal_action(mode):
    env = sixnimmt_v0.parallel_env(illegal_action=mode, illegal_penalty=2.5)
    observations, _ = env.reset(seed=3)
    before = env.state()
    actions = legal(env, observations)
    lowest = int(observations["player_1"]["action_mask"].argmax())
    actions["player_1"] = 0
    if mode == "raise":
        with pytest.raises(IllegalActionError, match=r"player_1 .*legal actions.*MaskablePPO"):
            env.step(actions)
        assert (env.state() == before).all()
        return
    _, rewards, _, _, infos = env.step(actions)
    legal_env = sixnimmt_v0.parallel_env()
    legal_env.reset(seed=3)
    _, plain, *_ = legal_env.step(actions | {"player_1": lowest})
    penalty = 2.5 if mode == "penalty" else 0
    assert rewards == plain | {"player_1": plain["player_1"] - penalty}
    assert [info["illegal_actions"] for info in infos.values()] == [0, 1, 0, 0]
    _, infos = env.reset()
    assert infos["player_1"]["illegal_actions"] == 0


def test_bad_actions():
    env = sixnimmt_v0.parallel_env()
    with pytest.raises(RuntimeError, match=r"call reset\(\) before step"):
        env.step({})
    observations, _ = env.reset(seed=0)
    actions = legal(env, observations)
    before = env.state()
    with pytest.raises(ValueError, match="no action for player_3"):
        env.step({agent: a for agent, a in actions.items() if agent != "player_3"})
    with pytest.raises(ValueError, match="unknown agents"):
        env.step(actions | {"player_9": 0})
    with pytest.raises(TypeError, match="integers 0 to 108"):
        env.step(actions | {"player_0": np.nan})
    with pytest.raises(ValueError, match="single numbers"):
        env.step({agent: [action] for agent, action in actions.items()})
    with pytest.raises(IllegalActionError, match="player_0"):
        env.step(actions | {"player_0": 1000})
    assert (env.state() == before).all()
    episode(env)
    with pytest.raises(RuntimeError, match="the episode is over"):
        env.step(actions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 11}, "num_players=11"),
        ({"variant": "poker"}, "variant='poker'"),
        ({"reward": "money"}, "reward='money'"),
        ({"illegal_action": "ignore"}, "illegal_action='ignore'"),
        ({"illegal_penalty": -1.0}, "illegal_penalty=-1.0"),
        ({"target": 66}, "target=66"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError, match=message):
        sixnimmt_v0.parallel_env(**options)


def test_others_pass_while_one_takes_a_row():
    env = sixnimmt_v0.parallel_env()
    taking = 0
    for seed in range(5):
        for observations, *_ in episode(env, seed=seed)[:-1]:
            masks = np.array([o["action_mask"] for o in observations.values()])
            if masks[:, 105:].any():
                taking += 1
                assert masks[:, 105:].all(axis=1).sum() == 1
                assert masks[:, 0].sum() == 3
            else:
                assert not masks[:, 0].any()
    assert taking


def test_registry():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register()
    if not hasattr(pettingzoo, "make"):
        pytest.skip("this PettingZoo has no registry")
    env = pettingzoo.make("parallel", PETTINGZOO_ID, num_players=3)
    assert env.max_num_agents == 3
    aec = pettingzoo.make("aec", PETTINGZOO_ID, num_players=3)
    aec.reset(seed=0)
    assert aec.num_agents == 3
    assert make_rules(num_players=3) == env.rules


@pytest.mark.parametrize("odd", [True, 1.5, float("nan"), "5", None])
def test_an_odd_action_is_named(odd):
    env = sixnimmt_v0.parallel_env(num_players=3)
    env.reset(seed=1)
    actions = dict.fromkeys(env.agents, 1) | {"player_1": odd}
    with pytest.raises(TypeError, match=r"player_1 is .*integers"):
        env.step(actions)


@pytest.mark.parametrize("odd", [[3], np.array([3]), [3, 4]])
def test_an_action_is_a_single_number(odd):
    env = sixnimmt_v0.parallel_env(num_players=3)
    env.reset(seed=1)
    actions = dict.fromkeys(env.agents, 1) | {"player_1": odd}
    with pytest.raises(ValueError, match=r"player_1 is .*single numbers"):
        env.step(actions)


@pytest.mark.parametrize("odd", [None, [1, 2, 3]])
def test_actions_are_a_dict(odd):
    env = sixnimmt_v0.parallel_env(num_players=3)
    env.reset(seed=1)
    with pytest.raises(TypeError, match="a dict of agent to action number"):
        env.step(odd)
