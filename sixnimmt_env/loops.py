"""Kernel for a handful of games: the functions of `lanes.py` as plain loops.

Compiled when the optional extra with numba is installed (`pip install "sixnimmt-env[fast]"`),
plain Python otherwise. Set the environment variable SIXNIMMT_COMPILED=0 to leave numba out.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import BULL_HEADS, NUM_ROWS, ROW_CAPACITY, ZERO
from sixnimmt_env.state import PILE, PLAY, SECOND, TABLE, TAKE, U8, State

Bool = NDArray[np.bool_]
F = TypeVar("F", bound=Callable[..., Any])


def _compiler() -> Callable[[F], F] | None:
    if os.environ.get("SIXNIMMT_COMPILED", "1") == "0":
        return None
    try:
        from numba import njit
    except ImportError:
        return None
    try:
        from sixnimmt_env.compiling import compiled
    except ImportError:  # a numba without what that builds on
        return cast(Callable[[F], F], njit)
    return compiled


_COMPILER: Final = _compiler()
COMPILED: Final = _COMPILER is not None
"""Whether this kernel is compiled."""

# What becomes of a low card, see `resolve`.
CHOOSE: Final = 0
FEWEST: Final = 1
APPEND: Final = 2

# Up to so many games the loops are faster than whole-array operations.
MOST_GAMES: Final = 256 if COMPILED else 6


def compiled(function: F) -> F:
    """Compile a function of arrays and numbers, if there is a compiler."""
    return function if _COMPILER is None else _COMPILER(function)


def suits(state: State) -> bool:
    """Whether this kernel is the faster one for so many games."""
    return state.num_games <= MOST_GAMES


def commit(state: State, actions: U8, here: Bool | None) -> None:
    """See `lanes.commit`."""
    _commit(
        _everywhere(state) if here is None else here, _own(actions), BULL_HEADS, state.hand,
        state.location, state.played, state.turn, state.queue, state.placed_row,
        state.placed_heads, state.cursor,
    )  # fmt: skip


def set_aside(state: State, actions: U8, here: Bool | None) -> None:
    """See `lanes.set_aside`."""
    _set_aside(
        _everywhere(state) if here is None else here, _own(actions), state.hand, state.committed,
        state.phase,
    )  # fmt: skip


def reveal(state: State, actions: U8, here: Bool | None) -> None:
    """See `lanes.reveal`."""
    _reveal(
        _everywhere(state) if here is None else here, _own(actions), BULL_HEADS, state.hand,
        state.committed, state.zeros_played, state.location, state.played, state.turn, state.queue,
        state.placed_row, state.placed_heads, state.cursor, state.phase,
    )  # fmt: skip


def resolve(state: State, low_card: int) -> None:
    """See `lanes.resolve`."""
    _resolve(
        low_card, state.rows, state.row_end, state.row_len, state.row_heads, state.location,
        state.queue, state.placed_row, state.placed_heads, state.pile_heads, state.cursor,
        state.phase, state.actor, state.turn, state.row_taken,
    )  # fmt: skip


def _own(actions: U8) -> U8:
    """Give the memory layout that the code is compiled for, in memory that can be written to."""
    return np.require(actions, requirements=("C", "W"))


def _everywhere(state: State) -> Bool:
    return np.ones(state.num_games, np.bool_)


@compiled
def _remove(hand: U8, seat: int, card: int, b: int) -> None:
    """Close the gap that a card leaves in a hand."""
    size = hand.shape[1]
    for i in range(size):
        if int(hand[seat, i, b]) >= card:
            hand[seat, i, b] = hand[seat, i + 1, b] if i + 1 < size else 0


@compiled
def _commit(
    here: Bool, actions: U8, bull_heads: U8, hand: U8, location: U8, played: U8, turn: U8,
    queue: NDArray[np.uint16], placed_row: U8, placed_heads: U8, cursor: U8,
) -> None:  # fmt: skip
    players = hand.shape[0]
    for b in range(here.shape[0]):
        if not here[b]:
            continue
        cursor[b] = 0
        for seat in range(players):
            card = int(actions[seat, b])
            location[card, b] = TABLE
            played[seat, turn[b], b] = card
            placed_row[seat, b] = 0
            placed_heads[seat, b] = 0
            # Insertion sort of the queue.
            key = (card << 8) + (int(bull_heads[card]) << 4) + seat
            q = seat
            while q > 0 and int(queue[q - 1, b]) > key:
                queue[q, b] = queue[q - 1, b]
                q -= 1
            queue[q, b] = key
            _remove(hand, seat, card, b)


@compiled
def _set_aside(here: Bool, actions: U8, hand: U8, committed: U8, phase: U8) -> None:
    for b in range(here.shape[0]):
        if not here[b]:
            continue
        phase[b] = SECOND
        for seat in range(hand.shape[0]):
            card = int(actions[seat, b])
            if card > 0:
                _remove(hand, seat, card, b)
                committed[seat, b] = card


@compiled
def _reveal(
    here: Bool, actions: U8, bull_heads: U8, hand: U8, committed: U8, zeros_played: U8,
    location: U8, played: U8, turn: U8, queue: NDArray[np.uint16], placed_row: U8,
    placed_heads: U8, cursor: U8, phase: U8,
) -> None:  # fmt: skip
    places = queue.shape[0]
    two = committed.shape[0] > 0
    for b in range(here.shape[0]):
        if not here[b]:
            continue
        for q in range(places):
            queue[q, b] = 0
            placed_row[q, b] = 0
            placed_heads[q, b] = 0
        count = 0
        for seat in range(hand.shape[0]):
            last = int(actions[seat, b])
            if last > 0:
                _remove(hand, seat, last, b)
            first = 0
            if two:
                first = int(committed[seat, b])
                committed[seat, b] = 0
            for i in range(2):
                card = first if i == 0 else last
                if card == 0:
                    continue
                played[seat, turn[b] * 2 + i if two else turn[b], b] = card
                if card == ZERO:
                    zeros_played[seat, b] += 1
                    continue
                location[card, b] = TABLE
                key = (card << 8) + (int(bull_heads[card]) << 4) + seat
                if two and (last if i == 0 else first) != ZERO:
                    key += 0x8000
                # Insertion sort; the queue fills from its end.
                q = places - 1 - count
                while q + 1 < places and int(queue[q + 1, b]) < key:
                    queue[q, b] = queue[q + 1, b]
                    q += 1
                queue[q, b] = key
                count += 1
        cursor[b] = places - count
        if two:
            phase[b] = PLAY


@compiled
def _place(
    b: int, row: int, low: bool, rows: U8, row_end: U8, row_len: U8, row_heads: U8, location: U8,
    queue: NDArray[np.uint16], placed_row: U8, placed_heads: U8, pile_heads: U8, cursor: U8,
) -> None:  # fmt: skip
    q = int(cursor[b])
    key = int(queue[q, b])
    card, heads, seat = (key >> 8) & 127, (key >> 4) & 15, key & 15
    if low or row_len[row, b] == ROW_CAPACITY:
        placed_heads[q, b] = row_heads[row, b]
        pile_heads[seat, b] += row_heads[row, b]
        for i in range(int(row_len[row, b])):
            location[rows[row, i, b], b] = PILE + seat
            rows[row, i, b] = 0
        row_len[row, b] = 0
        row_heads[row, b] = 0
    rows[row, int(row_len[row, b]), b] = card
    row_end[row, b] = card
    row_len[row, b] += 1
    row_heads[row, b] += heads
    placed_row[q, b] = row + 1
    cursor[b] += 1


@compiled
def _resolve(
    low_card: int, rows: U8, row_end: U8, row_len: U8, row_heads: U8, location: U8,
    queue: NDArray[np.uint16], placed_row: U8, placed_heads: U8, pile_heads: U8, cursor: U8,
    phase: U8, actor: U8, turn: U8, row_taken: U8,
) -> None:  # fmt: skip
    for b in range(phase.shape[0]):
        while phase[b] == PLAY and cursor[b] < queue.shape[0]:
            key = int(queue[int(cursor[b]), b])
            card = (key >> 8) & 127
            best, gap = -1, 256
            for r in range(NUM_ROWS):
                difference = card - int(row_end[r, b])
                if 0 < difference < gap:
                    best, gap = r, difference
            low = best < 0
            if low and low_card == APPEND:
                low, best = False, 0
                for r in range(1, NUM_ROWS):
                    if row_end[r, b] > row_end[best, b]:
                        best = r
            elif low and low_card == CHOOSE:
                best = int(row_taken[turn[b], b]) - 1
                if best < 0:
                    phase[b] = TAKE
                    actor[b] = key & 15
                    break
            elif low:
                cost = 1 << 16
                for r in range(NUM_ROWS):
                    price = int(row_heads[r, b]) * 8 + int(row_len[r, b])
                    if price < cost:
                        best, cost = r, price
            _place(
                b, best, low, rows, row_end, row_len, row_heads, location, queue, placed_row,
                placed_heads, pile_heads, cursor,
            )  # fmt: skip


@compiled
def swap(deck: U8, flat: U8, at: NDArray[np.int64]) -> None:
    """Swap card i of each deck (N, B) with the one at `flat[at[i]]`, for i in order."""
    for i in range(at.shape[0]):
        for b in range(at.shape[1]):
            drawn = flat[at[i, b]]
            flat[at[i, b]] = deck[i, b]
            deck[i, b] = drawn
