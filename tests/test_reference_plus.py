"""Tests of the scalar reference for the games with 0 cards."""

from __future__ import annotations

import copy
import random
from collections import Counter

import pytest

from tests.reference import ReferenceRound, deal_round
from tests.reference_plus import (
    PlusRound,
    SimplifiedRound,
    deal_plus,
    deal_simplified,
    next_starter,
    random_commit,
    random_plus,
    random_simplified,
    winners,
)

ROWS = [[30], [50], [70], [90]]
FULL_DECK = [*range(1, 105), *[0] * 7]


def one_turn(rows: list[list[int]], commits: list[list[int]]) -> PlusRound:
    """Play one turn in which every player holds just the given cards."""
    game = PlusRound(commits, rows)
    game.play(commits)
    assert game.over
    return game


def placed(game: PlusRound | SimplifiedRound) -> list[int]:
    """Return the cards of the last turn in placing order."""
    return [card for _, card, _, _ in game.placements]


def all_cards(game: PlusRound | SimplifiedRound) -> Counter[int]:
    return Counter(card for group in game.hands + game.rows + game.piles for card in group)


# Order


def test_example_zeros_go_first() -> None:
    game = one_turn([[1], [20], [40], [60]], [[5, 6], [27], [49, 0], [53, 0]])
    assert game.placements == [
        (2, 49, 2, 0),
        (3, 53, 2, 0),
        (0, 5, 0, 0),
        (0, 6, 0, 0),
        (1, 27, 1, 0),
    ]
    assert game.rows == [[1, 5, 6], [20, 27], [40, 49, 53], [60]]
    assert game.piles == [[], [], [0], [0]]
    assert game.heads == [0, 0, 0, 0]


def test_zeros_of_everybody_give_one_ascending_group() -> None:
    game = one_turn(ROWS, [[0, 80], [31], [32, 0], [0, 55], [100, 2]])
    assert placed(game) == [32, 55, 80, 2, 31, 100]


def test_second_group_interleaves_the_cards_of_the_players() -> None:
    game = one_turn(ROWS, [[95, 31], [33, 93], [0, 99], [32]])
    assert game.placements == [
        (2, 99, 3, 0),
        (0, 31, 0, 0),
        (3, 32, 0, 0),
        (1, 33, 0, 0),
        (1, 93, 2, 0),
        (0, 95, 2, 0),
    ]


def test_zero_changes_who_takes_the_row() -> None:
    rows = [[30, 31, 32, 33], [50], [70], [90]]
    assert one_turn(rows, [[34], [35]]).heads == [0, 11]  # 3 + 1 + 1 + 5 + 1 for 30 to 34
    jumped = one_turn(rows, [[34], [35, 0]])
    assert jumped.placements == [(1, 35, 0, 0), (0, 34, 3, 0)]  # now 34 is low


def test_zero_alone_has_no_effect() -> None:
    game = PlusRound([[0, 40], [51]], ROWS)
    game.play([[0], [51]])
    assert game.placements == [(1, 51, 1, 0)]
    assert game.hands == [[40], []]
    assert game.piles == [[0], []]
    game.play([[40], []])
    assert game.placements == [(0, 40, 0, 0)]


def test_two_zeros_together_do_nothing() -> None:
    game = PlusRound([[0, 40, 0, 0], [51, 52]], ROWS)
    game.play([[0, 0], [51]])
    assert game.placements == [(1, 51, 1, 0)]
    assert game.hands == [[0, 40], [52]]
    assert game.piles == [[0, 0], []]


def test_turn_of_zeros_only_places_nothing() -> None:
    game = one_turn(ROWS, [[0], [0, 0]])
    assert game.placements == []
    assert game.rows == ROWS
    assert game.heads == [0, 0]


# Placement


def test_sixth_card_takes_and_scores_five() -> None:
    game = one_turn([[10, 11, 12, 13, 14], [50], [70], [90]], [[55], [22]])
    assert game.placements == [(1, 22, 0, 11), (0, 55, 1, 0)]
    assert game.piles == [[], [10, 11, 12, 13, 14]]  # 3 + 5 + 1 + 1 + 1, not the 22
    assert game.rows == [[22], [50, 55], [70], [90]]
    assert game.heads == [0, 11]


