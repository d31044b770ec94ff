"""Belief search: Monte Carlo on the deals that explain what the others have played.

Plain Monte Carlo deals the hidden cards as if nothing had been learned from the others' choices,
and lets them play at random. Here each deal is weighed by the chance that players like those of
`agents.model` would have played as the others did, and all seats play like them in the rollouts.
"""

from __future__ import annotations

from numbers import Real
from typing import Final

from agents.monte_carlo import MonteCarlo, Objective

DETERMINISATIONS: Final = 70
TRIES_EACH: Final = 10
STRENGTH: Final = 0.7
SKILL: Final = 0.5


class Belief(MonteCarlo):
    """Monte Carlo search on likely deals, against modelled players.

    Parameters
    ----------
    determinisations : int
        Deals on which every candidate is tried.
    objective : {"own", "relative", "win"}
        See `MonteCarlo`.
    strength : float
        Power to which the likelihood of a deal is taken, 0 ... 1: the model is not what the others
        are, so that it is trusted in part only.
    skill : float
        Chance, before anything is played, that one of the others plays as the model does and not
        at random, 0 ... 1. What they play then tells which.

    Notes
    -----
    Ten times as many deals are sampled as are played on; the likely ones are picked by systematic
    resampling. With open hands nothing is hidden and no deal is picked.
    """

    numbers = ("strength", "skill")

    def __init__(
        self,
        determinisations: int = DETERMINISATIONS,
        rollout: str = "model",
        objective: Objective = "own",
        strength: float = STRENGTH,
        skill: float = SKILL,
    ) -> None:
        if rollout != "model":
            raise ValueError(f"rollout={rollout!r} is not possible: belief search plays the model")
        super().__init__(determinisations, "model", objective)
        self.tries = TRIES_EACH * self.determinisations
        self.strength = _share("strength", strength)
        self.skill = _share("skill", skill)


def _share(name: str, value: object) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name}={value!r} is not possible: a number 0 to 1 is needed")
    return float(value)
