"""CPU time of a decision of the search players. `python -m benchmarks.search_speed`

Decisions of a base game of four, low cards taking the row with fewest heads, from the first turn
(ten candidates, the dearest) to the last but one, alone and in batches. Best of several repeats by
`time.process_time`; the loops are compiled before.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from time import process_time

import numpy as np

from agents.players import load_player
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import Policy
from sixnimmt_env.variants import make_rules

PLAYERS = "monte_carlo:100,monte_carlo:400,belief:70"
BATCHES = (1, 64)
REPEATS = 5


def milliseconds(player: Policy, batch: int, turns: list[int]) -> float:
    """CPU milliseconds of a decision in these turns, the mean over the turns."""
    rules = make_rules(num_players=4, row_choice="fewest_heads")
    engine, rng = Engine(rules), np.random.default_rng(0)
    state = engine.reset(0, batch)
    times = []
    for turn in range(max(turns) + 1):
        seen = observe(rules, state, 0)
        if turn in turns:
            best = np.inf
            for _ in range(REPEATS):
                start = process_time()
                player.act(seen, rng)
                best = min(best, process_time() - start)
            times.append(1000 * best / batch)
        engine.step(state, state.hand[:, 0])
    return float(np.mean(times))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.search_speed",
        description="CPU time of a decision of the search players.",
    )
    parser.add_argument("--players", default=PLAYERS, help="by commas, as in the arena")
    names = parser.parse_args(arguments).players.split(",")
    try:
        players = {name: load_player(name.strip()) for name in names}
        for player in players.values():
            milliseconds(player, 1, [0])  # which also compiles it
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print("| player | decisions at once | first turn, ms | mean of all turns, ms |")
    print("|---|---:|---:|---:|")
    for name, player in players.items():
        for batch in BATCHES:
            first, mean = milliseconds(player, batch, [0]), milliseconds(player, batch, [*range(9)])
            print(f"| {name} | {batch} | {first:.2f} | {mean:.2f} |")


if __name__ == "__main__":
    main()
