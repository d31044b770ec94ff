"""Kernel for batches: one turn of many games as whole-array operations, no loop over games.

A card fits the row whose end is below it with the smallest difference. In wrapping uint8
arithmetic `card - row_end` is below 128 where it fits and at least 128 where it does not, so one
minimum over the rows finds the row, or shows that the card is a low card.

`loops.py` holds the same two functions as plain loops; tests hold them to identical results.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import BULL_HEADS, NUM_ROWS, ROW_CAPACITY
from sixnimmt_env.dealing import sort_lanes
from sixnimmt_env.state import PILE, PLAY, TABLE, TAKE, U8, State, lane_numbers, scatter

Bool = NDArray[np.bool_]

QUEUE_KEY: Final = (np.arange(256) << 8).astype(np.uint16)
QUEUE_KEY[: len(BULL_HEADS)] |= BULL_HEADS.astype(np.uint16) << 4
"""(256,) uint16: `card << 8 | heads << 4`, to which the seat is added."""

_ROW_NUMBERS: Final = np.arange(1, NUM_ROWS + 1, dtype=np.uint8)[:, None]
_SLOTS: Final = np.arange(ROW_CAPACITY, dtype=np.uint8)[None, :, None]
_LOW: Final = np.uint8(128)


def commit(state: State, actions: U8, here: Bool | None) -> None:
    """Reveal the cards that all seats play and queue them in ascending order.

    Parameters
    ----------
    state : State
        Changed in place: hand, played, location, queue, cursor.
    actions : (P, B) uint8
        Card of each seat, checked before.
    here : (B,) bool or None
        Games that play now; None for all.
    """
    players, games = actions.shape
    card = actions if here is None else actions * here.view(np.uint8)
    keys = QUEUE_KEY.take(card)
    keys |= np.arange(players, dtype=np.uint16)[:, None]
    for q, key in enumerate(sort_lanes(list(keys))):
        if here is None:
            state.queue[q] = key
        else:
            # Masks as factors: a masked copy costs ten times as much.
            state.queue[q] *= ~here
            state.queue[q] += key * here
    _forget_last_turn(state, here)
    _remove(state.hand, card, here)
    turn = int(state.turn[0])
    if here is None and bool((state.turn == turn).all()):
        state.played[:, turn] = card
    else:
        turns = np.arange(state.played.shape[1], dtype=np.uint8)[:, None]
        now = (state.turn == turns).view(np.uint8)
        state.played |= now * card[:, None]
    scatter(state.location, card, lane_numbers(games), TABLE)
    state.location[0] = 0


def _forget_last_turn(state: State, here: Bool | None) -> None:
    if here is None:
        state.placed_row[...] = 0
        state.placed_heads[...] = 0
        state.cursor[...] = 0
    else:
        keep = (~here).view(np.uint8)
        state.placed_row *= keep
        state.placed_heads *= keep
        state.cursor *= keep


def _remove(hand: U8, card: U8, here: Bool | None) -> None:
    """Close the gap that `card` (P, B) leaves in `hand` (P, H, B), which stays ascending."""
    move = (hand[:, :-1] >= card[:, None]).view(np.uint8)
    if here is not None:
        move &= here.view(np.uint8)
    move *= hand[:, 1:] - hand[:, :-1]
    last = hand[:, -1]
    last *= last < card if here is None else (last < card) | ~here
    hand[:, :-1] += move


def resolve(state: State, choose: bool) -> None:
    """Place the queued cards of every game that waits for nobody.

    Parameters
    ----------
    state : State
        Changed in place. With `choose`, a low card takes the row in `row_taken`; while there is
        none, the game stops there in phase `TAKE`, the card's owner being the actor. Otherwise a
        low card takes the row with fewest heads (ties: fewest cards, then the lowest row).
    choose : bool
        Whether players choose the row that their low card takes.
    """
    chosen = _chosen_row(state) if choose else None
    for q in range(state.num_players):
        live = state.cursor == q
        live &= state.phase == PLAY
        if not live.any():
            continue
        card = (state.queue[q] >> 8).astype(np.uint8)
        card *= live.view(np.uint8)
        difference = card - state.row_end
        nearest = np.minimum.reduce(difference, axis=0)
        low = nearest >= _LOW
        low &= live
        row = (difference == nearest).view(np.uint8)
        row *= (live & (nearest < _LOW)).view(np.uint8)
        if low.any():
            if chosen is None:
                row += _fewest_heads(state) * low.view(np.uint8)
            else:
                row += (chosen == _ROW_NUMBERS).view(np.uint8) * low.view(np.uint8)
                wait = low & (chosen == 0)
                _wait(state, q, wait)
                live &= ~wait
                low &= live
                card *= live.view(np.uint8)
        place(state, q, card, row, low, live)


def _chosen_row(state: State) -> U8:
    """Row 1 ... R that the owner of this turn's low card chose, 0 if not yet; shape (B,)."""
    turns = np.arange(state.row_taken.shape[0], dtype=np.uint8)[:, None]
    now = (state.turn == turns).view(np.uint8)
    chosen: U8 = np.bitwise_or.reduce(state.row_taken * now, axis=0)
    return chosen


