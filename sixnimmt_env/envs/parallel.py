"""PettingZoo's parallel face: all agents act in every step. Its page is `sixnimmt_v0`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from sixnimmt_env.envs.agents import AgentGame, Info, Observation
from sixnimmt_env.envs.options import Layout, make_options, refuse_unknown
from sixnimmt_env.state import State

Observations = dict[str, Observation]
Infos = dict[str, Info]
Step = tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], Infos]


def parallel_env(
    num_players: int | None = None,
    variant: str | None = None,
    *,
    observation: Layout = "dict",
    render_mode: str | None = None,
    render_seat: int | None = None,
    max_cycles: int | None = None,
    **options: Any,
) -> SixNimmtParallelEnv:
    """Make the parallel environment.

    Parameters
    ----------
    num_players : int, optional
        Seats, 4 unless given.
    variant : str, optional
        What is played, "base" unless given.
    observation : {"dict", "flat"}
        Dicts of "observation" (F,) float32 and "action_mask" (A,) int8, or the former alone; then
        infos have the "action_mask".
    render_mode : {"human", "ansi"}, optional
        Print the table after every step, or let `render` return it as a string.
    render_seat : int, optional
        Show what this seat may see; all hands unless given.
    max_cycles : int, optional
        Cut the episode off after this many steps of the parallel environment.
    **options
        `row_choice`, `episode`, `target`, `rounds`, `rules`, `reward`, `illegal_action`,
        `illegal_penalty`: see `sixnimmt_env.envs.options.make_options`.

    Raises
    ------
    ValueError
        For an option that is not possible.
    TypeError
        For an option that there is not, and a render mode that there is not.
    """
    refuse_unknown(parallel_env, options)
    made = make_options(num_players, variant, **options)
    return SixNimmtParallelEnv(made, observation, render_mode, render_seat, max_cycles)


class SixNimmtParallelEnv(AgentGame, ParallelEnv[str, Observation, Any]):
    """All seats of one game act in every step and live until the end.

    Parameters
    ----------
    options : Options
        Rules and conventions.
    observation, render_mode, render_seat, max_cycles
        See `parallel_env`.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, Infos]:
        """Begin game 0 of a seed, or without a seed the next game of the last one.

        Parameters
        ----------
        seed : int, optional
            0 to 2**64 - 1. The first reset without one draws a seed.
        options : dict, optional
            Not used.

        Returns
        -------
        observations, infos : dict by agent
        """
        state = self._begin(seed, options)
        self._show()
        return self._seen(state)

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
        over, truncated = self._ended(state)
        if over or truncated:
            self.agents = []
        self._show()
        observations, infos = self._seen(state)
        terminations = dict.fromkeys(self.possible_agents, over)
        truncations = dict.fromkeys(self.possible_agents, truncated)
        return observations, rewards, terminations, truncations, infos

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
            raise ValueError(
                f"unknown agents {sorted(set(actions) - set(agents), key=str)}: known {agents}"
            )
        numbers = [
            value if type(value) is int and value.bit_length() < 63 else self._number(agent, value)
            for agent, value in zip(agents, values, strict=True)
        ]
        return np.array(numbers)[:, None]

    def _seen(self, state: State) -> tuple[Observations, Infos]:
        vectors, masks = self._observe(state, self._seats)
        # Copies, since from a row of an array all the others can be reached.
        copies: list[Any] = [vector.copy() for vector in vectors]
        if not self._flat:
            copies = [
                {"observation": vector, "action_mask": mask.copy()}
                for vector, mask in zip(copies, masks, strict=True)
            ]
        observations = dict(zip(self.possible_agents, copies, strict=True))
        return observations, self._infos(state, masks)
