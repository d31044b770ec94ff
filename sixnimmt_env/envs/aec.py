"""PettingZoo's AEC face: agents act one after the other. Its page is `sixnimmt_v0`."""

from __future__ import annotations

from typing import Any

import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import parallel_to_aec

from sixnimmt_env.cards import PASS
from sixnimmt_env.envs.agents import AgentGame, Observation
from sixnimmt_env.envs.options import Options
from sixnimmt_env.envs.parallel import parallel_env
from sixnimmt_env.state import OVER, State


def env(**options: Any) -> AECEnv[str, Observation, Any]:
    """Make the environment with agents that act one after the other (AEC).

    Where the rules let seats play one by one, only the seat at turn is asked. Otherwise all are
    asked in the order of the seats, and the game goes on when the last one has answered.

    Parameters
    ----------
    **options
        As for `parallel_env`.
    """
    game = parallel_env(**options)
    if game.rules.one_by_one:
        aec: Any = SixNimmtAECEnv(game.options, game.render_mode)
    else:
        aec = parallel_to_aec(game)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(aec))


class SixNimmtAECEnv(AgentGame, AECEnv[str, Observation, Any]):
    """One game played one by one: an agent acts only when it decides, so that nobody passes.

    All agents live until the end. `observe` works for every agent at any time; the mask of those
    who are not at turn allows nothing but pass.

    Parameters
    ----------
    options : Options
        Rules, in which seats play one by one, and conventions.
    render_mode : {"human", "ansi"}, optional
        See `parallel_env`.

    Raises
    ------
    ValueError
        If the rules let several seats decide at once.
    """

    metadata = {**AgentGame.metadata, "is_parallelizable": False}

    def __init__(self, options: Options, render_mode: str | None = None) -> None:
        if not options.rules.one_by_one:
            raise ValueError(
                f"in {options.rules.name} several players decide at once: use sixnimmt_v0.env or "
                "sixnimmt_v0.parallel_env"
            )
        super().__init__(options, render_mode)
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin game 0 of a seed, or without a seed the next game of the last one.

        Parameters
        ----------
        seed : int, optional
            At least 0. The first reset without one draws a seed.
        options : dict, optional
            Not used.
        """
        state = self._begin(seed)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.truncations = dict.fromkeys(self.agents, False)
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
            With `illegal_action="raise"`; the game is as it was before.
        """
        state = self._playing()
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._check_number(agent, action)
        joint: list[Any] = [PASS] * len(self.possible_agents)
        joint[self._seat_of[agent]] = action
        self.rewards = self._advance(state, np.array(joint)[:, None])
        self._cumulative_rewards[agent] = 0.0
        self._accumulate_rewards()
        self._look(state)

    def _look(self, state: State) -> None:
        """Take from the State who is at turn and what all may know."""
        self.terminations = dict.fromkeys(self.agents, bool(state.phase[0] == OVER))
        self.infos = self._infos(state)
        self.agent_selection = self.possible_agents[int(state.actor[0])]
        self._show()

    def observe(self, agent: str) -> Observation:
        """Observe what `agent` may know, whether it is at turn or not."""
        vectors, masks = self._observe(self._dealt(), self._seats[[self._seat_of[agent]]])
        return {"observation": vectors[0], "action_mask": masks[0]}