def _wait(state: State, q: int, low: Bool) -> None:
    lanes = low.view(np.uint8)
    state.phase += lanes * np.uint8(TAKE - PLAY)
    state.actor *= lanes ^ 1
    state.actor += (state.queue[q].astype(np.uint8) & 15) * lanes


def _fewest_heads(state: State) -> U8:
    """One-hot (R, B): the row with fewest heads; ties: fewest cards, then the lowest row."""
    cost = state.row_heads.astype(np.uint16)
    cost <<= 5
    cost |= state.row_len << 2
    cost |= _ROW_NUMBERS - 1
    cheapest: U8 = (cost == np.minimum.reduce(cost, axis=0)).view(np.uint8)
    return cheapest


def place(state: State, q: int, card: U8, row: U8, low: Bool, live: Bool) -> None:
    """Place card `q` of the queue.

    Parameters
    ----------
    state : State
        Changed in place.
    q : int
        Position in the queue.
    card : (B,) uint8
        The card, 0 in games where nothing is placed.
    row : (R, B) uint8
        One-hot: the row it goes to, all 0 where nothing is placed.
    low : (B,) bool
        Where it takes that row because it is a low card.
    live : (B,) bool
        Where it is placed at all.
    """
    take = (state.row_len == ROW_CAPACITY).view(np.uint8)
    take |= low.view(np.uint8)
    take *= row
    taken = np.bitwise_or.reduce(take, axis=0)
    lost = take * state.row_heads
    heads = np.bitwise_or.reduce(lost, axis=0)
    key = state.queue[q].astype(np.uint8)
    seat = key & 15
    _to_pile(state, np.flatnonzero(taken.view(np.bool_)), take, seat)

    state.row_heads -= lost
    state.row_heads += row * (key >> 4)
    keep = take ^ 1
    state.row_len *= keep
    state.rows *= keep[:, None]
    here = row * card
    state.rows += (state.row_len[:, None] == _SLOTS).view(np.uint8) * here[:, None]
    state.row_len += row
    state.row_end *= row ^ 1
    state.row_end += here

    seats = np.arange(state.num_players, dtype=np.uint8)[:, None]
    state.pile_heads += (seat == seats).view(np.uint8) * heads
    state.placed_row[q] += np.bitwise_or.reduce(row * _ROW_NUMBERS, axis=0)
    state.placed_heads[q] += heads
    state.cursor += live.view(np.uint8)


def _to_pile(state: State, games: NDArray[np.intp], take: U8, seat: U8) -> None:
    """Record that the cards of the taken rows now belong to `seat`."""
    if games.size == 0:
        return
    gone = np.bitwise_or.reduce(state.rows * take[:, None], axis=0)
    cards = gone.take(games, axis=1)
    scatter(state.location, cards, games, seat[games] + np.uint8(PILE))
    state.location[0] = 0
