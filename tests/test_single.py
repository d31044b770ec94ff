"""The Gymnasium face: one learner among policies."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import sixnimmt_env
from sixnimmt_env import make_rules, play, sixnimmt_v0
from sixnimmt_env.engine import IllegalActionError
from sixnimmt_env.envs.options import REWARDS
from sixnimmt_env.envs.single import SixNimmtEnv
from sixnimmt_env.policy import ClosestGapPolicy, LowestPolicy

from .test_parallel import GAMES, expected


def lowest_legal(observation):
    return int(observation["action_mask"].argmax())


def episode(env, seed=None):
    """Play the lowest legal action; rewards, last info."""
    observation, info = env.reset(seed=seed)
    rewards, over = [], False
    while not over:
        assert env.observation_space.contains(observation)
        observation, reward, over, truncated, info = env.step(lowest_legal(observation))
        assert not truncated
        rewards.append(reward)
    return rewards, info


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_checker(options):
    # The checker samples without masks.
    env = gymnasium.make("sixnimmt_env:SixNimmt-v0", illegal_action="lowest", **options)
    check_env(env.unwrapped, skip_render_check=True)


def test_render():
    env = SixNimmtEnv(render_mode="ansi")
    env.reset(seed=0)
    assert isinstance(env.render(), str)
    with pytest.raises(RuntimeError, match="render_mode='ansi'"):
        SixNimmtEnv().render()


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("options", GAMES, ids=str)
def test_rewards_add_up_to_the_score(options, reward):
    env = SixNimmtEnv("highest", seat="random", reward=reward, **options)
    for seed in range(4):
        rewards, info = episode(env, seed)
        heads = env.game.totals()[:, 0].tolist()
        assert info["heads"] == heads[env.seat]
        assert sum(rewards) == pytest.approx(list(expected(reward, heads))[env.seat])


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_opponents_play_the_same_round_as_in_play(options):
    players = options["num_players"]
    result = play(
        ["lowest"] + ["closest_gap"] * (players - 1), make_rules(**options), games=3, seed=4
    )
    env = SixNimmtEnv("closest_gap", **options)
    for game in range(3):
        observation, _ = env.reset(seed=4 if game == 0 else None)
        over = False
        policy = LowestPolicy()
        while not over:
            seen = sixnimmt_env.observe(env.rules, env.game, 0)
            action = int(policy.act(seen, env.np_random)[0])
            assert observation["action_mask"][action]
            observation, _, over, _, _ = env.step(action)
        assert env.game.totals()[:, 0].tolist() == result.heads[game].tolist()


def test_opponents_sit_clockwise_from_the_learner():
    class Remember(LowestPolicy):
        def __init__(self):
            self.hands = []

        def act(self, observation, rng):
            self.hands.append(observation.hand[0].tolist())
            return super().act(observation, rng)

    policies = [Remember() for _ in range(3)]
    env = SixNimmtEnv(policies, seat=2)
    observation, _ = env.reset(seed=9)
    hands = env.game.hand[:, :, 0].tolist()
    env.step(lowest_legal(observation))
    assert [policy.hands[0] for policy in policies] == [hands[3], hands[0], hands[1]]


def test_same_deal_as_the_other_faces():
    env = SixNimmtEnv()
    parallel = sixnimmt_v0.parallel_env()
    for seed in (11, None, None):
        observation, _ = env.reset(seed=seed)
        observations, _ = parallel.reset(seed=seed)
        for key, value in observation.items():
            assert (value == observations["player_0"][key]).all()


def test_random_seat_depends_on_the_seed_alone_and_reaches_all():
    env = SixNimmtEnv("lowest", seat="random")
    seats = []
    for seed in range(40):
        env.reset(seed=seed)
        seats.append(env.seat)
        assert (env.game.hand[env.seat, :, 0] != 0).all()
    assert set(seats) == {0, 1, 2, 3}
    env.reset(seed=7)
    assert env.seat == seats[7]
    drawn = set()
    for _ in range(20):
        env.reset()
        drawn.add(env.seat)
    assert len(drawn) > 1


@pytest.mark.parametrize("mode", ["lowest", "penalty"])
def test_illegal_action_is_replaced(mode):
    plain = SixNimmtEnv(ClosestGapPolicy())
    env = SixNimmtEnv("closest_gap", illegal_action=mode, illegal_penalty=3.0)
    observation, _ = plain.reset(seed=1)
    env.reset(seed=1)
    seen, reward, *_ = plain.step(lowest_legal(observation))
    same, punished, *_, info = env.step(0)
    assert (seen["observation"] == same["observation"]).all()
    assert punished == reward - (3.0 if mode == "penalty" else 0)
    assert info["illegal_actions"] == 1
    assert env.step(-5)[-1]["illegal_actions"] == 2


def test_bad_actions():
    env = SixNimmtEnv("lowest")
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        env.step(1)
    env.reset(seed=1)
    before = env.game.hand.copy()
    with pytest.raises(IllegalActionError, match=r"player_0.*legal actions"):
        env.step(0)
    with pytest.raises(TypeError, match="integers 0 to 108"):
        env.step(np.float32("nan"))
    with pytest.raises(ValueError, match="one per env"):
        env.step([1, 2])
    assert (env.game.hand == before).all()
    episode(env)
    with pytest.raises(IllegalActionError, match="is over"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opponents": ["lowest"] * 4}, "opponents has 4 policies for 3 seats"),
        ({"opponents": "genius"}, "'genius' is not known"),
        ({"opponents": 3}, "no act"),
        ({"seat": 4}, "numbers from 0 to 3"),
        ({"seat": "first"}, "'first' is not known"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError, match=message):
        SixNimmtEnv(**options)
