"""Records: text there and back, replay, records of games, and many broken ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sixnimmt_env.cards import ZERO
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
from sixnimmt_env.position import Position, position_of
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER, PLAY, SECOND, TAKE
from sixnimmt_env.variants import make_rules
from tests.rounds import PLAYERS, all_rules, name_of, random_actions, random_record

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
TWO_CARDS = """\
sixnimmt record 1
variant: plus
players: 2
row_choice: player

row 1: 10
row 2: 30
row 3: 40 41 42 43 44
row 4: 60
hand 0: 49 61 71 0
hand 1: 45

turn 1: 49+0 45
turn 2: 61+71 -
heads: 11 0
"""
ONE_BY_ONE = """\
sixnimmt record 1
variant: simplified
players: 3
row_choice: player

first_seat: 2
row 1: 10
row 2: 20
row 3: 30
row 4: 40
hand 0: 31 50
hand 1: 5 0
hand 2: 41 42

turn 1: 31 0 41
turn 2: - - 42
heads: 0 0 0
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


def test_two_cards_there_and_back() -> None:
    record = read(TWO_CARDS)
    assert record.turns == [Turn((49, 45), 0, (ZERO, 0)), Turn((61, 0), 0, (71, 0))]
    assert isinstance(record.start, Position)
    assert record.start.hands == [[49, 61, 71, ZERO], [45]]
    assert write(record) == TWO_CARDS
    played = list(states(record))
    assert [int(state.phase[0]) for state in played] == [PLAY, SECOND, PLAY, SECOND, OVER]
    assert played[2].zeros_played[:, 0].tolist() == [1, 0]
    typed = TWO_CARDS.replace("row_choice: player\n", "").replace("49+0", " 49 +  0")
    assert read(typed.replace("49 61 71 0", "0 71 61 49")).turns == record.turns
    # Nobody has a second card: one tuple less to type.
    one_each = [Turn((49, 45)), Turn((61, 0)), Turn((71, 0)), Turn((ZERO, 0))]
    assert replay(Record(record.rules, record.start, one_each, [0, 11])).phase[0] == OVER


def test_one_by_one_there_and_back() -> None:
    record = read(ONE_BY_ONE)
    assert record.turns == [Turn((31, ZERO, 41)), Turn((0, 0, 42))]
    assert isinstance(record.start, Position)
    assert record.start.first_seat == 2
    assert write(record) == ONE_BY_ONE
    played = list(states(record))
    assert [int(state.actor[0]) for state in played] == [2, 0, 1, 2, 0]
    last = replay(record)
    assert last.turn[0] == 11
    # A record can begin and end within a turn.
    text = write(Record(record.rules, position_of(last, record.rules), [], [0, 0, 0]))
    more = text.replace("heads", "turn 1: 50 - -\nheads")
    assert replay(read(more)).actor[0] == 1
    more = text.replace("heads", "turn 1: 50 5 -\nheads")
    assert replay(read(more)).phase[0] == OVER


def test_the_examples_of_the_docs() -> None:
    page = (Path(__file__).parent.parent / "docs" / "notation.md").read_text(encoding="utf-8")
    records = [part for part in page.split("```text\n") if part.startswith("sixnimmt record")]
    assert len(records) == 3
    for part in records:
        text = part.partition("```")[0]
        assert write(read(text)) == text


@given(rules=st.sampled_from(all_rules()), seed=st.integers(0, 2**32), steps=st.integers(0, 80))
@settings(deadline=None, max_examples=60)
def test_record_of_any_game_so_far(rules: Rules, seed: int, steps: int) -> None:
    check_record(rules, seed, steps)


@pytest.mark.parametrize("rules", all_rules(), ids=name_of)
def test_record_of_whole_and_half_games(rules: Rules) -> None:
    for steps in (1000, 21, 22, 23):
        check_record(rules, seed=1, steps=steps)


