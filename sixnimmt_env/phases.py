"""One small class per kind of decision: which actions are legal, and what one does.

A phase never moves a card into a row by itself: it fills or answers the queue, and the engine
resolves the queue afterwards.
"""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env import lanes, loops
from sixnimmt_env.cards import NUM_ROWS, TAKE_ROW
from sixnimmt_env.dealing import start_rows
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, HAND, PLAY, POOL, SECOND, TAKE, U8, State

Bool = NDArray[np.bool_]


class Phase(Protocol):
    """A kind of decision. B games, P seats; `here` marks the games that are in this phase."""

    codes: tuple[int, ...]
    """Values of `State.phase` in which this is decided."""

    def accepts(self, state: State, actions: U8) -> Bool:
        """Which of the actions (P, B) are legal for a seat that decides; shape (P, B)."""

    def lowest(self, state: State) -> U8:
        """Lowest legal action of each seat that decides, shape (P, B) or (B,)."""

    def mask(self, state: State, seat: U8, out: NDArray[np.int8], here: Bool) -> None:
        """Set the legal actions of `seat` (B,), which decides `here`, to 1 in `out` (B, n).

        Pass, action 0, is set by the caller.
        """

    def apply(self, state: State, actions: U8, here: Bool | None) -> None:
        """Carry out checked actions (P, B) in the games `here` (None: in all)."""


class Play:
    """Every seat plays a card from its hand, all at once."""

    codes: tuple[int, ...] = (PLAY,)

    def accepts(self, state: State, actions: U8) -> Bool:
        """Cards that the seat holds."""
        held: Bool = np.bitwise_or.reduce(state.hand == actions[:, None], axis=1)
        held &= actions != 0
        return held

    def lowest(self, state: State) -> U8:
        """Lowest card held."""
        return state.hand[:, 0]

    def mask(self, state: State, seat: U8, out: NDArray[np.int8], here: Bool) -> None:
        """One action for each card held."""
        lane = np.flatnonzero(here)
        hand = state.hand[seat[lane], :, lane]
        out[lane[:, None], hand] = 1

    def apply(self, state: State, actions: U8, here: Bool | None) -> None:
        """Reveal and queue the cards."""
        _kernel(state).commit(state, actions, here)


class PlayTwo(Play):
    """Every seat that holds cards commits one card, face down, then a second one or none.

    That makes two decisions in a row, in `PLAY` and in `SECOND`; the cards are revealed after the
    second one, or at once where nobody has a second card.
    """

    codes: tuple[int, ...] = (PLAY, SECOND)

    def accepts(self, state: State, actions: U8) -> Bool:
        """Cards that the seat holds, and pass as the second one."""
        accepted: Bool = super().accepts(state, actions)
        accepted |= (actions == 0) & (state.phase == SECOND)
        return accepted

    def lowest(self, state: State) -> U8:
        """Lowest card held, then pass."""
        lowest: U8 = state.hand[:, 0] * (state.phase == PLAY)
        return lowest

    def apply(self, state: State, actions: U8, here: Bool | None) -> None:
        """Set first cards aside; reveal and queue the cards where all have decided."""
        kernel = _kernel(state)
        first, second = state.phase == PLAY, state.phase == SECOND
        if here is not None:
            first &= here
            second &= here
        if first.any():
            kernel.set_aside(state, actions, None if first.all() else first)
            actions = actions * second
            second |= first & ~state.hand[:, 0].any(axis=0)
        if second.any():
            kernel.reveal(state, actions, None if second.all() else second)


class PlayInTurn(Play):
    """One seat plays a card, face up, and all others wait."""

    def apply(self, state: State, actions: U8, here: Bool | None) -> None:
        """Queue the one card."""
        _kernel(state).reveal(state, actions, here)


