"""PettingZoo face: every seat of one game is an agent. Its page is `sixnimmt_env.sixnimmt_v0`."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import parallel_to_aec

from sixnimmt_env.cards import NUM_CARDS, ZERO
from sixnimmt_env.encoding import encode, observation_size
from sixnimmt_env.encoding_loops import observe_encoded
from sixnimmt_env.engine import Engine
from sixnimmt_env.envs.options import (
    RENDER_MODES,
    IllegalAction,
    Options,
    Reward,
    check_render_mode,
    make_options,
    replace_illegal,
    seat_rewards,
)
from sixnimmt_env.envs.spaces import action_space, dict_space, flat_space
from sixnimmt_env.observe import observe
from sixnimmt_env.rules import Episode, RowChoice
from sixnimmt_env.state import HAND, OVER, State
from sixnimmt_env.variants import DEFAULT

Observations = dict[str, dict[str, Any]]
Infos = dict[str, dict[str, Any]]
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

    Raises
    ------
    ValueError
        For an option that is not possible.
    """
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


def env(**options: Any) -> AECEnv[str, dict[str, Any], int | None]:
    """Make the environment with agents that act one after the other (AEC).

    Parameters
    ----------
    **options
        As for `parallel_env`.
    """
    aec = parallel_to_aec(parallel_env(**options))
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(aec))


class SixNimmtParallelEnv(ParallelEnv[str, dict[str, Any], Any]):
    """All seats of one game act in every step and live until the end.

    Parameters
    ----------
    options : Options
        Rules and conventions.
    render_mode : {"human", "ansi"}, optional
        See `parallel_env`.
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
        self._show()
        return self._observe(self._state), self._infos(self._state)

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
        joint = self._joint(actions)
        replaced = None
        if self.options.illegal_action != "raise":
            replaced = replace_illegal(self._engine, state, joint)
        self._engine.step(state, joint)
        totals = state.totals()
        over = state.phase == OVER
        rewards = seat_rewards(self.options, totals - self._totals, totals, over)
        self._totals = totals
        if replaced is not None and replaced.any():
            self._count(replaced, rewards)
        agents = self.possible_agents
        ended = bool(over[0])
        if ended:
            self.agents = []
        self._show()
        return (
            self._observe(state),
            dict(zip(agents, rewards[:, 0].tolist(), strict=True)),
            dict.fromkeys(agents, ended),
            dict.fromkeys(agents, False),
            self._infos(state),
        )

    def _playing(self) -> State:
        if self._state is None:
            raise RuntimeError("there is no game yet: call reset() before step()")
        if not self.agents:
            raise RuntimeError("the episode is over and nobody can act: call reset() first")
        return self._state

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
            # A zero-dimensional integer array is an integer too: some libraries hand over those.
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
                array = np.asarray(value)
                if array.ndim:
                    raise ValueError(
                        f"the action of {agent} is {value!r}, but actions are single numbers"
                    )
                if array.dtype.kind not in "iu":
                    raise TypeError(
                        f"the action of {agent} is {value!r}, but action numbers are integers 0 "
                        f"to {self.rules.num_actions - 1}"
                    )
        return np.array(values)[:, None]

    def _count(self, replaced: NDArray[np.bool_], rewards: NDArray[np.float64]) -> None:
        for seat in np.flatnonzero(replaced[:, 0]):
            self._illegal[seat] += 1
        if self.options.illegal_action == "penalty":
            rewards -= self.options.illegal_penalty * replaced

    def _observe(self, state: State) -> Observations:
        vectors, masks = observe_encoded(self.rules, state, self._seats, self._lane)
        return {
            agent: {"observation": vector, "action_mask": mask}
            for agent, vector, mask in zip(self.possible_agents, vectors, masks, strict=True)
        }

    def _infos(self, state: State) -> Infos:
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
