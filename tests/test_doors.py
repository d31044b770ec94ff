"""What frameworks ask for besides the interface: makers, limits, attributes, small games."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit

from sixnimmt_env import Rules, make_rules, sixnimmt_v0
from sixnimmt_env.envs.registration import GYMNASIUM_ID, PETTINGZOO_ID
from sixnimmt_env.envs.single import SixNimmtEnv
from sixnimmt_env.envs.vector import SixNimmtVectorEnv
from sixnimmt_env.state import FIELDS

ID = f"sixnimmt_env:{GYMNASIUM_ID}"
TINY = Rules(2, num_cards=8, hand_size=2)


def lowest(env: Any) -> Any:
    return env.action_masks().argmax(axis=-1)


def test_sb3_makes_envs_of_the_name() -> None:
    """It asks for pictures, and does without them after a TypeError."""
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.utils import get_action_masks
    from stable_baselines3.common.env_util import make_vec_env

    envs = make_vec_env(ID, 4, env_kwargs={"num_players": 3, "opponents": "lowest"})
    assert envs.reset()["observation"].shape[0] == 4
    for _ in range(12):
        envs.step(get_action_masks(envs).argmax(axis=1))
    assert envs.get_attr("rules") == [make_rules(num_players=3)] * 4
    model = MaskablePPO("MultiInputPolicy", ID, n_steps=16, batch_size=16, n_epochs=1, seed=1)
    model.learn(32)
    assert model.num_timesteps == 32


@pytest.mark.parametrize("observation", ["dict", "flat"])
def test_sb3_with_either_observation(observation: str) -> None:
    pytest.importorskip("sb3_contrib")
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_checker import check_env as check_for_sb3
    from stable_baselines3.common.vec_env import VecMonitor

    from sixnimmt_env.envs.sb3 import SixNimmtVecEnv

    check_for_sb3(SixNimmtEnv(observation=observation, illegal_action="lowest"))
    plain = SixNimmtVecEnv(3, [0], rules=TINY)
    env = SixNimmtVecEnv(3, [0], rules=TINY, observation=observation)
    plain.seed(1), env.seed(1)
    want, got = plain.reset(), env.reset()
    for _ in range(10):
        if observation == "dict":
            assert (got["action_mask"] == env.action_masks()).all()
            got = got["observation"]
        assert (got == want).all()
        want, *_, infos = plain.step(lowest(plain))
        got, *_, mine = env.step(lowest(env))
        for info, other in zip(infos, mine, strict=True):
            if info:
                last = other["terminal_observation"]
                assert env.observation_space.contains(last)
                last = last["observation"] if observation == "dict" else last
                assert (last == info["terminal_observation"]).all()
    policy = "MultiInputPolicy" if observation == "dict" else "MlpPolicy"
    watched = VecMonitor(SixNimmtVecEnv(4, observation=observation))
    model = MaskablePPO(policy, watched, n_steps=24, batch_size=96, n_epochs=1, seed=1)
    model.learn(1)
    assert len(model.ep_info_buffer) >= 16  # what ep_rew_mean is the mean of


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("observation", ["dict", "flat"])
@pytest.mark.parametrize("limit", [1, 4, 10, 11])
def test_limit_of_steps_as_in_single_envs(
    limit: int, observation: str, mode: AutoresetMode
) -> None:
    options: dict[str, Any] = {
        "opponents": "closest_gap",
        "seat": "random",
        "observation": observation,
        "num_players": 3,
    }
    envs: Any = gymnasium.make_vec(ID, 4, max_episode_steps=limit, autoreset_mode=mode, **options)
    single = SyncVectorEnv(
        [lambda: TimeLimit(SixNimmtEnv(**options), limit)] * 4, autoreset_mode=mode
    )
    assert envs.observation_space == single.observation_space
    assert data_equivalence(envs.reset(seed=3), single.reset(seed=3), exact=True)
    cut_off = 0
    for _ in range(26):
        actions = lowest(envs)
        got, want = envs.step(actions), single.step(actions)
        assert data_equivalence(got, want, exact=True)
        cut_off += got[3].sum()
        ended = got[2] | got[3]
        if mode == AutoresetMode.DISABLED and ended.any():
            again = [e.reset(options={"reset_mask": ended.copy()}) for e in (envs, single)]
            assert data_equivalence(*again, exact=True)
    assert cut_off or limit == 11


def test_games_that_are_cut_off_wait() -> None:
    env = SixNimmtVectorEnv(6, self_play=True, num_players=3, autoreset_mode="Disabled")
    limited = SixNimmtVectorEnv(
        6, self_play=True, num_players=3, autoreset_mode="Disabled", max_episode_steps=3
    )
    for each in (env, limited):
        each.reset(seed=1)
        for _ in range(3):
            *_, cut_off, _ = each.step(lowest(each))
        assert cut_off.all() == (each is limited)
    seen = limited._batch.state.copy()
    _, rewards, over, cut_off, _ = limited.step(np.zeros(6, int))
    assert cut_off.all() and not over.any() and not rewards.any()
    assert all(np.array_equal(getattr(seen, f), getattr(limited._batch.state, f)) for f in FIELDS)
    limited.reset(options={"reset_mask": np.array([True, False] * 3)})
    assert limited.step(lowest(limited))[3].tolist() == [False, True] * 3


@pytest.mark.parametrize("never", [None, -1])
def test_no_limit(never: int | None) -> None:
    envs = gymnasium.make_vec(ID, 2, max_episode_steps=never)
    envs.reset(seed=0)
    assert not any(envs.step(lowest(envs))[3].any() for _ in range(12))


def test_pettingzoo_passes_on_the_limit() -> None:
    if not hasattr(pettingzoo, "make"):
        pytest.skip("this PettingZoo has no registry")
    for kind in ("parallel", "aec"):
        env = pettingzoo.make(kind, PETTINGZOO_ID, max_cycles=2)
        assert env.unwrapped.max_cycles == 2
        assert pettingzoo.make(kind, PETTINGZOO_ID, max_cycles=-1).unwrapped.max_cycles is None


def test_attributes_as_in_single_envs() -> None:
    options: dict[str, Any] = {"seat": "random", "opponents": "lowest", "render_mode": "ansi"}
    envs = SixNimmtVectorEnv(3, **options)
    single = SyncVectorEnv([lambda: SixNimmtEnv(**options)] * 3)
    for each in (envs, single):
        each.reset(seed=7)
    for name in ("rules", "seat", "render_mode", "observation_space", "action_space"):
        assert envs.get_attr(name) == single.get_attr(name) == envs.call(name)
    for one, other in zip(envs.get_attr("game"), single.get_attr("game"), strict=True):
        assert all(np.array_equal(getattr(one, f), getattr(other, f)) for f in FIELDS)
    assert envs.call("render") == single.call("render")
    assert data_equivalence(envs.call("action_masks"), single.call("action_masks"), exact=True)
    for values, noted in (
        (1, (1, 1, 1)),
        ([1, 2, 3], (1, 2, 3)),
        (("a", "b", "c"), ("a", "b", "c")),
    ):
        envs.set_attr("note", values)
        assert envs.get_attr("note") == noted
    with pytest.raises(ValueError, match="2 values for 3 envs"):
        envs.set_attr("note", [1, 2])
    for name in ("rules", "seat", "game", "step"):
        with pytest.raises(AttributeError, match=f"'{name}' cannot be set"):
            envs.set_attr(name, 1)
    with pytest.raises(AttributeError, match=r"'step' cannot be called .*'action_masks', 'render'"):
        envs.call("step", [0, 0, 0])
    with pytest.raises(AttributeError, match="nothing"):
        envs.get_attr("nothing")


@pytest.mark.parametrize("observation", ["dict", "flat"])
def test_small_games_everywhere(observation: str) -> None:
    options: dict[str, Any] = {"rules": TINY, "observation": observation}
    check_env(SixNimmtEnv(**options, illegal_action="lowest"), skip_render_check=True)
    single: Any = gymnasium.make(ID, **options)
    assert single.unwrapped.rules == TINY
    seen, info = single.reset(seed=2)
    parallel = sixnimmt_v0.parallel_env(**options)
    observations, infos = parallel.reset(seed=2)
    vector = SixNimmtVectorEnv(2, **options)
    batch, batch_infos = vector.reset(seed=2)
    assert vector.rules == parallel.rules == sixnimmt_v0.env(**options).rules == TINY
    mine = observations["player_0"]
    if observation == "dict":
        batch = {name: values[0] for name, values in batch.items()}
    else:
        batch = batch[0]
        masks = [info["action_mask"], infos["player_0"]["action_mask"]]
        masks += [batch_infos["action_mask"][0], vector.action_masks()[0]]
        assert all((mask == single.unwrapped.action_masks()).all() for mask in masks)
    assert data_equivalence(seen, mine) and data_equivalence(seen, batch)
    steps, over = 0, False
    while not over:
        _, _, over, _, _ = single.step(int(single.unwrapped.action_masks().argmax()))
        steps += 1
    assert 2 <= steps <= 4
