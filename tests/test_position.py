"""Positions by hand: worked examples, the way there and back, and all that cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sixnimmt_env.cards import BULL_HEADS, TAKE_ROW
from sixnimmt_env.engine import Engine
from sixnimmt_env.position import Position, PositionError, position_of, stack
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import FIELDS, OVER, PLAY, TAKE, State
from sixnimmt_env.variants import make_rules
from tests.rounds import ReferenceGame, all_rules, random_actions

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
    deck = draw(st.permutations(range(1, rules.num_cards + 1)))
    take = iter(deck)

    def cards(count: int) -> list[int]:
        return sorted(next(take) for _ in range(count))

    lengths = draw(st.lists(st.integers(1, 5), min_size=4, max_size=4))
    seats = range(rules.num_players)
    hand = draw(st.integers(1, min(10, (rules.num_cards - sum(lengths)) // rules.num_players)))
    left = rules.num_cards - sum(lengths) - hand * rules.num_players
    rows, hands = [cards(n) for n in lengths], [cards(hand) for _ in seats]
    piles = [cards(draw(st.integers(0, left // rules.num_players))) for _ in seats]
    scores = draw(
        st.lists(st.integers(0, 500), min_size=rules.num_players, max_size=rules.num_players)
    )
    return rules, Position(rows, hands, piles, scores)


@given(game=games(), seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_there_and_back_and_to_the_end(game: tuple[Rules, Position], seed: int) -> None:
    rules, position = game
    engine, rng = Engine(rules), np.random.default_rng(seed)
    state = position.state(rules)
    assert position_of(state, rules) == position
    assert state.totals()[:, 0].tolist() == [
        int(BULL_HEADS[pile].sum()) + score
        for pile, score in zip(position.piles or [], position.scores or [], strict=True)
    ]
    # The reference knows nothing of earlier piles and scores.
    fresh = Position(position.rows, position.hands).state(rules)
    reference = ReferenceGame(rules, fresh, 0)
    while fresh.phase[0] != OVER:
        actions = random_actions(fresh, rng)
        engine.step(fresh, actions)
        engine.step(state, actions)
        reference.step(actions[:, 0].tolist())
        reference.check(fresh)
        assert np.array_equal(state.rows, fresh.rows)
    assert state.phase[0] == OVER


def test_no_position_in_the_middle_of_a_turn_or_after_the_end() -> None:
    engine = Engine(make_rules("base", 2))
    state = Position(CHOICE_ROWS, [[29], [62]]).state(engine.rules)
    engine.step(state, [[29], [62]])
    with pytest.raises(ValueError, match="phase 'take'"):
        position_of(state, engine.rules)
    engine.step(state, [[TAKE_ROW], [0]])
    with pytest.raises(ValueError, match="phase 'over'"):
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


def test_the_deck_is_that_of_the_variant() -> None:
    position = Position([[1], [2], [3], [4]], [[5], [25]])
    position.state(make_rules("base", 2))
    with pytest.raises(PositionError, match="no card 25: the deck is 1 to 24"):
        position.state(make_rules("tactics", 2))
