"""Search players: their rollouts follow the rules, their deals are fair, their values converge."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("numba", reason="plain Python rollouts are too slow to test")

from agents import model
from agents.belief import Belief
from agents.beliefs import likelihood, remember
from agents.monte_carlo import MonteCarlo
from agents.rollouts import HEADS, place, push_cards, resolve
from agents.sampling import flags_of, known, sample_deals
from sixnimmt_env.cards import NUM_ROWS, TAKE_ROW, ZERO
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import Observation, observe
from sixnimmt_env.policy import choose_actions, make_policy, play
from sixnimmt_env.position import Position
from sixnimmt_env.rules import MAX_HAND, Rules
from sixnimmt_env.state import DRAFT, OVER, PLAY, SECOND, State
from sixnimmt_env.variants import make_rules
from tests.rounds import all_rules, name_of, random_actions

FEW = [r for r in all_rules() if r.num_players in (2, 4, 7, 10)]


def mid_game(rules: Rules, steps: int, games: int = 1, seed: int = 3) -> State:
    engine, rng = Engine(rules), np.random.default_rng(seed)
    state = engine.reset(seed, games)
    for _ in range(steps):
        engine.step(state, random_actions(state, rng), state.phase != OVER)
    return state


@pytest.mark.parametrize(
    "rules", [r for r in all_rules() if r.row_choice == "fewest_heads" or r.zeros], ids=name_of
)
def test_rollouts_place_cards_as_the_engine_does(rules: Rules):
    """Whole random rounds, placed by the loops of the rollouts, turn by turn."""
    games = 25
    engine, rng = Engine(rules), np.random.default_rng(0)
    state = engine.reset(1, games)
    flags, append = flags_of(rules), int(rules.low_card == "append")
    taken = np.zeros((games, rules.num_players), np.int64)
    queue = np.zeros(2 * 10, np.int64)
    while (active := state.phase != OVER).any():
        before = state.copy()
        actions = random_actions(state, rng)
        engine.step(state, actions, active)
        for game in np.flatnonzero(active & (before.phase != DRAFT)):
            parts = (before.row_end, before.row_len, before.row_heads)
            table = np.stack([part[:, game] for part in parts]).astype(np.int64)
            second = before.phase[game] == SECOND
            if rules.cards_per_turn > 1 and state.phase[game] == SECOND:
                continue
            count = 0
            for seat in range(rules.num_players):
                card = int(actions[seat, game])
                first = int(before.committed[seat, game]) if second else card
                last = card if second else 0
                count = push_cards(queue, count, seat, first, last)
            resolve(table, queue, count, append, HEADS, taken[game])
            parts = (state.row_end, state.row_len, state.row_heads)
            after = np.stack([part[:, game] for part in parts])
            np.testing.assert_array_equal(table, after)
    np.testing.assert_array_equal(taken, state.pile_heads.T)
    assert flags.shape == (3,)


@pytest.mark.parametrize("rules", all_rules(), ids=name_of)
def test_deals_hold_every_card_that_may_be_there_and_no_other(rules: Rules):
    rng = np.random.default_rng(0)
    for steps in (0, 3, 8, 13):
        state = mid_game(rules, steps, games=4)
        for seat in (0, rules.num_players - 1):
            seen = observe(rules, state, seat)
            deals = sample_deals(seen, 5, rng)
            order = [(seat + k) % rules.num_players for k in range(rules.num_players)]
            for game, deal in itertools.product(range(4), range(5)):
                if state.phase[game] in (OVER, DRAFT):
                    continue
                hidden = Counter(np.flatnonzero(seen.unseen[game]).tolist())
                hidden[ZERO] = int(seen.unseen_zeros[game])
                dealt: Counter[int] = Counter()
                for k, other in enumerate(order):
                    hand = [c for c in deals[game, deal, k].tolist() if c]
                    held = int((state.hand[other, :, game] != 0).sum())
                    if k == 0:
                        assert hand == [c for c in state.hand[seat, :, game].tolist() if c]
                        continue
                    if state.two_cards:
                        held += int(state.committed[other, game] != 0)
                    assert len(hand) == held
                    played = state.zeros_played[other, game] if rules.zeros else 0
                    assert hand.count(ZERO) >= rules.zeros_each - int(played)
                    dealt.update(hand)
                if rules.open_hands:
                    assert dealt == Counter(
                        c for other in order[1:] for c in state.hand[other, :, game].tolist() if c
                    )
                else:
                    assert dealt <= hidden


def chi_square(counts: np.ndarray, expected: np.ndarray) -> float:
    """Chi-square statistic in standard deviations from its mean, by the normal approximation."""
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = counts.size - 1
    return float((statistic - freedom) / np.sqrt(2 * freedom))


def test_deals_are_uniform_on_a_small_deck():
    rules = Rules(num_players=3, num_cards=12, hand_size=2, row_choice="fewest_heads")
    seen = observe(rules, Engine(rules).reset(5, 1), 1)
    deals = np.sort(sample_deals(seen, 60_000, np.random.default_rng(1))[0], axis=2)
    counts = Counter(map(tuple, deals[:, 1:].reshape(len(deals), -1).tolist()))
    unseen = np.flatnonzero(seen.unseen[0]).tolist()
    possible = [
        (*a, *b)
        for a in itertools.combinations(unseen, 2)
        for b in itertools.combinations([c for c in unseen if c not in a], 2)
    ]
    assert set(counts) == set(possible)
    found = np.array([counts[deal] for deal in possible], float)
    assert abs(chi_square(found, np.full(len(found), 60_000 / len(found)))) < 5


def test_deals_with_zeros_are_uniform():
    """Zeros are alike: a deal is as likely as the number of ways to choose which zeros it has."""
    rules = Rules(
        num_players=2, num_cards=8, hand_size=3, zeros=3, zeros_each=1, cards_per_turn=2,
        low_card="append",
    )  # fmt: skip
    state = Position(rows=[[1], [2], [3], [4]], hands=[[5, 6, ZERO], [7, 8, ZERO]]).state(rules)
    seen = observe(rules, state, 0)
    assert seen.unseen_zeros[0] == 2
    deals = np.sort(sample_deals(seen, 40_000, np.random.default_rng(1))[0], axis=2)
    counts = Counter(map(tuple, deals[:, 1].tolist()))
    # One 0 was given openly; two more cards of 7, 8 and the other 0, all as likely.
    assert set(counts) == {(7, 8, ZERO), (7, ZERO, ZERO), (8, ZERO, ZERO)}
    assert abs(np.array(list(counts.values())) - 40_000 / 3).max() < 5 * np.sqrt(40_000 * 2 / 9)


def enumerated(rules: Rules, state: State, action: int) -> tuple[float, float]:
    """Exact mean heads of both players if seat 0 plays `action` and all else is random."""
    hand = [c for c in state.hand[0, :, 0].tolist() if c]
    seen = observe(rules, state, 0)
    hidden = np.flatnonzero(seen.unseen[0]).tolist()
    rest = [c for c in hand if c != action]
    outcomes = []
    for mine in itertools.permutations(rest):
        for other in itertools.permutations(hidden, len(hand)):
            table = np.stack([seen.row_end[0], seen.row_len[0], seen.row_heads[0]]).astype(np.int64)
            heads = [0, 0]
            for pair in zip((action, *mine), other, strict=True):
                for seat in sorted((0, 1), key=lambda seat, pair=pair: pair[seat]):
                    heads[seat] += place(table, pair[seat], 0, HEADS)
            outcomes.append(heads)
    own, others = np.mean(outcomes, axis=0)
    return float(own), float(others)


def test_values_converge_to_the_enumerated_ones():
    rules = Rules(num_players=2, num_cards=12, hand_size=3, row_choice="fewest_heads")
    for seed in range(3):
        state = Engine(rules).reset(seed, 1)
        # Full rows make every choice matter.
        state.row_len[:2] = 5
        state.row_heads[:2] = 9
        seen = observe(rules, state, 0)
        candidates, values = MonteCarlo(200_000).values(seen, np.random.default_rng(seed))
        for action, (own, others, _) in zip(candidates[0].tolist(), values[0], strict=True):
            exact = enumerated(rules, state, action)
            np.testing.assert_allclose((own, others), exact, atol=0.06)


def test_row_of_a_low_card_is_chosen_with_the_others_in_mind():
    """The example of the rules: row 1 costs 3 and row 2 costs 7, and so it does for the other."""
    rules = make_rules("base", 2)
    rows = [[60], [36, 37, 38, 39, 40], [70], [90]]
    state = Position(rows=rows, hands=[[29, 1], [62, 2]]).state(rules)
    Engine(rules).step(state, [[29], [62]])
    seen = observe(rules, state, 0)
    candidates, values = MonteCarlo(2000).values(seen, np.random.default_rng(0))
    assert candidates.tolist() == [[105, 106, 107, 108]]
    own = values[0, :, 0]
    # The next turn adds something to all; 62 takes the five cards of row 2 in all cases but one.
    assert own[1] - own[0] > 3
    assert values[0, 0, 1] - values[0, 1, 1] > 4
    for objective, row in (("own", 1), ("relative", 1)):
        action = MonteCarlo(500, objective=objective).act(seen, np.random.default_rng(1))
        assert action[0] in (TAKE_ROW + row - 1, TAKE_ROW + 2, TAKE_ROW + 3)


@pytest.mark.parametrize("rules", FEW, ids=name_of)
@pytest.mark.parametrize("player", [MonteCarlo(2), MonteCarlo(2, "model"), Belief(2)])
def test_search_plays_every_game(rules: Rules, player):
    others = ["random"] * (rules.num_players - 1)
    result = play([player, *others], rules, games=3, seed=1)
    assert result.heads.sum() > 0


@pytest.mark.parametrize("variant", ["plus", "simplified", "original_zeros", "base"])
def test_search_beats_random(variant):
    rules = make_rules(variant, 4)
    for player in (MonteCarlo(20), Belief(10)):
        result = play([player, *["random"] * 3], rules, games=150, seed=1)
        wins = result.wins[:, 0]
        assert wins.mean() - 3 * wins.std() / np.sqrt(150) > 0.25


def test_candidates_share_their_luck():
    """With equal chance for all, two cards that make no difference have the same value."""
    rules = make_rules("base", 3, row_choice="fewest_heads")
    rows = [[100], [101], [102], [103]]
    state = Position(rows=rows, hands=[[104, 3], [1, 5], [2, 6]]).state(rules)
    seen = observe(rules, state, 0)
    first = MonteCarlo(50).values(seen, np.random.default_rng(7))
    second = MonteCarlo(50).values(seen, np.random.default_rng(7))
    np.testing.assert_array_equal(first[1], second[1])
    other = MonteCarlo(50).values(seen, np.random.default_rng(8))
    assert not np.array_equal(first[1], other[1])


def events(rules: Rules, seen: Observation) -> tuple[int, ...]:
    """Run `remember` for one decision; the number of events and their arrays."""
    know = known(seen)
    tables = model.tables(rules)
    most = know.played[0].size
    out = (
        np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most, np.int64),
        np.zeros(most), np.zeros(most), np.zeros((most, ZERO + 1)),
    )  # fmt: skip
    table = np.zeros((3, NUM_ROWS), np.int64)
    count = remember(
        know.starters[0], know.played[0], know.row_taken[0], know.turns[0], know.starter[0],
        flags_of(rules), *tables, HEADS, table, np.zeros(20, np.int64), np.zeros((5, 5)), *out,
    )  # fmt: skip
    return (count, *out, table)


@pytest.mark.parametrize("rules", [r for r in FEW if not r.open_hands], ids=name_of)
def test_the_past_is_remembered_as_it_was(rules: Rules):
    """The rows come out as they are, and the likelihood is the product of the model's chances."""
    for steps in (2, 5, 9):
        state = mid_game(rules, steps)
        if state.phase[0] == OVER:
            continue
        seat = int(state.actor[0]) if state.one_by_one else 0
        seen = observe(rules, state, seat)
        count, seats, of_event, later, known_sum, chances, weights, table = events(rules, seen)
        if state.phase[0] in (PLAY, SECOND):
            np.testing.assert_array_equal(table[0], seen.row_end[0])
            np.testing.assert_array_equal(table[2], seen.row_heads[0])
        assert count == (seen.played[0, 1:, :: rules.cards_per_turn] != 0).sum()
        deal = sample_deals(seen, 1, np.random.default_rng(0))[0, 0].astype(np.int64)
        hands = np.zeros((rules.num_players, MAX_HAND), np.int64)
        hands[:, : deal.shape[1]] = deal
        left = (hands > 0).sum(axis=1)
        by_model, by_chance = np.ones((2, rules.num_players))
        past = (count, seats, of_event, later, known_sum, chances, weights)
        likelihood(hands, left, *past, by_model, by_chance)
        expected = np.ones((2, rules.num_players))
        each, played = rules.cards_per_turn, seen.played[0]
        for e in range(count):
            hand = weights[of_event[e], hands[seats[e], : left[seats[e]]]].sum()
            expected[0, seats[e]] *= chances[e] / (hand + known_sum[e])
        for other in range(1, rules.num_players):
            for slot in np.flatnonzero(played[other, ::each]) * each:
                size = left[other] + (played[other, slot:] != 0).sum()
                expected[1, other] /= size
        np.testing.assert_allclose([by_model, by_chance], expected)
        assert (by_model <= 1).all() and (by_model > 0).all()


