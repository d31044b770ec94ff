"""Rollouts for search: sample the hidden cards of a decision and play rounds to their end.

A rollout needs a fraction of what `State` keeps: ends, lengths and heads of the rows and the hands.
The loops below therefore place cards themselves, four times as fast as the engine's kernels; tests
hold them to the engine. They are compiled if numba is installed, and slow plain Python otherwise.

All arrays are those of one decision, seen from its seat: seat 0 is the one that decides, the others
follow clockwise.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import BULL_HEADS, NUM_CARDS, NUM_ROWS, ROW_CAPACITY, ZERO
from sixnimmt_env.loops import COMPILED, compiled

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

HEADS: Final = np.concatenate((BULL_HEADS, np.zeros(ZERO - NUM_CARDS, np.uint8))).astype(np.int64)
"""(110,) bull heads by card, 0 for a 0 card."""

NOISE: Final = -np.log(-np.log((np.arange(4096) + 0.5) / 4096))
"""(4096,) Gumbel quantiles: the largest of values plus such noise is a draw from their softmax."""

# Flags of the rules, see `flags_of`.
TWO, IN_TURN, APPEND = 0, 1, 2

# Parts of a table: (3, R) int64.
END, LEN, SUM = 0, 1, 2


# Products modulo 2^64 are meant; NumPy's numbers give the same, and warn.
_wrapping = compiled if COMPILED else np.errstate(over="ignore")


@_wrapping
def draw(rng: NDArray[np.uint64], bound: int) -> int:
    """Random integer in [0, bound) from a xorshift64* generator (Vigna 2016)."""
    x = rng[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    rng[0] = x
    word = (x * np.uint64(2685821657736338717)) >> np.uint64(32)
    return int((word * np.uint64(bound)) >> np.uint64(32))


@compiled
def shuffle(cards: Ints, count: int, rng: NDArray[np.uint64]) -> None:
    """Shuffle the first `count` cards."""
    for i in range(count - 1, 0, -1):
        j = draw(rng, i + 1)
        cards[i], cards[j] = cards[j], cards[i]


@compiled
def row_for(table: Ints, card: int) -> int:
    """Row that a card fits, -1 for a low card."""
    best, gap = -1, 1000
    for r in range(NUM_ROWS):
        difference = card - table[END, r]
        if 0 < difference < gap:
            best, gap = r, difference
    return best


@compiled
def cheapest(table: Ints) -> int:
    """Row with fewest heads (ties: fewest cards, then the lowest)."""
    best, cost = 0, 1 << 30
    for r in range(NUM_ROWS):
        price = table[SUM, r] * 8 + table[LEN, r]
        if price < cost:
            best, cost = r, price
    return best


@compiled
def highest(table: Ints) -> int:
    """Row with the highest end."""
    best = 0
    for r in range(1, NUM_ROWS):
        if table[END, r] > table[END, best]:
            best = r
    return best


@compiled
def put(table: Ints, row: int, card: int, take: bool, heads: Ints) -> int:
    """Put a card into a row and return the heads that its owner takes."""
    lost = 0
    if take or table[LEN, row] == ROW_CAPACITY:
        lost = table[SUM, row]
        table[LEN, row] = 0
        table[SUM, row] = 0
    table[END, row] = card
    table[LEN, row] += 1
    table[SUM, row] += heads[card]
    return lost


@compiled
def place(table: Ints, card: int, append: int, heads: Ints) -> int:
    """Place a card by the rules; a low card takes the cheapest row, or is appended."""
    row = row_for(table, card)
    if row >= 0:
        return put(table, row, card, False, heads)
    if append:
        return put(table, highest(table), card, False, heads)
    return put(table, cheapest(table), card, True, heads)


@compiled
def push(queue: Ints, count: int, key: int) -> int:
    """Insert a key into an ascending queue and return the new count."""
    q = count
    while q > 0 and queue[q - 1] > key:
        queue[q] = queue[q - 1]
        q -= 1
    queue[q] = key
    return count + 1


@compiled
def push_cards(queue: Ints, count: int, seat: int, first: int, second: int) -> int:
    """Queue one or two cards of a seat (0 for none); numbers combined with a 0 come first."""
    for i in range(2):
        card = first if i == 0 else second
        other = second if i == 0 else first
        if 0 < card < ZERO:
            group = 0 if other == ZERO else 1 << 14
            count = push(queue, count, (group + card << 4) + seat)
    return count


@compiled
def resolve(table: Ints, queue: Ints, count: int, append: int, heads: Ints, taken: Ints) -> None:
    """Place the queued cards in order."""
    for q in range(count):
        key = queue[q]
        taken[key & 15] += place(table, (key >> 4) & 127, append, heads)


@compiled
def play_shuffled(
    table: Ints, hands: Ints, left: Ints, append: int, heads: Ints, taken: Ints, queue: Ints
) -> None:
    """Play a round to its end, one card of each seat in a turn, from the end of each hand.

    Shuffled hands make it uniformly random play. The loop that most of the time is spent in.
    """
    players = left.shape[0]
    while True:
        count = 0
        for seat in range(players):
            at = left[seat] - 1
            if at < 0:
                continue
            left[seat] = at
            card = hands[seat, at]
            if card == ZERO:
                continue
            key = (card << 4) + seat
            q = count
            while q > 0 and queue[q - 1] > key:
                queue[q] = queue[q - 1]
                q -= 1
            queue[q] = key
            count += 1
        if count == 0:
            return
        for q in range(count):
            key = queue[q]
            card = key >> 4
            # Without branches: the row in the last two bits, below the difference.
            nearest = 4000
            for r in range(NUM_ROWS):
                difference = card - table[END, r]
                nearest = min(nearest, (difference if difference > 0 else 1000) * 4 + r)
            if nearest >= 4000:
                taken[key & 15] += place(table, card, append, heads)
                continue
            best = nearest & 3
            full = table[LEN, best] == ROW_CAPACITY
            taken[key & 15] += table[SUM, best] if full else 0
            table[END, best] = card
            table[LEN, best] = 1 if full else table[LEN, best] + 1
            table[SUM, best] = heads[card] + (0 if full else table[SUM, best])


@compiled
def prepare(table: Ints, rivals: int, model: Floats, append: int, lines: Floats) -> None:
    """Write what the model says of each row, and of low cards in the last line, (R + 1, 5).

    A card with `gap` numbers between itself and the row's end is worth
    `a + b gap + c chance[rivals, k, gap]`, the columns being a, b, c, k and the row's end.
    """
    for r in range(NUM_ROWS):
        room = ROW_CAPACITY - table[LEN, r]
        if room == 0:
            lines[r, 0], lines[r, 1] = model[4], 0.0
            lines[r, 2] = model[5] * table[SUM, r]
        else:
            lines[r, 0], lines[r, 1] = model[9] / room, model[6]
            lines[r, 2] = model[7] * (table[SUM, r] + 1.5 * room) + model[8]
        lines[r, 3] = room
        lines[r, 4] = table[END, r]
    row = highest(table) if append else cheapest(table)
    lost = table[SUM, row]
    if append and table[LEN, row] < ROW_CAPACITY:
        lost = 0
    lines[NUM_ROWS, 0], lines[NUM_ROWS, 1] = model[2], 0.0
    lines[NUM_ROWS, 2] = model[3] * lost


@compiled
def value_of(card: int, rivals: int, lines: Floats, base: Floats, chance: Floats) -> float:
    """Value of a numbered card, by what `prepare` wrote."""
    nearest = 4000
    for r in range(NUM_ROWS):
        difference = card - int(lines[r, 4])
        nearest = min(nearest, (difference if difference > 0 else 1000) * 4 + r)
    row = NUM_ROWS if nearest >= 4000 else nearest & 3
    gap = card - 1 if nearest >= 4000 else (nearest >> 2) - 1
    room = 0 if nearest >= 4000 else int(lines[row, 3])
    value: float = base[card] + lines[row, 0] + lines[row, 1] * gap
    return value + lines[row, 2] * chance[rivals, room, gap]


@compiled
def choose(
    hands: Ints, seat: int, count: int, rivals: int, lines: Floats, base: Floats, chance: Floats,
    noise: Floats, rng: NDArray[np.uint64],
) -> int:  # fmt: skip
    """Index of the card that the model plays: softmax of the values, drawn by Gumbel noise."""
    best, chosen = -1e30, 0
    for i in range(count):
        card = hands[seat, i]
        value = base[card]
        if card != ZERO:
            value = value_of(card, rivals, lines, base, chance)
        value += noise[draw(rng, noise.shape[0])]
        if value > best:
            best, chosen = value, i
    return chosen


@compiled
def play_modelled(
    table: Ints, hands: Ints, left: Ints, flags: Ints, first: int, turns: int, model: Floats,
    base: Floats, chance: Floats, noise: Floats, skilled: Ints, heads: Ints, taken: Ints,
    queue: Ints, lines: Floats, rng: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Play up to so many turns in which the `skilled` seats play as the model does."""
    players, append = left.shape[0], flags[APPEND]
    for _ in range(turns):
        count, rivals = 0, -1
        for seat in range(players):
            rivals += left[seat] > 0
        if rivals < 0:
            return
        if flags[IN_TURN]:
            rivals = 0
        else:
            prepare(table, rivals, model, append, lines)
        for k in range(players):
            seat = (first + k) % players
            if left[seat] == 0:
                continue
            if flags[IN_TURN]:
                prepare(table, rivals, model, append, lines)
            card = pop(hands, left, seat, rivals, lines, base, chance, noise, skilled, rng)
            if flags[IN_TURN]:
                if card != ZERO:
                    taken[seat] += place(table, card, append, heads)
                continue
            second = 0
            # None or any of the others, all as likely.
            if flags[TWO] and left[seat] > 0 and draw(rng, left[seat] + 1) > 0:
                left[seat] -= 1
                second = hands[seat, left[seat]]
            count = push_cards(queue, count, seat, card, second)
        resolve(table, queue, count, append, heads, taken)


