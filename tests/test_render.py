"""The table as text."""

from __future__ import annotations

import numpy as np
import pytest

from sixnimmt_env.engine import Engine
from sixnimmt_env.position import Position
from sixnimmt_env.render.ansi import render
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import FIELDS, OVER
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
        assert ("?" in text) == (not match.open_hands and bool(state.hand[0, 0, 1]))
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
