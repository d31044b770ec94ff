"""PettingZoo's AEC face: agents act one after the other. Its page is `sixnimmt_v0`."""

from __future__ import annotations

from typing import Any

import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from sixnimmt_env.cards import PASS
from sixnimmt_env.envs.agents import AgentGame, Observation
from sixnimmt_env.envs.options import Layout, make_options, refuse_unknown
from sixnimmt_env.state import State


def env(
    num_players: int | None = None,
    variant: str | None = None,
    *,
    observation: Layout = "dict",
    render_mode: str | None = None,
    render_seat: int | None = None,
    max_cycles: int | None = None,
    **options: Any,
) -> AECEnv[str, Observation, Any]:
    """Make the environment with agents that act one after the other (AEC).

    Only agents that have something to decide are asked. Where several decide at once they are
    asked in the order of the seats, none sees what those before it have chosen, and the game goes
    on when the last one has answered.

    Parameters
    ----------
    num_players, variant, observation, render_mode, render_seat, max_cycles, **options
        As for `parallel_env`; an episode is cut off at the same state of the game.

    Raises
    ------
    ValueError, TypeError
        As for `parallel_env`.
    """
    refuse_unknown(env, options)
    made = make_options(num_players, variant, **options)
    aec: Any = SixNimmtAECEnv(made, observation, render_mode, render_seat, max_cycles)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(aec))


class SixNimmtAECEnv(AgentGame, AECEnv[str, Observation, Any]):
    """One game whose agents are asked one by one, each only when it decides, so that few pass.

    All agents live until the end. `observe` works for every agent at any time; the mask of those
    who have nothing to decide allows nothing but pass. Until the last of those who decide at once
    has answered nothing changes that anybody could observe.

    Parameters
    ----------
    options : Options
        Rules and conventions.
    observation, render_mode, render_seat, max_cycles
        See `parallel_env`.
    """

    # Agents that decide nothing are left out, where a parallel env expects actions of all.
    metadata = {**AgentGame.metadata, "is_parallelizable": False}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin game 0 of a seed, or without a seed the next game of the last one.

        Parameters
        ----------
        seed : int, optional
            0 to 2**64 - 1. The first reset without one draws a seed.
        options : dict, optional
            Not used.
        """
        state = self._begin(seed, options)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._look(state)

    def step(self, action: Any) -> None:
        """Let the agent at turn act; when the game is over, every agent steps once with None.

        Parameters
        ----------
        action : int
            An action number, None for an agent whose game is over.

        Raises
        ------
        IllegalActionError
            With `illegal_action="raise"`; the game is as it was before, and the agent still at
            turn.
        """
        state = self._playing()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        seat = self.possible_agents.index(agent)
        self._joint[seat] = self._number(agent, action)
        if self._waiting:
            self._refuse(state, seat)
            rewards = dict.fromkeys(self.agents, 0.0)
        else:
            rewards = self._advance(state, np.array(self._joint)[:, None])
        self.rewards = rewards
        self._cumulative_rewards[agent] = 0.0
        self._accumulate_rewards()
        if self._waiting:
            self.agent_selection = self._waiting.pop(0)
        else:
            self._look(state)

    def _refuse(self, state: State, seat: int) -> None:
        """Refuse an illegal action when it is made, not when all have answered."""
        action = self._joint[seat]
        legal = 0 <= action < self.rules.num_actions and self._masks[seat, action]
        if self.options.illegal_action == "raise" and not legal:
            joint = self._engine.lowest_legal(state)[:, 0].tolist()
            joint[seat] = action
            self._engine.step(state.copy(), np.array(joint)[:, None])  # says what is wrong

    def _look(self, state: State) -> None:
        """Take from the State who decides and what all may know."""
        over, truncated = self._ended(state)
        self.terminations = dict.fromkeys(self.agents, over)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._vectors, self._masks = self._observe(state, self._seats)
        self.infos = self._infos(state, self._masks)
        self._joint = [PASS] * len(self.possible_agents)
        # Who has something to decide has more actions than pass.
        acting = np.flatnonzero(self._masks[:, 1:].any(axis=1)).tolist()
        self._waiting = [self.possible_agents[seat] for seat in acting] or self.agents[:]
        self.agent_selection = self._waiting.pop(0)
        self._show()

    def observe(self, agent: str) -> Observation:
        """Observe what `agent` may know, whether it is at turn or not."""
        self._dealt()
        seat = self.possible_agents.index(agent)
        return self._layout(self._vectors[seat], self._masks[seat])
