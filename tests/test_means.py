"""Mean bull heads of random play against figures measured with independent programs."""

from __future__ import annotations

import numpy as np
import pytest

from sixnimmt_env.engine import Engine
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER
from sixnimmt_env.variants import make_rules
from tests.rounds import random_actions

GAMES = 20_000
# Players 2 to 10; "player": the low card's owner takes a random row.
KNOWN = {
    "fewest_heads": (8.20, 10.79, 12.14, 12.97, 13.58, 14.01, 14.28, 14.49, 14.66),
    "player": (10.60, 12.44, 13.34, 13.89, 14.32, 14.64, 14.84, 15.00, 15.12),
}

# Players 2 to 7: tests/reference_plus.py over 20 000 rounds each, and the largest standard error.
KNOWN_WITH_ZEROS = {
    "plus": (16.648, 18.692, 19.745, 20.401, 20.857, 21.170),
    "plus_equal": (14.739, 16.768, 19.053, 19.930, 20.588, 21.144),
    "original_zeros": (16.648, 18.692, 19.745, 20.401, 20.857, 21.170),
    "simplified": (12.943, 13.681, 15.279, 15.760, 16.263, 16.549),
}
ERROR_WITH_ZEROS = 0.025


@pytest.mark.parametrize(
    ("row_choice", "players", "known"),
    [(choice, n, mean) for choice, means in KNOWN.items() for n, mean in enumerate(means, 2)],
)
def test_mean_heads_of_random_play(row_choice: str, players: int, known: float) -> None:
    mean, error = mean_heads(make_rules("base", players, row_choice=row_choice))
    # 0.02: the known figures are rounded and measured themselves.
    assert abs(mean - known) < 4 * error + 0.02


@pytest.mark.parametrize(
    ("variant", "players", "known"),
    [
        (name, n, mean)
        for name, means in KNOWN_WITH_ZEROS.items()
        for n, mean in enumerate(means, 2)
    ],
)
def test_mean_heads_with_zeros(variant: str, players: int, known: float) -> None:
    mean, error = mean_heads(make_rules(variant, players))
    assert abs(mean - known) < 4 * np.hypot(error, ERROR_WITH_ZEROS)


def mean_heads(rules: Rules) -> tuple[float, float]:
    """Mean of `GAMES` random rounds and its standard error."""
    engine, players = Engine(rules), rules.num_players
    rng = np.random.default_rng(players)
    state = engine.reset(seed=players, games=GAMES)
    while (active := state.phase != OVER).any():
        engine.step(state, random_actions(state, rng), active)
    # Seats of one round depend on each other, so the round is the unit of the standard error.
    means = state.totals().mean(axis=0)
    error = means.std(ddof=1) / np.sqrt(GAMES)
    return means.mean(), error
