"""What the core is given by mistake: named at once, never rounded, wrapped around or misread."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sixnimmt_env.engine import Engine
from sixnimmt_env.notation import write
from sixnimmt_env.observe import observe
from sixnimmt_env.position import Position, PositionError, position_of, stack
from sixnimmt_env.record import Draft, Record, RecordError, Turn, record_of
from sixnimmt_env.render.ansi import render
from sixnimmt_env.replay import replay
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import FIELDS
from sixnimmt_env.variants import VARIANTS, make_rules

from .memory import record_arrays

RULES = make_rules("base", 2)
DRAFT = make_rules("pro", 2)
ROWS, HANDS = [[60], [36, 37, 38], [70], [90]], [[29], [62]]


def refused(call: Callable[..., Any], *given: Any, said: str, **options: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(said)):
        call(*given, **options)


def test_games_may_be_a_mask():
    state = Engine(RULES).reset(0, 4)
    mask = np.array([True, False, True, True])
    for some in (mask, mask.tolist()):
        assert state.take(some).game_id.tolist() == [0, 2, 3]
        seen, same = observe(RULES, state, 1, some), observe(RULES, state, 1, [0, 2, 3])
        for name, array in record_arrays(same).items():
            np.testing.assert_array_equal(array, getattr(seen, name), name)
    engine, before = Engine(RULES), state.copy()
    engine.restart(state, mask, 7, 0)
    assert state.seed.tolist() == [7, 0, 7, 7]
    for name in FIELDS:
        left, right = getattr(before, name), getattr(state, name)
        np.testing.assert_array_equal(left[..., 1], right[..., 1], name)


ODD_GAMES = [
    ([4], "there is no game 4: they are 0 to 3"),
    ([-1], "there is no game -1"),
    (np.array([2**64 - 1], np.uint64), "there is no game 18446744073709551615"),
    ([0.5], "games=[0.5] is not possible: a list of whole numbers is needed"),
    ([[0]], "a list of whole numbers is needed"),
    (["0"], "a list of whole numbers is needed"),
    (2, "games=2 is not possible: a list of whole numbers is needed"),
    ([True, False], "games has dtype bool and shape (2,); bool (4,) is needed"),
    ([True, 2], "games=[True, 2] is not possible: a list of whole numbers is needed"),
]


@pytest.mark.parametrize(("games", "said"), ODD_GAMES, ids=str)
def test_games_that_are_not_there(games, said):
    engine = Engine(RULES)
    state = engine.reset(0, 4)
    before = state.copy()
    refused(state.take, games, said=said)
    refused(observe, RULES, state, 0, games, said=said)
    refused(engine.restart, state, games, 1, 0, said=said)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(before, name), getattr(state, name), name)


@pytest.mark.parametrize(
    ("seat", "said"),
    [
        (2, "there is no seat 2: they are 0 to 1"),
        (-1, "there is no seat -1"),
        (0.5, "seat=0.5 is not possible: a whole number is needed"),
        (True, "seat=True is not possible"),
        (None, "seat=None is not possible"),
        ("0", "seat='0' is not possible"),
        ([0, 1], "seat has 2 numbers for 3 games"),
        ([0], "seat has 1 numbers for 3 games"),
        ([0, 1, 2], "there is no seat 2"),
        ([0, 1, 1.5], "a list of whole numbers is needed"),
        ([True, False, True], "a list of whole numbers is needed"),
    ],
    ids=str,
)
def test_seats_that_are_not_there(seat, said):
    engine = Engine(RULES)
    state = engine.reset(0, 3)
    refused(observe, RULES, state, seat, said=said)
    if not isinstance(seat, list):
        refused(engine.legal, state, seat, 0, said=said)


def test_no_game_and_no_seat_are_none():
    state = Engine(RULES).reset(0, 3)
    assert len(observe(RULES, state, 0, [])) == len(observe(RULES, state, [], [])) == 0
    assert state.take([]).num_games == state.take(np.zeros(3, bool)).num_games == 0


def test_a_state_of_another_game():
    state, others = Engine(RULES).reset(0, 2), make_rules("base", 3)
    for call in (record_of, position_of):
        refused(call, state, others, said="this State is of another game than base with 3 players")
        refused(call, state, RULES, 2, said="there is no game 2")
        refused(call, state, RULES, -1, said="there is no game -1")
    refused(observe, others, state, 0, said="another game")
    refused(observe, state, RULES, 0, said="a State is needed")
    refused(Engine(others).restart, state, [0], 0, 0, said="another game")
    refused(Engine, "base", said="rules='base': Rules are needed")
    refused(Position(ROWS, HANDS).state, "base", said="Rules are needed")
    refused(stack, [HANDS], RULES, said="every game is given as a Position")


@pytest.mark.parametrize(
    ("seed", "games", "said"),
    [
        (2**64, 1, "seed=18446744073709551616 is not possible: whole numbers 0 to 2**64 - 1"),
        (-1, 1, "seed=-1 is not possible"),
        ([1.9, 2.9], 2, "seed=[1.9, 2.9] is not possible"),
        (None, 1, "seed=None is not possible"),
        (True, 1, "seed=True is not possible"),
        ([1, 2], 3, "seed has shape (2,); one for each game, (3,), is needed"),
        (0, 0, "games=0 is not possible: at least 1 game is needed"),
        (0, 2.0, "games=2.0 is not possible: a whole number is needed"),
        (0, "two", "games='two' is not possible"),
        (0, [[1, 2]], "games has shape (1, 2)"),
        (0, [-1], "games=[-1] is not possible"),
    ],
    ids=str,
)
def test_seeds_and_numbers_of_games(seed, games, said):
    refused(Engine(RULES).reset, seed, games, said=said)


def test_the_highest_seed():
    state = Engine(RULES).reset(2**64 - 1, np.uint8(200))
    assert state.seed[0] == 2**64 - 1 and state.num_games == 200


def test_small_and_huge_seeds_in_one_list():
    seeds = [0, 2**64 - 1, 2**63, 5]
    assert Engine(RULES).reset(seeds, 4).seed.tolist() == seeds
    assert Engine(RULES).reset(1, seeds).game_id.tolist() == seeds


@pytest.mark.parametrize("seeds", [[True, 5], [-1, 2**64 - 1], [0, 2**64], [1.0, 2], [None, 1]])
def test_lists_that_are_no_seeds(seeds):
    with pytest.raises(ValueError, match=r"whole numbers 0 to 2\*\*64 - 1 are needed"):
        Engine(RULES).reset(seeds, 2)


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_no_games_can_be_stepped_and_observed(variant):
    rules = make_rules(variant, 3)
    engine = Engine(rules)
    state = engine.reset(0, 2).take(np.array([], np.intp))
    engine.step(state, np.zeros((3, 0), np.int64))
    assert len(observe(rules, state, 0)) == state.num_games == 0


def test_a_bad_restart_changes_nothing():
    engine = Engine(RULES)
    state = engine.reset(5, 3)
    for seed, ids in ((1, -1), (1, [0, 1, 2]), (1.5, 0), ([1, 2, 3], 0), (2**64, 0)):
        with pytest.raises(ValueError, match=r"is needed|are needed"):
            engine.restart(state, [0, 1], seed, ids)
    assert state.seed.tolist() == [5, 5, 5] and state.game_id.tolist() == [0, 1, 2]


def record(**changes: Any) -> Record:
    parts = {"rules": RULES, "start": Position(ROWS, HANDS), "turns": [], "heads": [0, 0]}
    return Record(**parts | changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rules": "base"}, "rules='base': Rules are needed"),
        ({"start": []}, "start: found [], expected a Position or a Draft"),
        ({"start": Position(5, HANDS)}, "rows: found 5, expected lists of cards"),
        ({"start": Position(ROWS, None)}, "hands: found None"),
        ({"start": Position(ROWS, [[29.9], [62]])}, "hand 0: found [29.9], expected whole numbers"),
        ({"start": Position(ROWS, HANDS, piles=3)}, "piles: found 3"),
        ({"start": Position(ROWS, HANDS, scores=[0.5, 1])}, "scores: found [0.5, 1]"),
        ({"start": Position(ROWS, HANDS, first_seat=0.0)}, "first_seat: found (0.0,)"),
        ({"turns": 5}, "turns: found 5, expected a list of Turns"),
        ({"turns": [(29, 62)]}, "turn 1: found (29, 62), expected a Turn"),
        ({"turns": [Turn((29.9, 62), 1)]}, "turn 1: found 29.9, expected a number"),
        ({"turns": [Turn((29, "62"), 1)]}, "turn 1: found '62', expected a number"),
        ({"turns": [Turn((29, True), 1)]}, "turn 1: found True"),
        ({"turns": [Turn((29, 62), 1.0)]}, "turn 1: found 1.0"),
        ({"turns": [Turn((29, 10**30), 1)]}, "turn 1: found 1000000000"),
        ({"turns": [Turn((29, -1), 1)]}, "turn 1: found -1"),
        ({"turns": [Turn(29, 1)]}, "turn 1: found 29, expected a list of whole numbers"),
        ({"turns": [Turn((29, 62), 1, (0.5, 0))]}, "turn 1: found 0.5"),
        ({"heads": 7}, "heads: found 7, expected a list of whole numbers"),
        ({"heads": ["7", 0]}, "heads: found '7', expected a number"),
        ({"rules": DRAFT, "start": Draft(1.0, [[], []])}, "first_seat: found 1.0"),
        ({"rules": DRAFT, "start": Draft(0, 5)}, "picks: found 5, expected a list for each seat"),
        ({"rules": DRAFT, "start": Draft(0, [[1.5], []])}, "picks 0: found 1.5"),
    ],
    ids=str,
)
def test_records_of_wrong_types(changes, said):
    """When they are made, and also where they are changed afterwards."""
    refused(record, **changes, said=said)
    made = record()
    for name, value in changes.items():
        setattr(made, name, value)
    if "rules" not in changes:
        refused(replay, made, said=said)
        refused(write, made, said=said)


def test_records_changed_by_hand_are_looked_at_again():
    state = Engine(DRAFT).reset(1)
    record = record_of(state, DRAFT)
    record.start.scores = 5
    with pytest.raises(RecordError, match="scores: found 5, expected a list"):
        write(record)
    record = record_of(Engine(RULES).reset(1), RULES)
    record.rules = None
    with pytest.raises(RecordError, match="rules: found None, expected Rules"):
        write(record)


def test_a_table_is_drawn_of_the_game_that_is_played():
    with pytest.raises(ValueError, match="another game"):
        render(Engine(RULES).reset(1), make_rules("plus", 2))


def test_what_is_no_record():
    for call in (replay, write):
        refused(call, "sixnimmt record 1", said="found str, expected a Record")


def test_arrays_are_lists_too():
    whole = [[1, 2, 3], [4, 5, 6]]
    plain = Position(ROWS, HANDS, piles=whole, scores=[1, 2])
    arrays = Position(
        [np.array(row, np.uint8) for row in ROWS],
        np.array(HANDS, np.int8),
        piles=np.array(whole),
        scores=np.array([1, 2], np.uint16),
    )
    left, right = plain.state(RULES), arrays.state(RULES)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), name)
    turns, heads = [Turn(np.array([29, 62], np.uint8), np.uint8(2))], np.array([6, 4])
    records = [record(start=start, turns=turns, heads=heads) for start in (plain, arrays)]
    assert write(records[0]) == write(records[1])
    for made in records:
        assert replay(made).pile_heads[:, 0].tolist() == [6, 4]


def test_parts_that_are_no_lists():
    for name, odd in (("rows", np.array(5)), ("hands", np.array(5)), ("piles", 5), ("scores", 5)):
        parts = {"rows": ROWS, "hands": HANDS, name: odd}
        with pytest.raises(PositionError, match=name):
            Position(**parts).check(RULES)


def test_rules_take_numbers_of_any_kind():
    """Small ones of NumPy would wrap around where the engine and the encoding count with them."""
    from sixnimmt_env.encoding import encode

    plain = {"num_players": 4, "episode": "match", "target": 100, "hand_size": 10}
    odd = plain | {
        "num_players": np.uint8(4),
        "target": np.uint8(100),
        "hand_size": np.int8(10),
        "num_cards": np.uint8(104),
        "max_players": np.int16(10),
        "collect": np.bool_(False),
    }
    rules, same = Rules(**plain), Rules(**odd)
    assert rules == same and hash(rules) == hash(same)
    for name in Rules.__dataclass_fields__:
        assert type(getattr(same, name)) is type(getattr(rules, name)), name
    for variant in ("base", "pro", "plus", "plus_equal", "simplified"):
        rounds = {"episode": "match", "rounds": np.uint8(3)}
        made = make_rules(variant, np.uint8(4), **rounds)
        assert made == make_rules(variant, 4, episode="match", rounds=3)
        state = Engine(made).reset(1, 3)
        state.score[...] = 150
        assert encode(observe(made, state, 1)).max() <= 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"num_players": 4.0}, "num_players=4.0 is not possible: a whole number is needed; base"),
        ({"num_players": True}, "num_players=True is not possible"),
        ({"num_players": "4"}, "num_players='4' is not possible"),
        ({"num_players": 1}, "num_players=1 is not possible: base is played by 2 to 10"),
        ({"num_players": 17, "max_players": 17, "hand_size": 4}, "max_players=17 is not possible"),
        ({"max_players": None}, "max_players=None is not possible"),
        ({"hand_size": [1]}, "hand_size=[1] is not possible"),
        ({"zeros": None}, "zeros=None is not possible"),
        ({"num_cards": 104.0}, "num_cards=104.0 is not possible"),
        ({"cards_per_turn": "2"}, "cards_per_turn='2' is not possible"),
        ({"episode": "match", "target": np.float64(66)}, "target=np.float64(66.0) is not possible"),
        ({"episode": "match", "rounds": 2.5}, "rounds=2.5 is not possible"),
        ({"draft": 1}, "draft=1 is not possible: it is True or False"),
        ({"collect": "no"}, "collect='no' is not possible"),
        ({"one_by_one": None}, "one_by_one=None is not possible"),
        ({"name": 5}, "name=5 is not possible"),
        ({"row_choice": []}, "row_choice=[] is not known"),
        ({"row_choice": np.array(["player"])}, "is not known"),
        ({"row_choice": "fewest_head"}, "did you mean 'fewest_heads'? Choose one of"),
        ({"episode": 3}, "episode=3 is not known: choose one of"),
    ],
    ids=str,
)
def test_rules_of_wrong_types(changes, said):
    refused(Rules, **changes, said=said)


def test_variants_and_options_that_are_not_known():
    refused(make_rules, "bsae", said="variant='bsae' is not known: did you mean 'base'? Choose one")
    for odd in ([], None, 4, np.array("base")):
        refused(make_rules, odd, said="is not known: choose one of ['base'")
    said = "make_rules() got an unexpected keyword argument 'rowchoice': did you mean 'row_choice'?"
    with pytest.raises(TypeError, match=re.escape(said)):
        make_rules("base", 4, rowchoice="player")


def test_record_errors_say_where():
    with pytest.raises(RecordError) as caught:
        record(turns=[Turn((29, 62), 1), Turn((1, 2.5))])
    assert caught.value.where == "turn 2" and "2.5" in caught.value.problem
