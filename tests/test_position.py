"""Positions by hand: worked examples, the way there and back, and all that cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sixnimmt_env.cards import BULL_HEADS, TAKE_ROW, ZERO
from sixnimmt_env.engine import Engine
from sixnimmt_env.position import Position, PositionError, position_of, stack
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import FIELDS, OVER, PLAY, SECOND, TAKE, State
from sixnimmt_env.variants import make_rules
from tests.rounds import ReferenceGame, all_rules, name_of, random_actions

CHOICE_ROWS = [[60], [36, 37, 38, 39, 40], [70], [90]]


def one_turn(rows: list[list[int]], cards: list[int], row: int | None = None) -> State:
    """Play one turn in which everybody holds just the given card."""
    engine = Engine(make_rules("base", len(cards)))
    state = Position(rows, [[card] for card in cards]).state(engine.rules)
    game = ReferenceGame(engine.rules, state, 0)
    actions = [cards]
    if row is not None:
        low = cards.index(min(cards))
        actions.append([TAKE_ROW + row - 1 if seat == low else 0 for seat in range(len(cards))])
    for step in actions:
        assert state.phase[0] == (PLAY if step is cards else TAKE)
        engine.step(state, np.array(step)[:, None])
        game.step(step)
        game.check(state)
    assert state.phase[0] == OVER
    return state


@pytest.mark.parametrize(
    ("rows", "cards", "row", "placed", "heads"),
    [
        ([[12], [37], [43], [58]], [14, 15, 44, 61], None, [1, 1, 3, 4], [0, 0, 0, 0]),
        (CHOICE_ROWS, [29, 62], 1, [1, 2], [3, 7]),
        (CHOICE_ROWS, [29, 62], 2, [2, 1], [7, 0]),
        (
            [[7], [23, 25, 30, 41, 44], [52], [88]],
            [3, 45, 46, 53],
            1,
            [1, 2, 2, 3],
            [1, 12, 0, 0],
        ),
        (
            [[10], [25, 27], [55, 61, 66, 68], [60, 73, 82]],
            [9, 69, 70, 11],
            1,
            [1, 1, 3, 3],
            [3, 0, 15, 0],
        ),
    ],
)
def test_worked_examples(
    rows: list[list[int]], cards: list[int], row: int | None, placed: list[int], heads: list[int]
) -> None:
    state = one_turn(rows, cards, row)
    assert state.placed_row[:, 0].tolist() == placed
    assert state.totals()[:, 0].tolist() == heads


@pytest.mark.parametrize(
    ("rows", "taken"),
    [
        ([[20], [30], [41, 42], [50]], 3),  # fewest heads, not fewest cards
        ([[41, 42], [25], [30], [50]], 2),  # equal heads: fewest cards
        ([[30], [41], [42], [43]], 2),  # equal heads and cards: the lowest row
    ],
)
def test_row_with_fewest_heads(rows: list[list[int]], taken: int) -> None:
    engine = Engine(make_rules("base", 2, row_choice="fewest_heads"))
    state = Position(rows, [[104], [2]]).state(engine.rules)
    engine.step(state, [[104], [2]])
    assert state.placed_row[0, 0] == taken
    assert state.phase[0] == OVER


def one_plus_turn(rows: list[list[int]], commits: list[list[int]]) -> list[tuple[int, ...]]:
    """Play one turn of Plus in which everybody holds what they play.

    Returns (card, row, heads taken) in the order of placement.
    """
    engine = Engine(make_rules("plus", len(commits)))
    state = Position(rows, commits).state(engine.rules)
    game = ReferenceGame(engine.rules, state, 0)
    for cards in zip(*[(*commit, 0)[:2] for commit in commits], strict=True):
        assert state.phase[0] in (PLAY, SECOND)
        engine.step(state, np.array(cards)[:, None])
        game.step(list(cards))
        game.check(state)
    assert state.phase[0] == OVER
    cards = state.queue[:, 0] >> 8 & 127
    placed = np.stack((cards, state.placed_row[:, 0], state.placed_heads[:, 0]), axis=1)
    return [tuple(entry) for entry in placed.tolist() if entry[0]]


def test_cards_with_a_0_are_placed_first() -> None:
    commits = [[5, 6], [27], [49, ZERO], [53, ZERO]]
    placed = one_plus_turn([[1], [2], [40], [99]], commits)
    assert placed == [(49, 3, 0), (53, 3, 0), (5, 2, 0), (6, 2, 0), (27, 2, 0)]


def test_low_cards_are_appended_to_the_row_with_the_highest_end() -> None:
    placed = one_plus_turn([[50], [91, 92, 93, 94], [60], [70]], [[ZERO], [3, 4]])
    assert placed == [(3, 2, 0), (4, 2, 5)]
    rows = [[50], [91, 92, 95, 94], [60], [70]]  # need not ascend there
    assert one_plus_turn(rows, [[ZERO], [3, 4]]) == [(3, 2, 0), (4, 2, 6)]


def test_two_0s_do_nothing() -> None:
    rows = [[50], [60], [70], [80]]
    assert one_plus_turn(rows, [[ZERO, ZERO], [51]]) == [(51, 1, 0)]


def test_one_after_the_other() -> None:
    engine = Engine(make_rules("simplified", 3))
    rows = [[50], [60], [70], [80, 81, 82, 83, 84]]
    position = Position(rows, [[85, ZERO], [51, ZERO], [52]], first_seat=2)
    state = position.state(engine.rules)
    assert (state.actor[0], state.first_seat[0], state.turn[0]) == (0, 2, 10)
    engine.step(state, [[85], [0], [0]])
    assert state.placed_heads[:, 0].tolist() == [7]
    engine.step(state, [[0], [ZERO], [0]])
    assert (state.actor[0], state.turn[0]) == (2, 11)
    after = position_of(state, engine.rules)
    assert after.hands == [[ZERO], [51], [52]]
    assert after.piles == [[80, 81, 82, 83, 84], [ZERO], []]
    assert after.first_seat == 2
    for seat, card in ((2, 52), (0, ZERO), (1, 51)):
        engine.step(state, [[card if seat == i else 0] for i in range(3)])
    assert state.phase[0] == OVER


def test_0_cards_lie_in_piles() -> None:
    rules = make_rules("plus", 2)
    piles = [[ZERO, 55, ZERO], [ZERO]]
    position = Position([[1], [2], [3], [4]], [[ZERO, 9, ZERO], []], piles)
    state = position.state(rules)
    assert state.zeros_played[:, 0].tolist() == [2, 1]
    assert state.pile_heads[:, 0].tolist() == [7, 0]
    assert state.turn[0] == 12
    assert position_of(state, rules) == Position(
        position.rows, [[9, ZERO, ZERO], []], [[55, ZERO, ZERO], [ZERO]], [0, 0]
    )


@pytest.mark.parametrize("change", [{}, {"piles": [[ZERO], []]}, {"hands": 1}, {"rows": 1}])
def test_a_deal_with_0_cards_has_starters(change: dict[str, Any]) -> None:
    hands = [[*range(10, 20), 80, 81, 82, 83, ZERO], [*range(20, 34), ZERO]]
    given: dict[str, Any] = {"rows": [[40], [50], [60], [70]], "hands": hands} | change
    if change.get("hands"):
        given["hands"] = [hands[0], hands[1][:-2]]
    if change.get("rows"):
        given["rows"] = [[40, 41], [50], [60], [70]]
    state = Position(**given).state(make_rules("plus", 2))
    assert state.starters[:, 0].any() == (not change)


def test_everything_is_filled_in() -> None:
    rules = make_rules("base", 2, episode="match")
    piles, scores = [[55], []], [65, 3]
    position = Position([[1, 2], [11], [20], [30]], [[9, 5], [60, 8]], piles, scores)
    state = position.state(rules)
    assert state.hand[..., 0].tolist() == [[5, 9] + [0] * 8, [8, 60] + [0] * 8]
    assert state.turn[0] == 8
    assert state.row_heads[:, 0].tolist() == [2, 5, 3, 3]
    assert state.pile_heads[:, 0].tolist() == [7, 0]
    assert state.totals()[:, 0].tolist() == [72, 3]
    assert not state.starters.any()
    # Cards as NumPy numbers and in tuples are as good.
    rows: Any = tuple(np.array(row, np.uint8) for row in position.rows)
    same = Position(rows, position.hands, piles, scores).state(rules)
    assert all(np.array_equal(getattr(state, f), getattr(same, f)) for f in FIELDS)


def test_a_deal_by_hand_has_starters() -> None:
    rules = make_rules("base", 2)
    hands = [list(range(1, 11)), list(range(11, 21))]
    state = Position([[30], [21], [22], [23]], hands).state(rules)
    assert state.starters[:, 0].tolist() == [30, 21, 22, 23]


def test_a_match_goes_on_after_a_position() -> None:
    engine = Engine(make_rules("base", 2, episode="match"))
    state = Position([[1], [11], [20], [30]], [[12], [31]], None, [50, 3]).state(engine.rules)
    engine.step(state, [[12], [31]])
    assert (state.round[0], state.turn[0], state.phase[0]) == (1, 0, PLAY)
    assert state.totals()[:, 0].tolist() == [50, 3]


def test_stacked_games_are_the_single_ones() -> None:
    rules = make_rules("base", 2)
    positions = [
        Position([[1], [2], [3], [4]], [[5, 6], [7, 8]]),
        Position([[9], [20], [30, 31], [40]], [[50], [60]], [[], [11]]),
    ]
    both = stack(positions, rules)
    for game, position in enumerate(positions):
        alone = position.state(rules)
        for field in FIELDS:
            assert np.array_equal(getattr(both, field)[..., game], getattr(alone, field)[..., 0])


@st.composite
def games(draw: st.DrawFn) -> tuple[Rules, Position]:
    """Rules and any position by them, hands and piles ascending."""
    rules = draw(st.sampled_from(all_rules()))
    take = iter(draw(st.permutations(range(1, rules.num_cards + 1))))
    zeros = draw(st.integers(0, rules.zeros))

    def cards(count: int, may_be_zeros: bool = True) -> list[int]:
        nonlocal zeros
        some = draw(st.integers(0, min(zeros, count))) if may_be_zeros else 0
        zeros -= some
        return sorted(next(take) for _ in range(count - some)) + [ZERO] * some

    lengths = draw(st.lists(st.integers(1, 5), min_size=4, max_size=4))
    rows = [cards(n, False) for n in lengths]
    if rules.low_card == "append":
        rows = [draw(st.permutations(row)) for row in rows]
    players = rules.num_players
    most = min(rules.hand_size, (rules.num_cards - sum(lengths)) // players)
    size, first_seat = draw(st.integers(1, most)), 0
    sizes = [size] * players
    if rules.cards_per_turn > 1:
        some = st.lists(st.integers(0, size), min_size=players, max_size=players)
        sizes = draw(some.filter(any))
    if rules.one_by_one:
        first_seat = draw(st.integers(0, players - 1))
        for i in range(draw(st.integers(0, players - 1))):
            sizes[(first_seat + i) % players] -= 1
    hands = [cards(n) for n in sizes]
    left = rules.num_cards - sum(lengths) - sum(sizes)
    piles = [cards(draw(st.integers(0, left // players))) for _ in range(players)]
    scores = draw(st.lists(st.integers(0, 500), min_size=players, max_size=players))
    return rules, Position(rows, hands, piles, scores, first_seat)


@given(game=games(), seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_there_and_back_and_to_the_end(game: tuple[Rules, Position], seed: int) -> None:
    rules, position = game
    engine, rng = Engine(rules), np.random.default_rng(seed)
    state = position.state(rules)
    assert position_of(state, rules) == position
    assert state.totals()[:, 0].tolist() == [
        sum(int(BULL_HEADS[card]) for card in pile if card != ZERO) + score
        for pile, score in zip(position.piles or [], position.scores or [], strict=True)
    ]
    # The reference knows nothing of earlier piles and scores, nor of turns in progress.
    fresh = replace(position, piles=None, scores=None).state(rules)
    begun = rules.one_by_one and len({len(hand) for hand in position.hands}) > 1
    reference = None if begun else ReferenceGame(rules, fresh, 0)
    while fresh.phase[0] != OVER:
        actions = random_actions(fresh, rng)
        engine.step(fresh, actions)
        engine.step(state, actions)
        if reference:
            reference.step(actions[:, 0].tolist())
            reference.check(fresh)
        assert np.array_equal(state.rows, fresh.rows)
    assert state.phase[0] == OVER


@pytest.mark.parametrize("rules", all_rules(), ids=name_of)
def test_a_game_goes_on_from_its_position(rules: Rules) -> None:
    engine, rng = Engine(rules), np.random.default_rng(1)
    state = engine.reset(seed=1)
    steps = int(rng.integers(5, 20)) + rules.draft * rules.num_players * rules.hand_size
    while steps > 0 or state.phase[0] != PLAY:
        engine.step(state, random_actions(state, rng))
        steps -= 1
        if state.phase[0] == OVER:
            state = engine.reset(seed=1)
    again = position_of(state, rules).state(rules)
    while state.phase[0] != OVER:
        assert np.array_equal(again.acting(), state.acting())
        actions = random_actions(state, rng)
        engine.step(state, actions)
        engine.step(again, actions)
        for field in ("rows", "hand", "location", "pile_heads", "zeros_played", "phase"):
            assert np.array_equal(getattr(again, field), getattr(state, field)), field


def test_no_position_in_the_middle_of_a_turn_or_after_the_end() -> None:
    engine = Engine(make_rules("base", 2))
    state = Position(CHOICE_ROWS, [[29], [62]]).state(engine.rules)
    engine.step(state, [[29], [62]])
    with pytest.raises(ValueError, match="phase 'take'"):
        position_of(state, engine.rules)
    engine.step(state, [[TAKE_ROW], [0]])
    with pytest.raises(ValueError, match="phase 'over'"):
        position_of(state, engine.rules)
    engine = Engine(make_rules("plus", 2))
    state = engine.reset()
    engine.step(state, state.hand[:, 0])
    with pytest.raises(ValueError, match="phase 'second card'"):
        position_of(state, engine.rules)


GOOD: dict[str, Any] = {"rows": [[1], [2], [3, 4], [5]], "hands": [[10, 11], [12, 13]]}


@pytest.mark.parametrize(
    ("change", "where", "message"),
    [
        ({"rows": [[1], [2], [3]]}, "rows", "exactly 4 rows"),
        ({"rows": [[1], [2], [3], [4], [5]]}, "rows", "exactly 4 rows"),
        ({"rows": None}, "rows", "exactly 4 rows"),
        ({"rows": [1, 2, 3, 4]}, "row 1", "a list of 1 to 5 cards"),
        ({"rows": [[1], [2], [], [4]]}, "row 3", "found .., but"),
        ({"rows": [[1], [2], [3], [4, 5, 6, 7, 8, 9]]}, "row 4", "1 to 5 cards"),
        ({"rows": [[1], [3, 2], [4], [5]]}, "row 2", r"\[3, 2\].*ascend"),
        ({"rows": [[1], [2], [3], [2]]}, "row 4", "card 2 is also in row 2"),
        ({"rows": [[1], [2, 2], [3], [4]]}, "row 2", "card 2 is also in row 2"),
        ({"rows": [[1], [2], [3], [10]]}, "hand 0", "card 10 is also in row 4"),
        ({"rows": [[0], [2], [3], [4]]}, "row 1", "no card 0: the deck is 1 to 104"),
        ({"hands": [[10], [105]]}, "hand 1", "no card 105"),
        ({"hands": [[10], [-1]]}, "hand 1", "no card -1"),
        ({"hands": [[10], [11.0]]}, "hand 1", "no card 11.0"),
        ({"hands": [[10], [float("nan")]]}, "hand 1", "no card nan"),
        ({"hands": [[10], ["11"]]}, "hand 1", "no card '11'"),
        ({"hands": [[True], [11]]}, "hand 0", "no card True"),
        ({"hands": [[10], [11], [12]]}, "hands", "3 given, but there are 2 players"),
        ({"hands": [[10, 11]]}, "hands", "1 given"),
        ({"hands": "10"}, "hands", "found '10'"),
        ({"hands": [[10], [11, 12]]}, "hand 1", "2 cards, but hand 0 has 1"),
        ({"hands": [[], []]}, "hand 0", "1 to 10 cards"),
        ({"hands": [list(range(20, 31)), list(range(31, 42))]}, "hand 0", "1 to 10 cards"),
        ({"piles": [[20]]}, "piles", "1 given"),
        ({"piles": [20, 21]}, "pile 0", "found 20"),
        ({"piles": [[], [3]]}, "pile 1", "card 3 is also in row 3"),
        ({"piles": [[20], [20]]}, "pile 1", "card 20 is also in pile 0"),
        ({"scores": [1]}, "scores", "1 given"),
        ({"scores": [1, -1]}, "scores", "seat 1 has -1"),
        ({"scores": [1, 0.5]}, "scores", "seat 1 has 0.5"),
        ({"scores": [1, 10**9]}, "scores", "0 to 1000000"),
        ({"scores": [66, 1]}, "scores", "seat 0 has 66, but a total of 66 has ended the match"),
    ],
)
def test_impossible_positions(change: dict[str, Any], where: str, message: str) -> None:
    rules = make_rules("base", 2, episode="match")
    with pytest.raises(PositionError, match=message) as caught:
        Position(**(GOOD | change)).state(rules)
    assert caught.value.where == where
    assert str(caught.value) == f"{where}: {caught.value.problem}"


IN_TURN: dict[str, Any] = {"hands": [[10], [12, 13], [14, ZERO]], "first_seat": 0}


@pytest.mark.parametrize(
    ("variant", "change", "where", "message"),
    [
        ("plus", {"hands": [[0], [], []]}, "hand 0", "no card 0: .* a 0 card is written 109"),
        ("plus", {"hands": [[110], [], []]}, "hand 0", "no card 110: .* a 0 card is written 109"),
        ("plus", {"hands": [[], [], []]}, "hands", "all are empty"),
        ("plus", {"hands": [[], [], list(range(20, 36))]}, "hand 2", "a list of 0 to 15 cards"),
        ("plus", {"hands": [[10, 10], [], []]}, "hand 0", "card 10 is also in hand 0"),
        ("plus", {"rows": [[1], [2], [0], [5]]}, "row 3", "0 cards never lie in a row"),
        ("plus", {"rows": [[1], [2], [ZERO], [5]]}, "row 3", "0 cards never lie in a row"),
        ("plus", {"hands": [[ZERO] * 8, [10], [11]]}, "hand 0", "one 0 card too many: .* 7 in"),
        ("plus", {"piles": [[], [], [ZERO] * 7]}, "pile 2", "one 0 card too many: .* 7 in"),
        ("plus", {"piles": [[], [], [0]]}, "pile 2", "a 0 card is written 109"),
        ("plus", {"first_seat": 1}, "first_seat", "found 1, but plus knows only 0"),
        ("simplified", {"first_seat": 3}, "first_seat", "found 3, but seats are 0 to 2"),
        ("simplified", {"first_seat": "0"}, "first_seat", "found '0', but seats are 0 to 2"),
        ("simplified", {"first_seat": 1}, "hand 0", "1 cards, expected 2: clockwise from seat 1"),
        ("simplified", {"hands": [[10], [12], [13, 14, 15]]}, "hand 0", "1 cards, expected 2"),
        ("simplified", {"hands": [[10, 11], [12], [13, 14]]}, "hand 1", "1 cards, expected 2"),
        ("simplified", {"hands": [[], [], []]}, "hands", "all are empty"),
        ("base", {"hands": [[10], [11], [ZERO]]}, "hand 2", "no card 109: the deck is 1 to 104$"),
        ("base", {"hands": [[10], [11], [0]]}, "hand 2", "no card 0: the deck is 1 to 104$"),
        ("base", {"hands": [[10], [11], [12]], "first_seat": 1}, "first_seat", "base knows only 0"),
    ],
)
def test_impossible_positions_with_0_cards(
    variant: str, change: dict[str, Any], where: str, message: str
) -> None:
    rules = make_rules(variant, 3)
    good: dict[str, Any] = {"rows": [[1], [2], [4, 3], [5]], **IN_TURN}
    if variant == "base":
        good["rows"] = GOOD["rows"]
    else:
        Position(**good).state(rules)
    with pytest.raises(PositionError, match=message) as caught:
        Position(**(good | change)).state(rules)
    assert caught.value.where == where


def test_the_deck_is_that_of_the_variant() -> None:
    position = Position([[1], [2], [3], [4]], [[5], [25]])
    position.state(make_rules("base", 2))
    with pytest.raises(PositionError, match="no card 25: the deck is 1 to 24"):
        position.state(make_rules("tactics", 2))
