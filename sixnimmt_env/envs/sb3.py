"""Stable-Baselines3 face: each learning seat of each game is one env of a VecEnv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

from sixnimmt_env.envs.batch import SeatBatch
from sixnimmt_env.envs.options import Layout, is_flat, make_options, refuse_unknown
from sixnimmt_env.envs.seating import (
    ALL_SEATS,
    Opponents,
    consecutive_seeds,
    game_count,
)
from sixnimmt_env.envs.seating import (
    learning_seats as checked_seats,
)
from sixnimmt_env.envs.spaces import action_space, observation_space
from sixnimmt_env.envs.views import View

Indices = int | Sequence[int] | None
Step = tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]


class SixNimmtVecEnv(VecEnv):
    """All learning seats of many games as the envs of one batch, for sb3-contrib's MaskablePPO.

    Simultaneous self-play is then one forward pass for all seats. Env `i` is learning seat
    `i // num_games` of game `i % num_games`; a game ends for all its seats in the same step, and
    its next one begins in that step.

    Parameters
    ----------
    num_games : int
        Games; there are learning seats times games envs.
    learning_seats : sequence of int, "all" or "random"
        Seats that learn; with "random" one for each game, drawn anew for every episode.
    opponents : str, Policy or sequence of them
        Who holds the other seats: one policy for all of them, or one for each, clockwise from
        the first learning seat; random players if left out. None when all seats learn.
    observation : {"flat", "dict"}
        Observations (n, F) float32, or dicts of them as "observation" and of "action_mask" (n, A)
        int8. `action_masks` has the masks in either case.
    **options
        `num_players`, `variant`, `row_choice`, `episode`, `target`, `rounds`, `rules`, `reward`,
        `illegal_action`, `illegal_penalty`: see `sixnimmt_env.envs.options.make_options`.

    Notes
    -----
    Observations are new arrays in every step.
    Infos of the last step of an episode hold "terminal_observation", "TimeLimit.truncated" (always
    False), "heads" (taken in the episode) and "illegal_actions" (replaced in it); `reset_infos`
    the "seat".
    """

    render_mode = None

    def __init__(
        self,
        num_games: int,
        learning_seats: Sequence[int] | str = ALL_SEATS,
        opponents: Opponents | None = None,
        observation: Layout = "flat",
        **options: Any,
    ) -> None:
        refuse_unknown(SixNimmtVecEnv, options)
        made = make_options(**options)
        self.rules = made.rules
        self._flat = is_flat(observation)
        num_games = game_count("num_games", num_games)
        seats = checked_seats(learning_seats, made.rules.num_players)
        self._batch = SeatBatch(made, num_games, seats, opponents)
        space = observation_space(made.rules, self._flat)
        super().__init__(self._batch.num_envs, space, action_space(made.rules))
        self._first_seed: int | None = None
        self._actions: NDArray[Any] | None = None
        self._view: View | None = None

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Choose the seed of the next `reset`: game i then begins game 0 of `seed + i`.

        Parameters
        ----------
        seed : int, optional
            0 to 2**64 - 1 for the last game; drawn unless given.

        Returns
        -------
        list of int
            Seed of each env's game.
        """
        first = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
        seeds = consecutive_seeds(first, self._batch.num_games)
        self._first_seed = int(first)
        self._seeds = [int(word) for word in seeds[self._batch.game]]
        return self._seeds

    def reset(self) -> Any:
        """Begin new episodes: of the seed if there is a new one, else each game's next one."""
        if self._first_seed is None and not self._batch.started:
            self.seed()
        if self._first_seed is not None:
            self._batch.start(self._first_seed)
        else:
            self._batch.restart(np.arange(self._batch.num_games))
        self._first_seed = None
        self._reset_seeds()
        self._reset_options()
        self._note_seats(range(self.num_envs))
        self._view = self._batch.view()
        return self._view.layout(self._flat)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions (n,) that `step_wait` will carry out."""
        self._actions = actions

    def step_wait(self) -> Step:
        """Act, and let the opponents act until a learner decides again.

        Returns
        -------
        observations, rewards (n,) float32, dones (n,) bool, infos

        Raises
        ------
        IllegalActionError
            With `illegal_action="raise"`, or of an opponent; all games are as they were before.
        """
        if self._actions is None:
            raise RuntimeError("there are no actions: call step_async() before step_wait()")
        actions, self._actions = self._actions, None
        batch = self._batch
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        with batch.all_or_nothing():
            rewards = batch.step(actions)
            dones = batch.over[batch.game]
            view = batch.view()
            if dones.any():
                self._end_episodes(view, np.flatnonzero(dones), infos)
        self._view = view
        return view.layout(self._flat), rewards.astype(np.float32), dones, infos

    def _end_episodes(
        self, view: View, envs: NDArray[np.intp], infos: list[dict[str, Any]]
    ) -> None:
        batch = self._batch
        final = view.take(envs)
        heads, illegal = batch.heads()[envs].tolist(), batch.illegal[envs].tolist()
        numbers = envs.tolist()
        for row, env in enumerate(numbers):
            infos[env] = {
                "terminal_observation": final.row(row, self._flat),
                "TimeLimit.truncated": False,
                "heads": heads[row],
                "illegal_actions": illegal[row],
            }
        batch.restart(np.flatnonzero(batch.over))
        view.put(envs, batch.view(envs))
        self._note_seats(numbers)

    def _note_seats(self, envs: Sequence[int]) -> None:
        seats = self._batch.seat.tolist()
        for env in envs:
            self.reset_infos[env] = {"seat": seats[env]}

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions at the last observation, shape (n, A)."""
        if self._view is None:
            raise RuntimeError("there is no observation yet: call reset() first")
        return self._view.action_mask.astype(np.bool_)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call "action_masks" for some envs: a list of (A,) bool. They have no other method."""
        if method_name != "action_masks":
            raise AttributeError(
                f"the envs have no method {method_name!r}: only 'action_masks' can be called"
            )
        masks = self.action_masks()
        return [masks[env] for env in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Attribute of this VecEnv, once for each of the envs, which share it."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of this VecEnv. All envs share it, so `indices` must be None."""
        if indices is not None:
            raise ValueError(
                f"{attr_name!r} cannot be set for some envs only: they share it, use indices=None"
            )
        setattr(self, attr_name, value)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Return False for each of the envs: they have no wrappers."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing to release."""