def test_true_hands_are_likelier_than_others():
    """Among players that choose well, what they hold explains what they played."""
    rules = make_rules("base", 4, row_choice="fewest_heads")
    engine, rng = Engine(rules), np.random.default_rng(0)
    state = engine.reset(2, 60)
    seats = [make_policy("closest_gap")] * 4
    for _ in range(5):
        engine.step(state, choose_actions(seats, rules, state, rng))
    gains = []
    for game in range(60):
        seen = observe(rules, state, 0, [game])
        past = events(rules, seen)[:-1]
        deals = sample_deals(seen, 50, rng)[0].astype(np.int64)
        deals = np.concatenate((state.hand[None, ..., game], deals))
        left = np.full(4, 5, np.int64)
        logs, chances = [], np.ones((2, 4))
        for deal in deals:
            likelihood(np.ascontiguousarray(deal), left, *past, *chances)
            logs.append(np.log(chances[0]).sum())
        gains.append(logs[0] - np.mean(logs[1:]))
    assert np.mean(gains) > 4 * np.std(gains) / np.sqrt(60)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MonteCarlo(0), "determinisations=0"),
        (lambda: MonteCarlo(10, "clever"), "rollout='clever'"),
        (lambda: MonteCarlo(10, objective="heads"), "objective='heads'"),
        (lambda: MonteCarlo.from_spec(["fast"]), "'fast' is not known"),
        (lambda: Belief(strength=2.0), "strength=2.0"),
        (lambda: MonteCarlo.from_spec(["20", "30"]), "'30' says determinisations a second time"),
        (lambda: Belief.from_spec(["skill=0.5", "skill=0.7"]), "'skill=0.7' says skill a second"),
        (lambda: Belief.from_spec(["random"]), "rollout='random'"),
    ],
)
def test_impossible_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_specs():
    player = MonteCarlo.from_spec(["400", "relative", "model"])
    assert (player.determinisations, player.objective, player.rollout) == (400, "relative", "model")
    assert Belief.from_spec(["20"]).tries == 200
    assert Belief.from_spec(["strength=0.25"]).strength == 0.25
    with pytest.raises(ValueError, match="'strength=much' is not possible"):
        Belief.from_spec(["strength=much"])
