"""Observations: everything a player may know, nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from sixnimmt_env.cards import ZERO
from sixnimmt_env.encoding import encode, field_table, observation_size
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import RandomPolicy, choose_actions
from sixnimmt_env.state import HAND, OVER, PILE, PLAY, SECOND, TABLE, TAKE, UNSEEN, State
from sixnimmt_env.variants import make_rules
from tests.rounds import row_choices

ARRAYS = [
    "phase",
    "turn",
    "round",
    "hand",
    "committed",
    "rows",
    "row_end",
    "row_len",
    "row_heads",
    "unseen",
    "unseen_zeros",
    "zeros_played",
    "played",
    "row_taken",
    "starters",
    "waiting",
    "pile_heads",
    "cards_left",
    "score",
    "pool",
    "hands",
    "action_mask",
]
RULES = [
    make_rules(variant, players, row_choice=row_choice, episode="match", rounds=2)
    for variant, players in (
        ("base", 4),
        ("base", 10),
        ("tactics", 3),
        ("pro", 3),
        ("plus", 2),
        ("plus", 7),
        ("plus_equal", 3),
        ("original_zeros", 4),
        ("simplified", 4),
    )
    for row_choice in row_choices(variant)
]
IDS = [f"{r.name}-{r.num_players}-{r.row_choice}" for r in RULES]
IDS_WITH_ZEROS = [f"{r.name}-{r.num_players}" for r in RULES if r.zeros]


def positions(rules, games=40):
    engine = Engine(rules)
    state = engine.reset(seed=9, games=games)
    rng = np.random.default_rng(0)
    seats = [RandomPolicy()] * rules.num_players
    while (state.phase != OVER).any():
        yield state.copy()
        engine.step(state, choose_actions(seats, rules, state, rng), state.phase != OVER)
    yield state.copy()


def reshuffle_hidden(rules, state: State, seat: int, rng) -> State:
    """Deal all cards that `seat` has not seen anew among the other hands and the stock."""
    other = state.copy()
    others = [holder for holder in range(rules.num_players) if holder != seat]
    for game in range(state.num_games):
        place = other.location[:, game]
        unseen = (place < PILE) & (place != TABLE) & (place != HAND + seat)
        unseen[0] = False
        unseen[rules.num_cards + 1 :] = False
        deck = np.flatnonzero(unseen).tolist()
        held = [state.hand[holder, :, game] for holder in others]
        first = [state.committed[h, game] if state.two_cards else 0 for h in others]
        mine = (state.hand[seat, :, game] == ZERO).sum() + state.zeros_played[:, game].sum()
        if state.two_cards:
            mine += state.committed[seat, game] == ZERO
        deck = rng.permutation(deck + [ZERO] * int(rules.zeros - mine)).tolist()
        place[unseen] = UNSEEN
        for holder, hand, card in zip(others, held, first, strict=True):
            size = int((hand != 0).sum())
            cards = sorted(deck.pop() for _ in range(size))
            other.hand[holder, :size, game] = cards
            if card:
                other.committed[holder, game] = deck.pop()
                cards.append(int(other.committed[holder, game]))
            place[[card for card in cards if card != ZERO]] = HAND + holder
    return other


@pytest.mark.parametrize("rules", [r for r in RULES if not r.open_hands], ids=lambda r: r.name)
def test_hidden_cards_cannot_be_seen(rules):
    rng = np.random.default_rng(0)
    changed = 0
    for state in list(positions(rules, 10))[::4]:
        for seat in range(rules.num_players):
            other = reshuffle_hidden(rules, state, seat, rng)
            changed += not np.array_equal(other.hand, state.hand)
            left, right = observe(rules, state, seat), observe(rules, other, seat)
            for name in ARRAYS:
                np.testing.assert_array_equal(getattr(left, name), getattr(right, name), name)
    assert changed > 10


@pytest.mark.parametrize("rules", RULES, ids=IDS)
def test_card_counting_forgets_nothing(rules):
    """Cards swept within the turn in which they were played stay seen."""
    for state in positions(rules):
        if rules.open_hands:
            continue
        for seat in (0, rules.num_players - 1):
            unseen = observe(rules, state, seat).unseen
            place = state.location
            known = (place == TABLE) | (place >= PILE) | (place == HAND + seat)
            known[rules.num_cards + 1 :] = True
            known[0] = True
            np.testing.assert_array_equal(unseen == 0, known.T)
            numbered = (state.hand != 0) & (state.hand != ZERO)
            left = numbered.sum(axis=(0, 1)) - numbered[seat].sum(axis=0)
            if state.two_cards:
                first = (state.committed != 0) & (state.committed != ZERO)
                left += first.sum(axis=0) - first[seat]
            if not rules.zeros:
                stock = rules.num_cards - rules.num_dealt
                np.testing.assert_array_equal(unseen.sum(axis=1), left + stock)
            assert (unseen.sum(axis=1) >= left).all()


@pytest.mark.parametrize("rules", [r for r in RULES if r.zeros], ids=IDS_WITH_ZEROS)
def test_zeros_are_counted(rules):
    """Those in hand, on one's own table and set aside by anybody are seen, the others are not."""
    totals = set()
    for state in positions(rules):
        for seat in (0, rules.num_players - 1):
            seen = observe(rules, state, seat)
            known = (seen.hand == ZERO).sum(axis=1) + (seen.committed == ZERO)
            known += (state.played == ZERO).sum(axis=(0, 1))
            np.testing.assert_array_equal(seen.unseen_zeros, rules.zeros - known)
            np.testing.assert_array_equal(
                seen.zeros_played.sum(axis=1), (state.played == ZERO).sum(axis=(0, 1))
            )
            totals |= set(seen.unseen_zeros.tolist())
    assert len(totals) > 3


