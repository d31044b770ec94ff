"""Networks with random weights and positions of random games, for several tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import Observation, observe
from sixnimmt_env.policy import choose_actions, make_policy
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER, State
from sixnimmt_env.trained.network import NetworkPolicy, policy_bytes, weight_shapes
from sixnimmt_env.trained.scope import scope_of
from sixnimmt_env.variants import make_rules


def random_network(*rules: Rules, seed: int = 0, greedy: bool = True) -> NetworkPolicy:
    """A small network for some games that is far from indifferent."""
    rng = np.random.default_rng(seed)
    scope = scope_of(list(rules))
    shapes = weight_shapes(scope.rules, 16, 8)
    weights = {
        name: (2.5 * rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
        for name, shape in shapes.items()
    }
    return NetworkPolicy(weights, scope, greedy, {"seed": seed})


def write_network(path: Path, *rules: Rules, seed: int = 0) -> NetworkPolicy:
    """Write such a network to a file and return it."""
    policy = random_network(*rules, seed=seed)
    path.write_bytes(policy_bytes(policy))
    return policy


def write_file(path: Path, change: dict[str, Any], **arrays: Any) -> None:
    """Write a policy file with another text or other arrays (None for none)."""
    policy = random_network(*(make_rules("base", players) for players in (2, 3, 4)))
    about = {"format": 1, "scope": policy.scope.as_dict(), "about": {}} | change
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    content = {"about": text} | policy.weights | arrays
    with path.open("wb") as file:
        np.savez(file, **{name: array for name, array in content.items() if array is not None})


def counts_of(variant: str) -> range:
    """Possible numbers of players."""
    return range(2, make_rules(variant, 2).max_players + 1)


def random_states(rules: Rules, games: int, seed: int = 0) -> Iterator[State]:
    """States of random games at each step, the last one after their end."""
    engine, rng = Engine(rules), np.random.default_rng(seed)
    state = engine.reset(seed, games)
    players = [make_policy("random")] * rules.num_players
    while True:
        yield state
        active = state.phase != OVER
        if not active.any():
            return
        engine.step(state, choose_actions(players, rules, state, rng), active)


def random_views(rules: Rules, games: int, seed: int = 0) -> Iterator[Observation]:
    """What all seats see in such states; seats that have nothing to decide as well."""
    lanes = np.arange(games)
    seats = np.repeat(np.arange(rules.num_players), games)
    for state in random_states(rules, games, seed):
        yield observe(rules, state, seats, np.tile(lanes, rules.num_players))
