"""Every bound of `Rules`: what lies on it can be, what lies behind it is refused, and why."""

# ruff: noqa: E501 (the table of bounds is easier to read with a bound in a line)

from __future__ import annotations

import re

import numpy as np
import pytest

from sixnimmt_env.cards import action_name
from sixnimmt_env.checks import (
    HIGHEST_SEED,
    game_mask,
    game_numbers,
    is_whole,
    number_below,
    numbers_below,
    one_of,
    seeds,
    whole,
)
from sixnimmt_env.rules import Rules, RulesError
from sixnimmt_env.variants import VARIANTS, make_rules
from tests.rounds import PLAYERS

PLUS = {"low_card": "append", "zeros": 7, "cards_per_turn": 2, "hand_size": 15}
MATCH = {"episode": "match"}

# Options, those that are too much for the first ones, and what is said of them.
BOUNDS = [
    ({"num_players": 2}, {"num_players": 1}, "num_players=1 is not possible: base is played by 2 to 10"),
    ({"num_players": 10}, {"num_players": 11}, "num_players=11 is not possible: base is played by 2 to 10"),
    ({"max_players": 16}, {"max_players": 17}, "max_players=17 is not possible: the arrays of a game hold 2 to 16 players"),
    ({"num_players": 2, "max_players": 2}, {"num_players": 2, "max_players": 1}, "max_players=1 is not possible"),
    ({"hand_size": 1}, {"hand_size": 0}, "hand_size=0 is not possible: a hand has 1 to 15 cards"),
    ({"hand_size": 15}, {"hand_size": 16}, "hand_size=16 is not possible: a hand has 1 to 15 cards"),
    ({"num_cards": 44}, {"num_cards": 43}, "num_cards=43 is not possible: 4 hands of 10 and 4 row starters need 44 numbered cards, and the deck has at most 104"),
    ({"num_cards": 104}, {"num_cards": 105}, "num_cards=105 is not possible"),
    ({**PLUS, "num_cards": 57}, {**PLUS, "num_cards": 56}, "need 57 numbered cards"),
    ({**PLUS, "num_players": 2, "hand_size": 1, "zeros": 20, "num_cards": 4},
     {**PLUS, "num_players": 2, "hand_size": 1, "zeros": 20, "num_cards": 3}, "num_cards=3 is not possible"),
    ({"draft": True, "num_cards": 44}, {"draft": True, "num_cards": 45}, "a draft leaves exactly the 4 row starters, so it needs 44 cards"),
    ({**PLUS, "zeros": 20}, {**PLUS, "zeros": 21}, "zeros=21 is not possible: there are 0 to 20 0 cards"),
    ({**PLUS, "zeros": 0}, {**PLUS, "zeros": -1}, "zeros=-1 is not possible"),
    ({**PLUS, "zeros_each": 1}, {**PLUS, "zeros_each": 2}, "zeros_each=2 is not possible: 7 0 cards for 4 hands are at most 1 for each, and 15 fill a hand"),
    ({**PLUS, "zeros_each": 0}, {**PLUS, "zeros_each": -1}, "zeros_each=-1 is not possible"),
    ({**PLUS, "zeros": 12, "hand_size": 3, "zeros_each": 3}, {**PLUS, "zeros": 16, "hand_size": 3, "zeros_each": 4}, "zeros_each=4 is not possible"),
    ({**PLUS, "cards_per_turn": 2}, {**PLUS, "cards_per_turn": 3}, "cards_per_turn=3 is not possible: one or two cards are played in a turn"),
    ({"cards_per_turn": 1}, {"cards_per_turn": 0}, "cards_per_turn=0 is not possible"),
    ({"low_card": "append", "cards_per_turn": 2}, {"cards_per_turn": 2}, "low_card='take' is not possible with 0 cards, two cards in a turn or one player at a time: use low_card='append'"),
    ({"low_card": "append", "one_by_one": True}, {"one_by_one": True}, "low_card='take' is not possible"),
    ({"low_card": "append", "one_by_one": True, "zeros": 1}, {"zeros": 1, "one_by_one": True}, "low_card='take' is not possible"),
    ({"low_card": "append"}, {"low_card": "append", "zeros": 1}, "zeros=1 is not possible where all play one card at once: use cards_per_turn=2 or one_by_one=True"),
    ({"low_card": "append", "one_by_one": True}, {"low_card": "append", "one_by_one": True, "cards_per_turn": 2}, "one_by_one=True is not possible with two cards in a turn or a draft"),
    ({"draft": True, "num_cards": 44}, {"low_card": "append", "draft": True, "num_cards": 44, "one_by_one": True}, "one_by_one=True is not possible"),
    ({"draft": True, "num_cards": 44}, {"low_card": "append", "draft": True, "num_cards": 44, "cards_per_turn": 2}, "draft=True is not possible with 0 cards or two cards in a turn"),
    ({"row_choice": "fewest_heads"}, {"row_choice": "fewest_heads", "low_card": "append"}, "row_choice='fewest_heads' has no meaning in base"),
    ({**MATCH, "target": 1}, {**MATCH, "target": 0}, "target=0 is not possible: a match ends at 1 to 1000000 heads"),
    ({**MATCH, "target": 1_000_000}, {**MATCH, "target": 1_000_001}, "target=1000001 is not possible"),
    ({**MATCH, "rounds": 1}, {**MATCH, "rounds": 0}, "rounds=0 is not possible: a match has 1 to 10000 rounds"),
    ({**MATCH, "rounds": 10_000}, {**MATCH, "rounds": 10_001}, "rounds=10001 is not possible"),
    ({}, {"target": 66}, "target=66 has no meaning for one round: use episode='match'"),
    ({}, {"rounds": 2}, "rounds=2 has no meaning for one round: use episode='match'"),
    (MATCH, {**MATCH, "target": 5, "rounds": 2}, "target=5 and rounds=2 exclude each other"),
    ({"name": "mine"}, {"name": ""}, "name='' is not possible: a name is a text"),
]  # fmt: skip


