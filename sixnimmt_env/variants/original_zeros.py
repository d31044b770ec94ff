"""The original aim with 0 cards, 2 to 7 players: Plus, but bull heads are bad and fewest win.

Deck, deal, turns, order of placement and low cards are those of Plus: 15 cards, seven 0s, one or
two cards in a turn. As many rounds are played as there are players, and the lowest total wins.

Certain by the printed rules: 15 cards, and that heads count against. Likely: that a low card is
appended to the row with the highest end, as in Plus. Our readings: as many rounds as players, and
that a tie shares the win.
"""

from __future__ import annotations

from typing import Any, Final

from sixnimmt_env.rules import Rules
from sixnimmt_env.variants.plus import plus_rules

NAME: Final = "original_zeros"


def rules(num_players: int, **options: Any) -> Rules:
    """Rules of the original game with 0 cards."""
    return plus_rules(NAME, num_players, cards_per_turn=2, **options)
