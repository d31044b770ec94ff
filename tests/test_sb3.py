"""The Stable-Baselines3 face: spaces, infos, wrappers, rewards and a short training run."""

# ruff: noqa: E402  (the imports follow the skip)

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
sb3_contrib = pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from sixnimmt_env.engine import IllegalActionError
from sixnimmt_env.envs.options import REWARDS
from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from sixnimmt_env.envs.single import SixNimmtEnv
from sixnimmt_env.envs.vector import SixNimmtVectorEnv

from .test_parallel import expected


def lowest_legal(env):
    return get_action_masks(env).argmax(axis=1)


def test_single_env_passes_the_checker():
    check_env(SixNimmtEnv(illegal_action="lowest"))


def test_spaces_masks_and_attributes():
    env = SixNimmtVecEnv(3, num_players=4)
    assert env.num_envs == 12
    observation = env.reset()
    assert observation.dtype == np.float32
    assert observation.shape == (12, *env.observation_space.shape)
    assert is_masking_supported(env)
    masks = env.action_masks()
    assert masks.shape == (12, 109) and masks.dtype == np.bool_
    assert (get_action_masks(env) == masks).all()
    assert (env.env_method("action_masks", indices=[2, 5])[1] == masks[5]).all()
    assert env.get_attr("render_mode", indices=[0, 1]) == [None, None]
    assert env.env_is_wrapped(Monitor) == [False] * 12
    env.set_attr("note", 1)
    assert env.get_attr("note") == [1] * 12
    with pytest.raises(ValueError, match="indices=None"):
        env.set_attr("note", 1, indices=[0])
    with pytest.raises(AttributeError, match="no method 'shuffle'"):
        env.env_method("shuffle")
    assert not env.has_attr("shuffle")


@pytest.mark.parametrize("seats", ["all", "random", [2], [1, 3]])
def test_equals_the_vector_env(seats):
    """Same step autoreset, seat by seat, terminal observations included."""
    env = SixNimmtVecEnv(3, seats, None if seats == "all" else "closest_gap")
    env.seed(6)
    observation = env.reset()
    assert [info["seat"] for info in env.reset_infos] == env._batch.seat.tolist()
    options = {"autoreset_mode": "SameStep", "observation": "flat"}
    if seats == "all":
        other = SixNimmtVectorEnv(12, self_play=True, **options)
    elif seats == "random" or len(seats) == 1:
        seat = seats if seats == "random" else seats[0]
        other = SixNimmtVectorEnv(3, "closest_gap", seat, **options)
    else:
        other = None
    if other is not None:
        assert (observation == other.reset(seed=6)[0]).all()
    ended = 0
    for _ in range(50):
        actions = lowest_legal(env)
        observation, rewards, dones, infos = env.step(actions)
        assert rewards.dtype == np.float32 and dones.dtype == np.bool_
        for done, info in zip(dones, infos, strict=True):
            assert ("terminal_observation" in info) == done
            assert info.get("TimeLimit.truncated", False) is False
        ended += dones.sum()
        if other is None:
            continue
        want, want_rewards, want_dones, _, want_infos = other.step(actions)
        assert (observation == want).all()
        assert (rewards == want_rewards).all()
        assert (dones == want_dones).all()
        for i in np.flatnonzero(dones):
            assert (infos[i]["terminal_observation"] == want_infos["final_obs"][i]).all()
            assert infos[i]["heads"] == want_infos["final_info"]["heads"][i]
    assert ended


def test_opponents_hold_the_other_seats():
    """Two learning seats that play like the third policy: the same as `play` of all of them."""
    from sixnimmt_env import make_policy, observe, play

    env = SixNimmtVecEnv(1, [1, 3], ["highest", "closest_gap"])
    env.seed(2)
    env.reset()
    policy = make_policy("lowest")
    done = False
    while not done:
        actions = [
            int(policy.act(observe(env.rules, env._batch.state, seat), None)[0]) for seat in (1, 3)
        ]
        _, _, dones, infos = env.step(np.array(actions))
        done = dones.all()
    # Clockwise from seat 1: seat 2 is the first opponent, seat 0 the second.
    seats = ["closest_gap", "lowest", "highest", "lowest"]
    result = play(seats, env.rules, games=1, seed=2)
    assert [info["heads"] for info in infos] == result.heads[0, [1, 3]].tolist()


@pytest.mark.parametrize("reward", REWARDS)
def test_rewards_add_up_to_the_score(reward):
    env = VecMonitor(SixNimmtVecEnv(3, reward=reward), info_keywords=("heads",))
    env.seed(5)
    env.reset()
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(60):
        masks = get_action_masks(env)
        _, _, dones, infos = env.step((rng.random(masks.shape) * masks).argmax(axis=1))
        for game in np.flatnonzero(dones[:3]):
            last = infos[game::3]
            want = list(expected(reward, [info["heads"] for info in last]))
            assert [info["episode"]["r"] for info in last] == pytest.approx(want, abs=1e-5)
            ended += 1
    assert ended > 6


def test_seed_and_reset():
    env = SixNimmtVecEnv(2, [0])
    assert env.seed(9) == [9, 10]
    first = env.reset()
    second = env.reset()
    assert not (first == second).all()
    env.seed(9)
    assert (env.reset() == first).all()
    assert (env.reset() == second).all()
    with pytest.raises(ValueError, match="seed=-1"):
        env.seed(-1)


@pytest.mark.parametrize("mode", ["raise", "penalty"])
def test_illegal_action(mode):
    env = SixNimmtVecEnv(2, [0], "lowest", illegal_action=mode, illegal_penalty=50.0)
    env.seed(0)
    env.reset()
    if mode == "raise":
        with pytest.raises(IllegalActionError, match=r"player_0 in game 1.*MaskablePPO"):
            env.step(lowest_legal(env) * [1, 0])
        return
    actions = lowest_legal(env) * [1, 0]
    _, rewards, _, _ = env.step(actions)
    assert rewards[0] > -50 >= rewards[1]


def test_no_actions_no_step():
    env = SixNimmtVecEnv(1)
    env.reset()
    with pytest.raises(RuntimeError, match="step_async"):
        env.step_wait()


@pytest.mark.parametrize("seats", ["all", [0]])
def test_maskable_ppo_learns_a_few_steps(seats):
    env = VecNormalize(VecMonitor(SixNimmtVecEnv(4, seats)), norm_obs=False)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=32, n_epochs=1, seed=1)
    model.learn(2 * 16 * env.num_envs)
    assert model.num_timesteps == 2 * 16 * env.num_envs
    assert model.ep_info_buffer
    masks = get_action_masks(env)
    actions, _ = model.predict(env.reset(), action_masks=masks, deterministic=True)
    assert masks[np.arange(env.num_envs), actions].all()
