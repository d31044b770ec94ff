"""The Gymnasium vector face against the single env, in all autoreset modes."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from sixnimmt_env.engine import IllegalActionError
from sixnimmt_env.envs.options import REWARDS
from sixnimmt_env.envs.single import SixNimmtEnv
from sixnimmt_env.envs.vector import SixNimmtVectorEnv

from .test_parallel import GAMES, expected

N = 5


def lowest_legal(envs):
    return envs.action_masks().argmax(axis=1)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("seat", [0, "random"])
@pytest.mark.parametrize("options", GAMES, ids=str)
def test_equals_single_envs(options, seat, mode):
    options = options | {"opponents": "closest_gap", "seat": seat, "illegal_action": "lowest"}
    envs = SixNimmtVectorEnv(N, autoreset_mode=mode, **options)
    single = SyncVectorEnv([lambda: SixNimmtEnv(**options)] * N, autoreset_mode=mode)
    assert envs.single_observation_space == single.single_observation_space
    assert envs.action_space == single.action_space
    rng = np.random.default_rng(0)
    assert data_equivalence(envs.reset(seed=3), single.reset(seed=3), exact=True)
    ended = 0
    for _ in range(60):
        # Mostly legal actions, some that are not.
        actions = np.where(rng.random(N) < 0.8, lowest_legal(envs), rng.integers(0, 109, N))
        got, want = envs.step(actions), single.step(actions)
        assert data_equivalence(got, want, exact=True)
        ended += got[2].sum()
        if mode == AutoresetMode.DISABLED and got[2].any():
            again = [e.reset(options={"reset_mask": got[2].copy()}) for e in (envs, single)]
            assert data_equivalence(again[0][0], again[1][0], exact=True)
    assert ended


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_add_up_to_the_score(mode, reward):
    envs = SixNimmtVectorEnv(
        12, self_play=True, reward=reward, autoreset_mode=mode, observation="flat"
    )
    envs.reset(seed=1)
    rng = np.random.default_rng(2)
    sums = np.zeros(12)
    for _ in range(70):
        masks = envs.action_masks()
        _, rewards, over, _, infos = envs.step((rng.random(masks.shape) * masks).argmax(axis=1))
        sums += rewards
        heads = infos.get("final_info", infos)["heads"].reshape(4, 3)
        for game in np.flatnonzero(over[:3]):
            want = list(expected(reward, heads[:, game].tolist()))
            assert sums[game::3] == pytest.approx(want)
        sums[over] = 0
        if mode == AutoresetMode.DISABLED and over.any():
            envs.reset(options={"reset_mask": over})


def test_same_games_at_any_batch_size():
    seven = SixNimmtVectorEnv(7, "closest_gap", observation="flat")
    ones = [SixNimmtVectorEnv(1, "closest_gap", observation="flat") for _ in range(7)]
    seen = [seven.reset(seed=20)[0]]
    alone = [[env.reset(seed=20 + i)[0][0] for i, env in enumerate(ones)]]
    for _ in range(30):
        seen.append(seven.step(lowest_legal(seven))[0])
        alone.append([env.step(lowest_legal(env))[0][0] for env in ones])
    assert (np.array(seen) == np.array(alone)).all()


def test_make_vec():
    envs = gymnasium.make_vec(
        "sixnimmt_env:SixNimmt-v0",
        num_envs=3,
        vectorization_mode="vector_entry_point",
        observation="flat",
        autoreset_mode="SameStep",
    )
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    observation, _ = envs.reset(seed=0)
    assert envs.observation_space.contains(observation)


def test_observations_are_new():
    envs = SixNimmtVectorEnv(3, autoreset_mode="SameStep")
    seen = [envs.reset(seed=0)[0]]
    kept = [{key: value.copy() for key, value in seen[0].items()}]
    for _ in range(25):
        seen.append(envs.step(lowest_legal(envs))[0])
        kept.append({key: value.copy() for key, value in seen[-1].items()})
    assert data_equivalence(seen, kept, exact=True)


def test_seeds():
    envs = SixNimmtVectorEnv(3, "lowest")
    by_number = envs.reset(seed=4)[0]
    following = envs.reset()[0]
    assert data_equivalence(envs.reset(seed=[4, 5, 6])[0], by_number, exact=True)
    assert data_equivalence(envs.reset()[0], following, exact=True)
    envs.reset(seed=4)
    mixed = envs.reset(seed=[None, 5, None])[0]["observation"]
    assert (mixed[[0, 2]] == following["observation"][[0, 2]]).all()
    assert (mixed[1] == by_number["observation"][1]).all()
    with pytest.raises(ValueError, match="2 seeds for 3 games"):
        envs.reset(seed=[1, 2])


def test_self_play_sits_seat_by_seat():
    envs = SixNimmtVectorEnv(6, self_play=True, num_players=3)
    single = SixNimmtVectorEnv(2, seat=1, num_players=3)
    seen, alone = envs.reset(seed=8)[0], single.reset(seed=8)[0]
    for key, value in alone.items():
        assert (seen[key][2:4] == value).all()


def test_bad_calls():
    envs = SixNimmtVectorEnv(6, self_play=True, num_players=3, autoreset_mode="Disabled")
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        envs.step(np.zeros(6, int))
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="some seats of a game only"):
        envs.reset(options={"reset_mask": np.array([True] + [False] * 5)})
    with pytest.raises(ValueError, match="at least one True"):
        envs.reset(options={"reset_mask": np.zeros(6, bool)})
    with pytest.raises(ValueError, match="has shape"):
        envs.reset(options={"reset_mask": np.ones(5, bool)})
    with pytest.raises(TypeError, match="numpy array of bool"):
        envs.reset(options={"reset_mask": [True] * 6})
    with pytest.raises(IllegalActionError, match="player_0 in game 0"):
        envs.step(np.zeros(6, int))
    with pytest.raises(ValueError, match="one per env"):
        envs.step(np.zeros((6, 1), int))
    with pytest.raises(TypeError, match="dtype float64"):
        envs.step(np.full(6, np.nan))
    over = np.zeros(6, bool)
    while not over.any():
        _, _, over, _, _ = envs.step(lowest_legal(envs))
    # Games that are over wait, the others go on.
    _, rewards, still, _, _ = envs.step(lowest_legal(envs))
    assert still[over].all() and not rewards[over].any()


def test_games_that_are_over_wait_while_others_go_on():
    envs = SixNimmtVectorEnv(
        num_envs=8, variant="plus", num_players=2, autoreset_mode=AutoresetMode.DISABLED
    )
    envs.reset(seed=1)
    rng, ended = np.random.default_rng(0), np.zeros(8, bool)
    lengths = np.zeros(8, int)
    for _ in range(100):
        masks = envs.action_masks()
        actions = (rng.random(masks.shape) * masks).argmax(axis=1)
        _, rewards, over, _, _ = envs.step(actions)
        assert (over >= ended).all() and not rewards[ended].any()
        ended = over
        lengths += ~over
    assert ended.all() and len(set(lengths.tolist())) > 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_envs": 5, "self_play": True}, "num_envs=5"),
        ({"num_envs": 0}, "at least 1"),
        ({"observation": "image"}, "observation='image'"),
        ({"autoreset_mode": "never"}, "never"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(ValueError, match=message):
        SixNimmtVectorEnv(**options)


@pytest.mark.parametrize("odd", [0, -1, 1.5, "4"])
def test_num_envs_is_a_whole_number(odd):
    with pytest.raises(ValueError, match="num_envs="):
        SixNimmtVectorEnv(odd)


@pytest.mark.parametrize("odd", ["a", 1.5])
def test_odd_seeds_are_named(odd):
    with pytest.raises(ValueError, match="seed="):
        SixNimmtVectorEnv(2).reset(seed=odd)
