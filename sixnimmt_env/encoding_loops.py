"""Observe and encode in one step; for a handful of decisions as compiled loops.

Without a compiler this is `encode(observe(...))`, to which tests hold the loops bit by bit.
Numbers and their order are those of `encoding.field_table`.
"""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import NUM_CARDS, NUM_ROWS, ROW_CAPACITY, TAKE_ROW, ZERO
from sixnimmt_env.encoding import DECK_HEADS, MOST_ROW_HEADS, encode, field_table, score_scale
from sixnimmt_env.loops import COMPILED, compiled
from sixnimmt_env.observe import observe
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, HAND, PILE, PLAY, SECOND, TABLE, TAKE, U8, State

F32 = NDArray[np.float32]

# Games encoded together. Each row of a large State lies in a page of its own, and more pages than
# the processor has translations for at hand cost twice the time.
BLOCK: Final = 512
# So few games need no blocks.
FEW: Final = 64

_ARRAYS: Final = (
    "rows",
    "row_end",
    "row_len",
    "row_heads",
    "hand",
    "committed",
    "zeros_played",
    "queue",
    "cursor",
    "pile_heads",
    "score",
    "phase",
    "turn",
    "actor",
)
_SCALES: Final = np.array(
    [1 / NUM_CARDS, 1 / ROW_CAPACITY, 1 / MOST_ROW_HEADS, 1 / DECK_HEADS], np.float32
)


def observe_encoded(
    rules: Rules, state: State, seats: NDArray[np.intp], games: NDArray[np.intp]
) -> tuple[F32, NDArray[np.int8]]:
    """Observe and encode each (seat, game) pair, by the way that is faster for so many.

    Returns
    -------
    (n, size) float32
        As `encode` writes it; a new array.
    (n, A) int8
        1 for legal actions; a new array.
    """
    if not COMPILED or rules.draft:
        return _by_seat(rules, state, seats, games)
    vectors = np.empty((seats.shape[0], field_table(rules)[-1].stop), np.float32)
    masks = np.empty((seats.shape[0], rules.num_actions), np.int8)
    settings = (_SCALES, 1 / rules.hand_size, score_scale(rules), rules.num_cards, rules.zeros)
    if state.num_games <= FEW:
        order = np.arange(games.shape[0])
        arrays = [getattr(state, name) for name in _ARRAYS]
        location = np.ascontiguousarray(state.location.T)
        _encode(vectors, masks, order, seats, games, 0, *settings, location, *arrays)
        return vectors, masks
    order = np.argsort(games, kind="stable")
    firsts = range(0, state.num_games, BLOCK)
    starts = np.searchsorted(games[order], [*firsts, state.num_games]).tolist()
    for first, (at, stop) in zip(firsts, itertools.pairwise(starts), strict=True):
        block = slice(first, first + BLOCK)
        arrays = [np.ascontiguousarray(getattr(state, name)[..., block]) for name in _ARRAYS]
        location = np.ascontiguousarray(state.location[:, block].T)
        some = order[at:stop]
        _encode(vectors, masks, some, seats, games, first, *settings, location, *arrays)
    return vectors, masks


def _by_seat(
    rules: Rules, state: State, seats: NDArray[np.intp], games: NDArray[np.intp]
) -> tuple[F32, NDArray[np.int8]]:
    vectors = np.empty((seats.shape[0], field_table(rules)[-1].stop), np.float32)
    masks = np.empty((seats.shape[0], rules.num_actions), np.int8)
    # All games of one seat side by side need no gathering.
    whole = np.arange(state.num_games)
    at = 0
    while at < seats.shape[0]:
        block = slice(at, at + whole.shape[0])
        seat = seats[at]
        if np.array_equal(games[block], whole) and bool((seats[block] == seat).all()):
            seen = observe(rules, state, int(seat))
        else:
            block = slice(at, None)
            seen = observe(rules, state, seats[block], games[block])
        encode(seen, vectors[block])
        masks[block] = seen.action_mask
        at += len(seen)
    return vectors, masks