def test_row_fills_up_within_the_turn_and_goes_on_from_its_new_starter() -> None:
    game = one_turn([[10, 12, 13], [50], [70], [90]], [[14, 17], [15, 16]])
    assert game.placements == [(0, 14, 0, 0), (1, 15, 0, 0), (1, 16, 0, 8), (0, 17, 0, 0)]
    assert game.rows[0] == [16, 17]


def test_example_two_low_cards_of_one_player() -> None:
    game = one_turn([[30], [91, 92, 93, 94], [70], [50]], [[3, 4], [71]])
    assert game.placements == [(0, 3, 1, 0), (0, 4, 1, 5), (1, 71, 2, 0)]
    assert game.piles == [[91, 92, 93, 94, 3], []]
    assert game.rows == [[30], [4], [70, 71], [50]]


def test_low_card_is_appended_without_taking() -> None:
    game = one_turn([[70], [90], [30], [50]], [[5], [51]])
    assert game.placements == [(0, 5, 1, 0), (1, 51, 3, 0)]
    assert game.rows[1] == [90, 5]


def test_low_card_as_sixth_takes_the_row_with_the_highest_end() -> None:
    rows = [[30], [50], [70], [86, 87, 88, 89, 90]]
    game = one_turn(rows, [[5], [51]])
    assert game.placements == [(0, 5, 3, 11), (1, 51, 1, 0)]
    assert game.piles == [[86, 87, 88, 89, 90], []]
    assert game.rows == [[30], [50, 51], [70], [5]]


def test_low_card_makes_further_low_cards_fit() -> None:
    game = one_turn(ROWS, [[5], [29], [91]])
    assert game.placements == [(0, 5, 3, 0), (1, 29, 3, 0), (2, 91, 2, 0)]
    assert game.rows == [[30], [50], [70, 91], [90, 5, 29]]


def test_lower_card_after_a_low_card_goes_to_the_then_highest_end() -> None:
    game = one_turn(ROWS, [[9, 0], [8]])
    assert game.placements == [(0, 9, 3, 0), (1, 8, 2, 0)]
    assert game.rows == [[30], [50], [70, 8], [90, 9]]


def test_end_of_a_row_is_its_last_card_not_its_highest() -> None:
    game = one_turn([[90, 5], [50], [70], [30]], [[60], [4]])
    assert game.placements == [(1, 4, 2, 0), (0, 60, 1, 0)]


@pytest.mark.parametrize("num_players", range(2, 8))
def test_single_numbered_cards_are_placed_as_in_the_base_game(num_players: int) -> None:
    rng = random.Random(num_players)
    num_turns = 0
    for _ in range(100):
        base = deal_round(num_players, rng)
        plus = PlusRound(base.hands, base.rows)
        while not base.over:
            lowest_end = min(row[-1] for row in base.rows)
            fitting = [[card for card in hand if card > lowest_end] for hand in base.hands]
            cards = [rng.choice(f or h) for f, h in zip(fitting, base.hands, strict=True)]
            base.play(cards)
            if base.pending is not None:  # a low card: here the games differ
                break
            plus.play([[card] for card in cards])
            assert plus.placements == base.placements
            assert plus.rows == base.rows
            assert plus.hands == base.hands
            assert plus.piles == base.piles
            assert plus.heads == base.heads
            num_turns += 1
    assert num_turns > 250


# The end of a round


def test_players_without_cards_are_out_and_the_last_plays_on_alone() -> None:
    game = PlusRound([[31, 32], [33, 51, 52, 53, 0], [71, 72, 73]], ROWS)
    game.play([[31, 32], [33], [71]])
    assert game.hands == [[], [0, 51, 52, 53], [72, 73]]
    with pytest.raises(ValueError, match="seat 0 has no cards left"):
        game.play([[31], [51], [72]])
    game.play([[], [51], [73, 72]])
    assert not game.over
    game.play([[], [52], []])
    assert game.placements == [(1, 52, 1, 0)]
    game.play([[], [53, 0], []])
    assert game.placements == [(1, 53, 1, 0)]
    assert game.over
    assert game.rows == [[30, 31, 32, 33], [50, 51, 52, 53], [70, 71, 72, 73], [90]]
    assert game.piles == [[], [0], []]