@pytest.mark.parametrize("rules", [r for r in RULES if r.cards_per_turn > 1], ids=lambda r: r.name)
def test_first_cards_are_hidden_until_all_reveal(rules):
    met = 0
    for state in positions(rules):
        second = state.phase == SECOND
        for seat in range(rules.num_players):
            seen = observe(rules, state, seat)
            np.testing.assert_array_equal(seen.committed, state.committed[seat])
            slots = np.arange(seen.played.shape[2]) // 2 >= seen.turn[:, None]
            assert not (seen.played * (slots & ~(state.phase == OVER)[:, None])[:, None]).any()
            assert (seen.action_mask[second, 0] == 1).all()
            np.testing.assert_array_equal(
                seen.decides & second, second & (state.hand[seat, 0] != 0)
            )
            met += int((seen.decides & second).sum())
    assert met > 100


@pytest.mark.parametrize("rules", RULES, ids=IDS)
def test_pairs_equal_single_seats(rules):
    seats = np.array([0, 1, 2, 1, 0]) % rules.num_players
    games = np.array([3, 0, 7, 7, 3])
    for state in list(positions(rules, 8))[::5]:
        pairs = observe(rules, state, seats, games)
        for i, (seat, game) in enumerate(zip(seats, games, strict=True)):
            one = observe(rules, state, int(seat), [game])
            for name in ARRAYS:
                np.testing.assert_array_equal(getattr(pairs, name)[i], getattr(one, name)[0], name)