@pytest.mark.parametrize(("possible", "impossible", "said"), BOUNDS, ids=str)
def test_bounds(possible, impossible, said):
    made = Rules(**possible)
    for name, value in possible.items():
        assert getattr(made, name) == value
    with pytest.raises(RulesError, match=re.escape(said)):
        Rules(**impossible)


def test_what_is_left_out():
    rules = Rules()
    assert (rules.num_players, rules.num_cards, rules.hand_size) == (4, 104, 10)
    assert (rules.target, rules.rounds, rules.max_players, rules.name) == (None, None, 10, "base")
    assert not (rules.draft or rules.one_by_one or rules.collect or rules.zeros)
    assert Rules(episode="match").target == 66
    assert Rules(episode="match", rounds=3).target is None


@pytest.mark.parametrize(
    ("options", "dealt", "actions", "queue"),
    [({}, 44, 109, 4), ({**PLUS, "zeros_each": 1}, 60, 110, 8), ({**PLUS, "zeros": 0}, 64, 109, 8),
     ({"low_card": "append", "one_by_one": True, "zeros": 1}, 44, 110, 1)],
)  # fmt: skip
def test_what_follows(options, dealt, actions, queue):
    rules = Rules(**options)
    assert (rules.num_dealt, rules.num_actions, rules.queue_size) == (dealt, actions, queue)
    assert rules.open_hands is False
    assert Rules(draft=True, num_cards=44).open_hands is True


