"""What one seat may lawfully know: the Observation record.

A record is seen from the deciding seat: index 0 of every per-seat axis is that seat itself, then
the others clockwise. It holds no hidden card, and remembers the round so far: what everybody has
played, which rows were chosen and how the rows began, from which all else that was public follows,
except in which order the cards of a draft were picked. Of earlier rounds it knows the scores.

No array of it shares memory with the State or with anything that its seat may not know: what can be
reached from it is what it shows, as its holder need not be trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import ZERO
from sixnimmt_env.checks import game_numbers, number_below, numbers_below
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
    check_fits,
    lane_copy,
    lane_zeros,
)

# One 0 that all records share, so in memory that nobody can make writable.
_NO_CARD: Final = np.frombuffer(bytes(1), np.uint8).reshape(())


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
    games : (n,) integers or (B,) bool, optional
        Games to look at, or which they are; all by default. The same game may come more than
        once.

    Returns
    -------
    Observation
        n decisions; B of them if `games` is left out.

    Raises
    ------
    ValueError
        If there is no such seat or game, or the State is of another game.
    """
    check_fits(state, rules)
    if games is not None:
        state = state.take(game_numbers(games, state.num_games))
    look: _Seat | _Seats
    if np.ndim(seat) == 0:
        look = _Seat(state, number_below("seat", seat, state.num_players))
    else:
        look = _Seats(state, numbers_below("seat", seat, state.num_players))
    seats = look.seats
    hand, location = look.own(state.hand), state.location
    zeros = look.all(state.zeros_played) if rules.zeros else _nothing(rules.num_players, state)
    committed = look.own(state.committed) if state.two_cards else _nothing(1, state)[0]
    held = (state.hand != 0).view(np.uint8).sum(axis=1, dtype=np.uint8)
    closed = np.broadcast_to(_NO_CARD, state.hand.shape)
    return Observation(
        rules=rules,
        phase=state.phase.copy(),
        turn=state.turn.copy(),
        round=state.round.copy(),
        hand=_first(hand),
        committed=committed,
        rows=_first(lane_copy(state.rows)),
        row_end=_first(lane_copy(state.row_end)),
        row_len=_first(lane_copy(state.row_len)),
        row_heads=_first(lane_copy(state.row_heads)),
        unseen=_first(_unseen(rules, location, seats)),
        unseen_zeros=_unseen_zeros(rules, hand, committed, zeros),
        zeros_played=_first(zeros),
        played=_first(look.all(state.played)),
        row_taken=_first(lane_copy(state.row_taken)),
        starters=_first(lane_copy(state.starters)),
        waiting=_first(_waiting(state, seats)),
        pile_heads=_first(look.all(state.pile_heads)),
        cards_left=_first(look.all(held)),
        score=_first(look.all(state.score)),
        pool=_first(_pool(rules, location)),
        hands=_first(look.all(state.hand) if rules.open_hands else closed),
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


class _Seat:
    """What one seat sees in all games: arrays (P, ..., B) in memory of their own."""

    def __init__(self, state: State, seat: int) -> None:
        self._seat = seat
        self.seats: U8 = np.broadcast_to(np.uint8(seat), (state.num_games,))

    def own(self, array: NDArray[Any]) -> NDArray[Any]:
        """Copy what belongs to the seat alone, without the others'."""
        return lane_copy(array[self._seat])

    def all(self, array: NDArray[Any]) -> NDArray[Any]:
        """Copy what belongs to all, from this seat on."""
        turned = lane_zeros(array.shape, array.dtype)
        turned[: len(array) - self._seat] = array[self._seat :]
        turned[len(array) - self._seat :] = array[: self._seat]
        return turned


class _Seats:
    """What seat i sees in game i, as `_Seat` does for one."""

    def __init__(self, state: State, seats: NDArray[np.intp]) -> None:
        if seats.size != state.num_games:
            raise ValueError(
                f"seat has {seats.size} numbers for {state.num_games} games: one for each is "
                "needed, or a single one for all"
            )
        self._seats = seats
        self._order = (seats + np.arange(state.num_players)[:, None]) % state.num_players
        self.seats: U8 = seats.astype(np.uint8)

    def own(self, array: NDArray[Any]) -> NDArray[Any]:
        """Copy what belongs to the seats alone, without the others'."""
        mine: NDArray[Any] = self._from(array, self._seats[None])[0]
        return mine

    def all(self, array: NDArray[Any]) -> NDArray[Any]:
        """Copy what belongs to all, from these seats on."""
        return self._from(array, self._order)

    def _from(self, array: NDArray[Any], order: NDArray[np.intp]) -> NDArray[Any]:
        index = order.reshape(order.shape[0], *[1] * (array.ndim - 2), order.shape[1])
        gathered: NDArray[Any] = np.take_along_axis(array, index, axis=0)
        return gathered


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
