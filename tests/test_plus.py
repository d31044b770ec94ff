"""Plus, its relatives and Simplified through the engine: deals, order, low cards, rounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sixnimmt_env.cards import PASS, ZERO
from sixnimmt_env.engine import Engine, IllegalActionError
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import POLICIES, SixthCardPolicy, make_policy, play
from sixnimmt_env.position import Position
from sixnimmt_env.rules import Rules, RulesError
from sixnimmt_env.state import HAND, OVER, PILE, PLAY, SECOND, TABLE, State
from sixnimmt_env.variants import make_rules
from tests.rounds import PLUS_FAMILY, random_actions

TWO_CARDS = ("plus", "plus_equal", "original_zeros")


def hands_of(groups: list[list[int]], size: int) -> list[list[int]]:
    """Hands that begin with these cards; all get one more high card, so that nobody is out."""
    return [[*group, 104 - seat] for seat, group in enumerate(groups)][:size]


def commit(engine: Engine, state: State, pairs: list[list[int]]) -> None:
    """Play a turn of one game: one or two cards of every seat."""
    engine.step(state, np.array([[pair[0] if pair else PASS] for pair in pairs]))
    if state.phase[0] == SECOND:
        engine.step(state, np.array([[pair[1] if len(pair) > 1 else PASS] for pair in pairs]))


def placed(state: State, game: int = 0) -> list[tuple[int, int, int, int]]:
    """Card, seat, row and heads of every placement of the last turn, in order."""
    return [
        (entry >> 8 & 127, entry & 15, int(row), int(heads))
        for entry, row, heads in zip(
            state.queue[:, game].tolist(),
            state.placed_row[:, game],
            state.placed_heads[:, game],
            strict=True,
        )
        if entry
    ]


@pytest.mark.parametrize("variant", TWO_CARDS)
def test_numbers_with_a_zero_are_placed_first(variant):
    rules = make_rules(variant, 4)
    hands = hands_of([[5, 6], [27], [49, ZERO], [53, ZERO]], 4)
    state = Position(rows=[[1], [20], [40], [60]], hands=hands).state(rules)
    commit(Engine(rules), state, [[5, 6], [27], [49, ZERO], [ZERO, 53]])
    assert [card for card, *_ in placed(state)] == [49, 53, 5, 6, 27]
    assert state.zeros_played[:, 0].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_order_does_not_depend_on_the_seats(order):
    rules = make_rules("plus", 4)
    pairs = [[[5, 6], [27], [49, ZERO], [53, ZERO]][i] for i in order]
    state = Position(rows=[[1], [20], [40], [60]], hands=hands_of(pairs, 4)).state(rules)
    commit(Engine(rules), state, pairs)
    assert [card for card, *_ in placed(state)] == [49, 53, 5, 6, 27]


@pytest.mark.parametrize("variant", TWO_CARDS)
def test_a_low_card_joins_the_row_with_the_highest_end(variant):
    """A row of four that ends in 94: 3 becomes the fifth card, 4 the sixth and takes five."""
    rules = make_rules(variant, 2)
    rows = [[50], [60], [70], [91, 92, 93, 94]]
    state = Position(rows=rows, hands=[[3, 4, 20], [100, 101]]).state(rules)
    commit(Engine(rules), state, [[3, 4], [100]])
    # 100 then goes to row 3: row 4 ends in 4 now.
    assert placed(state) == [(3, 0, 4, 0), (4, 0, 4, 5), (100, 1, 3, 0)]
    assert state.rows[3, :, 0].tolist() == [4, 0, 0, 0, 0]
    assert sorted(np.flatnonzero(state.location[:, 0] == PILE)) == [3, 91, 92, 93, 94]


def test_a_low_card_that_is_the_sixth_takes_the_row():
    rules = make_rules("simplified", 2)
    rows = [[50], [60], [70], [90, 91, 92, 93, 94]]
    state = Position(rows=rows, hands=[[3, 20], [100, 101]]).state(rules)
    Engine(rules).step(state, [[3], [PASS]])
    assert placed(state) == [(3, 0, 4, 3 + 1 + 1 + 1 + 1)]
    assert state.pile_heads[:, 0].tolist() == [7, 0]


def test_zeros_alone_do_nothing():
    rules = make_rules("plus", 2)
    rows = [[1], [20], [40], [60]]
    state = Position(rows=rows, hands=[[ZERO, ZERO, 30], [ZERO, 31]]).state(rules)
    commit(Engine(rules), state, [[ZERO, ZERO], [ZERO]])
    assert placed(state) == []
    assert [row[row > 0].tolist() for row in state.rows[..., 0]] == rows
    assert state.zeros_played[:, 0].tolist() == [2, 1]
    assert state.turn[0] == 14 - 1 and state.phase[0] == PLAY


def test_one_alone_plays_on_to_the_end():
    rules = make_rules("plus", 3)
    state = Position(
        rows=[[1], [20], [40], [60]], hands=[[30, 31], [50], [70, 71, 72, 73, 74]]
    ).state(rules)
    engine = Engine(rules)
    commit(engine, state, [[30, 31], [50], [70]])
    assert state.phase[0] == PLAY
    assert state.acting()[:, 0].tolist() == [False, False, True]
    commit(engine, state, [[], [], [71, 72]])
    with pytest.raises(IllegalActionError, match=r"player_0 .* legal actions are \[0\]"):
        engine.step(state, [[30], [PASS], [73]])
    commit(engine, state, [[], [], [73]])
    assert state.phase[0] == PLAY
    commit(engine, state, [[], [], [74]])
    assert state.phase[0] == OVER
    # 70 ... 73 made the row of 60 five cards long, 74 took it.
    assert state.pile_heads[:, 0].tolist() == [0, 0, 3 + 3 + 1 + 1 + 1]


def test_the_last_cards_are_revealed_at_once():
    rules = make_rules("plus", 2)
    state = Position(rows=[[1], [20], [40], [60]], hands=[[30], [31]]).state(rules)
    Engine(rules).step(state, [[30], [31]])
    assert state.phase[0] == OVER


@pytest.mark.parametrize("variant", TWO_CARDS)
def test_what_cannot_be_played_is_refused_by_name(variant):
    rules = make_rules(variant, 2)
    engine = Engine(rules)
    state = Position(rows=[[1], [20], [40], [60]], hands=[[30, 31, ZERO], [50, 51]]).state(rules)
    for first, message in (
        (50, "card 50"),
        (PASS, "pass"),
        (105, "take row 1"),
        (110, "no such action"),
    ):
        with pytest.raises(IllegalActionError, match=message):
            engine.step(state, [[first], [50]])
    engine.step(state, [[30], [50]])
    before = state.copy()
    with pytest.raises(IllegalActionError, match=r"card 30 in phase 'second card'.*\[0, 31, 109\]"):
        engine.step(state, [[30], [PASS]])  # equal to the first
    assert np.array_equal(before.hand, state.hand) and state.phase[0] == SECOND
    engine.step(state, [[ZERO], [PASS]])
    assert state.phase[0] == PLAY and state.turn[0] == rules.hand_size - 3 + 1


@pytest.mark.parametrize("variant", PLUS_FAMILY)
def test_rules_that_cannot_be(variant):
    for players in (1, 8):
        with pytest.raises(RulesError, match=f"num_players={players}"):
            make_rules(variant, players)
    with pytest.raises(RulesError, match="row_choice='fewest_heads' has no meaning"):
        make_rules(variant, 4, row_choice="fewest_heads")
    with pytest.raises(RulesError, match="rounds=0"):
        make_rules(variant, 4, episode="match", rounds=0)
    assert make_rules(variant, 5, episode="match").rounds == 5
    assert make_rules(variant, 5, episode="match", rounds=2).rounds == 2
    assert make_rules(variant, 5, episode="match", target=40).rounds is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"zeros": -1}, "zeros=-1"),
        ({"zeros": 7, "zeros_each": 2}, "zeros_each=2 .* at most 1"),
        ({"cards_per_turn": 3}, "cards_per_turn=3"),
        ({"cards_per_turn": 1}, "zeros=7 is not possible where all play one card at once"),
        ({"low_card": "keep"}, "low_card='keep'"),
        ({"low_card": "take", "row_choice": "player"}, "low_card='take'"),
        ({"one_by_one": True}, "one_by_one=True"),
        ({"draft": True, "num_cards": 64}, "draft=True"),
    ],
)
def test_rules_check_themselves(wrong, message):
    good = {"num_players": 4, "hand_size": 15, "zeros": 7, "cards_per_turn": 2}
    with pytest.raises(RulesError, match=message):
        Rules(**{**good, "low_card": "append", **wrong})


@pytest.mark.parametrize("variant", PLUS_FAMILY)
@pytest.mark.parametrize("players", range(2, 8))
def test_every_card_is_dealt_at_most_once(variant, players):
    rules = make_rules(variant, players)
    state = Engine(rules).reset(seed=1, games=3000)
    assert ((state.hand != 0).sum(axis=1) == rules.hand_size).all()
    zeros = (state.hand == ZERO).sum(axis=(0, 1))
    assert zeros.max() <= 7 and zeros.min() >= rules.zeros_each * players
    assert ((state.hand == ZERO).sum(axis=1) >= rules.zeros_each).all()
    numbered = (state.location != 0).sum(axis=0)
    np.testing.assert_array_equal(numbered + zeros, players * rules.hand_size + 4)
    assert (state.starters != ZERO).all() and (state.location[1:] <= HAND + players).all()
    assert (np.diff(state.hand.astype(int), axis=1)[state.hand[:, 1:] != ZERO] > 0).all()
    # Sorted for a few games as for many.
    few = Engine(rules).reset(seed=1, games=[5, 2999])
    np.testing.assert_array_equal(few.hand, state.hand[..., [5, 2999]])


def test_the_deal_of_zeros_is_fair():
    """Each of the 107 cards that are left after the starters is as likely in every place."""
    rules = make_rules("plus", 4)
    state = Engine(rules).reset(seed=2, games=20_000)
    zeros = (state.hand == ZERO).sum(axis=1)
    expected = 7 * 15 / 107
    spread = np.sqrt(expected * (1 - 15 / 107) * 100 / 106 / 20_000)
    assert (abs(zeros.mean(axis=1) - expected) < 4.5 * spread).all()
    number = np.stack([(state.location[1:] == HAND + seat).mean(axis=1) for seat in range(4)])
    chance = 100 / 104 * 15 / 107
    assert abs(number - chance).max() < 5 * np.sqrt(chance / 20_000)
    starts = (state.location[1:] == TABLE).mean(axis=1)
    assert abs(starts - 4 / 104).max() < 5 * np.sqrt(4 / 104 / 20_000)


@pytest.mark.parametrize("variant", PLUS_FAMILY)
def test_no_card_is_lost_or_made(variant):
    rules = make_rules(variant, 5)
    engine, rng = Engine(rules), np.random.default_rng(3)
    state = engine.reset(seed=3, games=300)
    numbered = (state.location != 0).sum(axis=0)
    zeros = (state.hand == ZERO).sum(axis=(0, 1))
    while (active := state.phase != OVER).any():
        engine.step(state, random_actions(state, rng), active)
        np.testing.assert_array_equal((state.location != 0).sum(axis=0), numbered)
        held = (state.hand == ZERO).sum(axis=(0, 1)) + state.zeros_played.sum(axis=0)
        if state.two_cards:
            held += (state.committed == ZERO).sum(axis=0)
        np.testing.assert_array_equal(held, zeros)
    assert (state.location[:, :] < HAND).any() and not (state.hand != 0).any()
    in_rows = (state.location == TABLE).sum(axis=0)
    np.testing.assert_array_equal(in_rows, (state.rows != 0).sum(axis=(0, 1)))


def test_simplified_goes_round_from_the_starter():
    rules = make_rules("simplified", 3, episode="match")
    engine, rng = Engine(rules), np.random.default_rng(0)
    state = engine.reset(seed=0, games=400)
    starters = np.bincount(state.first_seat, minlength=3)
    assert starters.min() > 100
    for round_ in range(3):
        first = state.first_seat.copy()
        for number in range(36):
            expected = (first + number) % 3
            np.testing.assert_array_equal(state.actor, expected)
            np.testing.assert_array_equal(state.acting().argmax(axis=0), expected)
            assert (state.acting().sum(axis=0) == 1).all()
            assert (state.turn == number // 3).all()
            engine.step(state, random_actions(state, rng))
        if round_ < 2:
            # Most heads so far, on a tie the lowest seat.
            np.testing.assert_array_equal(state.first_seat, state.score.argmax(axis=0))
            assert (state.round == round_ + 1).all()
    assert (state.phase == OVER).all()


def test_plus_lasts_as_many_rounds_as_players_and_most_heads_win():
    rules = make_rules("plus", 3, episode="match")
    result = play(["random"] * 3, rules, games=300, seed=1)
    assert 3 * 15 < result.heads.mean() < 3 * 21
    best = result.heads == result.heads.max(axis=1, keepdims=True)
    np.testing.assert_allclose(result.wins, best / best.sum(axis=1, keepdims=True))
    opposite = play(["random"] * 3, make_rules("original_zeros", 3), games=300, seed=1)
    least = opposite.heads == opposite.heads.min(axis=1, keepdims=True)
    np.testing.assert_allclose(opposite.wins, least / least.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("variant", PLUS_FAMILY)
@pytest.mark.parametrize("name", sorted(set(POLICIES) - {"trained"}))
def test_core_policies_play_every_game(variant, name):
    for players in (2, 7):
        result = play([name] * players, make_rules(variant, players), games=40, seed=0)
        assert result.heads.sum() > 0


def test_policies_know_what_a_zero_is():
    rules = make_rules("original_zeros", 2)
    rows = [[6, 7, 8, 9, 14], [30], [50], [95, 96, 97, 98, 99]]
    hands = [[ZERO, 15, 5], [33, ZERO, 16]]
    state = Position(rows=rows, hands=hands).state(rules)

    def choices(name: str) -> list[int]:
        policy = make_policy(name)
        rng = np.random.default_rng(0)
        return [int(policy.act(observe(rules, state, seat), rng)[0]) for seat in (0, 1)]

    assert choices("lowest") == [ZERO, ZERO]
    assert choices("highest") == [15, 33]
    assert choices("closest_gap") == [ZERO, 33]  # 15 and 5 would both be sixth cards
    assert choices("sixth_card") == [5, 16]  # row 4 has more heads than row 1


def test_collectors_collect():
    rules = make_rules("plus", 4)
    result = play(["sixth_card", "random", "random", "random"], rules, games=2000, seed=0)
    means = result.heads.mean(axis=0)
    errors = result.heads.std(axis=0) / np.sqrt(2000)
    assert means[0] - means[1:].max() > 6 * errors.max()
    avoiding = play(["closest_gap"] + ["random"] * 3, make_rules("original_zeros", 4), 2000)
    means = avoiding.heads.mean(axis=0)
    assert means[1:].min() - means[0] > 6 * errors.max()
    assert isinstance(make_policy("sixth_card"), SixthCardPolicy)


def test_random_policy_chooses_each_action_equally_often():
    rules = make_rules("plus", 2)
    hands = [[7, 8, ZERO, ZERO, ZERO], [50, 51, 52, 53, 54]]
    state = Position(rows=[[1], [20], [40], [60]], hands=hands).state(rules)
    state = state.take(np.zeros(6000, np.intp))
    rng = np.random.default_rng(0)
    for legal in ([7, 8, ZERO], [PASS, 8, ZERO]):
        actions = make_policy("random").act(observe(rules, state, 0), rng)
        values, counts = np.unique(actions, return_counts=True)
        assert values.tolist() == sorted(legal)
        assert abs(counts - 2000).max() < 5 * np.sqrt(6000 * 2 / 9)
        Engine(rules).step(state, [[7] * 6000, [50] * 6000]) if PASS not in legal else None
