"""Heuristic players: exact chances, positions worked out by hand, legal play everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest

from agents.cautious import Cautious, expected_heads
from agents.coldest_row import ColdestRow
from agents.considerate_row import ConsiderateRow, best_row, rest_of_turn
from agents.heuristics import CardPlayer, Others
from sixnimmt_env.cards import BULL_HEADS, TAKE_ROW, ZERO
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import Observation, observe
from sixnimmt_env.policy import ClosestGapPolicy, RandomPolicy, cheapest_row, choose_actions, play
from sixnimmt_env.position import Position
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER, PLAY, SECOND, TAKE, State
from sixnimmt_env.variants import VARIANTS, make_rules
from tests.rounds import row_choices

RNG = np.random.default_rng(0)
HEURISTICS = [Cautious(), ColdestRow(), ConsiderateRow(ClosestGapPolicy())]
GAMES = [
    make_rules(variant, players, row_choice=row_choice)
    for variant in VARIANTS
    for players in sorted({2, 5, make_rules(variant, 2).max_players})
    for row_choice in row_choices(variant)
]


def name(rules: Rules) -> str:
    return f"{rules.name}-{rules.num_players}-{rules.row_choice}"


def seen_by(rules: Rules, rows, hands, piles=None, seat: int = 0) -> Observation:
    return observe(rules, Position(rows, hands, piles).state(rules), seat, [0])


def states(rules: Rules, games: int, seed: int = 0) -> Iterator[State]:
    """Positions of games between random players."""
    engine = Engine(rules)
    state = engine.reset(seed, games)
    rng = np.random.default_rng(seed)
    seats = [RandomPolicy()] * rules.num_players
    while (state.phase != OVER).any():
        yield state
        engine.step(state, choose_actions(seats, rules, state, rng), state.phase != OVER)


def place(rows: list[list[int]], card: int, append: bool) -> int:
    """Place one card; heads that its owner takes. A low card takes the row with fewest heads."""

    def heads(row):
        return int(BULL_HEADS[row].sum())

    fitting = [row for row in rows if row[-1] < card]
    if fitting:
        row = max(fitting, key=lambda row: row[-1])
        full = len(row) == 5
    elif append:
        row = max(rows, key=lambda row: row[-1])
        full = len(row) == 5
    else:
        row = min(rows, key=lambda row: (heads(row), len(row)))
        full = True
    taken = heads(row) if full else 0
    row[:] = [card] if full else [*row, card]
    return taken


def heads_of(card: int, also: int, others, rows, append: bool) -> int:
    """Heads that a card of ours takes, played with a second one and with the others' cards."""
    queue = sorted(c for c in [*others, also, card] if 0 < c < ZERO)
    if also == ZERO and card in queue:
        queue.remove(card)
        queue.insert(0, card)
    table = [list(row) for row in rows]
    taken = {c: place(table, c, append) for c in queue}
    return taken.get(card, 0)


def table_of(seen: Observation) -> list[list[int]]:
    return [[int(card) for card in row if card] for row in seen.rows[0]]


SMALL = [
    Rules(num_players=2, num_cards=16, hand_size=4, row_choice="fewest_heads"),
    Rules(num_players=3, num_cards=22, hand_size=4, row_choice="fewest_heads"),
    Rules(num_players=4, num_cards=24, hand_size=4, row_choice="fewest_heads"),
    Rules(num_players=5, num_cards=24, hand_size=4, row_choice="fewest_heads"),
    Rules(num_players=7, num_cards=20, hand_size=2, row_choice="fewest_heads"),
    Rules(num_players=3, num_cards=20, hand_size=5, low_card="append"),
    Rules(num_players=4, num_cards=18, hand_size=4, low_card="append", zeros=3, cards_per_turn=2),
    Rules(num_players=3, num_cards=18, hand_size=5, low_card="append", zeros=1, one_by_one=True),
]


def name_small(rules: Rules) -> str:
    return f"{rules.num_players}-{rules.low_card}-{rules.cards_per_turn}-{rules.one_by_one}"