@compiled
def _encode(
    vectors: F32, masks: NDArray[np.int8], order: NDArray[np.intp], seats: NDArray[np.intp],
    games: NDArray[np.intp], first: int, scales: F32, per_hand: float, per_score: float,
    num_cards: int, num_zeros: int, location: U8, rows: U8, row_end: U8, row_len: U8,
    row_heads: U8, hand: U8, committed: U8, zeros_played: U8, queue: NDArray[np.uint16],
    cursor: U8, pile_heads: U8, score: NDArray[np.int32], phase: U8, turn: U8, actor: U8,
) -> None:  # fmt: skip
    players, size = hand.shape[0], hand.shape[1]
    per_card, per_slot, per_row_heads, per_deck = scales
    per_turn = np.float32(per_hand)
    two, one_by_one = committed.shape[0] > 0, queue.shape[0] == 1
    for i in order:
        seat, b = seats[i], games[i] - first
        out = vectors[i]
        out[:] = 0
        masks[i] = 0
        plays = phase[b] == PLAY or phase[b] == SECOND
        if one_by_one:
            plays = plays and actor[b] == seat
        elif two:
            plays = plays and hand[seat, 0, b] > 0
        decides = plays or (phase[b] == TAKE and actor[b] == seat)
        zeros = 0
        for h in range(size):
            card = int(hand[seat, h, b])
            if card == ZERO:
                zeros += 1
            elif card > 0:
                out[card - 1] = 1
            if card > 0 and plays:
                masks[i, card] = 1
        if not decides or phase[b] == SECOND:
            masks[i, 0] = 1
        elif phase[b] == TAKE:
            masks[i, TAKE_ROW : TAKE_ROW + NUM_ROWS] = 1
        at = NUM_CARDS
        mine = np.uint8(HAND + seat)
        places = location[b, 1 : num_cards + 1]
        unseen = out[at : at + num_cards]
        # Side by side and without branches, so that the compiler can take many cards at once.
        for c in range(num_cards):
            place = places[c]
            unseen[c] = (place < PILE) & (place != TABLE) & (place != mine)
        at += NUM_CARDS
        for r in range(NUM_ROWS):
            for c in range(ROW_CAPACITY):
                out[at + r * ROW_CAPACITY + c] = rows[r, c, b] * per_card
            out[at + NUM_ROWS * ROW_CAPACITY + r] = row_end[r, b] * per_card
            out[at + NUM_ROWS * (ROW_CAPACITY + 1) + r] = row_len[r, b] * per_slot
            out[at + NUM_ROWS * (ROW_CAPACITY + 2) + r] = row_heads[r, b] * per_row_heads
        at += NUM_ROWS * (ROW_CAPACITY + 3)
        if phase[b] == TAKE:
            for q in range(int(cursor[b]), players):
                key = int(queue[q, b])
                out[at + ((key & 15) - seat) % players] = np.float32(key >> 8) * per_card
        for k in range(players):
            other = (seat + k) % players
            held = 0
            for h in range(size):
                held += hand[other, h, b] > 0
            out[at + players + k] = pile_heads[other, b] * per_deck
            out[at + 2 * players + k] = np.float32(held) * per_turn
            if per_score > 0:
                out[at + 3 * players + 5 + k] = score[other, b] * per_score
        at += 3 * players
        out[at] = turn[b] * per_turn
        for p in range(DRAFT, TAKE + 1):
            out[at + 1 + p - DRAFT] = phase[b] == p
        out[at + 4] = decides
        at += 5
        if per_score > 0:
            at += players
        if num_zeros > 0:
            seen = zeros
            for other in range(players):
                seen += zeros_played[other, b]
            if two and committed[seat, b] == ZERO:
                seen += 1
            per_zero = np.float32(1 / num_zeros)
            out[at] = np.float32(zeros) * per_zero
            out[at + 1] = np.float32(num_zeros - seen) * per_zero
            at += 2
        if two:
            mine_first = int(committed[seat, b])
            if mine_first == ZERO:
                out[at + 1] = 1
            else:
                out[at] = np.float32(mine_first) * per_card
            out[at + 2] = phase[b] == SECOND
