"""How likely the others would have played as they did, had they held the cards of a sampled deal.

A model gives each card of a hand a weight (see `agents.model`), and is taken to play a card with a
chance in proportion to it. For a sampled deal the chance of everything that was played is a product
over turns and seats, in which only the sum of the weights of the cards still hidden depends on the
deal. So the weights of all cards are written down once for each turn, and a deal costs a few sums.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.rollouts import (
    APPEND,
    IN_TURN,
    TWO,
    Floats,
    Ints,
    cheapest,
    draw,
    highest,
    prepare,
    push_cards,
    put,
    row_for,
    value_of,
)
from agents.sampling import deal
from sixnimmt_env.cards import NUM_CARDS, NUM_ROWS, ZERO
from sixnimmt_env.loops import compiled


@compiled
def weigh_cards(
    table: Ints, rivals: int, model: Floats, base: Floats, chance: Floats, append: int,
    lines: Floats, weights: Floats,
) -> None:  # fmt: skip
    """Write the model's weight of each card, (110,)."""
    prepare(table, rivals, model, append, lines)
    for card in range(1, NUM_CARDS + 1):
        weights[card] = np.exp(value_of(card, rivals, lines, base, chance))
    weights[ZERO] = np.exp(base[ZERO])


@compiled
def remember(
    starters: Ints, played: Ints, row_taken: Ints, turns: int, starter: int, flags: Ints,
    model: Floats, base: Floats, chance: Floats, heads: Ints, table: Ints, queue: Ints,
    lines: Floats, seats: Ints, of_event: Ints, later: Ints, known: Floats, chances: Floats,
    weights: Floats,
) -> int:  # fmt: skip
    """Play the round again and note what the others chose from.

    For each first card that another seat played: `seats` the seat, `of_event` the row of `weights`
    (E, 110) with the weights of all cards then, `later` and `known` the number and the sum of the
    weights of the cards that it played then or later, `chances` the weight of the card itself.
    Returns how many there are.
    """
    players, slots = played.shape
    each = 2 if flags[TWO] else 1
    for r in range(NUM_ROWS):
        table[0, r], table[1, r], table[2, r] = starters[r], 1, heads[starters[r]]
    events, written = 0, 0
    for t in range(turns):
        rivals = -1
        for seat in range(players):
            rivals += played[seat, t * each] > 0
        if flags[IN_TURN]:
            rivals = 0
        count, weighed, now = 0, False, weights[written]
        for k in range(players):
            seat = (starter + k) % players
            card = played[seat, t * each]
            if card == 0:
                continue
            if flags[IN_TURN] or not weighed:
                now = weights[written]
                weigh_cards(table, rivals, model, base, chance, flags[APPEND], lines, now)
                written, weighed = written + 1, True
            if seat > 0:
                total, cards = 0.0, 0
                for s in range(t * each, slots):
                    if played[seat, s] > 0:
                        total += now[played[seat, s]]
                        cards += 1
                seats[events], of_event[events] = seat, written - 1
                later[events], known[events], chances[events] = cards, total, now[card]
                events += 1
            if flags[IN_TURN]:
                if card != ZERO:
                    settle(table, card, 0, flags[APPEND], heads)
            else:
                second = played[seat, t * each + 1] if flags[TWO] else 0
                count = push_cards(queue, count, seat, card, second)
        for q in range(count):
            settle(table, (queue[q] >> 4) & 127, row_taken[t], flags[APPEND], heads)
    return events


@compiled
def settle(table: Ints, card: int, chosen: int, append: int, heads: Ints) -> None:
    """Place a card of the past; a low card took row `chosen`, or the cheapest if that is 0."""
    row = row_for(table, card)
    if row >= 0:
        put(table, row, card, False, heads)
    elif append:
        put(table, highest(table), card, False, heads)
    else:
        put(table, chosen - 1 if chosen else cheapest(table), card, True, heads)


@compiled
def likelihood(
    hands: Ints, left: Ints, events: int, seats: Ints, of_event: Ints, later: Ints, known: Floats,
    chances: Floats, weights: Floats, by_model: Floats, by_chance: Floats,
) -> None:  # fmt: skip
    """Chance of what each seat played, if `hands` is what the seats have left, both (P,).

    `by_model` if the seat plays as the model does, `by_chance` if it plays at random.
    """
    by_model[:] = 1.0
    by_chance[:] = 1.0
    for e in range(events):
        now, seat, total = of_event[e], seats[e], known[e]
        for i in range(left[seat]):
            total += weights[now, hands[seat, i]]
        by_model[seat] *= chances[e] / total
        by_chance[seat] /= left[seat] + later[e]


@compiled
def sample(
    wanted: int, tries: int, strength: float, skill: float, hidden: Ints, num_hidden: int,
    held: Ints, forced: Ints, shown: Ints, events: int, seats: Ints, of_event: Ints, later: Ints,
    known: Floats, chances: Floats, weights: Floats, deals: NDArray[np.uint8],
    skilled: NDArray[np.uint8], lefts: Ints, likely: Floats, hands: Ints, picked: Ints,
    rng: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Deal `tries` times and pick `wanted` of the deals, each in proportion to its likelihood.

    Systematic resampling (Kitagawa 1996) of the likelihood to the power of `strength`. Each of the
    others plays as the model does with a chance of `skill` beforehand, else at random. `deals`
    (tries, P, H) gets the deals, `skilled` (tries, P) a draw of who plays as the model does, given
    what was played; `picked` (wanted,) their numbers, `lefts` (P,) the sizes of hands.
    """
    players = held.shape[0]
    by_model, by_chance = np.ones(players), np.ones(players)
    total = 0.0
    for d in range(tries):
        deal(hidden, num_hidden, held, forced, shown, hands, lefts, rng)
        for seat in range(1, players):
            for i in range(lefts[seat]):
                deals[d, seat, i] = hands[seat, i]
        likelihood(
            hands, lefts, events, seats, of_event, later, known, chances, weights, by_model,
            by_chance,
        )  # fmt: skip
        likely[d] = 1.0
        for seat in range(1, players):
            model = skill * by_model[seat] ** strength
            whole = model + (1.0 - skill) * by_chance[seat] ** strength
            likely[d] *= whole
            skilled[d, seat] = draw(rng, 1 << 30) < model / whole * (1 << 30)
        total += likely[d]
    step = total / wanted
    point = step * draw(rng, 1 << 30) / (1 << 30)
    reached, d = likely[0], 0
    for k in range(wanted):
        while reached < point and d < tries - 1:
            d += 1
            reached += likely[d]
        picked[k] = d
        point += step
