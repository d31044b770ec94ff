"""The base game, 2 to 10 players: avoid bull heads, by the official rules.

Ten cards of 1 to 104 each; four more start the rows. All choose a card in secret and reveal
together. Cards are placed in ascending order, each in the row whose end is below it with the
smallest difference. The sixth card takes the five before it and starts the row. A card lower than
all row ends takes a row that its owner chooses after the reveal. After ten turns the heads are
counted; a match ends when somebody has 66, and the lowest total wins.

Certain by the printed rules. Ours is `row_choice="fewest_heads"`, a simplification in which a low
card takes the row with fewest heads without asking (ties: fewest cards, then the lowest row).
"""

from __future__ import annotations

from typing import Any, Final

from sixnimmt_env.rules import Rules

NAME: Final = "base"


def rules(num_players: int, **options: Any) -> Rules:
    """Rules of the base game."""
    return Rules(num_players=num_players, name=NAME, **options)