@pytest.mark.parametrize("rules", SMALL, ids=name_small)
def test_expected_heads_are_exact(rules):
    """Against every set of cards that the others may play, one by one."""
    append = rules.low_card == "append"
    compared = 0
    for state in states(rules, 12 if rules.num_players < 6 else 3):
        for game in np.flatnonzero((state.phase == PLAY) | (state.phase == SECOND)):
            seat = int(state.actor[game]) if rules.one_by_one else int(game) % rules.num_players
            seen = observe(rules, state, seat, [game])
            if not seen.decides[0]:
                continue
            hidden = [*np.flatnonzero(seen.unseen[0]), *[ZERO] * int(seen.unseen_zeros[0])]
            number = int(Others(seen).number[0, 0])
            holding = state.hand[:, 0, game].astype(bool)
            if state.two_cards:
                holding |= state.committed[:, game] != 0
            assert number == (0 if rules.one_by_one else holding.sum() - 1)
            also = np.broadcast_to(seen.committed[:, None], seen.hand.shape)
            found = expected_heads(seen, seen.hand, also)[0]
            sets = list(combinations(hidden, number))
            for card, value in zip(seen.hand[0], found, strict=True):
                all_taken = [
                    heads_of(int(card), int(also[0, 0]), others, table_of(seen), append)
                    for others in sets
                ]
                assert value == pytest.approx(np.mean(all_taken))
                compared += value > 0
    assert compared > 3


@pytest.mark.parametrize("players", [2, 4])
def test_chances_with_open_hands_are_exact(players):
    rules = make_rules("pro", players)
    for state in list(states(rules, 3))[10 * players :: 3]:
        seen = observe(rules, state, 1)
        if not (seen.phase == PLAY).all():
            continue
        others = Others(seen)
        low, high = np.array([[5, 0, 7]] * 3), np.array([[20, 12, 9]] * 3)
        count, below = np.array([[1, 2, 0]] * 3), np.array([[6]] * 3)
        found = others.chance(low, high, count, below)
        for game in range(3):
            hands = [[c for c in hand if c] for hand in seen.hands[game, 1:].tolist()]
            plays = list(product(*hands))
            for i in range(3):
                good = [
                    min(p) >= 6 and sum(low[0, i] < c < high[0, i] for c in p) == count[0, i]
                    for p in plays
                ]
                assert found[game, i] == pytest.approx(np.mean(good))


def test_a_full_row_may_be_taken_by_somebody_else():
    """The other one holds 6 and 24, nothing else is hidden: with 6 he takes the row before us."""
    rules = Rules(num_players=2, num_cards=24, hand_size=2, row_choice="fewest_heads")
    rows = [[1, 2, 3, 4, 5], [10], [20], [22]]
    known = sorted(set(range(1, 25)) - {1, 2, 3, 4, 5, 6, 7, 10, 20, 21, 22, 24})
    seen = seen_by(rules, rows, [[7, 21], [6, 24]], [known, []])
    np.testing.assert_allclose(expected_heads(seen, seen.hand), [[6 / 2, 0]])
    assert Cautious().act(seen, RNG)[0] == 21


def test_a_lower_card_may_take_the_row_before_us():
    """Low card 8: the other one's 7 takes row 2 (3 heads), ours then joins it for nothing."""
    rules = Rules(num_players=2, num_cards=24, hand_size=2, row_choice="fewest_heads")
    known = sorted(set(range(1, 25)) - {7, 8, 10, 11, 20, 22, 23, 24})
    seen = seen_by(rules, [[11], [10], [20], [22]], [[8, 23], [7, 24]], [known, []])
    np.testing.assert_allclose(expected_heads(seen, seen.hand), [[3 / 2, 0]])


def test_fewer_hidden_cards_between_are_safer():
    """Two rows of four: 14 cards may come into the first gap, none into the second."""
    rules = make_rules("base", 4, row_choice="fewest_heads")
    rows = [[1, 2, 3, 4], [40, 41, 42, 43], [90], [100]]
    hands = [[19, 44], [60, 61], [62, 63], [64, 65]]
    seen = seen_by(rules, rows, hands)
    cost = expected_heads(seen, seen.hand)[0]
    assert cost[0] > 0.5 and cost[1] == 0
    hidden = int(seen.unseen.sum())
    p_one = 14 * (hidden - 14) * (hidden - 15) / 2 / (hidden * (hidden - 1) * (hidden - 2) / 6)
    between = BULL_HEADS[5:19].mean()
    assert cost[0] == pytest.approx(p_one * (BULL_HEADS[1:5].sum() + between))


