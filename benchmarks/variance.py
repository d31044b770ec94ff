"""How many games it takes to tell two players apart, with and without duplicate deals.

    python -m benchmarks.variance --players closest_gap,lowest

The question: how many heads more has the first player in a seat among the second's than the second
itself would have? Four ways to ask it, and the games each needs for a given 95 % interval.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents.terminal import ended_by_signal, write_anywhere
from benchmarks.arena import check_run
from benchmarks.arena_report import describe, table
from benchmarks.lineups import MOST_ROUNDS, Config, Lineup, chunks
from benchmarks.pool import Pool
from benchmarks.standings import collected
from sixnimmt_env.checks import whole
from sixnimmt_env.variants import VARIANTS

Z95 = 1.959964
LIMIT = 600.0  # seconds that a call of a player may take
LEAST = 1e-6  # heads: no arena comes near half an interval of so few


@dataclass(frozen=True)
class Way:
    """One way to measure a difference.

    Attributes
    ----------
    name : str
        What is compared.
    difference : float
        Mean difference in heads.
    deviation : float
        Standard deviation of one observation of it.
    games : int
        Games that an observation takes.
    """

    name: str
    difference: float
    deviation: float
    games: int

    def observations(self, half_width: float) -> int:
        """How many give an interval of mean ± `half_width`."""
        return int(np.ceil((Z95 * self.deviation / half_width) ** 2))


def ways(config: Config, processes: int = 2) -> list[Way]:
    """Measure the deviations with the two players of a configuration, on two deals or more.

    Raises
    ------
    ValueError
        For what cannot be played, or if a player fails.
    """
    check_run(processes, LIMIT)
    config.check()
    if len(config.players) != 2:
        raise ValueError(f"players={config.players!r}: two are needed")
    whole("rounds", config.rounds, 2, MOST_ROUNDS, "a deviation takes at least two")
    first, second = config.names
    size = config.seats
    one = Lineup("one", (first, *(second,) * (size - 1)))
    same = Lineup("same", (second,) * size)
    with Pool(config, processes, LIMIT) as pool:
        pool.check()
        played = collected(config, pool.play(chunks(config, [one, same])))
    if len(played) < 2 or not np.array_equal(*(p.deals for p in played.values())):
        raise ValueError("a player failed: python -m benchmarks.arena tells how")
    mixed = played[one.name].heads[:, :, 0]  # rotation r: the first player at seat r
    plain = played[same.name].heads[:, 0]
    alone, pairs = mixed[:, 0] - plain[:, 0], mixed.mean(axis=1) - plain.mean(axis=1)
    # As if every game had been on a deal of its own: variances of independent means add up.
    apart = mixed[:, 0].var(ddof=1) + plain[:, 0].var(ddof=1)
    spread = mixed.var(axis=0, ddof=1).mean() / size + plain.mean(axis=1).var(ddof=1)
    one_seat, every_seat = float(alone.mean()), float(pairs.mean())
    return [
        Way("other deals, one seat", one_seat, float(np.sqrt(apart)), 2),
        Way("the same deals, one seat", one_seat, float(alone.std(ddof=1)), 2),
        Way("other deals, every seat", every_seat, float(np.sqrt(spread)), size + 1),
        Way("the same deals, every seat", every_seat, float(pairs.std(ddof=1)), size + 1),
    ]


def report(found: Sequence[Way], half_width: float) -> str:
    """Markdown table."""
    title = ["how", "difference", "deviation of one observation", "games it takes"]
    title += [f"{what} for ± {half_width:g}" for what in ("observations", "games")]
    rows = []
    for way in found:
        count = way.observations(half_width)
        rows.append(
            [
                way.name,
                f"{way.difference:+.2f}",
                f"{way.deviation:.2f}",
                *map(str, (way.games, count, count * way.games)),
            ]
        )
    return table(title, rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.variance",
        description="How many games it takes to tell two players apart.",
    )
    parser.add_argument("--players", required=True, help="two, by commas")
    parser.add_argument("--seats", type=int, default=4)
    parser.add_argument("--variant", choices=sorted(VARIANTS), default="base")
    parser.add_argument("--rounds", type=int, default=2000, help="deals to measure with (2000)")
    parser.add_argument("--heads", type=float, default=0.1, help="half of the interval (0.1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args(arguments)
    players = tuple(name.strip() for name in args.players.split(","))
    if not LEAST <= args.heads < math.inf:
        sys.exit(f"error: heads={args.heads:g} is not possible: {LEAST:g} or more is needed")
    config = Config(
        players, args.seats, args.rounds, variant=args.variant, seed=args.seed, parts="cross"
    )
    write_anywhere()
    try:
        with ended_by_signal():
            found = ways(config, args.processes)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(f"{players[0]} among {players[1]}: {describe(config)}\n")
    print(report(found, args.heads))


if __name__ == "__main__":
    main()
