"""Plain statements of the heuristic players' rules, for one decision in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from sixnimmt_env.cards import PASS, TAKE_ROW, ZERO
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import Observation, observe
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER, SECOND, TAKE
from tests.rounds import random_actions

FEW = 10  # decisions of each step that are looked at


def bull_heads(card: int) -> int:
    if card == ZERO:
        return 0
    if card == 55:
        return 7
    if card % 11 == 0:
        return 5
    return 3 if card % 10 == 0 else 2 if card % 5 == 0 else 1


@dataclass
class Seen:
    """One decision in plain Python: what an observation says, 0 for no card left out."""

    rules: Rules
    phase: int
    hand: list[int]
    committed: int
    rows: list[list[int]]
    ends: list[int]
    lens: list[int]
    heads: list[int]
    left: list[int]
    waiting: list[int]
    pool: list[int]
    unseen: list[int]
    zeros: int
    open: list[list[int]]
    last_committed: int

    @property
    def low_row(self) -> int:
        """Row of a low card, as it is looked at before the turn."""
        if self.rules.low_card == "append":
            return self.ends.index(max(self.ends))
        return min(range(4), key=lambda r: (self.heads[r], self.lens[r], r))

    def row(self, card: int, rows=range(4)) -> int | None:
        """Row that a card fits."""
        below = [r for r in rows if self.ends[r] < card]
        return max(below, key=lambda r: self.ends[r]) if below else None


def plain(seen: Observation, i: int) -> Seen:
    def cards(values) -> list[int]:
        return [int(card) for card in values if card]

    rules, hands = seen.rules, seen.hands[i, 1:]
    before = [len(cards(played)) for played in seen.played[i, 1:]]
    left = seen.cards_left[i].tolist()
    return Seen(
        rules=rules,
        phase=int(seen.phase[i]),
        hand=cards(seen.hand[i]),
        committed=int(seen.committed[i]),
        rows=[cards(row) for row in seen.rows[i]],
        ends=seen.row_end[i].tolist(),
        lens=seen.row_len[i].tolist(),
        heads=seen.row_heads[i].tolist(),
        left=left,
        waiting=seen.waiting[i].tolist(),
        pool=np.flatnonzero(seen.pool[i]).tolist(),
        unseen=np.flatnonzero(seen.unseen[i]).tolist(),
        zeros=int(seen.unseen_zeros[i]),
        open=[cards(hand) for hand in hands] if rules.open_hands else [],
        last_committed=sum(
            rules.cards_per_turn == 2
            and seen.phase[i] == SECOND
            and played == rules.hand_size - 1
            and count == 0
            for played, count in zip(before, left[1:], strict=True)
        ),
    )


def decisions(rules: Rules, seed: int = 0) -> Iterator[tuple[Observation, list[Seen]]]:
    """Decisions of random games; then the same with rows that are hard to tell apart."""
    engine, rng = Engine(rules), np.random.default_rng(seed)
    state = engine.reset(seed, 8)
    while (active := state.phase != OVER).any():
        seats, games = np.nonzero(state.acting() & active)
        some = rng.permutation(len(seats))[:FEW]
        seen = observe(rules, state, seats[some], games[some])
        yield seen, [plain(seen, i) for i in range(len(seen))]
        if rules.low_card != "take" or not (seen.phase == TAKE).any():
            shape = seen.row_len.shape
            length = rng.integers(4, 6, shape).astype(np.uint8) - np.uint8(3 * rng.integers(2))
            heads = rng.integers(5, 7, shape).astype(np.uint8)
            seen = replace(seen, row_len=length, row_heads=heads)
            yield seen, [plain(seen, i) for i in range(len(seen))]
        engine.step(state, random_actions(state, rng), active)


# The rules of the players.


def coldest(seen: Seen) -> int:
    """Fewest cards, fewest heads, closest end, lowest card; or the opposite of the first three."""

    def rank(card: int) -> tuple[float, ...]:
        sign = -1 if seen.rules.collect else 1
        if card == ZERO:
            return (1,) if seen.rules.collect else (5, -1)
        row, low = seen.row(card), False
        if row is None:
            row, low = seen.low_row, True
        takes = low and seen.rules.low_card == "take"
        cards = 5 if takes else seen.lens[row]
        gap = 0 if low else card - seen.ends[row]
        return (sign * cards, sign * seen.heads[row], sign * gap, card)

    return min(seen.hand, key=rank)


def drafted(seen: Seen) -> int:
    """The card nearest to 0.6 of the deck."""
    return min(seen.pool, key=lambda card: (abs(5 * card - 3 * seen.rules.num_cards), card))


def considerate(seen: Seen) -> int:
    """Play the rest of the turn for each row: own heads less the mean of the others'."""
    sign = -1 if seen.rules.collect else 1

    def rank(chosen: int) -> tuple[float, ...]:
        rows = [list(row) for row in seen.rows]
        own, count = sum(map(bull_heads, rows[chosen])), len(rows[chosen])
        rows[chosen] = [seen.waiting[0]]
        lost = 0
        for card in sorted(c for c in seen.waiting[1:] if c):
            row = max((row for row in rows if row[-1] < card), key=lambda row: row[-1])
            if len(row) == 5:
                lost += sum(map(bull_heads, row))
                row.clear()
            row.append(card)
        return (sign * (own * (len(seen.left) - 1) - lost), sign * own, count, chosen)

    return TAKE_ROW + min(range(4), key=rank)


