"""Simplified, 2 to 7 players: one after the other, one open card each, and heads are bad.

The deck and the deal are those of Plus, with 12 cards in a hand. Nobody chooses in secret: from the
starting player on, clockwise, each plays one card face up, which is placed at once. The sixth card
takes the five before it; a card lower than all row ends is appended to the row with the highest
end. A 0 is set aside and placed nowhere, so it passes the turn. A round ends when all hands are
empty; the fewest bull heads win.

Certain by the printed rules: 12 cards, the order of play, the 0s. Likely: the low card as in Plus.
Our readings: the player who starts the first round is drawn at random (the printed rules say the
youngest); later rounds are started by whoever has the most heads so far, on a tie the lowest seat;
a match has as many rounds as players, and a tie shares the win.
"""

from __future__ import annotations

from typing import Any, Final

from sixnimmt_env.rules import Rules
from sixnimmt_env.variants.plus import plus_rules

NAME: Final = "simplified"
HAND_SIZE: Final = 12


def rules(num_players: int, **options: Any) -> Rules:
    """Rules of Simplified."""
    return plus_rules(NAME, num_players, hand_size=HAND_SIZE, one_by_one=True, **options)
