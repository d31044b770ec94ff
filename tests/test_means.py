"""Mean bull heads of random play against figures measured with an independent program."""

from __future__ import annotations

import numpy as np
import pytest

from sixnimmt_env.engine import Engine
from sixnimmt_env.state import OVER
from sixnimmt_env.variants import make_rules
from tests.rounds import random_actions

GAMES = 20_000
# Players 2 to 10; "player": the low card's owner takes a random row.
KNOWN = {
    "fewest_heads": (8.20, 10.79, 12.14, 12.97, 13.58, 14.01, 14.28, 14.49, 14.66),
    "player": (10.60, 12.44, 13.34, 13.89, 14.32, 14.64, 14.84, 15.00, 15.12),
}


@pytest.mark.parametrize(
    ("row_choice", "players", "known"),
    [(choice, n, mean) for choice, means in KNOWN.items() for n, mean in enumerate(means, 2)],
)
def test_mean_heads_of_random_play(row_choice: str, players: int, known: float) -> None:
    engine = Engine(make_rules("base", players, row_choice=row_choice))
    rng = np.random.default_rng(players)
    state = engine.reset(seed=players, games=GAMES)
    while (active := state.phase != OVER).any():
        engine.step(state, random_actions(state, rng), active)
    # Seats of one round depend on each other, so the round is the unit of the standard error.
    means = state.totals().mean(axis=0)
    error = means.std(ddof=1) / np.sqrt(GAMES)
    # 0.02: the known figures are rounded and measured themselves.
    assert abs(means.mean() - known) < 4 * error + 0.02