def test_a_zero_is_played_when_all_else_is_dear():
    rules = make_rules("original_zeros", 2)
    rows = [[1, 2, 3, 4, 55], [66, 77, 88, 92, 94], [95], [96]]
    seen = seen_by(rules, rows, [[56, 57, ZERO], [60, 61, 62]])
    assert Cautious().act(seen, RNG)[0] == ZERO and ColdestRow().act(seen, RNG)[0] == ZERO
    seen = seen_by(rules, rows, [[56, 97, ZERO], [60, 61, 62]])
    assert Cautious().act(seen, RNG)[0] == 97 and ColdestRow().act(seen, RNG)[0] == 97


def test_a_zero_puts_a_number_ahead_of_all():
    """58 may be the sixth of row 1 behind another card, but not if it is placed first."""
    rules = make_rules("original_zeros", 2)
    engine = Engine(rules)
    rows = [[50, 51, 52, 53], [95], [96], [97]]
    state = Position(rows, [[58, ZERO, 1], [54, 56, 57]]).state(rules)
    engine.step(state, [[58], [54]])
    seen = observe(rules, state, 0)
    alone = expected_heads(seen, seen.committed[:, None])[0, 0]
    ahead = expected_heads(seen, seen.committed[:, None], np.array([[ZERO]]))[0, 0]
    assert alone > 0.2 and ahead == 0


def test_second_cards_keep_pace():
    """A safe second card is played by who holds more than the others, and by nobody else."""
    rules = make_rules("original_zeros", 2)
    rows = [[10], [30], [50], [70]]
    for mine, theirs, second in (
        ([11, 12, 13, 31, 51], [90, 91], True),
        ([11, 31], [90, 91, 92], False),
    ):
        state = Position(rows, [mine, theirs]).state(rules)
        Engine(rules).step(state, [[11], [90]])
        action = Cautious().act(observe(rules, state, 0), RNG)[0]
        assert (action != 0) == second


def test_heads_are_collected():
    rules = make_rules("plus", 2)
    rows = [[51, 52, 53, 54, 55], [60], [70], [80]]
    seen = seen_by(rules, rows, [[56, 61, 81], [90, 91, 92]])
    assert Cautious().act(seen, RNG)[0] == 56
    assert ColdestRow().act(seen, RNG)[0] == 56
    seen = seen_by(rules, [[51, 52], [60, 63, 64], [70], [80]], [[56, 65, 81], [90, 91, 92]])
    assert ColdestRow().act(seen, RNG)[0] == 65


@pytest.mark.parametrize(
    ("rows", "hand", "card"),
    [
        ([[10], [20, 21], [40], [60, 61, 62]], [22, 49, 63], 49),  # one card: row 3
        ([[10], [20], [44], [60]], [12, 21, 45], 21),  # heads 3, 3, 5, 3: the closest of the rest
        ([[12], [20], [44], [60]], [19, 21, 45], 19),  # 12 has one head
        ([[10, 11, 12, 13, 14], [21, 22, 23, 24, 25], [90], [98]], [16, 26], 26),  # 11, 10 heads
        ([[10, 11, 12, 13, 14], [21, 22, 23, 24, 25], [91], [98]], [5, 16], 5),  # low: 1 head
    ],
)
def test_coldest_row_by_hand(rows, hand, card):
    rules = make_rules("base", 2)
    others = [c for c in range(30, 39)][: len(hand)]
    assert ColdestRow().act(seen_by(rules, rows, [hand, others]), RNG)[0] == card


def taking(rules: Rules, rows, hands, cards) -> Observation:
    state = Position(rows, hands).state(rules)
    Engine(rules).step(state, np.array(cards)[:, None])
    assert state.phase[0] == TAKE
    return observe(rules, state, int(state.actor[0]))


def test_rows_of_the_rule_book():
    rules = make_rules("base", 2)
    rows = [[60], [36, 37, 38, 39, 40], [70], [90]]
    seen = taking(rules, rows, [[29], [62]], [29, 62])
    np.testing.assert_array_equal(rest_of_turn(seen), [[7, 0, 0, 0]])
    # Row 1 costs 3 and the other one 7; row 2 costs 7 and him nothing.
    assert best_row(seen)[0] == 0
    assert ConsiderateRow(RandomPolicy()).act(seen, RNG)[0] == TAKE_ROW
    assert Cautious().act(seen, RNG)[0] == TAKE_ROW


