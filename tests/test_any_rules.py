"""Whatever `Rules` accept can be played: by hand-made ones, up to the most that arrays hold."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from sixnimmt_env.cards import BULL_HEADS, NUM_CARDS
from sixnimmt_env.encoding import encode
from sixnimmt_env.encoding_loops import observe_encoded
from sixnimmt_env.engine import Engine
from sixnimmt_env.loops import MOST_GAMES
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import RandomPolicy, choose_actions
from sixnimmt_env.rules import (
    EPISODES,
    LOW_CARDS,
    MAX_HAND,
    MAX_SEATS,
    MAX_ZEROS,
    ROW_CHOICES,
    Rules,
    RulesError,
)
from sixnimmt_env.state import FIELDS, OVER, TABLE, State

# All that is rare among rules drawn at random.
CORNERS = [
    {"num_players": MAX_SEATS, "hand_size": 6},
    {"num_players": MAX_SEATS, "hand_size": 6, "low_card": "append", "cards_per_turn": 2},
    {"num_players": MAX_SEATS, "hand_size": 7, "low_card": "append", "one_by_one": True}
    | {"zeros": MAX_ZEROS},
    {"num_players": MAX_SEATS, "hand_size": 6, "draft": True, "num_cards": 100},
    {"num_players": 2, "hand_size": 1, "low_card": "append", "cards_per_turn": 2}
    | {"zeros": 2, "zeros_each": 1},  # hands of 0 cards alone
    {"num_players": 7, "hand_size": MAX_HAND, "num_cards": NUM_CARDS, "low_card": "append"}
    | {"cards_per_turn": 2, "zeros": 7, "collect": True},
    {"num_players": 2, "hand_size": 2, "num_cards": 8},
]
DRAWN = 14


def drawn_rules(draw: random.Random) -> Rules:
    """Rules of which each part is drawn, and all of them again until they fit."""
    while True:
        parts: dict[str, Any] = {
            "num_players": draw.choice([2, 3, 7, 10, MAX_SEATS]),
            "hand_size": draw.choice([1, 2, 5, 6, 10, MAX_HAND]),
            "zeros": draw.choice([0, 0, 1, 7, MAX_ZEROS]),
            "zeros_each": draw.choice([0, 0, 1, 2]),
            "cards_per_turn": draw.choice([1, 2]),
            "one_by_one": draw.random() < 0.4,
            "low_card": draw.choice(LOW_CARDS),
            "row_choice": draw.choice(ROW_CHOICES),
            "draft": draw.random() < 0.2,
            "num_cards": draw.choice([NUM_CARDS, 60, 30]),
            "episode": draw.choice(EPISODES),
        }
        if parts["episode"] == "match":
            parts["rounds"] = 2
        if parts["draft"]:
            parts["num_cards"] = parts["num_players"] * parts["hand_size"] + 4
        try:
            return Rules(**parts, max_players=MAX_SEATS)
        except RulesError:
            pass


def check_heads(state: State) -> None:
    """No head is lost: all heads of piles and rows are those of the cards that lie there."""
    numbers = np.arange(NUM_CARDS + 1)[:, None]
    gone = ((state.location >= 32) | (state.location == TABLE)) & (numbers > 0)
    lying = (BULL_HEADS[:, None] * gone).sum(axis=0)
    waiting = BULL_HEADS[(state.queue >> 8) & 127] * (state.placed_row == 0)
    found = state.pile_heads.sum(axis=0) + state.row_heads.sum(axis=0) + waiting.sum(axis=0)
    np.testing.assert_array_equal(found, lying)


def same(left: State, right: State, games: Any) -> None:
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(left, name)[..., games], getattr(right, name), name)


@pytest.mark.parametrize("case", range(len(CORNERS) + DRAWN))
def test_any_rules_can_be_played(case: int):
    if case < len(CORNERS):
        rules = Rules(**CORNERS[case], max_players=MAX_SEATS)
    else:
        rules = drawn_rules(random.Random(case))
    engine, rng = Engine(rules), np.random.default_rng(case)
    seats, few = [RandomPolicy()] * rules.num_players, 3
    # The kernel for batches, and the one for few games.
    state, part = engine.reset(1, MOST_GAMES + 1), engine.reset(1, few)
    assert state.num_games > MOST_GAMES >= part.num_games
    where = np.arange(few)
    while (active := state.phase != OVER).any():
        check_heads(state)
        seat = int(rng.integers(rules.num_players))
        seen = observe(rules, part, seat)
        vectors = encode(seen)
        assert vectors.min() >= 0 and vectors.max() <= 1
        got, masks = observe_encoded(rules, part, np.full(few, seat), where)
        np.testing.assert_array_equal(got, vectors)
        np.testing.assert_array_equal(masks, seen.action_mask)
        actions = choose_actions(seats, rules, state, rng)
        engine.step(state, actions, active)
        if active[:few].any():
            engine.step(part, actions[:, :few], active[:few])
        same(state, part, slice(few))
    check_heads(state)
    assert (state.round == (1 if rules.episode == "match" else 0)).all()