@compiled
def pop(
    hands: Ints, left: Ints, seat: int, rivals: int, lines: Floats, base: Floats, chance: Floats,
    noise: Floats, skilled: Ints, rng: NDArray[np.uint64],
) -> int:  # fmt: skip
    """Take the card out of a shuffled hand that the model plays, or the last one."""
    last = left[seat] - 1
    left[seat] = last
    if last > 0 and skilled[seat]:
        at = choose(hands, seat, last + 1, rivals, lines, base, chance, noise, rng)
        hands[seat, at], hands[seat, last] = hands[seat, last], hands[seat, at]
    return int(hands[seat, last])


@compiled
def play_random(
    table: Ints, hands: Ints, left: Ints, flags: Ints, first: int, heads: Ints, taken: Ints,
    queue: Ints, rng: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Play the round to its end, cards in the order in which they lie in the shuffled hands."""
    players, append = left.shape[0], flags[APPEND]
    if flags[TWO] + flags[IN_TURN] == 0:
        play_shuffled(table, hands, left, append, heads, taken, queue)
        return
    total = 0
    for seat in range(players):
        total += left[seat]
    while total > 0:
        count = 0
        for k in range(players):
            seat = (first + k) % players
            if left[seat] == 0:
                continue
            left[seat] -= 1
            card = hands[seat, left[seat]]
            total -= 1
            if flags[IN_TURN]:
                if card != ZERO:
                    taken[seat] += place(table, card, append, heads)
                continue
            second = 0
            if flags[TWO] and left[seat] > 0 and draw(rng, left[seat] + 1) > 0:
                left[seat] -= 1
                second = hands[seat, left[seat]]
                total -= 1
            count = push_cards(queue, count, seat, card, second)
        resolve(table, queue, count, append, heads, taken)
