"""Flat Monte Carlo search over sampled deals.

For every legal action the rest of the round is played many times, with the hidden cards dealt anew
each time and all seats playing at random; the action with the best mean outcome is played. All
candidates are tried on the same deals and with the same chance in them, so that luck cancels out
(common random numbers). The idea is that of flat Monte Carlo with determinisation, see Ginsberg,
"GIB: Imperfect information in a computationally challenging game" (2001).
"""

from __future__ import annotations

from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from agents import model
from agents.rollouts import HEADS, NOISE, Floats, Ints
from agents.sampling import flags_of, known, some
from agents.search import search
from sixnimmt_env.checks import did_you_mean, one_of, whole
from sixnimmt_env.observe import Observation
from sixnimmt_env.rules import Rules

Objective = Literal["own", "relative", "win"]
Rollout = Literal["random", "model"]
OBJECTIVES: Final = ("own", "relative", "win")
ROLLOUTS: Final = ("random", "model")
MAX_DEALS: Final = 1_000_000
WHOLE_ROUND: Final = 1000
# Standard errors by which shares of wins must differ to be told apart.
APART: Final = 2.0


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
        total at the end of this round. Candidates whose share of the win is within two standard
        errors of the best share are told apart by the own heads.

    Raises
    ------
    ValueError
        If an argument is not possible.

    Notes
    -----
    In rollouts a low card takes the row with fewest heads. Mean heads and wins can disagree: the
    objective "own" loses wins against players that take few heads from one another. But shares of
    wins saturate: who is far behind or far ahead in a match loses or wins whatever is played, and
    heads still matter, for the rounds to come.
    """

    tries = 0  # deals from which the likely ones are picked; 0: all deals are equally likely
    strength = 0.0
    skill = 1.0
    numbers: tuple[str, ...] = ()  # options that `from_spec` reads as "NAME=NUMBER"

    def __init__(
        self,
        determinisations: int = 100,
        rollout: Rollout = "random",
        objective: Objective = "own",
    ) -> None:
        self.determinisations = whole(
            "determinisations", determinisations, 1, MAX_DEALS, f"a whole number, 1 to {MAX_DEALS}"
        )
        one_of("rollout", rollout, ROLLOUTS)
        one_of("objective", objective, OBJECTIVES)
        self.rollout = rollout
        self.objective = objective

    @classmethod
    def from_spec(cls, arguments: list[str]) -> Self:
        """Make one of words: a number of determinisations, a rollout, an objective, in any order.

        Belief search also knows "strength=NUMBER" and "skill=NUMBER".

        Raises
        ------
        ValueError
            For a word that is none of these.
        """
        return cls(**cls._options(arguments))

    @classmethod
    def _options(cls, arguments: list[str]) -> dict[str, Any]:
        options: dict[str, Any] = {}
        value: float | str
        for word in arguments:
            name, _, number = word.partition("=")
            if name in cls.numbers:
                value = _number(word, number)
            elif word.isdecimal():
                name, value = "determinisations", int(word)
            elif word in ROLLOUTS:
                name, value = "rollout", word
            elif word in OBJECTIVES:
                name, value = "objective", word
            else:
                words = [*ROLLOUTS, *OBJECTIVES]
                like = did_you_mean(name, [*words, *cls.numbers])
                words += [f"{name}=NUMBER" for name in cls.numbers]
                raise ValueError(
                    f"{word!r} is not known: {like} a number of determinisations or one of {words}"
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
                observation = some(observation, choice)
            candidates, values = self.values(observation, rng)
            best = self._cost(observation.rules, candidates >= 0, values).argmin(axis=1)
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

    def _cost(self, rules: Rules, legal: NDArray[np.bool_], values: Floats) -> Floats:
        """Cost of each candidate (n, C), infinite for those that are out of the question."""
        own, others, wins = np.moveaxis(values, 2, 0)
        heads: Floats = own - others if self.objective == "relative" else own
        if self.objective == "win":
            legal = legal & _may_win_most(wins, self.determinisations)
        return np.where(legal, -heads if rules.collect else heads, np.inf)


def _number(word: str, number: str) -> float:
    try:
        return float(number)
    except ValueError:
        raise ValueError(f"{word!r} is not possible: a number 0 to 1 is needed") from None


def _candidates(mask: NDArray[np.int8]) -> tuple[Ints, Ints]:
    """Legal actions (n, C), then -1, and how many there are of each decision."""
    at, action = np.nonzero(mask)
    count = np.bincount(at, minlength=len(mask))
    candidates = np.full((len(mask), int(count.max())), -1, np.int64)
    starts = np.cumsum(count) - count
    candidates[at, np.arange(at.size) - starts[at]] = action
    return candidates, count.astype(np.int64)


def _may_win_most(wins: Floats, count: int) -> NDArray[np.bool_]:
    """Whether a share of wins (n, C), a mean of `count` deals, is hardly below the best one."""
    best = wins.max(axis=1, keepdims=True)
    # One more win and one more loss (Laplace): a best share of 0 or 1 is not certain either.
    chance = (best * count + 1) / (count + 2)
    may: NDArray[np.bool_] = wins >= best - APART * np.sqrt(chance * (1 - chance) / count)
    return may