@pytest.mark.parametrize("rules", RULES, ids=IDS)
def test_seat_order_and_masks(rules):
    engine = Engine(rules)
    for state in list(positions(rules, 5))[::3]:
        for seat in (0, rules.num_players // 2, rules.num_players - 1):
            seen = observe(rules, state, seat)
            order = [(seat + k) % rules.num_players for k in range(rules.num_players)]
            np.testing.assert_array_equal(seen.pile_heads, state.pile_heads[order].T)
            np.testing.assert_array_equal(seen.score, state.score[order].T)
            np.testing.assert_array_equal(seen.played, state.played[order].transpose(2, 0, 1))
            np.testing.assert_array_equal(seen.hand, state.hand[seat].T)
            assert seen.action_mask.dtype == np.int8
            lowest, playing = engine.lowest_legal(state).astype(int), state.phase != OVER
            for action in range(rules.num_actions + 3):
                actions = lowest.copy()
                actions[seat] = action
                allowed = ~engine.refused(state, actions)[seat]
                legal = np.zeros(state.num_games, bool)
                if action < rules.num_actions:
                    legal = seen.action_mask[:, action] == 1
                np.testing.assert_array_equal(allowed[playing], legal[playing], str(action))


@pytest.mark.parametrize("rules", RULES, ids=IDS)
def test_encoding_is_within_bounds_and_as_documented(rules):
    table = field_table(rules)
    assert [f.start for f in table] == [0, *[f.stop for f in table][:-1]]
    fields = {f.name: slice(f.start, f.stop) for f in table}
    for state in positions(rules):
        seen = observe(rules, state, 1)
        vector = encode(seen)
        assert vector.shape == (state.num_games, observation_size(rules))
        assert vector.dtype == np.float32
        assert vector.min() >= 0
        assert vector.max() <= 1
        hand = np.zeros((state.num_games, 105))
        numbers = seen.hand * (seen.hand != ZERO)
        hand[np.arange(state.num_games)[:, None], numbers] = 1
        np.testing.assert_array_equal(vector[:, fields["hand"]], hand[:, 1:])
        np.testing.assert_array_equal(vector[:, fields["unseen"]], seen.unseen[:, 1:])
        np.testing.assert_allclose(
            vector[:, fields["rows"]] * 104, seen.rows.reshape(len(seen), -1), atol=1e-4
        )
        np.testing.assert_allclose(vector[:, fields["pile_heads"]] * 171, seen.pile_heads, 1e-5)
        if rules.zeros:
            zeros = (seen.hand == ZERO).sum(axis=1)
            np.testing.assert_allclose(vector[:, fields["zeros"]][:, 0] * 7, zeros, 1e-5)
            np.testing.assert_allclose(
                vector[:, fields["unseen_zeros"]][:, 0] * 7, seen.unseen_zeros, 1e-5
            )
        if rules.cards_per_turn > 1:
            number, zero, second = vector[:, fields["committed"]].T
            first = np.where(zero == 1, ZERO, np.rint(number * 104))
            np.testing.assert_array_equal(first, seen.committed)
            np.testing.assert_array_equal(second, seen.phase == SECOND)
        if rules.open_hands:
            assert vector[:, fields["hands"]].sum() == (seen.hands[:, 1:] != 0).sum()
            np.testing.assert_array_equal(vector[:, fields["pool"]], seen.pool[:, 1:])


def test_waiting_cards_are_those_revealed_and_not_placed():
    rules = make_rules("base", 4)
    engine = Engine(rules)
    state = engine.reset(seed=0, games=500)
    played = state.hand[:, 0].copy()
    engine.step(state, played)
    waits = state.phase == TAKE
    assert 50 < waits.sum() < 500
    for seat in range(4):
        expected = np.roll(played, -seat, axis=0) * waits
        np.testing.assert_array_equal(observe(rules, state, seat).waiting, expected.T)
    assert (state.phase[~waits] == PLAY).all()


def test_an_observation_never_changes():
    rules = make_rules("base", 4)
    engine = Engine(rules)
    state = engine.reset(seed=0, games=2000)
    for seat, games in ((2, None), (np.array([0, 1]), np.array([5, 6]))):
        seen = observe(rules, state, seat, games)
        before = {name: getattr(seen, name).copy() for name in ARRAYS}
        engine.step(state, engine.lowest_legal(state))
        for name in ARRAYS:
            assert not np.shares_memory(getattr(seen, name), getattr(state, name, np.zeros(1)))
            np.testing.assert_array_equal(before[name], getattr(seen, name), name)
