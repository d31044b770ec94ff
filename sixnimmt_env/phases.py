"""One small class per kind of decision: which actions are legal, and what one does.

A phase never moves a card into a row by itself: it fills or answers the queue, and the engine
resolves the queue afterwards.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env import lanes, loops
from sixnimmt_env.cards import NUM_ACTIONS, NUM_ROWS, TAKE_ROW
from sixnimmt_env.dealing import start_rows
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, HAND, OVER, PLAY, POOL, TAKE, U8, State

Bool = NDArray[np.bool_]


class Phase(Protocol):
    """A kind of decision. B games, P seats; `here` marks the games that are in this phase."""

    code: int

    def accepts(self, state: State, actions: U8) -> Bool:
        """Which of the actions (P, B) are legal for a seat that decides; shape (P, B)."""

    def lowest(self, state: State) -> U8:
        """Lowest legal action of each seat that decides, shape (P, B) or (B,)."""

    def mask(self, state: State, seat: U8, out: NDArray[np.int8], here: Bool) -> None:
        """Set the legal actions of `seat` (B,) to 1 in `out` (B, n), all 0 before."""

    def apply(self, state: State, actions: U8, here: Bool | None) -> None:
        """Carry out checked actions (P, B) in the games `here` (None: in all)."""


class Play:
    """Every seat plays a card from its hand, all at once."""

    code = PLAY

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
        out[lane, 0] = 0

    def apply(self, state: State, actions: U8, here: Bool | None) -> None:
        """Reveal and queue the cards."""
        (loops if loops.suits(state) else lanes).commit(state, actions, here)


class Take:
    """The owner of a low card chooses the row to take; all others wait."""

    code = TAKE

    def accepts(self, state: State, actions: U8) -> Bool:
        """Any of the rows."""
        accepted: Bool = actions - np.uint8(TAKE_ROW) < NUM_ROWS
        return accepted

    def lowest(self, state: State) -> U8:
        """Row 1."""
        return np.full(state.num_games, TAKE_ROW, np.uint8)

    def mask(self, state: State, seat: U8, out: NDArray[np.int8], here: Bool) -> None:
        """One action for each row."""
        out[here & (state.actor == seat), TAKE_ROW : TAKE_ROW + NUM_ROWS] = 1

    def apply(self, state: State, actions: U8, here: Bool | None) -> None:
        """Note the row, which the low card takes when the queue goes on."""
        game = np.arange(state.num_games) if here is None else np.flatnonzero(here)
        row = actions[state.actor[game], game] - np.uint8(TAKE_ROW - 1)
        state.row_taken[state.turn[game], game] = row
        state.phase[game] = PLAY


class Draft:
    """Seats in turn pick a card from the open deck until all hands are full."""

    code = DRAFT

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
        lane = np.flatnonzero(here & (state.actor == seat))
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


PLAY_PHASE: Final = Play()
TAKE_PHASE: Final = Take()


@lru_cache(maxsize=64)
def phases_of(rules: Rules) -> tuple[Phase, ...]:
    """List the kinds of decision that these rules know."""
    phases: list[Phase] = [PLAY_PHASE]
    if rules.row_choice == "player":
        phases.insert(0, TAKE_PHASE)
    if rules.draft:
        phases.append(Draft(rules))
    return tuple(phases)


def action_mask(rules: Rules, state: State, seats: U8) -> NDArray[np.int8]:
    """Legal actions of seat `seats[i]` in game i.

    Returns
    -------
    (B, 109) int8
        1 for legal; only pass (0) where that seat has nothing to decide.
    """
    out = np.zeros((state.num_games, NUM_ACTIONS), np.int8)
    for phase in phases_of(rules):
        here = state.phase == phase.code
        if here.any():
            phase.mask(state, seats, out, here)
    decides = state.phase == PLAY
    decides |= (state.phase != OVER) & (state.actor == seats)
    out[:, 0] = ~decides
    return out
