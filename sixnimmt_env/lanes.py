"""Kernel for batches: one turn of many games as whole-array operations, no loop over games.

A card fits the row whose end is below it with the smallest difference. In wrapping uint8
arithmetic `card - row_end` is below 128 where it fits and at least 128 where it does not, so one
minimum over the rows finds the row, or shows that the card is a low card.

`loops.py` holds the same functions as plain loops; tests hold them to identical results.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import BULL_HEADS, NUM_CARDS, NUM_ROWS, ROW_CAPACITY, ZERO
from sixnimmt_env.dealing import sort_lanes
from sixnimmt_env.loops import APPEND, CHOOSE
from sixnimmt_env.state import (
    PILE,
    PLAY,
    SECOND,
    TABLE,
    TAKE,
    U8,
    State,
    lane_numbers,
    scatter,
)

Bool = NDArray[np.bool_]

QUEUE_KEY: Final = np.zeros(256, np.uint16)
QUEUE_KEY[: NUM_CARDS + 1] = np.arange(NUM_CARDS + 1) << 8 | BULL_HEADS.astype(np.uint16) << 4
"""(256,) uint16: `card << 8 | heads << 4` of a numbered card, to which the seat is added."""

# Set for a card that its owner did not combine with a 0, so that it sorts behind those.
_LATER: Final = np.uint16(0x8000)
_NUMBER: Final = np.uint8(127)

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
    _remove(state.hand, card)
    turn = int(state.turn[0])
    if here is None and bool((state.turn == turn).all()):
        state.played[:, turn] = card
    else:
        turns = np.arange(state.played.shape[1], dtype=np.uint8)[:, None]
        now = (state.turn == turns).view(np.uint8)
        state.played |= now * card[:, None]
    scatter(state.location, card, lane_numbers(games), TABLE)
    state.location[0] = 0


def set_aside(state: State, actions: U8, here: Bool | None) -> None:
    """Commit the first of one or two cards face down; the games go to phase `SECOND`.

    Parameters
    ----------
    state : State
        Changed in place: hand, committed, phase.
    actions : (P, B) uint8
        Card of each seat, 0 for seats without cards, checked before.
    here : (B,) bool or None
        Games that play now; None for all.
    """
    card = actions if here is None else actions * here.view(np.uint8)
    _remove(state.hand, card)
    if here is None:
        state.committed[...] = card
        state.phase[...] = SECOND
    else:
        state.committed += card  # it is 0 in the games that come here
        state.phase += here.view(np.uint8) * np.uint8(SECOND - PLAY)


def reveal(state: State, actions: U8, here: Bool | None) -> None:
    """Reveal and queue the cards of a turn in which seats play none, one or two of them.

    Parameters
    ----------
    state : State
        Changed in place: hand, committed, played, zeros_played, location, queue, cursor, phase.
    actions : (P, B) uint8
        Second cards where two may be played, the first ones being in `committed`; otherwise the
        only ones. 0 for none.
    here : (B,) bool or None
        Games that play now; None for all.
    """
    games = actions.shape[1]
    card = actions if here is None else actions * here.view(np.uint8)
    _remove(state.hand, card)
    if state.two_cards:
        first = state.committed if here is None else state.committed * here.view(np.uint8)
        cards = [first.copy(), card]
        queue = _queue_of_two(*cards)
        state.committed -= first
        if here is None:
            state.phase[...] = PLAY
        else:
            state.phase -= here.view(np.uint8) * np.uint8(SECOND - PLAY)
    else:
        cards = [card]
        queue = [np.maximum.reduce(_number_keys(card), axis=0)]
    _forget_last_turn(state, here)
    empty = np.zeros(games, np.uint8)
    for q, key in enumerate(queue):
        if here is None:
            state.queue[q] = key
        else:
            state.queue[q] *= ~here
            state.queue[q] += key * here
        empty += (key == 0).view(np.uint8)
    state.cursor += empty if here is None else empty * here.view(np.uint8)
    places = np.arange(state.played.shape[1], dtype=np.uint8)[:, None]
    for i, part in enumerate(cards):
        zero = (part == ZERO).view(np.uint8)
        if len(state.zeros_played):
            state.zeros_played += zero
        place = state.turn * np.uint8(len(cards)) + np.uint8(i)
        at = int(place[0])
        if bool((place == at).all()):
            state.played[:, at] |= part
        else:
            state.played |= (place == places).view(np.uint8) * part[:, None]
        scatter(state.location, part * (zero ^ 1), lane_numbers(games), TABLE)
    state.location[0] = 0


def _number_keys(card: U8) -> NDArray[np.uint16]:
    """Queue entries of the cards (P, B), 0 where there is no number."""
    keys = QUEUE_KEY.take(card)
    keys |= np.arange(card.shape[0], dtype=np.uint16)[:, None] * (keys != 0)
    return keys


def _queue_of_two(first: U8, second: U8) -> list[NDArray[np.uint16]]:
    """Sort first and second cards (P, B); a number combined with a 0 comes before all others."""
    keys = []
    for card, other in ((first, second), (second, first)):
        key = _number_keys(card)
        later = (key != 0) & (other != ZERO)
        key += later * _LATER
        keys += list(key)
    return sort_lanes(keys)


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


def _remove(hand: U8, card: U8) -> None:
    """Close the gap that `card` (P, B; 0 for none) leaves in `hand` (P, H, B)."""
    # No card becomes 255, which is above all cards.
    card = card - (card == 0).view(np.uint8)
    move = (hand[:, :-1] >= card[:, None]).view(np.uint8)
    move *= hand[:, 1:] - hand[:, :-1]
    last = hand[:, -1]
    last *= last < card
    hand[:, :-1] += move


def resolve(state: State, low_card: int) -> None:
    """Place the queued cards of every game that waits for nobody.

    Parameters
    ----------
    state : State
        Changed in place.
    low_card : int
        What becomes of a low card. `CHOOSE`: it takes the row in `row_taken`; while there is none,
        the game stops there in phase `TAKE`, the card's owner being the actor. `FEWEST`: it takes
        the row with fewest heads (ties: fewest cards, then the lowest row). `APPEND`: it joins the
        row with the highest end as any other card would.
    """
    chosen = _chosen_row(state) if low_card == CHOOSE else None
    for q in range(state.queue.shape[0]):
        live = state.cursor == q
        live &= state.phase == PLAY
        if not live.any():
            continue
        card = (state.queue[q] >> 8).astype(np.uint8)
        if low_card == APPEND:
            card &= _NUMBER
        card *= live.view(np.uint8)
        difference = card - state.row_end
        nearest = np.minimum.reduce(difference, axis=0)
        low = nearest >= _LOW
        low &= live
        row = (difference == nearest).view(np.uint8)
        row *= (live & (nearest < _LOW)).view(np.uint8)
        if low.any():
            if low_card == APPEND:
                row += _highest_end(state) * low.view(np.uint8)
                low = np.zeros_like(low)
            elif chosen is None:
                row += _fewest_heads(state) * low.view(np.uint8)
            else:
                row += (chosen == _ROW_NUMBERS).view(np.uint8) * low.view(np.uint8)
                wait = low & (chosen == 0)
                _wait(state, q, wait)
                live &= ~wait
                low &= live
                card *= live.view(np.uint8)
        place(state, q, card, row, low, live, sparse=low_card == APPEND)


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


def _highest_end(state: State) -> U8:
    """One-hot (R, B): the row with the highest end."""
    highest: U8 = (state.row_end == np.maximum.reduce(state.row_end, axis=0)).view(np.uint8)
    return highest


def place(
    state: State, q: int, card: U8, row: U8, low: Bool, live: Bool, sparse: bool = False
) -> None:
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
    sparse : bool
        Whether few games place a card at this position, so that it pays to look for those.
    """
    take = (state.row_len == ROW_CAPACITY).view(np.uint8)
    take |= low.view(np.uint8)
    take *= row
    taken = np.bitwise_or.reduce(take, axis=0)
    lost = take * state.row_heads
    heads = np.bitwise_or.reduce(lost, axis=0)
    key = state.queue[q].astype(np.uint8)
    seat = key & 15
    games = np.flatnonzero(taken.view(np.bool_))
    keep = take ^ 1
    if sparse:
        _pick_up(state, games, row, seat)
    else:
        _to_pile(state, games, take, seat)
        state.rows *= keep[:, None]

    state.row_heads -= lost
    state.row_heads += row * (key >> 4)
    state.row_len *= keep
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


def _pick_up(state: State, games: NDArray[np.intp], row: U8, seat: U8) -> None:
    """Clear the rows of some games, one-hot `row` (R, B); their cards now belong to `seat`."""
    if games.size == 0:
        return
    number = row[:, games].argmax(axis=0)
    cards = state.rows[number, :, games].T
    state.rows[number, :, games] = 0
    scatter(state.location, cards, games, seat[games] + np.uint8(PILE))
    state.location[0] = 0
