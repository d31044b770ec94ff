"""Pro, also called Logic, 2 to 6 players: the known deck of Tactics, drafted openly.

All cards lie face up; clockwise, one card each, players draft until all hold ten (official
rules). Hands are public. The four cards left start the rows 1 to 4 in ascending order, and the
first to pick is drawn at random for the first round, then the next seat each round (both are our
reading: the rules are silent).
"""

from __future__ import annotations

from typing import Any, Final

from sixnimmt_env.rules import Rules
from sixnimmt_env.variants.tactics import HAND_SIZE, MAX_PLAYERS, known_deck

NAME: Final = "pro"


def rules(num_players: int, **options: Any) -> Rules:
    """Rules of Pro."""
    return Rules(
        num_players=num_players,
        num_cards=known_deck(num_players),
        hand_size=HAND_SIZE,
        draft=True,
        max_players=MAX_PLAYERS,
        name=NAME,
        **options,
    )
