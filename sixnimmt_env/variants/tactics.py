"""Tactics, 2 to 6 players: only the cards 1 to 10 n + 4, so every card is in play and known.

Dealt at random, then played as the base game (official rules).
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, Final

from sixnimmt_env.cards import NUM_ROWS
from sixnimmt_env.rules import Rules, RulesError

NAME: Final = "tactics"
MAX_PLAYERS: Final = 6
HAND_SIZE: Final = 10


def known_deck(num_players: int) -> int:
    """Size of the deck in which every card is in play."""
    whole = isinstance(num_players, Integral) and not isinstance(num_players, bool)
    if not whole or not 2 <= num_players <= MAX_PLAYERS:
        raise RulesError(
            f"num_players={num_players!r} is not possible: "
            f"the known-deck variants are played by 2 to {MAX_PLAYERS}"
        )
    return HAND_SIZE * int(num_players) + NUM_ROWS


def rules(num_players: int, **options: Any) -> Rules:
    """Rules of Tactics."""
    return Rules(
        num_players=num_players,
        num_cards=known_deck(num_players),
        hand_size=HAND_SIZE,
        max_players=MAX_PLAYERS,
        name=NAME,
        **options,
    )
