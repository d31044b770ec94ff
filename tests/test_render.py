"""The table as text."""

from __future__ import annotations

import numpy as np
import pytest

from sixnimmt_env.cards import ZERO
from sixnimmt_env.engine import Engine
from sixnimmt_env.position import Position
from sixnimmt_env.render.ansi import render
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import FIELDS, OVER, SECOND, State
from sixnimmt_env.variants import make_rules
from tests.rounds import all_rules, name_of, random_actions


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


def test_a_turn() -> None:
    engine = Engine(make_rules("base", 2))
    rows = [[60], [36, 37, 38, 39, 40], [70], [90, 91, 92, 93]]
    state = Position(rows, [[29], [62]], [[55], []], [4, 0]).state(engine.rules)
    text = render(state, engine.rules, seat=0)
    assert "turn 10 of 10" in text
    assert "! row 2    36¹  37¹  38¹  39¹  40³    7 heads" in text
    assert "full, the next card takes it" in text
    assert "room for one" in text
    assert "pile    55⁷  7 heads, 11 in all" in text
    assert "29¹" in text and "62¹" not in text and "?" in text
    assert "Just played" not in text
    engine.step(state, [[29], [62]])
    text = render(state, engine.rules, seat=0)
    assert "seat 0 waits" in text
    assert "Seat 0 chooses the row that card 29 takes, 1 to 4." in text
    engine.step(state, [[106], [0]])
    text = render(state, engine.rules)
    assert text.index("29¹  seat 0 takes row 2: 7 heads") < text.index("62¹  seat 1 to row 1")
    assert text.endswith("Over: seat 1 wins with 0 heads.")


def test_colours_only_repeat_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = make_rules("base", 2)
    state = Position([[55], [11], [20], [35]], [[1], [2]]).state(rules)
    without = render(state, rules)
    assert "\x1b" not in without
    monkeypatch.setenv("NO_COLOR", "")
    coloured = render(state, rules)
    assert "\x1b[1;35m55⁷\x1b[0m" in coloured
    for code in ("1;35", "1", "31", "33", "36", "0"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == without


def with_other_first_cards(state: State) -> State:
    """Change the first cards that seat 1 may not know."""
    changed = state.copy()
    others = np.arange(changed.num_players)[:, None] != 1
    changed.committed[...] = np.where(others & (changed.committed > 0), 104, changed.committed)
    return changed


def test_a_turn_of_two_cards() -> None:
    engine = Engine(make_rules("plus", 2))
    rows = [[10], [30], [40, 41, 42, 43, 44], [60]]
    hands = [[49, 50, ZERO], [45]]
    state = Position(rows, hands, [[ZERO, 55], []]).state(engine.rules)
    text = render(state, engine.rules, seat=0)
    assert "plus, 2 players · turn 13\n" in text
    assert "* seat 0  hand    49¹  50³    0\n          pile    55⁷    0  7 heads" in text
    assert text.endswith("All who hold cards choose a first card.")
    engine.step(state, [[49], [45]])
    text = render(state, engine.rules, seat=0)
    assert "hand    50³    0\n                  + first card 49¹" in text
    assert "45²" not in text and "Just played" not in text
    assert text.endswith("All who hold cards choose a second card, or none.")
    text = render(state, engine.rules)
    assert "  seat 1  hand      -\n                  + first card 45²" in text
    assert "49¹" not in render(state, engine.rules, seat=1)
    engine.step(state, [[ZERO], [0]])
    text = render(state, engine.rules, seat=0)
    assert (
        "Just played\n"
        "      0  seat 0 sets aside\n"
        "    49¹  seat 0 takes row 3: 11 heads\n"
        "    45²  seat 1 to row 2\n\n" in text
    )
    assert "first card 4" not in text and "turn 14\n" in text
    assert "  seat 1  hand      -\n" in text
    engine.step(state, [[50], [0]])
    text = render(state, engine.rules)
    assert "turn 14\n" in text and "sets aside" not in text
    assert text.endswith("Over: seat 0 wins with 18 heads.")


def test_one_after_the_other() -> None:
    engine = Engine(make_rules("simplified", 3))
    hands = [[85, ZERO], [51, ZERO], [52, 53]]
    position = Position([[50], [60], [70], [80, 81, 82, 83, 84]], hands, first_seat=2)
    state = position.state(engine.rules)
    assert render(state, engine.rules, seat=0).endswith("Seat 2 plays a card.")
    assert "  seat 0  hand      ?    ?\n" in render(state, engine.rules, seat=1)
    engine.step(state, [[0], [0], [52]])
    text = render(state, engine.rules)
    assert "turn 11 of 12" in text
    assert "Just played\n    52¹  seat 2 to row 1\n\n" in text
    engine.step(state, [[ZERO], [0], [0]])
    text = render(state, engine.rules)
    assert "Just played\n      0  seat 0 sets aside\n\n" in text
    assert text.endswith("Seat 1 plays a card.")
    for actions in ([[0], [ZERO], [0]], [[0], [0], [53]]):
        engine.step(state, actions)
    text = render(state, engine.rules)
    assert "turn 12 of 12" in text and "sets aside" not in text
    for actions in ([[85], [0], [0]], [[0], [51], [0]]):
        engine.step(state, actions)
    text = render(state, engine.rules)
    assert "Just played\n    51¹  seat 1 " in text
    assert text.endswith("Over: seat 1 and seat 2 win with 0 heads.")


@pytest.mark.parametrize("rules", all_rules(), ids=name_of)
def test_whole_games_can_be_drawn(rules: Rules) -> None:
    match = make_rules(
        rules.name, rules.num_players, row_choice=rules.row_choice, episode="match", rounds=2
    )
    engine, rng = Engine(match), np.random.default_rng(1)
    state = engine.reset(1, 2)
    while (active := state.phase != OVER).any():
        before = state.copy()
        text = render(state, match, 1, seat=1)
        assert all(np.array_equal(getattr(state, f), getattr(before, f)) for f in FIELDS)
        assert "seat 1  hand" in text and text == text.rstrip()
        others_hold_cards = bool(np.delete(state.hand[..., 1], 1, axis=0).any())
        assert ("?" in text) == (not match.open_hands and others_hold_cards)
        assert match.zeros or "109" not in text
        if state.phase[1] == SECOND:
            assert text == render(with_other_first_cards(state), match, 1, seat=1)
        engine.step(state, random_actions(state, rng), active)
    assert "round 2 of 2" in render(state, match)
    assert "in all" in render(state, match)


def test_unknown_games_and_seats() -> None:
    rules = make_rules("base", 2)
    state = Engine(rules).reset()
    with pytest.raises(ValueError, match="no game 1"):
        render(state, rules, 1)
    with pytest.raises(ValueError, match="no seat 2"):
        render(state, rules, seat=2)
