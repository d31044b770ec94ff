"""Card numbers, bull heads and the numbering of actions.

Cards are the integers 1 ... 104; 0 always means "no card". Some games add identical cards that
have a printed 0 and no bull heads: their number here is 109, `ZERO`. A card's action has the card's
own number, so one number means the same thing in hands, masks, records and error messages.

=============  =====================================================
action         meaning
=============  =====================================================
0              pass: nothing to decide, or no second card in this turn
1 ... 104      play (or draft) that card
105 ... 108    take row 1 ... 4
109            play a 0 card, in games that have them
=============  =====================================================
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

NUM_CARDS: Final = 104
NUM_ROWS: Final = 4
ROW_CAPACITY: Final = 5

PASS: Final = 0
TAKE_ROW: Final = 105
ZERO: Final = TAKE_ROW + NUM_ROWS


def bull_heads(card: int) -> int:
    """Penalty value of one card.

    Parameters
    ----------
    card : int
        Card number, 1 ... 104.

    Returns
    -------
    int
        7 for card 55, 5 for the other multiples of 11, 3 for multiples of 10, 2 for the other
        numbers ending in 5, 1 for all others (official rules of the game).

    Raises
    ------
    ValueError
        If there is no such card.
    """
    if not 1 <= card <= NUM_CARDS:
        raise ValueError(f"there is no card {card}: cards are numbered 1 to {NUM_CARDS}")
    return int(BULL_HEADS[card])


def _table() -> NDArray[np.uint8]:
    card = np.arange(NUM_CARDS + 1)
    heads = np.select([card == 55, card % 11 == 0, card % 10 == 0, card % 5 == 0], [7, 5, 3, 2], 1)
    heads[0] = 0
    table = heads.astype(np.uint8)
    table.setflags(write=False)
    return table


BULL_HEADS: Final = _table()
"""(105,) uint8, bull heads by card number; 0 for "no card"."""


def action_name(action: int) -> str:
    """Say in words what an action number means, for people and error messages."""
    if action == PASS:
        return "pass"
    if 1 <= action <= NUM_CARDS:
        return f"card {action}"
    if TAKE_ROW <= action < TAKE_ROW + NUM_ROWS:
        return f"take row {action - TAKE_ROW + 1}"
    if action == ZERO:
        return "a 0 card"
    return f"{action} (no such action)"
