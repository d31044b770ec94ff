"""Compiled loops of Monte Carlo search: value every candidate action on the same sampled deals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.beliefs import remember, sample
from agents.rollouts import (
    APPEND,
    END,
    IN_TURN,
    LEN,
    SUM,
    TWO,
    Floats,
    Ints,
    draw,
    place,
    play_modelled,
    play_random,
    pop,
    prepare,
    push_cards,
    put,
    resolve,
    shuffle,
)
from agents.sampling import deal
from sixnimmt_env.cards import NUM_ROWS, TAKE_ROW, ZERO
from sixnimmt_env.loops import compiled
from sixnimmt_env.rules import MAX_HAND
from sixnimmt_env.state import DRAFT, SECOND, TAKE


@compiled
def try_action(
    action: int, phase: int, hand: Ints, count: int, committed: int,
    waiting: Ints, pool: Ints, flags: Ints, table: Ints, hands: Ints, left: Ints, turns: int,
    model: Floats, base: Floats, chance: Floats, noise: Floats, skilled: Ints, heads: Ints,
    taken: Ints, queue: Ints, lines: Floats, rng: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Carry out one action on a sampled deal and play the round to its end.

    `hand` has the `count` own cards in random order. `table`, `hands`, `left` and `taken` are
    changed; the others' hands are filled. The `skilled` seats play as the model does in the first
    `turns` turns, the present one included; all else is random.
    """
    players, append = left.shape[0], flags[APPEND]
    own, skipped = 0, False
    for i in range(count):
        if hand[i] == action and not skipped:
            skipped = True
        else:
            hands[0, own] = hand[i]
            own += 1
    left[0] = own
    following, size = 0, 0
    if phase == TAKE:
        taken[0] += put(table, action - TAKE_ROW, waiting[0], True, heads)
        for seat in range(1, players):
            size = push_cards(queue, size, seat, waiting[seat], 0)
    elif phase == DRAFT:
        draft(action, pool, table, hands, left, heads, rng)
    elif flags[IN_TURN]:
        if action != ZERO:
            taken[0] += place(table, action, append, heads)
        following = 1
    else:
        first, second = action, 0
        if phase == SECOND:
            first, second = committed, action
        elif flags[TWO] and left[0] > 0 and draw(rng, left[0] + 1) > 0:
            left[0] -= 1
            second = hands[0, left[0]]
        size = push_cards(queue, size, 0, first, second)
        rivals = 0
        for seat in range(1, players):
            rivals += left[seat] > 0
        if turns > 0:
            prepare(table, rivals, model, append, lines)
        for seat in range(1, players):
            if left[seat] == 0:
                continue
            if turns > 0:
                card = pop(hands, left, seat, rivals, lines, base, chance, noise, skilled, rng)
            else:
                left[seat] -= 1
                card = hands[seat, left[seat]]
            second = 0
            # A seat without a card left, its first one lying face down, has no second one.
            if flags[TWO] and left[seat] > 0 and draw(rng, left[seat] + 1) > 0:
                left[seat] -= 1
                second = hands[seat, left[seat]]
            size = push_cards(queue, size, seat, card, second)
        turns -= 1
    resolve(table, queue, size, append, heads, taken)
    if turns > 0:
        play_modelled(
            table, hands, left, flags, following, turns, model, base, chance, noise, skilled,
            heads, taken, queue, lines, rng,
        )  # fmt: skip
    play_random(table, hands, left, flags, following, heads, taken, queue, rng)


