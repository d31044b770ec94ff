"""Belief search: Monte Carlo on the deals that explain what the others have played.

Plain Monte Carlo deals the hidden cards as if nothing had been learned from the others' choices,
and lets them play at random. Here each deal is weighed by the chance that players like those of
`agents.model` would have played as the others did, and all seats play like them in the rollouts.
"""

from __future__ import annotations

from typing import Any, Final

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
        for name, value in (("strength", strength), ("skill", skill)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name}={value!r} is not possible: it is 0 to 1")
        self.tries = TRIES_EACH * self.determinisations
        self.strength = float(strength)
        self.skill = float(skill)

    @staticmethod
    def _options(arguments: list[str]) -> dict[str, Any]:
        """As for Monte Carlo search, and "strength=0.5" or "skill=0.5"."""
        numbers = [word for word in arguments if word.startswith(("strength=", "skill="))]
        options = MonteCarlo._options([word for word in arguments if word not in numbers])
        for word in numbers:
            name, _, number = word.partition("=")
            if name in options:
                raise ValueError(f"{word!r} says {name} a second time: once is needed")
            try:
                options[name] = float(number)
            except ValueError:
                raise ValueError(f"{word!r} is not possible: a number 0 to 1 is needed") from None
        return options