def chance(seen: Seen, low: int, high: int, count: int, none_below: int = 0) -> float:
    """Chance that exactly so many cards of the others lie in between, and none below."""
    inside = [c for c in seen.unseen if low < c < high and c >= none_below]
    if seen.open:
        chances = Counter({0: 1.0})
        for hand in filter(None, seen.open):
            new: Counter[int] = Counter()
            for card in hand:
                if card >= none_below:
                    for k, p in chances.items():
                        new[k + (low < card < high)] += p / len(hand)
            chances = new
        return chances[count]
    number, hidden = playing(seen), len(seen.unseen) + seen.zeros
    outside = hidden - len(inside) - sum(c < none_below for c in seen.unseen)
    if not 0 <= count <= number:
        return 0.0
    return comb(len(inside), count) * comb(outside, number - count) / comb(hidden, number)


def mean_between(seen: Seen, low: int, high: int) -> float:
    possible = [*seen.unseen, *(c for hand in seen.open for c in hand)]
    heads = [bull_heads(c) for c in possible if low < c < high]
    return sum(heads) / len(heads) if heads else 0.0


def playing(seen: Seen) -> int:
    if seen.rules.one_by_one:
        return 0
    return sum(count > 0 for count in seen.left[1:]) + seen.last_committed


def expected(seen: Seen, card: int, also: int = 0) -> float:
    """Heads that a card is expected to bring: with and without a low card of somebody's."""
    if card == ZERO:
        return 0.0
    rules, lowest = seen.rules, min(seen.ends)
    target = seen.low_row
    if rules.low_card == "take" and rules.collect and rules.row_choice == "player":
        target = seen.heads.index(max(seen.heads))
    ahead, also = also == ZERO, 0 if also == ZERO else also
    total = 0.0
    for low_played in (False, True):
        row = seen.row(card, [r for r in range(4) if r != target] if low_played else range(4))
        bottom = 0 if row is None else seen.ends[row]
        if row is None:
            row, free = target, 0 if rules.low_card == "take" else 5 - seen.lens[target]
        else:
            free = 5 - seen.lens[row]
        ours = int(bottom < also < card)
        mean = mean_between(seen, bottom, card)
        for cards in range(free, 12, 5):  # that come between and make ours the sixth
            others = cards - ours
            if ahead:
                p = float(others == 0 and not low_played)
            elif card < lowest:
                p = 0.0 if low_played else chance(seen, bottom, card, others)
            else:
                quiet = chance(seen, bottom, card, others, lowest)
                quiet = 0.0 if 0 < also < lowest else quiet
                p = chance(seen, bottom, card, others) - quiet if low_played else quiet
            new = (free if cards == free else 5) - ours
            old = seen.heads[row] if cards == free else 0
            total += p * (old + ours * bull_heads(also) + new * mean)
    return total


def price(seen: Seen, card: int) -> float:
    rules, part = seen.rules, (card - 0.5) / seen.rules.num_cards
    if rules.low_card == "take" and not rules.collect:
        return 6 / rules.num_players * (2 * part - 1) ** 2
    row = seen.row(card)
    gap = 0 if row is None or rules.collect else card - seen.ends[row]
    return 0.5 * part - gap / rules.num_cards


def cautious_costs(seen: Seen) -> dict[int, float]:
    sign = -1 if seen.rules.collect else 1
    costs = {ZERO: sign} if ZERO in seen.hand else {}
    for card in set(seen.hand) - {ZERO}:
        costs[card] = sign * expected(seen, card) - price(seen, card)
    return costs


def second_costs(seen: Seen) -> dict[int, float]:
    """Costs of the second cards, and what a pass is worth in the same terms."""
    sign, first = -1 if seen.rules.collect else 1, seen.committed
    alone, costs = expected(seen, first), {}
    for card in set(seen.hand):
        both = expected(seen, card, first) + expected(seen, first, card)
        costs[card] = sign * (both - alone)
        if card == ZERO and not seen.rules.collect:
            costs[card] += 1
    ahead = seen.left[0] - sum(seen.left[1:]) / (len(seen.left) - 1)
    return costs | {PASS: ahead / 2 - (4 if seen.rules.collect else 0)}
