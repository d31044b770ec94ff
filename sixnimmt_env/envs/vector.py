"""Gymnasium vector face: thousands of games in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from sixnimmt_env.envs.batch import Lanes, Opponents, SeatBatch, View, consecutive_seeds
from sixnimmt_env.envs.options import check_render_mode, make_options, one_of, refuse_unknown
from sixnimmt_env.envs.spaces import action_space, dict_space

Bool = NDArray[np.bool_]
Floats = NDArray[np.float64]
Infos = dict[str, Any]
Step = tuple[Any, Floats, Bool, Bool, Infos]

OBSERVATIONS = ("dict", "flat")


class SixNimmtVectorEnv(VectorEnv[Any, Any, Any]):
    """Many games at once, with one learner in each, or with learners in all seats.

    Parameters
    ----------
    num_envs : int
        Games; with `self_play` games times players, seat by seat: env `i` is seat `i // games` of
        game `i % games`.
    opponents : str, Policy or sequence of them
        Who holds the other seats: one policy for all of them, or one for each, clockwise from
        the learner. Not used with `self_play`.
    seat : int or "random"
        The learner's seat, or one drawn anew for every episode. Not used with `self_play`.
    self_play : bool
        Every seat learns. All seats of a game end and restart together.
    observation : {"dict", "flat"}
        Dicts of "observation" (n, F) float32 and "action_mask" (n, A) int8, or the former alone;
        `action_masks` has the masks in either case.
    autoreset_mode : AutoresetMode or str
        What becomes of a game that is over: its next one begins in the next step (default), in
        the same step, or when `reset(options={"reset_mask": ...})` is called.
    render_mode : {"ansi"}, optional
        Let `render` return the tables as strings.
    **options
        `num_players`, `variant`, `row_choice`, `episode`, `target`, `rounds`, `reward`,
        `illegal_action`, `illegal_penalty`: see `sixnimmt_env.envs.options.make_options`.

    Notes
    -----
    `reset(seed=s)` begins game 0 of seed `s + i` in game i, the same game as in a single env reset
    with that seed; each autoreset begins its next game. Opponents that draw random numbers share
    one stream, so their choices depend on the number of games.

    Infos hold "heads" taken in the episode, "turn", "round" and "illegal_actions" replaced, as
    arrays (n,). Observations are new arrays in every step.
    """

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Opponents = "random",
        seat: int | str = 0,
        self_play: bool = False,
        observation: Literal["dict", "flat"] = "dict",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        refuse_unknown(SixNimmtVectorEnv, options)
        made = make_options(**options)
        one_of("observation", observation, OBSERVATIONS)
        if not isinstance(num_envs, (int, np.integer)) or num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} is not possible: it is whole and at least 1")
        seats: Sequence[int] | str = seat if isinstance(seat, str) else [seat]
        num_games = num_envs
        if self_play:
            seats = range(made.rules.num_players)
            num_games, left = divmod(num_envs, len(seats))
            if left:
                raise ValueError(
                    f"num_envs={num_envs} is not possible: in self-play it is the number of games "
                    f"times the {len(seats)} players"
                )
        self._batch = SeatBatch(made, num_games, seats, opponents)
        self._games = np.arange(num_games)
        self._flat = observation == "flat"
        self.rules = made.rules
        self.num_envs = num_envs
        self.render_mode = check_render_mode(render_mode)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": ["ansi"], "autoreset_mode": self.autoreset_mode}
        space = dict_space(made.rules)
        self.single_observation_space = space["observation"] if self._flat else space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.single_action_space = action_space(made.rules)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._view: View | None = None

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, Infos]:
        """Begin new episodes.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Game i begins game 0 of seed `seed + i`, or of the i-th of the sequence; without a
            seed the next game of its last one. The first reset without one draws a seed.
        options : dict, optional
            "reset_mask", (n,) bool: envs to reset, the others go on.
        """
        if isinstance(seed, (str, float)):
            raise ValueError(
                f"seed={seed!r} is not possible: a whole number from 0 on, or one for each game"
            )
        number = int(seed) if isinstance(seed, (int, np.integer)) else None
        super().reset(seed=number)
        games = self._chosen(options or {})
        batch = self._batch
        if number is not None and games.size == self._games.size:
            batch.start(number)
        else:
            fresh = not batch.started
            if fresh:
                batch.start(int(self.np_random.integers(2**32)))
            if seed is not None or not fresh:
                self._begin(games, seed)
        self._view = batch.view()
        return self._observation(), self._infos(np.ones(self.num_envs, np.bool_))

    def step(self, actions: ArrayLike) -> Step:
        """Act in every game, and let the opponents act until a learner decides again.

        Parameters
        ----------
        actions : (n,) integers
            Not looked at where a new episode begins in this step.

        Returns
        -------
        observations, rewards, terminations, truncations, infos
            Rewards (n,) float64. With `AutoresetMode.SAME_STEP` infos hold "final_obs" and
            "final_info" of the episodes that ended.

        Raises
        ------
        IllegalActionError
            With `illegal_action="raise"`; all games are as they were before.
        """
        batch = self._batch
        ended = batch.over
        if self.autoreset_mode != AutoresetMode.SAME_STEP and ended.any():
            rewards = batch.step(actions, ~ended)
            if self.autoreset_mode == AutoresetMode.NEXT_STEP:
                batch.restart(np.flatnonzero(ended))
        else:
            rewards = batch.step(actions)
        over = batch.over[batch.game]
        infos: Infos = {}
        self._view = batch.view()
        if self.autoreset_mode == AutoresetMode.SAME_STEP and over.any():
            infos = self._restart_same_step(over)
        infos |= self._infos(np.ones(self.num_envs, np.bool_))
        return self._observation(), rewards, over, np.zeros(self.num_envs, np.bool_), infos

    def action_masks(self) -> Bool:
        """Legal actions at the last observation, shape (n, A)."""
        return self._last.action_mask.astype(np.bool_)

    def render(self) -> tuple[str, ...]:
        """Return the table of every env as a string, seen by its learner."""
        from sixnimmt_env.render.ansi import render

        seats = zip(self._batch.game.tolist(), self._batch.seat.tolist(), strict=True)
        return tuple(
            render(self._batch.state, self.rules, game=game, seat=seat) for game, seat in seats
        )

    def _begin(self, games: Lanes, seed: int | Sequence[int | None] | None) -> None:
        batch, count = self._batch, self._games.size
        if seed is None:
            batch.restart(games)
        elif isinstance(seed, (int, np.integer)):
            batch.begin(games, consecutive_seeds(int(seed), count)[games])
        elif len(seed) != count:
            raise ValueError(f"{len(seed)} seeds for {count} games: one for each is needed")
        else:
            given = {game: seed[game] for game in games.tolist()}
            new = [game for game, word in given.items() if word is not None]
            batch.restart(np.array([game for game in given if game not in new], np.intp))
            batch.begin(np.array(new, np.intp), np.array([given[game] for game in new], np.uint64))
            if len(new) == count:
                batch.rng = np.random.default_rng([int(given[game] or 0) for game in new])

    @property
    def _last(self) -> View:
        if self._view is None:
            raise RuntimeError("there is no observation yet: call reset() first")
        return self._view

    def _chosen(self, options: dict[str, Any]) -> Lanes:
        """Games that `reset` is to restart."""
        mask = options.get("reset_mask")
        if mask is None:
            return self._games
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"options['reset_mask'] must be a numpy array of bool, not {mask!r}")
        if mask.shape != (self.num_envs,):
            raise ValueError(
                f"options['reset_mask'] has shape {mask.shape}; ({self.num_envs},) is needed"
            )
        by_seat = mask.reshape(-1, self._games.size)
        if not by_seat.any():
            raise ValueError("options['reset_mask'] chooses no env: it needs at least one True")
        if (by_seat != by_seat[0]).any():
            raise ValueError(
                "options['reset_mask'] chooses some seats of a game only: all its seats restart "
                "together"
            )
        return np.flatnonzero(by_seat[0])

    def _restart_same_step(self, over: Bool) -> Infos:
        envs = np.flatnonzero(over)
        final = self._last.take(envs)
        observations = np.full(self.num_envs, None, object)
        for row, env in enumerate(envs):
            vector, mask = final.observation[row], final.action_mask[row]
            observations[env] = (
                vector if self._flat else {"observation": vector, "action_mask": mask}
            )
        infos = {
            "final_obs": observations,
            "_final_obs": over.copy(),
            "final_info": self._infos(over),
            "_final_info": over.copy(),
        }
        self._batch.restart(np.flatnonzero(self._batch.over))
        self._last.put(envs, self._batch.view(envs))
        return infos

    def _observation(self) -> Any:
        view = self._last
        if self._flat:
            return view.observation
        return {"observation": view.observation, "action_mask": view.action_mask}

    def _infos(self, envs: Bool) -> Infos:
        batch = self._batch
        infos: Infos = {}
        for name, values in (
            ("heads", batch.heads()),
            ("turn", batch.state.turn[batch.game]),
            ("round", batch.state.round[batch.game]),
            ("illegal_actions", batch.illegal),
        ):
            infos[name] = np.where(envs, values, 0).astype(np.int64)
            infos[f"_{name}"] = envs.copy()
        return infos
