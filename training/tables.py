"""Several games as one VecEnv: other numbers of players, row choices and opponents side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from sixnimmt_env.encoding import observation_size
from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from sixnimmt_env.envs.spaces import flat_space
from sixnimmt_env.trained.layout import widened


class Tables(VecEnv):
    """Some `SixNimmtVecEnv` side by side, whose observations are laid out as the largest one's.

    Parameters
    ----------
    envs : sequence of SixNimmtVecEnv
        Of one kind of game; numbers of players, row choices and opponents may differ.
    """

    render_mode = None

    def __init__(self, envs: Sequence[SixNimmtVecEnv]) -> None:
        self.envs = list(envs)
        self.rules = max((env.rules for env in envs), key=lambda rules: rules.num_players)
        stops = np.cumsum([env.num_envs for env in envs]).tolist()
        self.slices = [slice(a, b) for a, b in zip([0, *stops], stops, strict=False)]
        space = flat_space(observation_size(self.rules))
        super().__init__(stops[-1], space, self.envs[0].action_space)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Seed all games for the next reset: no two of them alike."""
        seeds: list[int | None] = []
        for env in self.envs:
            seeds += env.seed(seed)
            if seed is not None:
                seed += env._batch.num_games
        return seeds

    def reset(self) -> NDArray[np.float32]:
        """Begin new episodes."""
        parts = [widened(env.reset(), env.rules, self.rules) for env in self.envs]
        self._reset_seeds()
        self._reset_options()
        return np.concatenate(parts)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions (n,) that `step_wait` will carry out."""
        for env, part in zip(self.envs, self.slices, strict=True):
            env.step_async(actions[part])

    def step_wait(self) -> Any:
        """See `SixNimmtVecEnv.step_wait`."""
        observations, rewards, dones, infos = [], [], [], []
        for env in self.envs:
            seen, reward, done, info = env.step_wait()
            observations.append(widened(seen, env.rules, self.rules))
            rewards.append(reward)
            dones.append(done)
            infos += info
        if len(self.envs) == 1:
            return observations[0], rewards[0], dones[0], infos
        for index in np.flatnonzero(np.concatenate(dones)):
            infos[index]["terminal_observation"] = np.zeros(0, np.float32)  # nothing reads it
        return np.concatenate(observations), np.concatenate(rewards), np.concatenate(dones), infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions at the last observation, shape (n, A)."""
        return np.concatenate([env.action_masks() for env in self.envs])

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call "action_masks" for some envs: a list of (A,) bool. They have no other method."""
        if method_name != "action_masks":
            raise AttributeError(f"the envs have no method {method_name!r}, only 'action_masks'")
        masks = self.action_masks()
        return [masks[env] for env in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Attribute of these tables, once for each env."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of these tables."""
        setattr(self, attr_name, value)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Return False for each of the envs: they have no wrappers."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing to release."""
