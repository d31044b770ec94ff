"""Speed of trained networks with NumPy alone. `python -m benchmarks.inference`

First turn of a base game of four, ten cards to choose from. CPU time of `act` on observations:
encoding, description and network. Best of several repeats, matrices on one thread.
"""

from __future__ import annotations

import os

# Read when NumPy is imported.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import sys
from collections.abc import Sequence
from time import process_time

import numpy as np

from agents.learned import load_policy
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import Policy
from sixnimmt_env.trained.network import NetworkPolicy, weight_shapes
from sixnimmt_env.trained.scope import scope_of
from sixnimmt_env.variants import make_rules

RULES = make_rules(num_players=4)
BATCHES = (4096, 1)
WIDTHS = (128, 64)  # of the trainer's networks
REPEATS = 7
SECONDS = 0.1


def untrained() -> NetworkPolicy:
    """Network of the usual size with random weights: as fast as a trained one."""
    rng = np.random.default_rng(0)
    shapes = weight_shapes(RULES, *WIDTHS)
    weights = {name: 0.1 * rng.standard_normal(shape) for name, shape in shapes.items()}
    return NetworkPolicy(weights, scope_of([RULES]))


def seconds(policy: Policy, batch: int) -> float:
    """CPU-seconds of one call with so many decisions, the best of the repeats."""
    rng = np.random.default_rng(0)
    seen = observe(RULES, Engine(RULES).reset(0, batch), 0)
    policy.act(seen, rng)
    best = np.inf
    for _ in range(REPEATS):
        calls, start = 0, process_time()
        while (spent := process_time() - start) < SECONDS:
            policy.act(seen, rng)
            calls += 1
        best = min(best, spent / calls)
    return float(best)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.inference",
        description="Speed of trained networks with NumPy alone.",
    )
    parser.add_argument(
        "--policy", help="FILE.npz, trained or another policy; default: an untrained network"
    )
    options = parser.parse_args(arguments)
    try:
        policy = load_policy(options.policy) if options.policy else untrained()
        rows = [(batch, seconds(policy, batch)) for batch in BATCHES]
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print("| decisions at once | decisions per CPU-second | ms for one call |")
    print("|---:|---:|---:|")
    for batch, spent in rows:
        print(f"| {batch} | {batch / spent:,.0f} | {1000 * spent:.3f} |")


if __name__ == "__main__":
    main()