def test_empty_hands_at_the_start() -> None:
    game = PlusRound([[], [31], []], ROWS)
    game.play([[], [31], []])
    assert game.over


def test_own_zero_comes_before_the_cards_taken_in_its_turn() -> None:
    game = one_turn([[30, 31, 32, 33, 34], [50], [70], [90]], [[35, 0], [51]])
    assert game.piles == [[0, 30, 31, 32, 33, 34], []]
    assert game.heads == [11, 0]


# Refusals


@pytest.mark.parametrize(
    ("commits", "message"),
    [
        ([[31], [51]], "need the cards of 3 seats, got 2"),
        ([[31], [51], [], []], "need the cards of 3 seats, got 4"),
        ([[31, 32, 33], [51], []], "seat 0 plays more than two cards"),
        ([[0, 31, 32], [51], []], "seat 0 plays more than two cards"),
        ([[], [51], []], "seat 0 holds cards"),
        ([[31], [], []], "seat 1 holds cards"),
        ([[31], [32], []], "seat 1 does not hold 32"),
        ([[31, 51], [52], []], "seat 0 does not hold 31 and 51"),
        ([[31], [0], []], "seat 1 does not hold 0"),
        ([[31, 31], [51], []], "seat 0 does not hold 31 and 31"),
        ([[0, 0], [51], []], "seat 0 does not hold 0 and 0"),
        ([[31], [51, 105], []], "seat 1 does not hold 51 and 105"),
        ([[31], [51, -1], []], "seat 1 does not hold 51 and -1"),
        ([[31], [51], [71]], "seat 2 has no cards left"),
        ([[31], [51], [0]], "seat 2 has no cards left"),
    ],
)
def test_plus_refuses(commits: list[list[int]], message: str) -> None:
    game = PlusRound([[31, 32, 33, 34, 0], [51, 52, 53], [71]], ROWS)
    game.play([[34], [53], [71]])
    before = copy.deepcopy(vars(game))
    with pytest.raises(ValueError, match=message):
        game.play(commits)
    assert vars(game) == before
    game.play([[0, 33], [52, 51], []])


def test_plus_refuses_to_go_on_after_the_end() -> None:
    game = one_turn(ROWS, [[31], [51, 0]])
    before = copy.deepcopy(vars(game))
    with pytest.raises(ValueError, match="the round is over"):
        game.play([[], []])
    assert vars(game) == before


def test_simplified_refuses() -> None:
    game = SimplifiedRound([[31, 0], [51, 52]], ROWS, 1)
    for card in (31, 0, 53, 105, -1):
        before = copy.deepcopy(vars(game))
        with pytest.raises(ValueError, match=f"seat 1 does not hold {card}"):
            game.play(card)
        assert vars(game) == before
    for card in (51, 0, 52, 31):
        game.play(card)
    before = copy.deepcopy(vars(game))
    with pytest.raises(ValueError, match="the round is over"):
        game.play(31)
    assert vars(game) == before


