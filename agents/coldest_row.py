"""Coldest row: plays into the row that is the furthest from being taken.

Closest gap looks at the card alone; this one looks at the row. The idea of a player that prefers
the least occupied of the rows that its cards fit is from the bots of
github.com/denisakkavim/sixnimmt; the ties and all that goes beyond the base game are our own.

Each card in hand has a row that it goes to as things stand: the one it fits or, if it is a low
card, the one with fewest heads, or the one with the highest end where low cards are appended. The
card is played whose row has

1. the fewest cards, a row that would be taken counting as full,
2. among those the fewest heads,
3. among those the end that is closest below the card (a low card's gap counts as 0),

and at last the lowest card. A 0 card is played before any that would take a row. Where heads are
collected everything is turned round: the row with the most cards, the most heads and the widest
gap ("the hottest row"), and a 0 card only when there is nothing else.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.heuristics import Actions, CardPlayer, fitting_rows, held, numbers
from sixnimmt_env.cards import ROW_CAPACITY, ZERO
from sixnimmt_env.observe import Observation
from sixnimmt_env.policy import cheapest_row

# Ranks: cards, then heads (at most 255), then gap (at most 104), as one number.
_HEADS: Final = 1 << 8
_CARDS: Final = 1 << 16
_LAST: Final = 1 << 30


class ColdestRow(CardPlayer):
    """Plays into the row with the fewest cards; see the module's docstring.

    Parameters
    ----------
    row : callable
        See `agents.heuristics.CardPlayer`.
    """

    def _card(self, observation: Observation) -> Actions:
        rules, hand = observation.rules, observation.hand
        card, end = numbers(hand), observation.row_end.astype(np.int64)
        row, low = fitting_rows(card, end)
        appends = rules.low_card == "append"
        other = observation.row_end.argmax(axis=1) if appends else cheapest_row(observation)
        row = np.where(low, other[:, None], row)
        cards = np.take_along_axis(observation.row_len, row, axis=1).astype(np.int64)
        if not appends:
            cards = np.where(low, ROW_CAPACITY, cards)
        heads = np.take_along_axis(observation.row_heads, row, axis=1).astype(np.int64)
        gap = np.where(low, 0, card - np.take_along_axis(end, row, axis=1))
        rank = cards * _CARDS + heads * _HEADS + gap
        if rules.collect:
            rank = np.where(hand == ZERO, _CARDS, -rank)
        else:
            rank = np.where(hand == ZERO, ROW_CAPACITY * _CARDS, rank)
        rank = np.where(hand == 0, _LAST, rank)
        return held(observation, rank.argmin(axis=1))
