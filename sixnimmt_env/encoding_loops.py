"""Observe and encode in one step; for a handful of decisions as compiled loops.

Without a compiler this is `encode(observe(...))`, to which tests hold the loops bit by bit.
Numbers and their order are those of `encoding.field_table`.
"""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import NUM_ACTIONS, NUM_CARDS, NUM_ROWS, ROW_CAPACITY, TAKE_ROW
from sixnimmt_env.encoding import DECK_HEADS, MOST_ROW_HEADS, encode, field_table, score_scale
from sixnimmt_env.loops import COMPILED, compiled
from sixnimmt_env.observe import observe
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, HAND, PILE, PLAY, TABLE, TAKE, U8, State

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
    (n, 109) int8
        1 for legal actions; a new array.
    """
    if not COMPILED or rules.draft:
        return _by_seat(rules, state, seats, games)
    vectors = np.empty((seats.shape[0], field_table(rules)[-1].stop), np.float32)
    masks = np.empty((seats.shape[0], NUM_ACTIONS), np.int8)
    settings = (_SCALES, 1 / rules.hand_size, score_scale(rules), rules.num_cards)
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
    masks = np.empty((seats.shape[0], NUM_ACTIONS), np.int8)
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
    num_cards: int, location: U8, rows: U8, row_end: U8, row_len: U8, row_heads: U8, hand: U8,
    queue: NDArray[np.uint16], cursor: U8, pile_heads: U8, score: NDArray[np.int32], phase: U8,
    turn: U8, actor: U8,
) -> None:  # fmt: skip
    players, size = hand.shape[0], hand.shape[1]
    per_card, per_slot, per_row_heads, per_deck = scales
    per_turn = np.float32(per_hand)
    for i in order:
        seat, b = seats[i], games[i] - first
        out = vectors[i]
        out[:] = 0
        masks[i] = 0
        decides = phase[b] == PLAY or (phase[b] == TAKE and actor[b] == seat)
        for h in range(size):
            card = int(hand[seat, h, b])
            if card > 0:
                out[card - 1] = 1
                if phase[b] == PLAY:
                    masks[i, card] = 1
        if not decides:
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
