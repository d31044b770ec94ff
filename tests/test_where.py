"""Games left out of a step stay as they are, and the others move as if they were alone."""

from __future__ import annotations

import numpy as np
import pytest

from sixnimmt_env import engine as engine_module
from sixnimmt_env import lanes, loops
from sixnimmt_env.engine import BLOCK, Engine, IllegalActionError
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import FIELDS, OVER, PLAY, State
from sixnimmt_env.variants import make_rules
from tests.plain_view import case_name
from tests.rounds import ReferenceGame, random_actions, row_choices

MANY = 20_000
APPEND = {"low_card": "append", "hand_size": 4}
# Small hands, so that rounds end and begin soon.
GAMES = [
    Rules(num_players=3, hand_size=4, episode="match", rounds=2),
    Rules(num_players=2, hand_size=3, row_choice="fewest_heads", episode="match", target=9),
    Rules(num_players=2, hand_size=4, num_cards=12, draft=True),
    Rules(num_players=2, zeros=7, cards_per_turn=2, **APPEND),
    Rules(num_players=2, zeros=7, one_by_one=True, episode="match", rounds=2, **APPEND),
]
ODD = [
    Rules(num_players=3, num_cards=30, hand_size=4, episode="match", target=9),
    Rules(num_players=3, num_cards=22, hand_size=6, draft=True, episode="match", rounds=3),
    Rules(num_players=3, num_cards=40, hand_size=7, low_card="append", cards_per_turn=2),
    Rules(num_players=2, num_cards=20, hand_size=8, low_card="append", one_by_one=True),
    Rules(num_players=2, num_cards=20, hand_size=8, low_card="append"),
]
SMALL = [
    make_rules(variant, players, row_choice=row_choice, episode="match", rounds=2)
    for variant, players in (("base", 4), ("tactics", 3), ("pro", 3), ("plus", 3),
                             ("plus_equal", 4), ("original_zeros", 2), ("simplified", 3))
    for row_choice in row_choices(variant)
]  # fmt: skip


def assert_same(left: State, right: State) -> None:
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(left, field), getattr(right, field), field)


def step_some(engine: Engine, state: State, where: np.ndarray, rng: np.random.Generator) -> None:
    """Step the games `where`, garbage for the others, and compare with steps of copies."""
    actions = random_actions(state, rng)
    left, moved = state.take(~where), state.take(where)
    engine.step(moved, actions[:, where])
    garbage = rng.integers(0, 256, actions.shape, np.uint8)
    mixed = np.where(where, actions, garbage)
    assert not engine.refused(state, mixed, where).any()
    engine.step(state, mixed, where)
    assert_same(state.take(where), moved)
    assert_same(state.take(~where), left)


@pytest.mark.parametrize("rules", GAMES, ids=case_name)
def test_many_games_under_a_random_mask(rules):
    assert MANY > BLOCK
    engine, rng = Engine(rules), np.random.default_rng(0)
    state = engine.reset(1, MANY)
    for step in range(20):
        over = state.phase == OVER
        if over.all():
            break
        where = ~over & (rng.random(MANY) < rng.choice([0.3, 0.9]))
        if step % 3 == 1 and where.any():
            step_some(engine, state, where, rng)
        else:
            engine.step(state, random_actions(state, rng), ~over)
    assert over.any() or (state.round > 0).any()


@pytest.mark.parametrize("rules", [*SMALL, *ODD], ids=case_name)
@pytest.mark.parametrize("kernel", [lanes, loops], ids=["lanes", "loops"])
def test_blocks_of_few_games_under_a_random_mask(rules, kernel, monkeypatch):
    """The same for every variant and both kernels, in small blocks of which the last is short."""
    monkeypatch.setattr(engine_module, "BLOCK", 8)
    monkeypatch.setattr(engine_module, "DEAL_BLOCK", 4)
    monkeypatch.setattr(loops, "suits", lambda state: kernel is loops)
    engine, rng = Engine(rules), np.random.default_rng(2)
    state = engine.reset(3, 21)
    assert_same(state, engine.reset(3, np.arange(21)))
    for step in range(500):
        over = state.phase == OVER
        if over.all():
            break
        where = ~over & (rng.random(21) < rng.choice([0.2, 0.8, 1]))
        if step % 3 or not where.any():
            engine.step(state, random_actions(state, rng), ~over)
        else:
            step_some(engine, state, where, rng)
    assert over.all()


@pytest.mark.parametrize("name", ["base", "plus", "simplified"])
@pytest.mark.parametrize("size", [1, 40])
@pytest.mark.parametrize("kernel", [lanes, loops], ids=["lanes", "loops"])
def test_each_kernel_against_the_reference(name, size, kernel, monkeypatch):
    """Whichever kernel is the faster one for so many games."""
    monkeypatch.setattr(loops, "suits", lambda state: kernel is loops)
    rules = make_rules(name, 4)
    engine, rng = Engine(rules), np.random.default_rng(size)
    state = engine.reset(5, size)
    games = [ReferenceGame(rules, state, game) for game in range(0, size, 9)]
    while (active := state.phase != OVER).any():
        actions = random_actions(state, rng)
        engine.step(state, actions, active)
        for game in games:
            if active[game.game]:
                game.step(actions[:, game.game].tolist())
                game.check(state)
    assert all(game.over for game in games)


@pytest.mark.parametrize("where", [None, "all", "some"])
def test_an_illegal_action_in_a_late_block_changes_nothing(where, monkeypatch):
    monkeypatch.setattr(engine_module, "BLOCK", 4)
    engine = Engine(make_rules("base", 2))
    state = engine.reset(0, 11)
    mask = {None: None, "all": np.ones(11, bool), "some": np.arange(11) % 2 == 0}[where]
    actions = state.hand[:, 0].astype(np.int64)
    actions[1, 10] = 0
    before = state.copy()
    with pytest.raises(IllegalActionError, match="player_1 in game 10 cannot do action 0"):
        engine.step(state, actions, mask)
    assert_same(state, before)
    refused = engine.refused(state, actions, mask)
    assert np.argwhere(refused).tolist() == [[1, 10]]
    if mask is not None:
        mask[10] = False
        engine.step(state, actions, mask)
        assert (state.turn[~mask] == 0).all()
        assert ((state.turn == 1) | (state.phase != PLAY))[mask].all()
