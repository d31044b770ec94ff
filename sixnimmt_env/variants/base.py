"""The base game, 2 to 10 players, cards 1 to 104 (official rules)."""

from __future__ import annotations

from typing import Any, Final

from sixnimmt_env.rules import Rules

NAME: Final = "base"


def rules(num_players: int, **options: Any) -> Rules:
    """Rules of the base game."""
    return Rules(num_players=num_players, name=NAME, **options)