# Cards in a hand, in the deck, 0 cards, 0 cards in each hand, cards in a turn, one by one,
# an open draft, heads collected, for 2 players and for most.
FACTS = {
    "base": (10, (104, 104), 0, (0, 0), 1, False, False, False),
    "tactics": (10, (24, 64), 0, (0, 0), 1, False, False, False),
    "pro": (10, (24, 64), 0, (0, 0), 1, False, True, False),
    "plus": (15, (104, 104), 7, (0, 0), 2, False, False, True),
    "plus_equal": (15, (104, 104), 7, (2, 1), 2, False, False, True),
    "original_zeros": (15, (104, 104), 7, (0, 0), 2, False, False, False),
    "simplified": (12, (104, 104), 7, (0, 0), 1, True, False, False),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_are_what_their_pages_say(variant):
    hand, cards, zeros, each, per_turn, one_by_one, draft, collect = FACTS[variant]
    numbers = PLAYERS[variant]
    for i, players in enumerate((numbers[0], numbers[-1])):
        rules = make_rules(variant, players)
        assert rules == Rules(
            num_players=players, num_cards=cards[i], hand_size=hand, zeros=zeros,
            zeros_each=each[i], cards_per_turn=per_turn, one_by_one=one_by_one, draft=draft,
            collect=collect, low_card="append" if zeros else "take", max_players=numbers[-1],
            name=variant,
        )  # fmt: skip
    for players in (1, numbers[-1] + 1):
        with pytest.raises(RulesError, match=f"num_players={players} is not possible: .*2 to"):
            make_rules(variant, players)
    match = make_rules(variant, 3, episode="match")
    assert (match.target, match.rounds) == ((None, 3) if zeros else (66, None))
    for end in ({"target": 9}, {"rounds": 9}):
        ended = make_rules(variant, 3, episode="match", **end)
        assert (ended.target, ended.rounds) == (end.get("target"), end.get("rounds"))


def test_equal_zeros_of_three_and_four_players():
    assert [make_rules("plus_equal", n).zeros_each for n in (2, 3, 4, 7)] == [2, 2, 1, 1]
    assert make_rules() == make_rules("base", 4)


def test_names_of_actions():
    names = {0: "pass", 1: "card 1", 104: "card 104", 105: "take row 1", 108: "take row 4"}
    names |= {109: "a 0 card", 110: "110 (no such action)", -1: "-1 (no such action)"}
    assert {action: action_name(action) for action in names} == names


def test_bounds_of_numbers():
    assert whole("x", 3, 3, 3, "it is 3") == 3
    for odd in (2, 4):
        with pytest.raises(ValueError, match=rf"^x={odd} is not possible: it is 3$"):
            whole("x", odd, 3, 3, "it is 3")
    with pytest.raises(RulesError, match=r"^x=3.0 is not possible: a whole number is needed; why$"):
        whole("x", 3.0, 3, 3, "why", RulesError)
    assert [is_whole(value) for value in (0, True, 1.0, "1")] == [True, False, False, False]
    assert number_below("seat", 0, 1) == 0
    assert numbers_below("games", [0, 2, 0], 3).tolist() == [0, 2, 0]
    assert numbers_below("games", [], 3).tolist() == []
    assert game_numbers([True, False, True], 3).tolist() == [0, 2]
    for odd in (-1, 1):
        with pytest.raises(ValueError, match=f"there is no seat {odd}: they are 0 to 0"):
            number_below("seat", odd, 1)
    with pytest.raises(ValueError, match=r"^seat=1.5 is not possible: a whole number is needed$"):
        number_below("seat", 1.5, 2)
    for odd in (-1, 3):
        with pytest.raises(ValueError, match=f"there is no game {odd}: they are 0 to 2"):
            numbers_below("games", [0, odd], 3)
    with pytest.raises(ValueError, match=r"^there is no game 0: there are none$"):
        numbers_below("games", [0], 0)
    with pytest.raises(ValueError, match=r"^games=\[\[0\]\] is not possible: a list of whole"):
        numbers_below("games", [[0]], 3)
    with pytest.raises(ValueError, match=r"^where has dtype bool and shape \(1,\); bool \(3,\) is"):
        game_mask("where", [True], 3)


def test_bounds_of_seeds():
    both = np.array([0, HIGHEST_SEED], np.uint64)
    assert seeds("seed", both, 2).tolist() == [0, 2**64 - 1]
    assert seeds("seed", 0, 5).tolist() == 0
    for odd in (-1, 1.0, True, [[1]], 2**64):
        with pytest.raises(ValueError, match=r"^seed"):
            seeds("seed", odd)
    with pytest.raises(ValueError, match=r"^seed has shape \(2,\); one for each game, \(3,\), is"):
        seeds("seed", [1, 2], 3)
    with pytest.raises(ValueError, match=r"^ids has shape \(1, 1\); one for each game, \(n,\), is"):
        seeds("ids", [[1]])


def test_words():
    one_of("x", "a", ("a", "b"))
    with pytest.raises(ValueError, match=r"^x='c' is not known: choose one of \['a', 'b'\]$"):
        one_of("x", "c", ("a", "b"))
    with pytest.raises(RulesError, match=r"^x='words' is not known: did you mean 'word'\? Choose"):
        one_of("x", "words", ("word", "b"), RulesError)
    with pytest.raises(ValueError, match=r"^x=3 is not known: choose one of \['a'\]$"):
        one_of("x", 3, ("a",))