def check_record(rules: Rules, seed: int, steps: int) -> None:
    record, state = random_record(rules, seed, steps)
    assert read(write(record)) == record
    again = replay(record)
    if state.phase[0] == SECOND:
        # First cards are still hidden, and so not part of the record.
        engine = Engine(rules)
        engine.step(again, state.committed)
    for field in ("rows", "hand", "location", "played", "queue", "pile_heads", "phase", "turn"):
        assert np.array_equal(getattr(again, field), getattr(state, field)), field
    for field in ("zeros_played", "actor", "first_seat", "starters"):
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


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ("row_choice: player", "row_choice: fewest_heads", "line 4", "has no meaning in plus"),
        ("row 1: 10", "row 1: 0", "line 6", "found '0', expected a number 1 to 104"),
        ("row 1: 10", "first_seat: 0\nrow 1: 10", "line 7", "expected 'picks 0: '"),
        ("hand 1: 45", "hand 1: 109", "line 11", "found '109', expected a number 1 to 104 or 0"),
        ("hand 1: 45", "hand 1: -", "line 11", "found '-', expected a number 1 to 104 or 0"),
        ("hand 1: 45", "hand 1: 45 0 0 0 0 0 0 0", "line 11", "one 0 card too many"),
        ("hand 1: 45", "hand 1: 45\npile 0: 109", "line 12", "1 to 104 or 0"),
        ("49+0 45", "1+2+3 45", "line 13", "found '1+2+3', 3 cards of a seat, expected 2 at most"),
        ("49+0 45", "49+0", "line 13", "found 1 numbers, expected 2"),
        ("49+0 45", "49+0 45 1", "line 13", "found 3 numbers, expected 2"),
        ("49+0 45", "49+ 45", "line 13", "found 1 numbers, expected 2"),
        ("49+0 45", "49+0 45+", "line 13", "found '45+', expected one card, or two such as 49+0"),
        ("49+0 45", "49+0 -+45", "line 13", "found '-+45', expected one card, or two"),
        ("49+0 45", "49+- 45", "line 13", "found '49+-', expected one card, or two"),
        ("49+0 45", "49+x 45", "line 13", "found 'x', expected a number 1 to 104 or 0"),
        ("49+0 45", "x 45", "line 13", "found 'x', expected a number 1 to 104 or 0 or -"),
        ("49+0 45", "49+109 45", "line 13", "found '109', expected a number 1 to 104 or 0"),
        ("49+0", "49+49", "line 13", "seat 0 plays card 49 twice"),
        ("49+0", "0+0", "line 13", "seat 0 cannot choose a 0 card as its second card, expected"),
        ("49+0", "49+50", "line 13", "card 50 as its second card, expected none or one of 61 71 0"),
        ("49+0", "50+0", "line 13", "seat 0 cannot choose card 50, expected one of 49 61 71 0"),
        ("49+0 45", "49+0 0", "line 13", "seat 1 cannot choose a 0 card, expected one of 45"),
        ("49+0 45", "49+0 45+46", "line 13", "seat 1 cannot choose card 46 as its second card: it"),
        ("49+0 45", "- 45", "line 13", "seat 0 plays no card, expected one of 49 61 71 0"),
        ("49+0 45", "49+0 -", "line 13", "seat 1 plays no card, expected one of 45"),
        ("61+71 -", "61+71 45", "line 14", "seat 1 plays card 45, but has no cards left: expected"),
        ("61+71 -", "61 -\nturn 3: 71+0 -", "line 15", "card as its second card: it has no other"),
        ("61+71 -", "61+71 -\nturn 3: - -", "line 15", "the round is over"),
        ("61+71 -", "61+71 - > row 1", "line 14", "nobody has a row to choose"),
        ("heads: 11", "heads: 0", "line 15", "found 0 0, but the cards played give 11 0"),
    ],
)
def test_broken_records_of_two_cards(old: str, new: str, where: str, message: str) -> None:
    assert old in TWO_CARDS
    with pytest.raises(RecordError) as caught:
        read(TWO_CARDS.replace(old, new, 1))
    assert caught.value.where == where
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ("first_seat: 2\n", "", "line 6", "found 'row 1: 10', expected 'first_seat: '"),
        ("first_seat: 2", "first_seat: 3", "line 6", "found '3', expected a number 0 to 2"),
        ("row 1: 10", "picks 0: 1", "line 7", "expected 'row 1: '"),
        ("hand 0: 31 50", "hand 0: 31", "line 11", "1 cards, expected 2: clockwise from seat 2"),
        ("31 0 41", "31+50 0 41", "line 15", "found '31+50', 2 cards of a seat, expected 1 at"),
        ("31 0 41", "- 0 41", "line 15", "seat 0 plays no card, expected one of 31 50"),
        ("31 0 41", "31 - 41", "line 15", "seat 1 plays no card, expected one of 5 0"),
        ("31 0 41", "31 0 -", "line 15", "seat 2 plays no card, expected one of 41 42"),
        ("31 0 41", "0 0 41", "line 15", "seat 0 cannot choose a 0 card, expected one of 31 50"),
        ("- - 42", "- - -", "line 16", "seat 2 plays no card, expected one of 42"),
        ("- - 42", "- 5 42", "line 16", "seat 0 plays no card, expected one of 50"),
        ("- - 42", "50 - -", "line 16", "seat 2 plays no card, expected one of 42"),
        ("- - 42", "50 5 42\nturn 3: - - -", "line 17", "the round is over"),
    ],
)
def test_broken_records_one_by_one(old: str, new: str, where: str, message: str) -> None:
    assert old in ONE_BY_ONE
    with pytest.raises(RecordError) as caught:
        read(ONE_BY_ONE.replace(old, new, 1))
    assert caught.value.where == where
    assert message in str(caught.value)


