"""Gymnasium face: one seat of one game learns, policies hold the others."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
import numpy as np

from sixnimmt_env.envs.batch import SeatBatch
from sixnimmt_env.envs.options import (
    RENDER_MODES,
    Layout,
    check_render_mode,
    check_render_seat,
    is_flat,
    make_options,
    refuse_unknown,
    reset_options,
    seed_word,
)
from sixnimmt_env.envs.seating import Opponents, learning_seat
from sixnimmt_env.envs.spaces import action_space, observation_space
from sixnimmt_env.envs.views import View
from sixnimmt_env.state import State

Observation = Any
Info = dict[str, Any]


class SixNimmtEnv(gymnasium.Env[Observation, Any]):
    """One learner among opponents that act in the same step as it does.

    Parameters
    ----------
    opponents : str, Policy or sequence of them
        Who holds the other seats: one policy for all of them, or one for each, clockwise from
        the learner. Names as for `sixnimmt_env.policy.make_policy`.
    seat : int or "random"
        The learner's seat, or one drawn anew for every episode.
    observation : {"dict", "flat"}
        Dicts of "observation" (F,) float32 and "action_mask" (A,) int8, 1 for every legal action,
        or the former alone; then infos have the "action_mask".
    render_mode : {"human", "ansi"}, optional
        Print the table after every step, or let `render` return it as a string.
    render_seat : int, optional
        Show what this seat may see, instead of what the learner may.
    **options
        `num_players`, `variant`, `row_choice`, `episode`, `target`, `rounds`, `rules`, `reward`,
        `illegal_action`, `illegal_penalty`: see `sixnimmt_env.envs.options.make_options`.

    Notes
    -----
    `env.action_space.sample(observation["action_mask"])` is always legal.

    `reset(seed=s)` begins game 0 of that seed, each further `reset()` its next game.

    Infos hold "heads" taken in the episode, "turn", "round" and "illegal_actions" replaced.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}

    def __init__(
        self,
        opponents: Opponents = "random",
        seat: int | str = 0,
        observation: Layout = "dict",
        render_mode: str | None = None,
        render_seat: int | None = None,
        **options: Any,
    ) -> None:
        refuse_unknown(SixNimmtEnv, options)
        made = make_options(**options)
        self.rules = made.rules
        self.render_mode = check_render_mode(render_mode, RENDER_MODES)
        self.render_seat = check_render_seat(render_seat, made.rules)
        self._flat = is_flat(observation)
        self.observation_space = observation_space(made.rules, self._flat)
        self.action_space = action_space(made.rules)
        seats = learning_seat(seat, made.rules.num_players)
        self._batch = SeatBatch(made, 1, seats, opponents)

    @property
    def game(self) -> State:
        """The engine's state of this one game; not to be changed."""
        return self._batch.state

    @property
    def seat(self) -> int:
        """Where the learner sits."""
        return int(self._batch.seat[0])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Begin game 0 of a seed, or without a seed the next game of the last one.

        Parameters
        ----------
        seed : int, optional
            0 to 2**64 - 1. The first reset without one draws a seed.
        options : dict, optional
            Not used.
        """
        reset_options(options)
        seed = None if seed is None else seed_word(seed)
        super().reset(seed=seed)
        if seed is not None:
            self._batch.start(seed)
        elif self._batch.started:
            self._batch.restart(np.array([0]))
        else:
            self._batch.start(int(self.np_random.integers(2**32)))
        self._show()
        return self._seen()

    def step(self, action: Any) -> tuple[Observation, SupportsFloat, bool, bool, Info]:
        """Act, and let the opponents act until the learner decides again or the end.

        Raises
        ------
        IllegalActionError
            With `illegal_action="raise"`, or of an opponent; the game is as it was before.
        """
        reward = self._batch.step(np.reshape(action, -1))
        self._show()
        observation, info = self._seen()
        return observation, float(reward[0]), bool(self._batch.over[0]), False, info

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Legal actions (A,) bool, where sb3-contrib's MaskablePPO looks for them."""
        mask = self._batch.view().action_mask[0]
        return np.asarray(mask, np.bool_)

    def _seen(self) -> tuple[Observation, Info]:
        view = self._batch.view()
        return view.row(0, self._flat), self._info(view)

    def _info(self, view: View) -> Info:
        state = self._batch.state
        info: Info = {
            "heads": int(self._batch.heads()[0]),
            "turn": int(state.turn[0]),
            "round": int(state.round[0]),
            "illegal_actions": int(self._batch.illegal[0]),
        }
        if self._flat:
            info["action_mask"] = view.action_mask[0]
        return info

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def render(self) -> Any:
        """Return the table as a string ("ansi") or print it ("human")."""
        if self.render_mode is None:
            raise RuntimeError(
                "nothing can be rendered: make the environment with render_mode='ansi' or 'human'"
            )
        from sixnimmt_env.render.ansi import render, show

        seat = self.seat if self.render_seat is None else self.render_seat
        if self.render_mode == "human":
            show(self._batch.state, self.rules, seat=seat)
            return None
        return render(self._batch.state, self.rules, seat=seat)
