"""Every simple player against a plain statement of its rule, ties included.

The rules are stated for one decision at a time, on lists of card numbers, and compared on
thousands of decisions of every variant: of dealt games, and of tables laid at random, where long
rows, equal heads and equal gaps are common.
"""

from __future__ import annotations

import numpy as np
import pytest

from sixnimmt_env.cards import TAKE_ROW, ZERO
from sixnimmt_env.observe import Observation, observe
from sixnimmt_env.policy import (
    ClosestGapPolicy,
    HighestPolicy,
    LowestPolicy,
    RandomPolicy,
    SixthCardPolicy,
    cheapest_row,
    fits,
)
from sixnimmt_env.position import Position, stack
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, PLAY, SECOND, TAKE
from tests.plain_view import case_name, cases, moments
from tests.reference import bull_heads

RULES = cases()
PLAYERS = (LowestPolicy(), HighestPolicy(), ClosestGapPolicy(), SixthCardPolicy())


def heads_of(row: list[int]) -> int:
    return sum(map(bull_heads, row))


def cheapest(rows: list[list[int]]) -> int:
    """Row with fewest heads; ties: fewest cards, then the lowest."""
    return min(range(4), key=lambda r: (heads_of(rows[r]), len(rows[r]), r))


def goes_to(rules: Rules, rows: list[list[int]], card: int) -> tuple[int, bool, int]:
    """Row of a card as things stand, whether it would take that row, and its gap (0 if low)."""
    ends = [row[-1] for row in rows]
    below = [end for end in ends if end < card]
    if below:
        row = ends.index(max(below))
        return row, len(rows[row]) == 5, card - max(below)
    if rules.low_card == "append":
        row = ends.index(max(ends))
        return row, len(rows[row]) == 5, 0
    return cheapest(rows), True, 0


def lowest(rules: Rules, rows: list[list[int]], hand: list[int]) -> int:
    return ZERO if ZERO in hand else min(hand)


def highest(rules: Rules, rows: list[list[int]], hand: list[int]) -> int:
    return max([card for card in hand if card != ZERO] or [ZERO])


def closest_gap(rules: Rules, rows: list[list[int]], hand: list[int]) -> int:
    """Nearest behind a row that is not full, or a 0, or a low card, or the cheapest sixth."""
    numbers = [card for card in hand if card != ZERO]
    places = {card: goes_to(rules, rows, card) for card in numbers}
    behind = [c for c, (_, takes, gap) in places.items() if gap and not takes]
    if behind:
        return min(behind, key=lambda card: (places[card][2], card))
    if ZERO in hand:
        return ZERO
    safe = rules.low_card == "take"
    low = [c for c, (_, takes, gap) in places.items() if not gap and (safe or not takes)]
    if low:
        return min(low)
    return min(numbers, key=lambda card: (heads_of(rows[places[card][0]]), card))


def sixth_value(rules: Rules, rows: list[list[int]], card: int) -> tuple[int, int]:
    """What a card is worth to a collector: heads if it takes a row, else the gap it leaves."""
    row, takes, gap = goes_to(rules, rows, card)
    return (1, heads_of(rows[row])) if takes else (0, gap or 104)


def sixth_card(rules: Rules, rows: list[list[int]], hand: list[int]) -> int:
    numbers = [card for card in hand if card != ZERO]
    if not numbers:
        return ZERO
    return max(numbers, key=lambda card: (*sixth_value(rules, rows, card), -card))


RULES_OF = dict(zip(PLAYERS, (lowest, highest, closest_gap, sixth_card), strict=True))


def expected(policy, seen: Observation, i: int) -> int:
    """The action by the policy's rule for decision i."""
    rules, phase = seen.rules, int(seen.phase[i])
    rows = [[c for c in row if c] for row in seen.rows[i].tolist()]
    hand = [card for card in seen.hand[i].tolist() if card]
    legal = np.flatnonzero(seen.action_mask[i]).tolist()
    if not seen.decides[i]:
        return 0
    if phase == DRAFT:
        return min(legal)
    if phase == TAKE:
        return TAKE_ROW + cheapest(rows)
    if phase == PLAY:
        return RULES_OF[policy](rules, rows, hand)
    if policy is PLAYERS[3] and max(hand) and any(card != ZERO for card in hand):
        card = sixth_card(rules, rows, hand)
        return card if sixth_value(rules, rows, card)[0] else 0
    return 0