@pytest.mark.parametrize(
    ("hands", "rows", "message"),
    [
        ([[1]], ROWS, "2 to 7 players, not 1"),
        ([[card] for card in range(1, 9)], ROWS, "2 to 7 players, not 8"),
        ([[], []], ROWS, "at least one seat must hold cards"),
        ([[1], [2]], ROWS[:3], "need four rows, got 3"),
        ([[1], [2]], [*ROWS, [100]], "need four rows, got 5"),
        ([[1], [2]], [[], *ROWS[:3]], "one to five cards"),
        ([[1], [2]], [[10, 11, 12, 13, 14, 15], *ROWS[:3]], "one to five cards"),
        ([[1], [2]], [[10, 0], *ROWS[:3]], "a 0 is never in a row"),
        ([[1], [105]], ROWS, "numbered 0 to 104"),
        ([[1], [-1]], ROWS, "numbered 0 to 104"),
        ([[1], [1]], ROWS, "a numbered card occurs twice"),
        ([[1], [30]], ROWS, "a numbered card occurs twice"),
        ([[0] * 4, [0] * 4], ROWS, "only seven 0s"),
    ],
)
def test_constructors_refuse(hands: list[list[int]], rows: list[list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PlusRound(hands, rows)
    with pytest.raises(ValueError, match=message):
        SimplifiedRound(hands, rows, 0)


def test_simplified_constructor_refuses() -> None:
    with pytest.raises(ValueError, match="equally many"):
        SimplifiedRound([[1], [2, 3]], ROWS, 0)
    for starter in (-1, 2):
        with pytest.raises(ValueError, match=f"no such seat: {starter}"):
            SimplifiedRound([[1], [2]], ROWS, starter)


def test_constructors_copy_and_sort() -> None:
    hands = [[40, 0, 31], [51, 0, 0]]
    rows = [[90, 5], [50], [70], [30]]
    plus, simplified = PlusRound(hands, rows), SimplifiedRound(hands, rows, 0)
    plus.play([[40], [51]])
    simplified.play(31)
    assert hands == [[40, 0, 31], [51, 0, 0]]
    assert rows == [[90, 5], [50], [70], [30]]
    assert plus.hands == [[0, 31], [0, 0]]
    assert simplified.hands == [[0, 40], [0, 0, 51]]


# Deals


@pytest.mark.parametrize("num_players", range(2, 8))
@pytest.mark.parametrize("kind", ["plus", "equal", "simplified"])
def test_deals(kind: str, num_players: int) -> None:
    zeros_seen = Counter[int]()
    for seed in range(200):
        rng = random.Random(seed)
        if kind == "simplified":
            hands, rows = deal_simplified(num_players, rng)
        else:
            hands, rows = deal_plus(num_players, rng, equal=kind == "equal")
        size = 12 if kind == "simplified" else 15
        assert [len(hand) for hand in hands] == [size] * num_players
        assert hands == [sorted(hand) for hand in hands]
        assert [len(row) for row in rows] == [1] * 4
        assert all(1 <= row[0] <= 104 for row in rows)
        dealt = Counter(card for group in hands + rows for card in group)
        assert dealt <= Counter(FULL_DECK)
        zeros_seen.update(hand.count(0) for hand in hands)
    guaranteed = (2 if num_players <= 3 else 1) if kind == "equal" else 0
    assert min(zeros_seen) == guaranteed
    # Seven players with an equal deal use up the 0s: one each, none left to shuffle in.
    most = 1 if kind == "equal" and num_players == 7 else guaranteed + 1
    assert max(zeros_seen) >= most
    if kind == "equal":
        assert max(zeros_seen) <= guaranteed + 7 - guaranteed * num_players


@pytest.mark.parametrize("num_players", [-1, 0, 1, 8])
def test_deals_refuse(num_players: int) -> None:
    rng = random.Random(0)
    for equal in (False, True):
        with pytest.raises(ValueError, match="2 to 7 players"):
            deal_plus(num_players, rng, equal)
    with pytest.raises(ValueError, match="2 to 7 players"):
        deal_simplified(num_players, rng)


# The simplified game


def test_simplified_plays_in_seat_order_from_the_starter() -> None:
    game = SimplifiedRound([[31, 34], [95, 51], [33, 5]], ROWS, 2)
    for placement in [
        (2, 33, 0, 0),
        (0, 34, 0, 0),
        (1, 95, 3, 0),
        (2, 5, 3, 0),  # low: to the row ending 95
        (0, 31, 3, 0),  # the first row ends 34: only the 5 is below
        (1, 51, 1, 0),
    ]:
        assert game.seat == placement[0]
        assert not game.over
        game.play(placement[1])
        assert game.placements == [placement]
    assert game.over
    assert game.seat is None
    assert game.rows == [[30, 33, 34], [50, 51], [70], [90, 95, 5, 31]]


def test_simplified_zero_passes_the_turn() -> None:
    game = SimplifiedRound([[0, 91], [0, 51]], ROWS, 0)
    game.play(91)
    assert game.placements == [(0, 91, 3, 0)]
    game.play(0)
    assert game.placements == []
    assert (game.seat, game.piles) == (0, [[], [0]])
    game.play(0)
    assert (game.seat, game.piles) == (1, [[0], [0]])
    game.play(51)
    assert game.rows == [[30], [50, 51], [70], [90, 91]]
    assert game.over
    assert game.heads == [0, 0]


def test_simplified_sixth_card_takes_five_at_once() -> None:
    rows = [[10, 11, 12, 13, 14], [50], [70], [86, 87, 88, 89, 90]]
    game = SimplifiedRound([[22], [5]], rows, 0)
    game.play(22)
    assert game.placements == [(0, 22, 0, 11)]
    assert game.heads == [11, 0]
    game.play(5)  # low
    assert game.placements == [(1, 5, 3, 11)]
    assert game.heads == [11, 11]
    assert game.rows == [[22], [50], [70], [5]]


@pytest.mark.parametrize(
    ("totals", "starter"),
    [([3, 9, 4], 1), ([9, 9, 4], 0), ([1, 8, 8], 1), ([0, 0], 0), ([0, 1, 2, 3, 4, 5, 6], 6)],
)
def test_next_starter(totals: list[int], starter: int) -> None:
    assert next_starter(totals) == starter


@pytest.mark.parametrize(
    ("totals", "most", "fewest"),
    [
        ([3, 9, 4], [1], [0]),
        ([9, 4, 9, 4], [0, 2], [1, 3]),
        ([5, 5], [0, 1], [0, 1]),
        ([0, 7, 0], [1], [0, 2]),
    ],
)
def test_winners(totals: list[int], most: list[int], fewest: list[int]) -> None:
    assert winners(totals, collect=True) == most
    assert winners(totals, collect=False) == fewest


# Random rounds


def test_random_commit_is_uniform_over_distinct_cards() -> None:
    rng = random.Random(0)
    counts = Counter(tuple(random_commit([0, 0, 7], rng)) for _ in range(12000))
    # First 0 or 7; after a 0: another 0, the 7 or nothing; after the 7: a 0 or nothing.
    expected = {(0,): 2000, (0, 0): 2000, (0, 7): 2000, (7,): 3000, (7, 0): 3000}
    assert counts.keys() == expected.keys()
    assert all(abs(counts[commit] - expected[commit]) < 250 for commit in expected)
    assert random_commit([], rng) == []


@pytest.mark.parametrize("num_players", range(2, 8))
@pytest.mark.parametrize("equal", [False, True])
def test_cards_are_conserved_in_plus(num_players: int, equal: bool) -> None:
    rng = random.Random(num_players)
    left_early = 0
    for _ in range(30):
        game = PlusRound(*deal_plus(num_players, rng, equal))
        cards = all_cards(game)
        while not game.over:
            commits = [random_commit(hand, rng) for hand in game.hands]
            left_early += sum(not commit for commit in commits)
            heads = game.heads
            game.play(commits)
            assert all_cards(game) == cards
            assert sorted(placed(game)) == sorted(c for commit in commits for c in commit if c)
            assert all(1 <= len(row) <= 5 and 0 not in row for row in game.rows)
            for seat, _, _, taken in game.placements:
                heads[seat] += taken
            assert heads == game.heads
    assert left_early > 0


@pytest.mark.parametrize("num_players", range(2, 8))
def test_cards_are_conserved_in_the_simplified_game(num_players: int) -> None:
    rng = random.Random(num_players)
    for _ in range(30):
        starter = rng.randrange(num_players)
        game = SimplifiedRound(*deal_simplified(num_players, rng), starter)
        cards = all_cards(game)
        for turn in range(12 * num_players):
            assert game.seat == (starter + turn) % num_players
            card = rng.choice(game.hands[game.seat])
            game.play(card)
            assert all_cards(game) == cards
            assert placed(game) == ([card] if card else [])
            assert all(1 <= len(row) <= 5 and 0 not in row for row in game.rows)
        assert game.seat is None
        assert game.over


def test_random_rounds_are_finished_and_repeatable() -> None:
    for num_players in range(2, 8):
        for equal in (False, True):
            plus = random_plus(num_players, random.Random(5), equal)
            assert plus.over
            assert sum(plus.heads) > 0
            assert plus.piles == random_plus(num_players, random.Random(5), equal).piles
        simplified = random_simplified(num_players, random.Random(5))
        assert simplified.over
        assert simplified.seat is None
        assert simplified.piles == random_simplified(num_players, random.Random(5)).piles


def test_base_reference_and_this_one_agree_on_a_taken_row() -> None:
    rows = [[10, 11, 12, 13, 14], [50], [70], [90]]
    base = ReferenceRound([[22], [55]], rows)
    base.play([22, 55])
    plus = one_turn(rows, [[22], [55]])
    assert plus.placements == base.placements
    assert plus.piles == base.piles
