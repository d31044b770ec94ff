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
    check_render_seat,
    is_flat,
    replace_illegal,
    reset_options,
    seat_rewards,
    seed_word,
    step_limit,
)
from sixnimmt_env.envs.spaces import action_space, flat_space, observation_space
from sixnimmt_env.observe import observe
from sixnimmt_env.state import HAND, OVER, State

Observation = Any
Info = dict[str, Any]

_HIGHEST = np.iinfo(np.int64).max


class AgentGame:
    """One game, its agents, and what they see; in which order they act is left to the face.

    Parameters
    ----------
    options : Options
        Rules and conventions.
    observation, render_mode, render_seat, max_cycles
        See `sixnimmt_env.envs.parallel.parallel_env`.

    Attributes
    ----------
    rules : Rules
        What is played.
    observation_spaces, action_spaces : dict by agent
        What `observation_space` and `action_space` give.
    """

    metadata = {
        "name": "sixnimmt_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        options: Options,
        observation: str = "dict",
        render_mode: str | None = None,
        render_seat: int | None = None,
        max_cycles: int | None = None,
    ) -> None:
        rules = options.rules
        self.options = options
        self.rules = rules
        self.render_mode = check_render_mode(render_mode, RENDER_MODES)
        self.render_seat = check_render_seat(render_seat, rules)
        self.max_cycles = step_limit("max_cycles", max_cycles)
        self._flat = is_flat(observation)
        self.possible_agents = [f"player_{seat}" for seat in range(rules.num_players)]
        self.agents: list[str] = []
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            agent: observation_space(rules, self._flat) for agent in self.possible_agents
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: action_space(rules) for agent in self.possible_agents
        }
        hidden = NUM_CARDS + 1 + bool(rules.zeros) + 2 * (rules.cards_per_turn > 1)
        size = observation_size(rules) + rules.num_players * hidden
        self.state_space = flat_space(size)
        self._engine = Engine(rules)
        self._state: State | None = None
        self._seats = np.arange(rules.num_players)
        self._lane = np.zeros(rules.num_players, np.intp)
        self._illegal = [0] * rules.num_players
        self._totals = np.zeros((rules.num_players, 1), np.int32)
        self._cycles = 0

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Space of `agent`'s observations, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Space of `agent`'s actions, always the same object."""
        return self.action_spaces[agent]

    def action_mask(self, agent: str) -> NDArray[np.int8]:
        """Which actions are legal for `agent` now, shape (A,); only pass where it cannot act."""
        seat = self.possible_agents.index(agent)
        mask: NDArray[np.int8] = self._observe(self._dealt(), self._seats[[seat]])[1][0]
        return mask

    def _begin(self, seed: int | None, options: dict[str, Any] | None) -> State:
        """Begin game 0 of a seed, or without a seed the next game of the last one."""
        reset_options(options)
        if seed is None and self._state is not None:
            self._engine.restart(
                self._state, [0], self._state.seed, self._state.game_id + np.uint64(1)
            )
        else:
            drawn = np.random.SeedSequence().generate_state(1)[0] if seed is None else seed
            self._state = self._engine.reset(seed_word(drawn))
        self.agents = self.possible_agents[:]
        self._illegal = [0] * len(self.agents)
        self._totals = self._state.totals()
        self._cycles = 0
        return self._state

    def _advance(self, state: State, joint: NDArray[Any]) -> dict[str, float]:
        """Carry out the actions (P, 1) of all seats; the rewards by agent."""
        replaced = None
        if self.options.illegal_action != "raise":
            replaced = replace_illegal(self._engine, state, joint)
        self._engine.step(state, joint)
        self._cycles += 1
        totals = state.totals()
        rewards = seat_rewards(self.options, totals - self._totals, totals, state.phase == OVER)
        self._totals = totals
        if replaced is not None and replaced.any():
            for seat in np.flatnonzero(replaced[:, 0]):
                self._illegal[seat] += 1
            if self.options.illegal_action == "penalty":
                rewards -= self.options.illegal_penalty * replaced
        return dict(zip(self.possible_agents, rewards[:, 0].tolist(), strict=True))

    def _ended(self, state: State) -> tuple[bool, bool]:
        """Whether the game is over, and whether it has been cut off."""
        truncated = self.max_cycles is not None and self._cycles >= self.max_cycles
        return bool(state.phase[0] == OVER), truncated

    def _number(self, agent: str, action: Any) -> int:
        # A zero-dimensional integer array is an integer too: some libraries hand over those.
        array = np.asarray(action)
        if array.ndim:
            raise ValueError(f"the action of {agent} is {action!r}, but actions are single numbers")
        if array.dtype.kind not in "iu" or array > _HIGHEST:
            raise TypeError(
                f"the action of {agent} is {action!r}, but action numbers are integers 0 to "
                f"{self.rules.num_actions - 1}"
            )
        return int(array)

    def _observe(
        self, state: State, seats: NDArray[np.intp]
    ) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        return observe_encoded(self.rules, state, seats, self._lane[: seats.size])

    def _layout(self, vector: NDArray[np.float32], mask: NDArray[np.int8]) -> Observation:
        # Copies, since from a row of an array all the others can be reached.
        if self._flat:
            return vector.copy()
        return {"observation": vector.copy(), "action_mask": mask.copy()}

    def _infos(self, state: State, masks: NDArray[np.int8]) -> dict[str, Info]:
        """Infos by agent; with the masks of all seats where observations have none."""
        turn, round_ = int(state.turn[0]), int(state.round[0])
        infos: dict[str, Info] = {
            agent: {"heads": heads, "turn": turn, "round": round_, "illegal_actions": illegal}
            for agent, heads, illegal in zip(
                self.possible_agents, self._totals[:, 0].tolist(), self._illegal, strict=True
            )
        }
        if self._flat:
            for info, mask in zip(infos.values(), masks, strict=True):
                info["action_mask"] = mask.copy()
        return infos

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
        from sixnimmt_env.render.ansi import render, show

        if self.render_mode == "human":
            show(self._dealt(), self.rules, seat=self.render_seat)
            return None
        return render(self._dealt(), self.rules, seat=self.render_seat)

    def close(self) -> None:
        """Nothing to release."""
