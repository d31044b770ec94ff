"""PettingZoo's parallel face: all agents act in every step. Its page is `sixnimmt_v0`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from sixnimmt_env.envs.agents import AgentGame, Info, Observation
from sixnimmt_env.envs.options import IllegalAction, Reward, make_options, refuse_unknown
from sixnimmt_env.rules import Episode, RowChoice
from sixnimmt_env.state import OVER, State
from sixnimmt_env.variants import DEFAULT

Observations = dict[str, Observation]
Infos = dict[str, Info]
Step = tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], Infos]


def parallel_env(
    num_players: int = 4,
    variant: str = DEFAULT,
    row_choice: RowChoice = "player",
    episode: Episode = "round",
    target: int | None = None,
    rounds: int | None = None,
    reward: Reward = "heads",
    illegal_action: IllegalAction = "raise",
    illegal_penalty: float = 1.0,
    render_mode: str | None = None,
    **unknown: Any,
) -> SixNimmtParallelEnv:
    """Make the parallel environment.

    Parameters
    ----------
    num_players, variant, row_choice, episode, target, rounds
        What is played, see `sixnimmt_env.envs.options.make_options`.
    reward, illegal_action, illegal_penalty
        Conventions, see there.
    render_mode : {"human", "ansi"}, optional
        Print the table after every step, or let `render` return it as a string.
    **unknown
        Refused.

    Raises
    ------
    ValueError
        For an option that is not possible.
    TypeError
        For an option that there is not.
    """
    refuse_unknown(parallel_env, unknown)
    options = make_options(
        num_players=num_players,
        variant=variant,
        row_choice=row_choice,
        episode=episode,
        target=target,
        rounds=rounds,
        reward=reward,
        illegal_action=illegal_action,
        illegal_penalty=illegal_penalty,
    )
    return SixNimmtParallelEnv(options, render_mode)


class SixNimmtParallelEnv(AgentGame, ParallelEnv[str, Observation, Any]):
    """All seats of one game act in every step and live until the end.

    Parameters
    ----------
    options : Options
        Rules and conventions.
    render_mode : {"human", "ansi"}, optional
        See `parallel_env`.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Begin game 0 of a seed, or without a seed the next game of the last one.

        Parameters
        ----------
        seed : int, optional
            At least 0. The first reset without one draws a seed.
        options : dict, optional
            Not used.

        Returns
        -------
        observations, infos : dict by agent
        """
        state = self._begin(seed)
        self._show()
        return self._observations(state), self._infos(state)

    def step(self, actions: dict[str, Any]) -> Step:
        """Let every agent act.

        Parameters
        ----------
        actions : dict
            An action number for each agent.

        Returns
        -------
        observations, rewards, terminations, truncations, infos : dict by agent

        Raises
        ------
        IllegalActionError
            With `illegal_action="raise"`; the game is as it was before.
        """
        state = self._playing()
        rewards = self._advance(state, self._joint(actions))
        ended = bool(state.phase[0] == OVER)
        if ended:
            self.agents = []
        self._show()
        return (
            self._observations(state),
            rewards,
            dict.fromkeys(self.possible_agents, ended),
            dict.fromkeys(self.possible_agents, False),
            self._infos(state),
        )

    def _joint(self, actions: dict[str, Any]) -> NDArray[Any]:
        agents = self.possible_agents
        if not isinstance(actions, dict):
            raise TypeError(f"actions={actions!r}: a dict of agent to action number is needed")
        try:
            values = [actions[agent] for agent in agents]
        except KeyError as missing:
            raise ValueError(
                f"there is no action for {missing.args[0]}: every agent acts in every step, "
                "with 0 (pass) when it has nothing to decide"
            ) from None
        if len(actions) != len(agents):
            raise ValueError(f"unknown agents {sorted(set(actions) - set(agents))}: known {agents}")
        for agent, value in zip(agents, values, strict=True):
            if type(value) is not int:
                self._check_number(agent, value)
        return np.array(values)[:, None]

    def _observations(self, state: State) -> Observations:
        vectors, masks = self._observe(state, self._seats)
        # Copies, since from a row of an array all the others can be reached.
        return {
            agent: {"observation": vector.copy(), "action_mask": mask.copy()}
            for agent, vector, mask in zip(self.possible_agents, vectors, masks, strict=True)
        }
