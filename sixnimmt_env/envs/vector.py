"""Gymnasium vector face: thousands of games in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from sixnimmt_env.checks import is_whole, one_of
from sixnimmt_env.envs.batch import SeatBatch
from sixnimmt_env.envs.each import EachEnv
from sixnimmt_env.envs.options import (
    Layout,
    check_render_mode,
    check_render_seat,
    is_flat,
    make_options,
    refuse_unknown,
    reset_options,
    step_limit,
)
from sixnimmt_env.envs.seating import (
    Opponents,
    game_count,
    game_seeds,
    games_to_reset,
    learning_seat,
)
from sixnimmt_env.envs.spaces import action_space, observation_space
from sixnimmt_env.envs.views import Lanes, View

Bool = NDArray[np.bool_]
Floats = NDArray[np.float64]
Infos = dict[str, Any]
Step = tuple[Any, Floats, Bool, Bool, Infos]

RENDER_MODES = ("ansi",)


class SixNimmtVectorEnv(EachEnv, VectorEnv[Any, Any, Any]):
    """Many games at once, with one learner in each, or with learners in all seats.

    Parameters
    ----------
    num_envs : int
        Games; with `self_play` games times players, seat by seat: env `i` is seat `i // games` of
        game `i % games`.
    opponents : str, Policy or sequence of them
        Who holds the other seats: one policy for all of them, or one for each, clockwise from
        the learner; random players if left out. None with `self_play`.
    seat : int or "random"
        The learner's seat, or one drawn anew for every episode. Not with `self_play`.
    self_play : bool
        Every seat learns. All seats of a game end and restart together.
    observation : {"dict", "flat"}
        Dicts of "observation" (n, F) float32 and "action_mask" (n, A) int8, or the former alone;
        then infos have the "action_mask". `action_masks` has it in either case.
    autoreset_mode : AutoresetMode or str
        What becomes of a game that is over: its next one begins in the next step (default), in
        the same step, or when `reset(options={"reset_mask": ...})` is called.
    render_mode : {"ansi"}, optional
        Let `render` return the tables as strings.
    render_seat : int, optional
        Show what this seat may see, instead of what each env's learner may.
    max_episode_steps : int, optional
        Truncate episodes after this many steps of the learners, as `gymnasium.make` does for
        the single env; None or -1 for never.
    **options
        `num_players`, `variant`, `row_choice`, `episode`, `target`, `rounds`, `rules`, `reward`,
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
        opponents: Opponents | None = None,
        seat: int | str = 0,
        self_play: bool = False,
        observation: Layout = "dict",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        render_seat: int | None = None,
        max_episode_steps: int | None = None,
        **options: Any,
    ) -> None:
        refuse_unknown(SixNimmtVectorEnv, options)
        made = make_options(**options)
        self.rules = made.rules
        self.num_envs = game_count("num_envs", num_envs)
        self.render_mode = check_render_mode(render_mode, RENDER_MODES)
        self.render_seat = check_render_seat(render_seat, made.rules)
        self.autoreset_mode = _autoreset(autoreset_mode)
        self.metadata = {"render_modes": list(RENDER_MODES), "autoreset_mode": self.autoreset_mode}
        self._flat = is_flat(observation)
        self._limit = step_limit("max_episode_steps", max_episode_steps)
        if not isinstance(self_play, (bool, np.bool_)):
            raise ValueError(f"self_play={self_play!r} is not possible: it is True or False")
        seats, num_games = learning_seat(seat, made.rules.num_players), self.num_envs
        if self_play:
            if seat != 0:
                raise ValueError(f"seat={seat!r} is not possible: in self-play every seat learns")
            seats = range(made.rules.num_players)
            num_games, left = divmod(self.num_envs, len(seats))
            if left:
                raise ValueError(
                    f"num_envs={num_envs} is not possible: in self-play it is the number of games "
                    f"times the {len(seats)} players"
                )
        super().__init__(SeatBatch(made, num_games, seats, opponents))
        self._games = np.arange(num_games)
        # Steps of the episode, counted where there is a limit.
        self._steps = np.zeros(num_games, np.int64)
        self.single_observation_space = observation_space(made.rules, self._flat)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.single_action_space = action_space(made.rules)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
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
            "reset_mask", (n,) bool: envs to reset, the others go on and are not marked in the
            infos.

        Raises
        ------
        ValueError, TypeError
            For seeds or options that cannot be. No game has changed then.
        """
        mask = reset_options(options).get("reset_mask")
        games = games_to_reset(mask, self.num_envs, self._games.size)
        seeds = None if seed is None else game_seeds(seed, self._games.size)
        number = int(seed) if is_whole(seed) else None  # type: ignore[arg-type]
        super().reset(seed=number)
        batch = self._batch
        begun = np.zeros(self._games.size, np.bool_)
        begun[games] = True
        with batch.all_or_nothing():
            if number is not None and begun.all():
                batch.start(number)
            elif seeds is not None and begun.all() and seeds[1].all():
                batch.start(seeds[0])
            else:
                if not batch.started:
                    batch.start(int(self.np_random.integers(2**32)))
                    begun[:] = True
                elif seeds is None:
                    batch.restart(games)
                if seeds is not None:
                    self._begin(games, *seeds)
            self._view = batch.view()
        self._steps[begun] = 0
        return self._view.layout(self._flat), self._infos(begun[batch.game])

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
            With `illegal_action="raise"`, or of an opponent; all games are as they were before.
        """
        batch = self._batch
        infos: Infos = {}
        with batch.all_or_nothing():
            ended = batch.over | self._cut_off(self._steps)
            waiting = self.autoreset_mode != AutoresetMode.SAME_STEP and bool(ended.any())
            rewards = batch.step(actions, ~ended if waiting else None)
            steps = self._steps + ~ended
            if waiting and self.autoreset_mode == AutoresetMode.NEXT_STEP:
                batch.restart(np.flatnonzero(ended))
                steps[ended] = 0
            over, cut_off = batch.over, self._cut_off(steps)
            view = batch.view()
            if self.autoreset_mode == AutoresetMode.SAME_STEP and (over | cut_off).any():
                infos = self._restart_same_step(view, over | cut_off)
                steps[over | cut_off] = 0
        self._steps, self._view = steps, view
        infos |= self._infos(np.ones(self.num_envs, np.bool_))
        over, cut_off = over[batch.game], cut_off[batch.game]
        return view.layout(self._flat), rewards, over, cut_off, infos

    def _cut_off(self, steps: NDArray[np.int64]) -> Bool:
        if self._limit is None:
            return np.zeros(steps.size, np.bool_)
        cut_off: Bool = steps >= self._limit
        return cut_off

    def action_masks(self) -> Bool:
        """Legal actions at the last observation, shape (n, A)."""
        return self._last.action_mask.astype(np.bool_)

    def render(self) -> tuple[str, ...]:
        """Return the table of every env as a string, seen by its learner or by `render_seat`."""
        if self.render_mode is None:
            raise RuntimeError(
                "nothing can be rendered: make the environment with render_mode='ansi'"
            )
        from sixnimmt_env.render.ansi import render

        state, seats = self._batch.state, self._batch.seat.tolist()
        if self.render_seat is not None:
            seats = [self.render_seat] * self.num_envs
        return tuple(
            render(state, self.rules, game=game, seat=seat)
            for game, seat in zip(self._batch.game.tolist(), seats, strict=True)
        )

    def _begin(self, games: Lanes, words: NDArray[np.uint64], given: Bool) -> None:
        batch, given = self._batch, given[games]
        batch.restart(games[~given])
        batch.begin(games[given], words[games[given]])

    @property
    def _last(self) -> View:
        if self._view is None:
            raise RuntimeError("there is no observation yet: call reset() first")
        return self._view

    def _restart_same_step(self, view: View, ended: Bool) -> Infos:
        """Begin the next episodes of the games that ended, also in `view`; infos of the old."""
        envs = ended[self._batch.game]
        numbers = np.flatnonzero(envs)
        final = view.take(numbers)
        observations = np.full(self.num_envs, None, object)
        for row, env in enumerate(numbers):
            observations[env] = final.row(row, self._flat)
        infos = {
            "final_obs": observations,
            "_final_obs": envs.copy(),
            "final_info": self._infos(envs, view),
            "_final_info": envs.copy(),
        }
        self._batch.restart(np.flatnonzero(ended))
        view.put(numbers, self._batch.view(numbers))
        return infos

    def _infos(self, envs: Bool, view: View | None = None) -> Infos:
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
        if self._flat:
            infos["action_mask"] = (view or self._last).action_mask * envs[:, None]
            infos["_action_mask"] = envs.copy()
        return infos


def _autoreset(mode: AutoresetMode | str) -> AutoresetMode:
    known = {each.value: each for each in AutoresetMode}
    if isinstance(mode, AutoresetMode):
        return mode
    one_of("autoreset_mode", mode, known)
    return known[mode]
