"""The engine against the scalar reference, turn by turn, over many random rounds.

The numbers of games below make 20 976 rounds in all.
"""

from __future__ import annotations

import numpy as np
import pytest

from sixnimmt_env.engine import Engine
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER
from tests.rounds import ReferenceGame, all_rules, name_of, random_actions

# (games in a batch, batches, games of each batch that are compared)
BATCHES = [(1, 10, 1), (7, 6, 7), (4096, 1, 500)]
RULES = all_rules()


def test_enough_rounds_are_compared() -> None:
    assert len(RULES) * sum(batches * compared for _, batches, compared in BATCHES) >= 20_000


@pytest.mark.parametrize("rules", RULES, ids=name_of)
@pytest.mark.parametrize(("size", "batches", "compared"), BATCHES)
def test_engine_agrees_with_reference(rules: Rules, size: int, batches: int, compared: int) -> None:
    for seed in range(batches):
        compare_batch(rules, size, seed, compared)


def compare_batch(rules: Rules, size: int, seed: int, compared: int) -> None:
    """Play a batch to the end and compare some of its games after every step."""
    engine, rng = Engine(rules), np.random.default_rng([seed, size, rules.num_players])
    state = engine.reset(seed, size)
    sample = rng.choice(size, compared, replace=False)
    games = [ReferenceGame(rules, state, int(game)) for game in sample]
    for game in games:
        game.check(state)
    while (active := state.phase != OVER).any():
        actions = random_actions(state, rng)
        engine.step(state, actions, None if active.all() else active)
        columns = actions.T.tolist()
        for game in games:
            if active[game.game]:
                game.step(columns[game.game])
                game.check(state)
    assert all(game.over for game in games)