class Take:
    """The owner of a low card chooses the row to take; all others wait."""

    codes: tuple[int, ...] = (TAKE,)

    def accepts(self, state: State, actions: U8) -> Bool:
        """Any of the rows."""
        accepted: Bool = actions - np.uint8(TAKE_ROW) < NUM_ROWS
        return accepted

    def lowest(self, state: State) -> U8:
        """Row 1."""
        return np.full(state.num_games, TAKE_ROW, np.uint8)

    def mask(self, state: State, seat: U8, out: NDArray[np.int8], here: Bool) -> None:
        """One action for each row."""
        out[here, TAKE_ROW : TAKE_ROW + NUM_ROWS] = 1

    def apply(self, state: State, actions: U8, here: Bool | None) -> None:
        """Note the row, which the low card takes when the queue goes on."""
        game = np.arange(state.num_games) if here is None else np.flatnonzero(here)
        row = actions[state.actor[game], game] - np.uint8(TAKE_ROW - 1)
        state.row_taken[state.turn[game], game] = row
        state.phase[game] = PLAY


class Draft:
    """Seats in turn pick a card from the open deck until all hands are full."""

    codes: tuple[int, ...] = (DRAFT,)

    def __init__(self, rules: Rules) -> None:
        self._picks = rules.num_players * rules.hand_size

    def accepts(self, state: State, actions: U8) -> Bool:
        """Cards that still lie in the pool."""
        index = np.minimum(actions, np.uint8(state.location.shape[0] - 1))
        found: Bool = np.take_along_axis(state.location, index, axis=0) == POOL
        found &= actions == index
        return found

    def lowest(self, state: State) -> U8:
        """Lowest card in the pool."""
        lowest: U8 = (state.location == POOL).argmax(axis=0).astype(np.uint8)
        return lowest

    def mask(self, state: State, seat: U8, out: NDArray[np.int8], here: Bool) -> None:
        """One action for each card in the pool."""
        lane = np.flatnonzero(here)
        out[lane, : state.location.shape[0]] = (state.location[:, lane] == POOL).T

    def apply(self, state: State, actions: U8, here: Bool | None) -> None:
        """Move the card to the picker's hand; after the last pick the rest start the rows."""
        lane = np.arange(state.num_games) if here is None else np.flatnonzero(here)
        seat = state.actor[lane]
        card = actions[seat, lane]
        players = state.num_players
        state.location[card, lane] = HAND + seat
        state.drafted[seat, state.turn[lane] // players, lane] = card
        hand = state.hand[seat, :, lane]
        # The empty slots are 0, so the new card can stand in the first slot before sorting.
        hand[:, -1] = card
        hand = np.sort(np.where(hand == 0, np.uint8(255), hand), axis=1)
        state.hand[seat, :, lane] = np.where(hand == 255, np.uint8(0), hand)
        state.turn[lane] += 1
        state.actor[lane] = (seat + 1) % players
        done = lane[state.turn[lane] == self._picks]
        if done.size:
            left = np.nonzero((state.location[:, done] == POOL).T)[1]
            start_rows(state, done, left.reshape(-1, NUM_ROWS).T.astype(np.uint8))
            state.turn[done] = 0
            state.phase[done] = PLAY


def _kernel(state: State) -> ModuleType:
    return loops if loops.suits(state) else lanes


@lru_cache(maxsize=64)
def phases_of(rules: Rules) -> tuple[Phase, ...]:
    """List the kinds of decision that these rules know."""
    phases: list[Phase] = []
    if rules.low_card == "take" and rules.row_choice == "player":
        phases.append(Take())
    if rules.cards_per_turn > 1:
        phases.append(PlayTwo())
    else:
        phases.append(PlayInTurn() if rules.one_by_one else Play())
    if rules.draft:
        phases.append(Draft(rules))
    return tuple(phases)


def in_phase(phase: Phase, now: U8) -> Bool:
    """Which of the games, by their `State.phase`, are in this phase."""
    here: Bool = now == phase.codes[0]
    for code in phase.codes[1:]:
        here |= now == code
    return here


def action_mask(rules: Rules, state: State, seats: U8) -> NDArray[np.int8]:
    """Legal actions of seat `seats[i]` in game i.

    Returns
    -------
    (B, n) int8
        1 for legal; only pass (0) where that seat has nothing to decide.
    """
    out = np.zeros((state.num_games, rules.num_actions), np.int8)
    decides = state.decides(seats)
    for phase in phases_of(rules):
        here = decides & in_phase(phase, state.phase)
        if here.any():
            phase.mask(state, seats, out, here)
    out[:, 0] = ~decides | (state.phase == SECOND)
    return out
