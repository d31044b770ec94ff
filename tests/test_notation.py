"""Records: text there and back, replay, records of games, and many broken ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sixnimmt_env.engine import Engine
from sixnimmt_env.notation import (
    Draft,
    Record,
    RecordError,
    Turn,
    read,
    record_of,
    replay,
    states,
    write,
)
from sixnimmt_env.position import Position
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER, TAKE
from sixnimmt_env.variants import make_rules
from tests.rounds import all_rules, random_actions, random_record

EXAMPLE = """\
sixnimmt record 1
variant: base
players: 2
row_choice: player

row 1: 60
row 2: 36 37 38 39 40
row 3: 70
row 4: 90
hand 0: 29
hand 1: 62

turn 1: 29 62 > row 2
heads: 7 0
"""
DRAFT = """\
sixnimmt record 1
variant: pro
players: 2
row_choice: player

first_seat: 1
picks 0: 5
picks 1: 7 9

heads: 0 0
"""


def test_example_there_and_back() -> None:
    record = read(EXAMPLE)
    assert record.start == Position([[60], [36, 37, 38, 39, 40], [70], [90]], [[29], [62]])
    assert record.turns == [Turn((29, 62), 2)]
    assert write(record) == EXAMPLE
    assert write(read(DRAFT)) == DRAFT


def test_people_may_add_comments_and_spaces() -> None:
    text = EXAMPLE.replace("row 3: 70", "# why?\n\n  row  3 :  70   # here").replace("\n", "\r\n")
    assert read(text) == read(EXAMPLE)


def test_piles_and_scores() -> None:
    text = EXAMPLE.replace("\nturn", "pile 0: 55\npile 1:\nscores: 12 0\n\nturn")
    text = text.replace("\n\npile", "\npile").replace("heads: 7", "heads: 14")
    record = read(text)
    assert write(record) == text
    assert replay(record).totals()[:, 0].tolist() == [26, 0]


@given(rules=st.sampled_from(all_rules()), seed=st.integers(0, 2**32), steps=st.integers(0, 80))
@settings(deadline=None, max_examples=60)
def test_record_of_any_game_so_far(rules: Rules, seed: int, steps: int) -> None:
    record, state = random_record(rules, seed, steps)
    assert read(write(record)) == record
    again = replay(record)
    for field in ("rows", "hand", "location", "played", "queue", "pile_heads", "phase", "turn"):
        assert np.array_equal(getattr(again, field), getattr(state, field)), field
    assert record_of(again, rules) == record


def test_record_of_a_round_of_a_match_has_its_scores() -> None:
    engine = Engine(make_rules("base", 4, episode="match"))
    state, rng = engine.reset(3, 5), np.random.default_rng(3)
    while not (state.round == 1).all():
        engine.step(state, random_actions(state, rng), state.round == 0)
    record = record_of(state, engine.rules, 2)
    assert isinstance(record.start, Position)
    assert record.start.scores == state.score[:, 2].tolist()
    assert record.turns == []
    assert read(write(record)) == record


def test_no_record_of_a_game_set_by_hand_in_mid_round() -> None:
    engine = Engine(make_rules("base", 2))
    state = Position([[1], [2], [3], [4]], [[5, 6], [7, 8]]).state(engine.rules)
    for _ in range(2):
        with pytest.raises(ValueError, match="set by hand in the middle of a round"):
            record_of(state, engine.rules)
        engine.step(state, state.hand[:, 0])


def test_rules_of_no_variant_are_refused() -> None:
    rules = Rules(num_players=2, hand_size=5)
    with pytest.raises(ValueError, match="not those of the variant 'base'"):
        record_of(Engine(rules).reset(), rules)
    match = make_rules("base", 2, episode="match")
    with pytest.raises(ValueError, match="one round, but these rules are of a match"):
        Record(match, Position([[1], [2], [3], [4]], [[5], [6]]), [], [0, 0])


def test_states_are_one_for_each_step() -> None:
    played = list(states(read(EXAMPLE)))
    assert [int(state.phase[0]) for state in played] == [2, TAKE, OVER]
    assert len(list(states(read(DRAFT)))) == 4


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ("sixnimmt record 1", "sixnimmt record 2", "line 1", "'sixnimmt record 1'"),
        ("variant: base", "variant: bass", "line 2", "found 'bass', expected one of"),
        ("players: 2", "players: 11", "line 3", "2 to 10"),
        ("players: 2", "players: two", "line 3", "found 'two'"),
        ("players: 2", "players: 2 2", "line 3", "found 2 numbers, expected 1"),
        ("row_choice: player", "row_choice: low", "line 4", "found 'low'"),
        ("row_choice: player\n", "", "line 5", "expected 'row_choice: '"),
        ("row 3: 70\n", "", "line 8", "found 'row 4: 90', expected 'row 3: '"),
        ("row 3: 70", "row 3 70", "line 8", "expected 'row 3: '"),
        ("row 3: 70", "row 3:", "line 8", "1 to 5 cards"),
        ("row 3: 70", "row 3: 70 x", "line 8", "found 'x', expected a number 1 to 104"),
        ("row 3: 70", "row 3: 105", "line 8", "found '105'"),
        ("row 3: 70", "row 3: 0", "line 8", "found '0'"),
        ("row 3: 70", "row 3: -7", "line 8", "found '-7'"),
        ("row 3: 70", "row 3: ७", "line 8", "expected a number"),
        ("row 3: 70", "row 3: " + "7" * 5000, "line 8", "expected a number"),
        ("row 3: 70", "row 3: 71 70", "line 8", "ascend"),
        ("row 3: 70", "row 3: 60", "line 8", "also in row 1"),
        ("hand 1: 62", "hand 1: 62 63", "line 11", "equally large"),
        ("hand 1: 62", "hand 1: 62\nhand 2: 63", "line 12", "found 'hand 2: 63'"),
        ("hand 1: 62", "hand 1: 62\npile 0: 55", "line 14", "expected 'pile 1: '"),
        ("hand 1: 62", "hand 1: 62\nscores: 1", "line 12", "found 1 numbers, expected 2"),
        ("turn 1: 29", "turn 2: 29", "line 13", "expected 'turn 1: '"),
        ("turn 1: 29 62", "turn 1: 29", "line 13", "found 1 numbers, expected 2"),
        ("turn 1: 29", "turn 1: 30", "line 13", "seat 0 cannot choose card 30, expected one of 29"),
        (" > row 2", " > row 5", "line 13", "expected '> row' and a number 1 to 4"),
        (" > row 2", " > 2", "line 13", "found '> 2'"),
        ("heads", "turn 2: 29 62\nheads", "line 14", "the round is over"),
        (" > row 2\n", "\nturn 2: 29 62\n", "line 13", "lower than every row end"),
        ("row 4: 90", "row 4: 9", "line 13", "nobody has a row to choose"),
        ("heads: 7 0", "heads: 6 0", "line 14", "found 6 0, but the cards played give 7 0"),
        ("heads: 7 0", "heads: 7", "line 14", "found 1 numbers"),
        ("heads: 7 0\n", "", "line 13", "the record ends here, expected 'heads: '"),
        ("heads: 7 0\n", "heads: 7 0\nheads: 7 0\n", "line 15", "nothing after the heads"),
        ("row 1: 60", "first_seat: 0\npicks 0:\npicks 1:", "line 9", "found 'row 2"),
    ],
)
def test_broken_records(old: str, new: str, where: str, message: str) -> None:
    assert old in EXAMPLE
    with pytest.raises(RecordError) as caught:
        read(EXAMPLE.replace(old, new, 1))
    assert caught.value.where == where
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ("first_seat: 1", "first_seat: 2", "line 6", "found '2', expected a number 0 to 1"),
        ("first_seat: 1", "first_seat: 0", "line 7", "make at least 2"),
        ("picks 1: 7 9", "picks 1: 7 25", "line 8", "found '25'"),
        ("picks 1: 7 9", "picks 1: 7 5", "line 8", "seat 1 cannot choose card 5"),
        ("heads", "turn 1: 5 7\nheads", "line 10", "the draft is not done"),
        ("variant: pro", "variant: tactics", "line 6", "there is no draft in tactics"),
    ],
)
def test_broken_drafts(old: str, new: str, where: str, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        read(DRAFT.replace(old, new, 1))
    assert caught.value.where == where
    assert message in str(caught.value)


@given(text=st.text())
@settings(deadline=None)
def test_any_text_is_a_record_error(text: str) -> None:
    with pytest.raises(RecordError, match="line"):
        read(text)


@given(cut=st.integers(0, len(EXAMPLE) - 5))
@settings(deadline=None)
def test_no_part_of_a_record_is_a_record(cut: int) -> None:
    with pytest.raises(RecordError, match="line"):
        read(EXAMPLE[:cut])


def test_records_made_by_hand_are_checked_by_replay() -> None:
    good = read(EXAMPLE)
    for turn, message in [
        (Turn((29,), 2), "1 cards, but there are 2 players"),
        (Turn((29, 62), 7), "found '> row 7'"),
        (Turn((29, 300), 2), "no such action"),
    ]:
        with pytest.raises(RecordError, match=message):
            replay(replace(good, turns=[turn]))
    drafting = read(DRAFT)
    for start in (Draft(5, [[], []]), Draft(0, [[]])):
        with pytest.raises(RecordError, match=r"seats are|2 players"):
            replay(replace(drafting, start=start))


def test_a_missing_choice_of_row_is_named():
    text = """sixnimmt record 1
variant: base
players: 2
row_choice: player
row 1: 60
row 2: 36 37 38 39 40
row 3: 70
row 4: 90
hand 0: 29
hand 1: 62
turn 1: 29 62
heads: 3 7
"""
    with pytest.raises(ValueError, match=r"seat 0 to choose a row.*> row n"):
        replay(read(text))
