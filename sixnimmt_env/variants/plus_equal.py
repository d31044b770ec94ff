"""6 nimmt! Plus with an equal deal, 2 to 7 players: everybody has 0 cards from the start.

Before the deal every player gets two 0 cards (2 or 3 players) or one (4 to 7 players). The 0s left
over are shuffled in after the row starters, and hands are filled up to 15 cards. All else is as in
Plus: heads are good, one or two cards are played in a turn, as many rounds as players.

Certain by the printed rules. Everybody knows that the others were given as many 0s.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, Final

from sixnimmt_env.rules import Rules
from sixnimmt_env.variants.plus import plus_rules

NAME: Final = "plus_equal"
FEW_PLAYERS: Final = 3


def rules(num_players: int, **options: Any) -> Rules:
    """Rules of Plus with an equal deal."""
    few = isinstance(num_players, Integral) and num_players <= FEW_PLAYERS
    return plus_rules(
        NAME, num_players, cards_per_turn=2, collect=True, zeros_each=2 if few else 1, **options
    )