def test_a_dearer_row_may_be_better():
    """Row 3 costs 1, row 1 costs 3 and makes the other one take 22 heads."""
    rules = make_rules("base", 2)
    rows = [[60], [11, 22, 33, 44, 45], [71], [90]]
    seen = taking(rules, rows, [[5], [62]], [5, 62])
    assert cheapest_row(seen)[0] == 2 and best_row(seen)[0] == 0
    assert Cautious(row=cheapest_row).act(seen, RNG)[0] == TAKE_ROW + 2


@pytest.mark.parametrize("players", [2, 4, 10])
def test_best_row_against_a_slow_simulation(players):
    rules = make_rules("base", players)
    met = 0
    for state in states(rules, 150, seed=players):
        for game in np.flatnonzero(state.phase == TAKE):
            seen = observe(rules, state, int(state.actor[game]), [game])
            own = int(seen.waiting[0, 0])
            balance = []
            for row in range(4):
                rows = table_of(seen)
                cost = int(BULL_HEADS[rows[row]].sum())
                length = len(rows[row])
                rows[row] = [own]
                cards = sorted(int(c) for c in seen.waiting[0, 1:] if c)
                lost = sum(place(rows, card, append=False) for card in cards)
                assert rest_of_turn(seen)[0, row] == lost
                balance.append((cost - lost / (players - 1), cost, length, row))
            rounded = [(round(b, 9), *rest) for b, *rest in balance]
            assert best_row(seen)[0] == min(rounded)[-1]
            met += 1
    assert met > 50


@pytest.mark.parametrize("rules", GAMES, ids=name)
def test_legal_everywhere_and_the_same_alone(rules):
    """All decisions of some games; each made alone is the same as in the batch."""
    for player in HEURISTICS:
        engine = Engine(rules)
        state = engine.reset(3, 6)
        step = 0
        while (state.phase != OVER).any():
            actions = np.zeros((rules.num_players, 6), np.intp)
            seats, games = np.nonzero(state.acting())
            seen = observe(rules, state, seats, games)
            actions[seats, games] = chosen = player.act(seen, RNG)
            assert seen.action_mask[np.arange(len(chosen)), chosen].all()
            if step % 4 == 0:
                for i in range(0, len(chosen), 5):
                    alone = observe(rules, state, int(seats[i]), [games[i]])
                    assert player.act(alone, RNG)[0] == chosen[i]
            engine.step(state, actions, state.phase != OVER)
            step += 1


def test_nothing_to_decide():
    """Finished games and seats that wait are passes."""
    rules = make_rules("simplified", 3)
    state = Engine(rules).reset(0, 4)
    for player in HEURISTICS:
        waiting = (state.actor + 1) % 3
        assert not player.act(observe(rules, state, waiting, np.arange(4)), RNG).any()


def test_collecting_with_rows_to_take():
    """No game that we know has these rules, but they are possible."""
    rules = Rules(num_players=3, collect=True, hand_size=5)
    seen = taking(rules, [[60], [36, 37, 38, 39, 55], [71], [90]], [[29], [62], [95]], [29, 62, 95])
    assert best_row(seen)[0] == 1
    result = play([Cautious(), "random", "random"], rules, games=300, seed=1)
    assert result.wins[:, 0].mean() > 0.5


def test_a_card_player_needs_a_rule():
    seen = seen_by(make_rules("base", 2), [[10], [20], [30], [40]], [[1], [2]])
    with pytest.raises(NotImplementedError):
        CardPlayer().act(seen, RNG)


@pytest.mark.parametrize(
    ("variant", "opponent", "wins"),
    [
        ("base", "closest_gap", 0.25),
        ("base", "random", 0.6),
        ("tactics", "random", 0.6),
        ("pro", "random", 0.7),
        ("simplified", "closest_gap", 0.25),
        ("original_zeros", "closest_gap", 0.3),
        ("plus", "sixth_card", 0.4),
        ("plus_equal", "sixth_card", 0.4),
    ],
)
def test_cautious_is_strong(variant, opponent, wins):
    result = play([Cautious(), *[opponent] * 3], make_rules(variant), games=600, seed=2)
    assert result.wins[:, 0].mean() > wins
