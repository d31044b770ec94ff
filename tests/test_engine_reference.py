"""The engine against the scalar references over many random rounds.

Every variant, number of players and choice of row is compared turn by turn in batches of 1, 7 and
4096 games, and besides by the end of at least 10 000 rounds of every variant; the slow test does so
for every number of players.
"""

from __future__ import annotations

import numpy as np
import pytest

from sixnimmt_env.engine import Engine
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER
from tests.rounds import PLAYERS, ReferenceGame, all_rules, name_of, random_actions, row_choices

# (games in a batch, batches, games of each batch that are compared)
BATCHES = [(1, 10, 1), (7, 6, 7), (4096, 1, 100)]
RULES = all_rules()
MANY = 10_000


@pytest.mark.parametrize("rules", RULES, ids=name_of)
@pytest.mark.parametrize(("size", "batches", "compared"), BATCHES)
def test_engine_agrees_with_reference(rules: Rules, size: int, batches: int, compared: int) -> None:
    for seed in range(batches):
        compare_batch(rules, size, seed, compared)


@pytest.mark.parametrize("rules", RULES, ids=name_of)
def test_engine_ends_as_the_reference(rules: Rules) -> None:
    shares = len(PLAYERS[rules.name]) * len(row_choices(rules.name))
    compare_batch(rules, -(-MANY // shares), seed=99, every_step=False)


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES, ids=name_of)
def test_engine_ends_as_the_reference_in_many_more_rounds(rules: Rules) -> None:
    compare_batch(rules, MANY, seed=100, every_step=False)


def compare_batch(
    rules: Rules, size: int, seed: int, compared: int | None = None, every_step: bool = True
) -> None:
    """Play a batch to the end and compare some of its games, or all, after every step or then."""
    engine, rng = Engine(rules), np.random.default_rng([seed, size, rules.num_players])
    state = engine.reset(seed, size)
    sample = np.arange(size) if compared is None else rng.choice(size, compared, replace=False)
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
                if every_step:
                    game.check(state)
    for game in games:
        assert game.over
        game.check(state)
