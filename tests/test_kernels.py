"""The two kernels, and the two ways to encode, give identical results, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from sixnimmt_env import encoding_loops, lanes, loops, phases
from sixnimmt_env.dealing import sort_lanes
from sixnimmt_env.encoding import encode
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import RandomPolicy, choose_actions
from sixnimmt_env.state import FIELDS, OVER, State
from sixnimmt_env.variants import make_rules
from tests.rounds import row_choices

CASES = [
    (variant, players, row_choice)
    for variant, counts in (
        ("base", (2, 3, 5, 10)),
        ("tactics", (2, 6)),
        ("pro", (2, 4, 6)),
        ("plus", (2, 4, 7)),
        ("plus_equal", (3, 5)),
        ("original_zeros", (2, 7)),
        ("simplified", (2, 4, 7)),
    )
    for players in counts
    for row_choice in row_choices(variant)
]


def _trace(rules, games: int) -> list[State]:
    engine = Engine(rules)
    state = engine.reset(seed=5, games=games)
    rng = np.random.default_rng(0)
    trace = [state.copy()]
    seats = [RandomPolicy()] * rules.num_players
    while (state.phase != OVER).any():
        actions = choose_actions(seats, rules, state, rng)
        engine.step(state, actions, state.phase != OVER)
        trace.append(state.copy())
    return trace


@pytest.mark.parametrize(("variant", "players", "row_choice"), CASES)
def test_kernels_agree(variant, players, row_choice, monkeypatch):
    rules = make_rules(variant, players, row_choice=row_choice, episode="match", rounds=2)
    monkeypatch.setattr(loops, "suits", lambda state: False)
    by_lanes = _trace(rules, 12)
    monkeypatch.setattr(loops, "suits", lambda state: True)
    by_loops = _trace(rules, 12)
    assert len(by_lanes) == len(by_loops) > 20
    for left, right in zip(by_lanes, by_loops, strict=True):
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(left, field), getattr(right, field), field)


@pytest.mark.parametrize(("variant", "players", "row_choice"), CASES)
def test_encodings_agree(variant, players, row_choice, monkeypatch):
    # Also where nothing compiles the loops: else `encode` would be compared with itself.
    monkeypatch.setattr(encoding_loops, "COMPILED", True)
    rules = make_rules(variant, players, row_choice=row_choice, episode="match", target=30)
    games = 6
    seats = np.repeat(np.arange(players), games)
    lane = np.tile(np.arange(games), players)
    shuffled = np.random.default_rng(1).permutation(seats.size)
    for state in _trace(rules, games)[::3]:
        seen = observe(rules, state, seats, lane)
        vectors, masks = encoding_loops.observe_encoded(rules, state, seats, lane)
        np.testing.assert_array_equal(vectors, encode(seen))
        np.testing.assert_array_equal(masks, seen.action_mask)
        # Without a compiler, seat by seat and in any order.
        for order in (slice(None), shuffled):
            slow = encoding_loops._by_seat(rules, state, seats[order], lane[order])
            np.testing.assert_array_equal(slow[0], vectors[order])
            np.testing.assert_array_equal(slow[1], masks[order])


def test_engine_uses_both_kernels():
    """Otherwise the comparison above would compare one kernel with itself in practice."""
    small, large = (Engine(make_rules()).reset(0, games) for games in (1, 5000))
    assert loops.suits(small)
    assert not loops.suits(large)
    assert phases.lanes is lanes


@pytest.mark.parametrize("size", range(1, 21))
def test_sorting_network(size):
    rng = np.random.default_rng(size)
    items = rng.integers(0, 30, (size, 500)).astype(np.uint16)
    expected = np.sort(items, axis=0)
    np.testing.assert_array_equal(np.array(sort_lanes(list(items.copy()))), expected)
    # Zero-one principle: a network that sorts all 0-1 inputs sorts everything (Knuth 5.3.4).
    if size <= 12:
        bits = (np.arange(2**size)[None] >> np.arange(size)[:, None] & 1).astype(np.uint8)
        result = np.array(sort_lanes(list(bits.copy())))
        assert (np.diff(result.astype(int), axis=0) >= 0).all()
