"""One game whose seats are named agents: what the two PettingZoo faces share."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from sixnimmt_env.cards import NUM_CARDS, ZERO
from sixnimmt_env.encoding import encode, observation_size
from sixnimmt_env.encoding_loops import observe_encoded
from sixnimmt_env.engine import Engine
from sixnimmt_env.envs.options import (
    RENDER_MODES,
    Options,
    check_render_mode,
    replace_illegal,
    seat_rewards,
)
from sixnimmt_env.envs.spaces import action_space, dict_space, flat_space
from sixnimmt_env.observe import observe
from sixnimmt_env.state import HAND, OVER, State

Observation = dict[str, Any]
Info = dict[str, Any]


class AgentGame:
    """One game, its agents, and what they see; in which order they act is left to the face.

    Parameters
    ----------
    options : Options
        Rules and conventions.
    render_mode : {"human", "ansi"}, optional
        Print the table after every step, or let `render` return it as a string.
    """

    metadata = {
        "name": "sixnimmt_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
        "is_parallelizable": True,
    }

    def __init__(self, options: Options, render_mode: str | None = None) -> None:
        rules = options.rules
        self.options = options
        self.rules = rules
        self.render_mode = check_render_mode(render_mode)
        self.possible_agents = [f"player_{seat}" for seat in range(rules.num_players)]
        self.agents: list[str] = []
        self._observation_spaces = {agent: dict_space(rules) for agent in self.possible_agents}
        self._action_spaces = {agent: action_space(rules) for agent in self.possible_agents}
        hidden = NUM_CARDS + 1 + bool(rules.zeros) + 2 * (rules.cards_per_turn > 1)
        size = observation_size(rules) + rules.num_players * hidden
        self.state_space = flat_space(size)
        self._engine = Engine(rules)
        self._state: State | None = None
        self._seats = np.arange(rules.num_players)
        self._lane = np.zeros(rules.num_players, np.intp)
        self._illegal = [0] * rules.num_players
        self._totals = np.zeros((rules.num_players, 1), np.int32)

    def observation_space(self, agent: str) -> spaces.Dict:
        """Space of `agent`'s observations, always the same object."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Space of `agent`'s actions, always the same object."""
        return self._action_spaces[agent]

    def _begin(self, seed: int | None) -> State:
        """Begin game 0 of a seed, or without a seed the next game of the last one."""
        if seed is None and self._state is not None:
            self._engine.restart(
                self._state, [0], self._state.seed, self._state.game_id + np.uint64(1)
            )
        else:
            seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
            self._state = self._engine.reset(seed)
        self.agents = self.possible_agents[:]
        self._illegal = [0] * len(self.agents)
        self._totals = self._state.totals()
        return self._state

    def _advance(self, state: State, joint: NDArray[Any]) -> dict[str, float]:
        """Carry out the actions (P, 1) of all seats; the rewards by agent."""
        replaced = None
        if self.options.illegal_action != "raise":
            replaced = replace_illegal(self._engine, state, joint)
        self._engine.step(state, joint)
        totals = state.totals()
        rewards = seat_rewards(self.options, totals - self._totals, totals, state.phase == OVER)
        self._totals = totals
        if replaced is not None and replaced.any():
            for seat in np.flatnonzero(replaced[:, 0]):
                self._illegal[seat] += 1
            if self.options.illegal_action == "penalty":
                rewards -= self.options.illegal_penalty * replaced
        return dict(zip(self.possible_agents, rewards[:, 0].tolist(), strict=True))

    def _check_number(self, agent: str, action: Any) -> None:
        # A zero-dimensional integer array is an integer too: some libraries hand over those.
        if isinstance(action, (int, np.integer)) and not isinstance(action, bool):
            return
        array = np.asarray(action)
        if array.ndim:
            raise ValueError(f"the action of {agent} is {action!r}, but actions are single numbers")
        if array.dtype.kind not in "iu":
            raise TypeError(
                f"the action of {agent} is {action!r}, but action numbers are integers 0 to "
                f"{self.rules.num_actions - 1}"
            )

    def _observe(
        self, state: State, seats: NDArray[np.intp]
    ) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        return observe_encoded(self.rules, state, seats, self._lane[: seats.size])

    def _infos(self, state: State) -> dict[str, Info]:
        turn, round_ = int(state.turn[0]), int(state.round[0])
        return {
            agent: {"heads": heads, "turn": turn, "round": round_, "illegal_actions": illegal}
            for agent, heads, illegal in zip(
                self.possible_agents, self._totals[:, 0].tolist(), self._illegal, strict=True
            )
        }

    def state(self) -> NDArray[np.float32]:
        """Everything about the game, for centralised critics.

        Returns
        -------
        (S,) float32
            Numbers in [0, 1]: the observation of player_0, then for each player 1 for each of the
            104 cards held, then 1 for each player who has something to decide. With 0 cards
            then each player's share of them; with two cards in a turn each player's first card /
            104, and then 1 for each player whose first card is a 0.
        """
        state = self._dealt()
        held = state.location[1:, 0] == (HAND + self._seats)[:, None]
        if state.two_cards:
            number = state.committed[:, 0] * (state.committed[:, 0] != ZERO)
            held &= np.arange(1, NUM_CARDS + 1) != number[:, None]
        acting = state.acting()[:, 0]
        seen = encode(observe(self.rules, state, 0))[0]
        parts = [seen, held.ravel(), acting]
        if self.rules.zeros:
            zeros = (state.hand[..., 0] == ZERO).sum(axis=1)
            parts.append(zeros / np.float32(self.rules.zeros))
        if state.two_cards:
            first = state.committed[:, 0]
            parts += [first * (first != ZERO) / np.float32(NUM_CARDS), first == ZERO]
        return np.concatenate(parts, dtype=np.float32)

    def _dealt(self) -> State:
        if self._state is None:
            raise RuntimeError("there is no game yet: call reset() first")
        return self._state

    def _playing(self) -> State:
        if self._state is None:
            raise RuntimeError("there is no game yet: call reset() before step()")
        if not self.agents:
            raise RuntimeError("the episode is over and nobody can act: call reset() first")
        return self._state

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """Return the table as a string ("ansi") or print it ("human")."""
        if self.render_mode is None:
            raise RuntimeError(
                "nothing can be rendered: make the environment with render_mode='ansi' or 'human'"
            )
        from sixnimmt_env.render.ansi import render

        table = render(self._dealt(), self.rules)
        if self.render_mode == "human":
            print(table)
            return None
        return table

    def close(self) -> None:
        """Nothing to release."""