@compiled
def draft(
    action: int, pool: Ints, table: Ints, hands: Ints, left: Ints, heads: Ints,
    rng: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Pick a card of the pool, then let all pick at random; what is left starts the rows."""
    players = left.shape[0]
    count = 0
    while count < pool.shape[0] and pool[count] > 0:
        count += 1
    cards = pool[:count].copy()
    shuffle(cards, count, rng)
    rows = np.zeros(NUM_ROWS, np.int64)
    seat, picked = 1, 0
    hands[0, left[0]] = action
    left[0] += 1
    for i in range(count):
        if cards[i] == action:
            continue
        if picked < count - 1 - NUM_ROWS:
            hands[seat, left[seat]] = cards[i]
            left[seat] += 1
            seat = (seat + 1) % players
        else:
            rows[picked - (count - 1 - NUM_ROWS)] = cards[i]
        picked += 1
    rows.sort()
    for r in range(NUM_ROWS):
        table[END, r] = rows[r]
        table[LEN, r] = 1
        table[SUM, r] = heads[rows[r]]
    for p in range(players):
        shuffle(hands[p], left[p], rng)


@compiled
def search(
    phase: Ints, tables: Ints, own: Ints, committed: Ints, held: Ints,
    forced: Ints, hidden: Ints, num_hidden: Ints, shown: Ints, waiting: Ints, pool: Ints,
    totals: Ints, starters: Ints, played: Ints, row_taken: Ints, turns_played: Ints,
    starter: Ints, candidates: Ints, num_candidates: Ints, flags: Ints, collect: int,
    determinisations: int, tries: int, strength: float, skill: float, turns: int, model: Floats,
    base: Floats, chance: Floats, noise: Floats, heads: Ints, seeds: NDArray[np.uint64],
    values: Floats,
) -> None:  # fmt: skip
    """Mean own heads, mean heads of the others and share of wins for each candidate.

    values : (n, C, 3) float64, written.
    """
    n, players = held.shape
    rng = np.zeros(1, np.uint64)
    rng_of_deal = np.zeros(1, np.uint64)
    hands = np.zeros((players, MAX_HAND), np.int64)
    other_hands = np.zeros((players, MAX_HAND), np.int64)
    left = np.zeros(players, np.int64)
    lefts = np.zeros(players, np.int64)
    taken = np.zeros(players, np.int64)
    table = np.zeros((3, NUM_ROWS), np.int64)
    queue = np.zeros(2 * players, np.int64)
    lines = np.zeros((NUM_ROWS + 1, 5))
    # Most cards that can have been played in a round, where it is looked at.
    most = played.shape[1] * played.shape[2] if tries > 0 else 0
    seats, of_event = np.zeros(most, np.int64), np.zeros(most, np.int64)
    later = np.zeros(most, np.int64)
    known, chances = np.zeros(most), np.zeros(most)
    weights = np.zeros((most, ZERO + 1))
    deals = np.zeros((tries, players, MAX_HAND), np.uint8)
    draws, skilled = np.zeros((tries, players), np.uint8), np.ones(players, np.int64)
    likely, picked = np.zeros(tries), np.zeros(determinisations, np.int64)
    for i in range(n):
        rng[0] = seeds[i] | np.uint64(1)
        count = 0
        while count < own.shape[1] and own[i, count] > 0:
            count += 1
        hand = own[i].copy()
        values[i] = 0
        if tries > 0:
            events = remember(
                starters[i], played[i], row_taken[i], turns_played[i], starter[i], flags, model,
                base, chance, heads, table, queue, lines, seats, of_event, later, known, chances,
                weights,
            )  # fmt: skip
            sample(
                determinisations, tries, strength, skill, hidden[i], num_hidden[i], held[i],
                forced[i], shown[i], events, seats, of_event, later, known, chances, weights, deals,
                draws, lefts, likely, other_hands, picked, rng,
            )  # fmt: skip
        for d in range(determinisations):
            if tries > 0:
                for seat in range(1, players):
                    skilled[seat] = draws[picked[d], seat]
                    for k in range(lefts[seat]):
                        other_hands[seat, k] = deals[picked[d], seat, k]
            else:
                deal(
                    hidden[i], num_hidden[i], held[i], forced[i], shown[i], other_hands, lefts, rng
                )
            shuffle(hand, count, rng)
            draw(rng, 2)
            rng_of_deal[0] = rng[0]
            for c in range(num_candidates[i]):
                # The same chance for all candidates.
                rng[0] = rng_of_deal[0]
                table[:] = tables[i]
                for seat in range(1, players):
                    left[seat] = lefts[seat]
                    for k in range(lefts[seat]):
                        hands[seat, k] = other_hands[seat, k]
                taken[:] = 0
                try_action(
                    candidates[i, c], phase[i], hand, count, committed[i],
                    waiting[i], pool[i], flags, table, hands, left, turns, model, base, chance,
                    noise, skilled, heads, taken, queue, lines, rng,
                )  # fmt: skip
                add(values[i, c], taken, totals[i], collect)
        values[i] /= determinisations


@compiled
def add(value: Floats, taken: Ints, totals: Ints, collect: int) -> None:
    """Add the outcome of one rollout to a candidate's sums."""
    players = taken.shape[0]
    others, better, equal = 0, 0, 1
    sign = -1 if collect else 1
    mine = sign * (totals[0] + taken[0])
    for seat in range(1, players):
        others += taken[seat]
        total = sign * (totals[seat] + taken[seat])
        better += total < mine
        equal += total == mine
    value[0] += taken[0]
    value[1] += others / (players - 1)
    if better == 0:
        value[2] += 1.0 / equal
