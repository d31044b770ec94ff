"""What one seat may lawfully know: the Observation record.

A record is seen from the deciding seat: index 0 of every per-seat axis is that seat itself, then
the others clockwise. It holds a perfect memory of public facts and no hidden card, and shares no
memory with the State it was made from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import ZERO
from sixnimmt_env.phases import action_mask
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import (
    HAND,
    PILE,
    POOL,
    SECOND,
    TABLE,
    TAKE,
    U8,
    State,
    lane_copy,
    lane_zeros,
)

_NO_CARD: Final = np.zeros((), np.uint8)


@dataclass(frozen=True, slots=True)
class Observation:
    """What the deciding seats of n decisions know. First axis: the decisions.

    P seats (itself first, then clockwise), R rows, C cards in a row, H cards in a hand, K cards in
    a turn, A actions.

    Attributes
    ----------
    rules : Rules
        What is played.
    phase, turn : (n,) uint8
        Kind of decision, and turns completed in this round.
    round : (n,) int32
        Rounds completed before this one.
    hand : (n, H) uint8
        Own cards, ascending, then 0. A 0 card is 109.
    committed : (n,) uint8
        Own first card where a second one is decided on, else 0. No longer in `hand`.
    rows : (n, R, C) uint8
        Cards of the rows, oldest first, then 0.
    row_end, row_len, row_heads : (n, R) uint8
        Last card, number of cards and bull heads of each row.
    unseen : (n, 105) uint8
        1 for the card numbers that this seat has not seen in this round.
    unseen_zeros : (n,) uint8
        0 cards that this seat has not seen in this round.
    zeros_played : (n, P) uint8
        0 cards that each seat has played in this round.
    played : (n, P, H K) uint8
        Cards of each seat in each turn of this round, K places a turn, 0 where there is none.
    row_taken : (n, H) uint8
        Row 1 ... R chosen for the low card of each turn, 0 where nobody chose.
    starters : (n, R) uint8
        First card of each row in this round.
    waiting : (n, P) uint8
        Cards revealed in this turn and not placed yet, 0 for none.
    pile_heads : (n, P) uint8
        Bull heads taken in this round.
    cards_left : (n, P) uint8
        Cards in each hand.
    score : (n, P) int32
        Bull heads of the rounds before this one.
    pool : (n, 105) uint8
        1 for the cards that lie face up to be drafted.
    hands : (n, P, H) uint8
        Every hand where hands are open, otherwise all 0.
    action_mask : (n, A) int8
        1 for legal actions; pass, action 0, is one where there is nothing to decide or a second
        card may be left out.
    """

    rules: Rules
    phase: U8
    turn: U8
    round: NDArray[np.int32]
    hand: U8
    committed: U8
    rows: U8
    row_end: U8
    row_len: U8
    row_heads: U8
    unseen: U8
    unseen_zeros: U8
    zeros_played: U8
    played: U8
    row_taken: U8
    starters: U8
    waiting: U8
    pile_heads: U8
    cards_left: U8
    score: NDArray[np.int32]
    pool: U8
    hands: U8
    action_mask: NDArray[np.int8]

    def __len__(self) -> int:
        """How many decisions the record holds."""
        return int(self.phase.shape[0])

    @property
    def decides(self) -> NDArray[np.bool_]:
        """Whether the seat has something to decide, shape (n,)."""
        decides: NDArray[np.bool_] = self.action_mask[:, 0] == 0
        if self.rules.cards_per_turn > 1:
            decides = decides | (self.phase == SECOND) & (self.hand[:, 0] != 0)
        return decides


def observe(rules: Rules, state: State, seat: Any, games: Any = None) -> Observation:
    """Observations of one seat per game, or of any (seat, game) pairs.

    Parameters
    ----------
    rules : Rules
        What is played.
    state : State
        B games.
    seat : int or (n,) integers
        The deciding seat.
    games : (n,) integers, optional
        Games to look at, all by default; the same game may come more than once.

    Returns
    -------
    Observation
        n decisions; B of them if `games` is left out.
    """
    if games is not None:
        state = state.take(np.asarray(games, np.intp))
    one = np.ndim(seat) == 0
    view = _from_seat(state, int(seat)) if one else _from_seats(state, np.asarray(seat, np.intp))
    seats = np.broadcast_to(np.asarray(seat, np.uint8), (state.num_games,))
    hands = view("hand")
    location = state.location
    zeros = view("zeros_played") if rules.zeros else _nothing(rules.num_players, state)
    committed = view("committed")[0] if state.two_cards else _nothing(1, state)[0]
    return Observation(
        rules=rules,
        phase=state.phase.copy(),
        turn=state.turn.copy(),
        round=state.round.copy(),
        hand=_first(hands[0]),
        committed=committed,
        rows=_first(lane_copy(state.rows)),
        row_end=_first(lane_copy(state.row_end)),
        row_len=_first(lane_copy(state.row_len)),
        row_heads=_first(lane_copy(state.row_heads)),
        unseen=_first(_unseen(rules, location, seats)),
        unseen_zeros=_unseen_zeros(rules, hands[0], committed, zeros),
        zeros_played=_first(zeros),
        played=_first(view("played")),
        row_taken=_first(lane_copy(state.row_taken)),
        starters=_first(lane_copy(state.starters)),
        waiting=_first(_waiting(state, seats)),
        pile_heads=_first(view("pile_heads")),
        cards_left=_first((hands != 0).view(np.uint8).sum(axis=1, dtype=np.uint8)),
        score=_first(view("score")),
        pool=_first(_pool(rules, location)),
        hands=_first(hands if rules.open_hands else np.broadcast_to(_NO_CARD, hands.shape)),
        action_mask=action_mask(rules, state, seats),
    )


def _unseen(rules: Rules, location: U8, seats: U8) -> U8:
    unseen = lane_zeros(location.shape, np.uint8)
    if rules.open_hands:
        return unseen
    deck = slice(1, rules.num_cards + 1)
    where, hidden = location[deck], unseen[deck].view(np.bool_)
    # In a stock or in a hand (both below PILE, the table and the pool aside), but not in one's own.
    np.not_equal(where, HAND + seats, out=hidden)
    hidden &= where < PILE
    hidden &= where != TABLE
    return unseen


def _nothing(count: int, state: State) -> U8:
    return np.broadcast_to(_NO_CARD, (count, state.num_games))


def _unseen_zeros(rules: Rules, hand: U8, committed: U8, played: U8) -> U8:
    if not rules.zeros:
        return np.broadcast_to(_NO_CARD, hand.shape[1:])
    seen = (hand == ZERO).view(np.uint8).sum(axis=0, dtype=np.uint8)
    seen += committed == ZERO
    seen += played.sum(axis=0, dtype=np.uint8)
    unseen: U8 = np.uint8(rules.zeros) - seen
    return unseen


def _pool(rules: Rules, location: U8) -> U8:
    if not rules.draft:
        return np.broadcast_to(_NO_CARD, location.shape)
    pool: U8 = (location == POOL).view(np.uint8)
    return pool


def _first(array: NDArray[Any]) -> NDArray[Any]:
    """Decisions on the first axis without moving memory."""
    return array.T if array.ndim < 3 else array.transpose(2, 0, 1)


def _from_seat(state: State, seat: int) -> Callable[[str], NDArray[Any]]:
    def view(name: str) -> NDArray[Any]:
        array = getattr(state, name)
        turned = lane_zeros(array.shape, array.dtype)
        turned[: len(array) - seat] = array[seat:]
        turned[len(array) - seat :] = array[:seat]
        return turned

    return view


def _from_seats(state: State, seats: NDArray[np.intp]) -> Callable[[str], NDArray[Any]]:
    order = (seats + np.arange(state.num_players)[:, None]) % state.num_players

    def view(name: str) -> NDArray[Any]:
        array = getattr(state, name)
        index = order.reshape(order.shape[0], *[1] * (array.ndim - 2), order.shape[1])
        return np.take_along_axis(array, index, axis=0)

    return view


def _waiting(state: State, seats: U8) -> U8:
    players = state.num_players
    waiting = np.zeros((players, state.num_games), np.uint8)
    games = np.flatnonzero(state.phase == TAKE)
    if games.size:
        keys = state.queue[:, games]
        cards = (keys >> 8).astype(np.uint8)
        cards *= np.arange(players)[:, None] >= state.cursor[games]
        owner = (keys & 15).astype(np.intp)
        waiting[(owner + players - seats[games]) % players, games] = cards
    return waiting
