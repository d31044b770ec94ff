"""How well does your own Stable-Baselines3 model play?

    python -m examples.evaluate_own_model FILE.zip    # without one: policy.zip

Where there is no such file, examples.train_with_sb3 makes it first.

The command line does the same; FILE.npz and names of players go as well:

    python -m training.evaluate --policy policy.zip --against closest_gap,random
    python -m benchmarks.arena --players policy.zip,closest_gap,random,lowest --rounds 200
"""

import sys
import time
from pathlib import Path

from benchmarks.arena import run_arena
from benchmarks.arena_report import markdown
from benchmarks.lineups import Config
from examples import train_with_sb3
from sixnimmt_env import make_rules
from training.evaluate import compare, table


def main(path: str = "policy.zip", rounds: int = 200, out: str = "", steps: int = 200_000) -> None:
    if not Path(path).exists():
        print(f"there is no {path} yet: training it first, a few minutes", flush=True)
        train_with_sb3.main(steps=steps, path=path)
    # One seat against tables of one kind of player each.
    rules = make_rules(num_players=4)
    players = {"mine": path, "closest_gap": "closest_gap"}
    print(table(compare(players, ["closest_gap", "random"], rules, rounds, seed=0), rules))
    # Everybody against everybody, with ratings; see docs/arena.md.
    config = Config((path, "closest_gap", "random", "lowest"), rounds=rounds)
    folder = Path(out or f"results/arena/{time.strftime('%Y%m%d-%H%M%S')}")
    print(markdown(config, run_arena(config, folder, processes=1)))


if __name__ == "__main__":
    main(*sys.argv[1:])