def laid_at_random(rules: Rules, rng: np.random.Generator, count: int) -> list[Position]:
    """Tables with rows of any length and hands of any size, of which some hold 0 cards."""
    positions = []
    top = rules.num_cards
    while len(positions) < count:
        deck = rng.permutation(np.arange(1, top + 1)).tolist()
        lengths = rng.choice([1, 3, 4, 5, 5], 4).tolist()
        size = int(rng.integers(1, rules.hand_size + 1))
        if sum(lengths) + size * rules.num_players > top:
            continue
        rows = [[deck.pop() for _ in range(length)] for length in lengths]
        if rules.low_card == "take" or rng.random() < 0.5:
            rows = [sorted(row) for row in rows]
        hands = [[deck.pop() for _ in range(size)] for _ in range(rules.num_players)]
        if rules.zeros and rng.random() < 0.5:
            few = int(rng.integers(1, min(size, rules.zeros) + 1))
            hands[0][:few] = [ZERO] * few
        positions.append(Position(rows, hands))
    return positions


def decisions(rules: Rules, games: int = 15) -> list[Observation]:
    """Observations of random seats in dealt games, and of tables laid at random."""
    rng = np.random.default_rng(5)
    made = [
        observe(rules, state, rng.integers(0, rules.num_players, games), np.arange(games))
        for state in moments(rules, games, seed=6, share=0.4)
    ]
    made.append(observe(rules, stack(laid_at_random(rules, rng, 250), rules), 0))
    return made


@pytest.mark.parametrize("rules", RULES, ids=case_name)
def test_every_player_keeps_to_its_rule(rules):
    rng = np.random.default_rng(0)
    compared = 0
    for seen in decisions(rules):
        for policy in PLAYERS:
            actions = policy.act(seen, rng).tolist()
            plain = [expected(policy, seen, i) for i in range(len(seen))]
            assert actions == plain, type(policy).__name__
            assert all(seen.action_mask[np.arange(len(seen)), actions])
        compared += int(seen.decides.sum())
    assert compared > 260


@pytest.mark.parametrize("rules", RULES, ids=case_name)
def test_where_a_card_would_go(rules):
    seen = decisions(rules)[-1]
    gap, full, heads = fits(seen)
    row = cheapest_row(seen)
    for i in range(len(seen)):
        rows = [[c for c in r if c] for r in seen.rows[i].tolist()]
        assert row[i] == cheapest(rows)
        for slot, card in enumerate(seen.hand[i].tolist()):
            if card in (0, ZERO):
                continue
            to, _, away = goes_to(rules, rows, card)
            assert gap[i, slot] == (away or 1000)
            assert full[i, slot] == (len(rows[to]) == 5)
            assert heads[i, slot] == heads_of(rows[to])


@pytest.mark.parametrize("rules", RULES, ids=case_name)
def test_random_chooses_evenly(rules):
    """Each legal action as often as any other, in every kind of decision, and nothing else."""
    draws, rng = 2000, np.random.default_rng(7)
    phases: dict[int, int] = {}
    for state in moments(rules, games=4, seed=8, share=0.4):
        for game, phase in enumerate(state.phase.tolist()):
            seats = np.flatnonzero(state.acting()[:, game])
            if not seats.size or phases.get(phase, 0) >= 4:
                continue
            phases[phase] = phases.get(phase, 0) + 1
            one = observe(rules, state, [seats[0]], [game])
            legal = np.flatnonzero(one.action_mask[0])
            # Seats that have nothing to decide lie in between and change nothing.
            idle = np.flatnonzero(~state.acting()[:, game])[:1]
            pair = np.r_[seats[:1], idle]
            chosen = (
                RandomPolicy()
                .act(observe(rules, state, np.tile(pair, draws), [game] * draws * pair.size), rng)
                .reshape(draws, -1)
            )
            assert (chosen[:, 1:] == 0).all()
            counts = np.bincount(chosen[:, 0], minlength=rules.num_actions)
            assert counts.sum() == counts[legal].sum() == draws
            even = draws / legal.size
            assert abs(counts[legal] - even).max() < 5 * np.sqrt(even) + 1
    assert PLAY in phases
    assert (SECOND in phases) == (rules.cards_per_turn == 2)
    assert (DRAFT in phases) == rules.draft
