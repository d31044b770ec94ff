"""6 nimmt! Plus, 2 to 7 players: bull heads are good, and one or two cards are played in a turn.

The deck is 1 to 104 and seven cards with a printed 0, which have no bull heads. Four of the
numbered cards start the rows; only then are the 0s shuffled in, and every player gets 15 cards.

In a turn all who still hold cards secretly choose one or two of them and reveal together. Every
numbered card is placed for itself, in ascending order over all players, except that a number which
its owner combined with a 0 is placed ahead of all that were not; several such go in ascending
order among themselves. So of 5 + 6, 27, 49 + 0 and 53 + 0 the cards are placed as 49, 53, 5, 6, 27.
A 0 goes to its owner's pile and never into a row.

A card goes to the row whose end is below it with the smallest difference. Whoever places the sixth
card takes the five before it, and the card starts the row. A card lower than all row ends is
appended to the row with the highest end and takes nothing, unless it is the sixth card there; that
row's end is then the low card. With a row of four cards that ends in 94, the highest end, and a
player who plays 3 + 4 while neither fits anywhere, 3 becomes the fifth card; 4 then fits behind the
3, is the sixth card, and its owner takes five cards.

Players whose hand is empty are out and the others go on, one of them alone if need be, until all
hands are empty. Heads are points: after as many rounds as players, the highest total wins.

Certain by the printed rules: the deck, the deal, one or two cards, the order, the aim. Likely: that
"the highest number" of a low card's row means its end, and that two 0s together do nothing. Our
readings, where the rules are silent: how many cards somebody plays stays hidden until all reveal,
and a tie shares the win.
"""

from __future__ import annotations

from typing import Any, Final

from sixnimmt_env.rules import Rules

NAME: Final = "plus"
MAX_PLAYERS: Final = 7
ZEROS: Final = 7
HAND_SIZE: Final = 15


def rules(num_players: int, **options: Any) -> Rules:
    """Rules of Plus."""
    return plus_rules(NAME, num_players, cards_per_turn=2, collect=True, **options)


def plus_rules(name: str, num_players: int, **options: Any) -> Rules:
    """Rules that the whole family shares; a match has as many rounds as players."""
    ends = (options.get("target"), options.get("rounds"))
    if options.get("episode") == "match" and ends == (None, None):
        options["rounds"] = num_players
    return Rules(
        **{
            "num_players": num_players,
            "name": name,
            "max_players": MAX_PLAYERS,
            "hand_size": HAND_SIZE,
            "zeros": ZEROS,
            "low_card": "append",
            **options,
        }
    )
