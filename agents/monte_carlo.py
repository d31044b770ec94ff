"""Flat Monte Carlo search over sampled deals.

For every legal action the rest of the round is played many times, with the hidden cards dealt anew
each time and all seats playing at random; the action with the best mean outcome is played. All
candidates are tried on the same deals and with the same chance in them, so that luck cancels out
(common random numbers). The idea is that of flat Monte Carlo with determinisation, see Ginsberg,
"GIB: Imperfect information in a computationally challenging game" (2001).
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from agents import model
from agents.rollouts import HEADS, NOISE, Floats, Ints
from agents.sampling import flags_of, known
from agents.search import search
from sixnimmt_env.observe import Observation
from sixnimmt_env.rules import Rules

Objective = Literal["own", "relative", "win"]
Rollout = Literal["random", "model"]
OBJECTIVES: Final = ("own", "relative", "win")
ROLLOUTS: Final = ("random", "model")
WHOLE_ROUND: Final = 1000


class MonteCarlo:
    """Flat Monte Carlo search.

    It knows all rules: choices of a row, drafts, open hands, 0 cards, second cards, turns one by
    one, and collecting heads instead of avoiding them.

    Parameters
    ----------
    determinisations : int
        Deals of the hidden cards, on each of which every candidate is tried once.
    rollout : {"random", "model"}
        How all seats play in the rollouts: uniformly at random, or as `agents.model` does.
    objective : {"own", "relative", "win"}
        What is best: own heads, own heads less the mean of the others', or the chance of the best
        total at the end of this round.

    Raises
    ------
    ValueError
        If an argument is not possible.

    Notes
    -----
    In rollouts a low card takes the row with fewest heads. Mean heads and wins can disagree: the
    objective "own" loses wins against players that take few heads from one another.
    """

    tries = 0  # deals from which the likely ones are picked; 0: all deals are equally likely
    strength = 0.0
    skill = 1.0

    def __init__(
        self,
        determinisations: int = 100,
        rollout: Rollout = "random",
        objective: Objective = "own",
    ) -> None:
        if not 1 <= determinisations <= 1_000_000:
            raise ValueError(f"determinisations={determinisations!r}: 1 to 1000000 are possible")
        for name, value, words in (
            ("rollout", rollout, ROLLOUTS),
            ("objective", objective, OBJECTIVES),
        ):
            if value not in words:
                raise ValueError(f"{name}={value!r} is not known: choose one of {list(words)}")
        self.determinisations = int(determinisations)
        self.rollout = rollout
        self.objective = objective

    @classmethod
    def from_spec(cls, arguments: list[str]) -> Self:
        """Make one of words: a number of determinisations, a rollout, an objective, in any order.

        Raises
        ------
        ValueError
            For a word that is none of these.
        """
        return cls(**cls._options(arguments))

    @staticmethod
    def _options(arguments: list[str]) -> dict[str, Any]:
        options: dict[str, Any] = {}
        value: int | str
        for word in arguments:
            if word.isdecimal():
                name, value = "determinisations", int(word)
            elif word in ROLLOUTS:
                name, value = "rollout", word
            elif word in OBJECTIVES:
                name, value = "objective", word
            else:
                raise ValueError(
                    f"{word!r} is not known: give a number of determinisations, one of "
                    f"{list(ROLLOUTS)} or one of {list(OBJECTIVES)}"
                )
            if name in options:
                raise ValueError(f"{word!r} says {name} a second time: once is needed")
            options[name] = value
        return options

    def act(self, observation: Observation, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `sixnimmt_env.policy.Policy.act`."""
        actions: NDArray[np.intp] = observation.action_mask.argmax(axis=1)
        choice = np.flatnonzero(observation.action_mask.sum(axis=1) > 1)
        if choice.size:
            if choice.size < len(observation):
                observation = _some(observation, choice)
            candidates, values = self.values(observation, rng)
            cost = self._cost(observation.rules, values)
            best = np.where(candidates >= 0, cost, np.inf).argmin(axis=1)
            actions[choice] = candidates[np.arange(choice.size), best]
        return actions

    def values(self, observation: Observation, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Value every legal action.

        Parameters
        ----------
        observation : Observation
            n decisions.
        rng : numpy.random.Generator
            Seeds the deals.

        Returns
        -------
        candidates : (n, C) int64
            Legal actions of each decision, ascending, then -1.
        values : (n, C, 3) float64
            For each the mean over all deals of the heads that the seat takes in the rest of the
            round, of the others' mean of that, and of its share of the win.
        """
        rules, n = observation.rules, len(observation)
        candidates, count = _candidates(observation.action_mask)
        values = np.zeros((*candidates.shape, 3))
        modelled = self.rollout == "model"
        tables = model.tables(rules) if modelled else model.NO_MODEL
        search(
            *known(observation),
            candidates,
            count,
            flags_of(rules),
            int(rules.collect),
            self.determinisations,
            self.tries,
            self.strength,
            self.skill,
            WHOLE_ROUND if modelled else 0,
            *tables,
            NOISE,
            HEADS,
            rng.integers(0, 2**64, n, dtype=np.uint64),
            values,
        )
        return candidates, values

    def _cost(self, rules: Rules, values: Floats) -> Floats:
        own, others, wins = np.moveaxis(values, 2, 0)
        if self.objective == "win":
            return -wins
        heads: Floats = own if self.objective == "own" else own - others
        return -heads if rules.collect else heads


def _candidates(mask: NDArray[np.int8]) -> tuple[Ints, Ints]:
    """Legal actions (n, C), then -1, and how many there are of each decision."""
    at, action = np.nonzero(mask)
    count = np.bincount(at, minlength=len(mask))
    candidates = np.full((len(mask), int(count.max())), -1, np.int64)
    starts = np.cumsum(count) - count
    candidates[at, np.arange(at.size) - starts[at]] = action
    return candidates, count.astype(np.int64)


def _some(observation: Observation, index: NDArray[np.intp]) -> Observation:
    names = [f.name for f in fields(observation) if f.name != "rules"]
    return replace(observation, **{name: getattr(observation, name)[index] for name in names})