def test_a_seat_does_not_play_twice_in_a_turn_that_was_begun() -> None:
    text = ONE_BY_ONE.replace("hand 2: 41 42", "hand 2: 42").replace("31 0 41", "31 0 42")
    with pytest.raises(RecordError, match="seat 2 plays card 42, but had played in this turn"):
        read(text)
    assert read(text.replace("31 0 42", "31 0 -")).turns[0] == Turn((31, ZERO, 0))


@pytest.mark.parametrize(
    ("turn", "where", "message"),
    [
        ("29+30 62", "line 13", "found '29+30', 2 cards of a seat, expected 1 at most"),
        ("29 -", "line 13", "found '-', expected a number 1 to 104$"),
        ("29 0", "line 13", "found '0', expected a number 1 to 104$"),
    ],
)
def test_the_base_game_knows_no_0_cards(turn: str, where: str, message: str) -> None:
    with pytest.raises(RecordError, match=f"{where}: .*{message.replace('+', '[+]')}"):
        read(EXAMPLE.replace("29 62", turn))


def test_a_byte_order_mark_is_accepted() -> None:
    assert read("\ufeff" + EXAMPLE) == read(EXAMPLE)


@pytest.mark.parametrize("thing", [None, EXAMPLE.encode(), 7, [EXAMPLE]])
def test_what_is_no_text(thing: Any) -> None:
    with pytest.raises(TypeError, match=rf"found {type(thing).__name__}, expected the text"):
        read(thing)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the text is empty, expected the first line 'sixnimmt record 1'"),
        ("\n # nothing\n", "line 1: the text is empty"),
        ("Call me Ishmael. " * 50, "line 1: found 'Call me Ishmael. .{23}…', expected the text of"),
        ("golden/base.txt", "line 1: found 'golden/base.txt', expected the text of a record, with"),
    ],
)
def test_what_is_no_record(text: str, message: str) -> None:
    with pytest.raises(RecordError, match=message) as caught:
        read(text)
    assert len(str(caught.value)) < 150


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
        (Turn((0, 62), 2), "seat 0 plays no card, expected one of 29"),
        (Turn((29, 62), 2, (0, 0)), "found second cards, but one is played in base"),
    ]:
        with pytest.raises(RecordError, match=message):
            replay(replace(good, turns=[turn]))
    with pytest.raises(RecordError, match="1 cards, but there are 2 players"):
        replay(replace(read(TWO_CARDS), turns=[Turn((49, 45), 0, (ZERO,))]))
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


@pytest.mark.parametrize("variant", sorted(PLAYERS))
def test_records_of_later_rounds_keep_the_scores(variant: str) -> None:
    rules = make_rules(variant, 2, episode="match", rounds=2)
    engine, rng = Engine(rules), np.random.default_rng(1)
    state = engine.reset(1)
    while state.round[0] == 0:
        engine.step(state, random_actions(state, rng))
    engine.step(state, random_actions(state, rng))
    record = record_of(state, rules)
    text = write(record)
    assert f"scores: {state.score[0, 0]} {state.score[1, 0]}" in text
    assert read(text) == record
    np.testing.assert_array_equal(replay(record).score, state.score)
