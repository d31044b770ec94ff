"""How strong a policy is: one seat against the same opponent in all others.

    python -m training.evaluate --policy runs/first --against random closest_gap
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from numpy.typing import NDArray

from sixnimmt_env.policy import Policy, make_policy, play
from sixnimmt_env.rules import Rules

Z95 = 1.959963984540054


@dataclass(frozen=True)
class Estimate:
    """A mean and half the width of its 95 % interval."""

    mean: float
    half: float

    @classmethod
    def of(cls, samples: NDArray[np.floating]) -> Estimate:
        """Estimate from independent samples (n,), n at least 2."""
        half = Z95 * float(samples.std(ddof=1)) / math.sqrt(len(samples))
        return cls(float(samples.mean()), half)

    def text(self, scale: float = 1.0, digits: int = 2) -> str:
        """"mean ± half"."""
        return f"{self.mean * scale:.{digits}f} ± {self.half * scale:.{digits}f}"


@dataclass(frozen=True)
class Strength:
    """What a seat scored.

    Attributes
    ----------
    heads, others : Estimate
        Bull heads a round, and those of the mean opponent at the same table.
    wins : Estimate
        Share of the wins; k who share the lowest total have 1/k each.
    rounds : int
        Rounds played, all seats together.
    """

    heads: Estimate
    others: Estimate
    wins: Estimate
    rounds: int


def evaluate(
    policy: str | Policy, opponent: str | Policy, rules: Rules, rounds: int = 2000, seed: int = 1
) -> Strength:
    """Play one policy against n - 1 of another.

    Every deal is played once with the policy in each seat; a deal's mean over the seats is one
    sample, so the intervals hold although the games of a deal resemble each other.

    Parameters
    ----------
    policy, opponent : str or Policy
        Who is measured, and who holds all other seats.
    rules : Rules
        What is played.
    rounds : int
        Deals, at least 2.
    seed : int
        Of the deals and of all policies' chance.
    """
    if rounds < 2:
        raise ValueError(f"rounds={rounds} is not possible: an interval needs at least 2")
    policy, opponent = make_policy(policy), make_policy(opponent)
    heads, others, wins = (np.zeros(rounds) for _ in range(3))
    players = rules.num_players
    for seat in range(players):
        table = [opponent] * players
        table[seat] = policy
        result = play(table, rules, rounds, seed)
        mine = result.heads[:, seat]
        heads += mine / players
        others += (result.heads.sum(axis=1) - mine) / (players - 1) / players
        wins += result.wins[:, seat] / players
    return Strength(
        Estimate.of(heads), Estimate.of(others), Estimate.of(wins), rounds * players
    )


@dataclass(frozen=True)
class Arguments:
    """Command line."""

    policy: Path
    """`policy.zip` of a run, or the run folder."""
    against: tuple[str, ...] = ("random", "closest_gap")
    rounds: int = 2000
    seed: int = 1


def main(arguments: Arguments) -> str:
    """Evaluate a saved policy; returns the table."""
    from agents.learned import SB3Policy
    from training.report import table

    policy = SB3Policy.load(arguments.policy)
    rules = policy.rules
    results = {
        (name, opponent): evaluate(player, opponent, rules, arguments.rounds, arguments.seed)
        for opponent in arguments.against
        for name, player in (("trained", policy), (opponent, opponent))
    }
    return table(results, rules)


if __name__ == "__main__":
    print(main(tyro.cli(Arguments)))
