"""Mean heads and win rate of a policy in one seat. `python -m training.evaluate --help`"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agents.players import load_player
from agents.terminal import write_anywhere
from sixnimmt_env.checks import whole
from sixnimmt_env.policy import Policy, make_policy, play
from sixnimmt_env.rules import Rules
from sixnimmt_env.trained.scope import Scope, scope_of
from sixnimmt_env.variants import VARIANTS, make_rules
from training.players import load_players

Z95 = 1.959964
MOST_ROUNDS = 1_000_000
"""They are played together, so that their number needs memory."""


@dataclass(frozen=True)
class Line:
    """One line of a table: who plays against whom, and how well."""

    opponents: str
    player: str
    rounds: int
    heads: float
    heads_interval: float
    wins: float
    wins_interval: float


def evaluate(
    policy: str | Policy,
    opponents: str | Policy | Sequence[str | Policy],
    rules: Rules,
    rounds: int = 10_000,
    seed: int = 0,
) -> dict[str, float]:
    """Play episodes with the policy in each seat in turn, on the same deals.

    Parameters
    ----------
    policy : str or Policy
        Who is looked at.
    opponents : str, Policy or sequence of them
        Who holds the other seats, clockwise from the policy's.
    rules : Rules
        What is played.
    rounds : int
        Episodes (rounds, unless `rules` says otherwise) in all; rounded up so that every seat
        gets as many, and at least two each.
    seed : int
        Of deals and policies.

    Returns
    -------
    dict
        "rounds" played; "heads" per episode and "wins" (share of episodes won, ties split);
        "heads_interval" and "wins_interval", the half-widths of their 95 % intervals. A deal
        played once from each seat is one independent observation.
    """
    players = rules.num_players
    check_rounds(rounds)
    if isinstance(opponents, (list, tuple)):
        others = [_made(opponent) for opponent in opponents]
    else:
        others = [_made(opponents)] * (players - 1)
    made = [_made(policy), *others]
    deals = max(2, math.ceil(rounds / players))
    heads, wins = np.zeros(deals), np.zeros(deals)
    for seat in range(players):
        seats = made[-seat:] + made[:-seat]  # the policy sits at `seat`
        result = play(seats, rules, deals, seed)
        heads += result.heads[:, seat] / players
        wins += result.wins[:, seat] / players
    return {
        "rounds": deals * players,
        "heads": float(heads.mean()),
        "heads_interval": half_width(heads),
        "wins": float(wins.mean()),
        "wins_interval": half_width(wins),
    }


def check_rounds(rounds: int) -> None:
    """Refuse a number of rounds that cannot be played: ValueError."""
    least_most = f"at least 1, at most {MOST_ROUNDS} is needed"
    whole("rounds", rounds, 1, MOST_ROUNDS, least_most)


def _made(player: Any) -> Policy:
    return load_player(player) if isinstance(player, str) else make_policy(player)


def half_width(values: np.ndarray[Any, Any]) -> float:
    """Half the width of the 95 % interval of a mean of independent observations."""
    return float(Z95 * values.std(ddof=1) / math.sqrt(len(values)))


def compare(
    players: dict[str, str | Policy], opponents: Sequence[str], rules: Rules, rounds: int, seed: int
) -> list[Line]:
    """Evaluate each player against tables full of each opponent, all of which are loaded first."""
    loaded = load_players(opponents, [rules])
    return [
        Line(name, mine, **evaluate(policy, opponent, rules, rounds, seed))  # type: ignore[arg-type]
        for name, opponent in loaded.items()
        for mine, policy in players.items()
    ]


def usual_opponents(rules: Rules) -> tuple[str, str]:
    """Random, and the simple player whose aim is that of the game."""
    return "random", "sixth_card" if rules.collect else "closest_gap"


def heads_title(rules: Rules) -> str:
    """What the heads of a table or a curve are."""
    if rules.collect:
        return f"heads collected per {rules.episode} (more is better)"
    return f"heads per {rules.episode}"


def table(lines: Sequence[Line], rules: Rules) -> str:
    """Markdown table that also reads well in a terminal."""
    rows = [("opponents", "player in the seat", heads_title(rules), "win rate")]
    for line in lines:
        rows.append(
            (
                f"{rules.num_players - 1} × {line.opponents}",
                line.player,
                f"{line.heads:5.2f} ± {line.heads_interval:.2f}",
                f"{100 * line.wins:5.1f} ± {100 * line.wins_interval:.1f} %",
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    text = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)) + " |" for r in rows
    ]
    text.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(text)


def as_dicts(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Lines for a JSON file."""
    return [asdict(line) for line in lines]


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m training.evaluate",
        description="Mean heads and win rate of a policy in one seat, with 95 % intervals. "
        "Players are saved networks (FILE.npz, FILE.zip), names like random, or module:Class.",
    )
    parser.add_argument("--policy", required=True, help="who is looked at")
    parser.add_argument(
        "--against", help="opponents, by commas; default: random and a simple player"
    )
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--players", type=int, help="default: the model's, or 4")
    parser.add_argument("--variant", choices=sorted(VARIANTS), help="default: the model's, or base")
    parser.add_argument("--row-choice", choices=["player", "fewest_heads"])
    options = parser.parse_args(arguments)
    write_anywhere()
    try:
        check_rounds(options.rounds)
        against = options.against.split(",") if options.against else []
        loaded = load_players([options.policy, *against])
        policy = loaded[options.policy]
        rules = _rules(policy, options)
        against = against or usual_opponents(rules)
        lines = compare({options.policy: policy}, against, rules, options.rounds, options.seed)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(table(lines, rules))


def _rules(policy: Policy, options: argparse.Namespace) -> Rules:
    """Rules the policy was trained for, where the command line does not say otherwise."""
    scope: Scope | None = getattr(policy, "scope", None)
    if scope is None:
        scope = scope_of([make_rules()])
    players = 4 if 4 in scope.players else max(scope.players)
    return make_rules(
        options.variant or scope.rules.name,
        players if options.players is None else options.players,
        row_choice=options.row_choice or scope.row_choices[0],
    )


if __name__ == "__main__":
    main()
