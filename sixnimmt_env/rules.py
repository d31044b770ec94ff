"""Rules of a game as data: plain numbers and which decisions there are. Nothing here plays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from sixnimmt_env.cards import NUM_CARDS, NUM_ROWS, ZERO
from sixnimmt_env.checks import one_of, whole

RowChoice = Literal["player", "fewest_heads"]
Episode = Literal["round", "match"]
LowCard = Literal["take", "append"]

ROW_CHOICES: Final = ("player", "fewest_heads")
EPISODES: Final = ("round", "match")
LOW_CARDS: Final = ("take", "append")
DEFAULT_TARGET: Final = 66
MAX_PLAYERS: Final = 10
# A seat has four bits in the queue of cards to be placed.
MAX_SEATS: Final = 16
MAX_HAND: Final = 15
MAX_ZEROS: Final = 20
MAX_ROUNDS: Final = 10_000
MAX_TARGET: Final = 1_000_000


class RulesError(ValueError):
    """Rules that no game can be played by; the message says which value and why."""


_SWITCHES: Final = ("draft", "one_by_one", "collect")


@dataclass(frozen=True, slots=True)
class Rules:
    """What is played, and until when. Checks itself when made.

    Numbers become Python's integers, and switches bool, whatever kind of them is given.

    Parameters
    ----------
    num_players : int
        2 ... `max_players`.
    row_choice : {"player", "fewest_heads"}
        A low card's owner chooses the row to take ("player", the rules of the game), or always
        takes the row with fewest heads (ties: fewest cards, then the lowest row), a
        simplification that makes every turn a single step.
    episode : {"round", "match"}
        One deal played out, or rounds until the end condition.
    target : int, optional
        A match ends after the round in which a total reaches it; 66 unless `rounds` is given.
    rounds : int, optional
        A match of exactly this many rounds instead of a target.
    num_cards : int
        The deck is 1 ... `num_cards`.
    hand_size : int
        Cards in each hand at the start of a round.
    draft : bool
        Hands are drafted from the open deck, and stay open, instead of being dealt.
    zeros : int
        How many 0 cards there are: identical, without bull heads, shuffled in after the row
        starters are dealt. A 0 goes to its owner's pile and never to a row.
    zeros_each : int
        How many of them every hand gets before the rest is dealt.
    cards_per_turn : {1, 2}
        With 2, every seat that holds cards commits one or two in a turn, and plays on until its
        hand is empty. A number committed with a 0 is placed ahead of all that are not.
    one_by_one : bool
        Seats play one card each in turn, face up and placed at once, instead of all together.
    low_card : {"take", "append"}
        A low card takes a row, or is appended to the row with the highest end, where it takes
        only as the sixth card.
    collect : bool
        Bull heads count for a player, most win, instead of against.
    max_players : int
        Most players the game is meant for, 2 ... 16.
    name : str
        What people call the game; no code depends on it.

    Raises
    ------
    RulesError
        Naming the value, the rule it breaks and what would be possible.
    """

    num_players: int = 4
    row_choice: RowChoice = "player"
    episode: Episode = "round"
    target: int | None = None
    rounds: int | None = None
    num_cards: int = NUM_CARDS
    hand_size: int = 10
    draft: bool = False
    zeros: int = 0
    zeros_each: int = 0
    cards_per_turn: int = 1
    one_by_one: bool = False
    low_card: LowCard = "take"
    collect: bool = False
    max_players: int = MAX_PLAYERS
    name: str = "base"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise RulesError(f"name={self.name!r} is not possible: a name is a text")
        self._whole(
            "max_players", 2, MAX_SEATS, f"the arrays of a game hold 2 to {MAX_SEATS} players"
        )
        self._whole(
            "num_players", 2, self.max_players, f"{self.name} is played by 2 to {self.max_players}"
        )
        self._check_words()
        self._check_end()
        self._check_zeros()
        needed = self.num_players * self.hand_size + NUM_ROWS - self.zeros
        self._whole(
            "num_cards",
            max(needed, NUM_ROWS),
            NUM_CARDS,
            f"{self.num_players} hands of {self.hand_size} and {NUM_ROWS} row starters need "
            f"{needed} numbered cards, and the deck has at most {NUM_CARDS}",
        )
        if self.draft and self.num_cards != needed:
            raise RulesError(
                f"num_cards={self.num_cards} is not possible: a draft leaves exactly the "
                f"{NUM_ROWS} row starters, so it needs {needed} cards"
            )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _whole(self, name: str, low: int, high: int, why: str) -> None:
        self._set(name, whole(name, getattr(self, name), low, high, why, RulesError))

    def _check_words(self) -> None:
        for name, known in (
            ("row_choice", ROW_CHOICES),
            ("episode", EPISODES),
            ("low_card", LOW_CARDS),
        ):
            one_of(name, getattr(self, name), known, RulesError)
        for name in _SWITCHES:
            value = getattr(self, name)
            if not isinstance(value, (bool, np.bool_)):
                raise RulesError(f"{name}={value!r} is not possible: it is True or False")
            self._set(name, bool(value))
        if self.low_card == "append" and self.row_choice != "player":
            raise RulesError(
                f"row_choice={self.row_choice!r} has no meaning in {self.name}: a low card takes "
                "no row there, leave row_choice out"
            )

    def _check_zeros(self) -> None:
        self._whole("zeros", 0, MAX_ZEROS, f"there are 0 to {MAX_ZEROS} 0 cards")
        self._whole("hand_size", 1, MAX_HAND, f"a hand has 1 to {MAX_HAND} cards")
        most = self.zeros // self.num_players
        self._whole(
            "zeros_each",
            0,
            min(most, self.hand_size),
            f"{self.zeros} 0 cards for {self.num_players} hands are at most {most} for each, and "
            f"{self.hand_size} fill a hand",
        )
        self._whole("cards_per_turn", 1, 2, "one or two cards are played in a turn")
        plain = self.low_card == "take"
        if plain and (self.zeros or self.cards_per_turn > 1 or self.one_by_one):
            raise RulesError(
                "low_card='take' is not possible with 0 cards, two cards in a turn or one player "
                "at a time: use low_card='append'"
            )
        if self.zeros and self.cards_per_turn == 1 and not self.one_by_one:
            raise RulesError(
                f"zeros={self.zeros} is not possible where all play one card at once: use "
                "cards_per_turn=2 or one_by_one=True"
            )
        if self.one_by_one and (self.cards_per_turn > 1 or self.draft):
            raise RulesError("one_by_one=True is not possible with two cards in a turn or a draft")
        if self.draft and (self.zeros or self.cards_per_turn > 1):
            raise RulesError("draft=True is not possible with 0 cards or two cards in a turn")

    def _check_end(self) -> None:
        if self.episode == "round":
            for name, value in (("target", self.target), ("rounds", self.rounds)):
                if value is not None:
                    raise RulesError(
                        f"{name}={value!r} has no meaning for one round: use episode='match'"
                    )
            return
        if self.target is not None and self.rounds is not None:
            raise RulesError(
                f"target={self.target!r} and rounds={self.rounds!r} exclude each other: "
                "a match ends at a target or after a fixed number of rounds"
            )
        if self.rounds is not None:
            self._whole("rounds", 1, MAX_ROUNDS, f"a match has 1 to {MAX_ROUNDS} rounds")
        else:
            if self.target is None:
                self._set("target", DEFAULT_TARGET)
            self._whole("target", 1, MAX_TARGET, f"a match ends at 1 to {MAX_TARGET} heads")

    @property
    def num_dealt(self) -> int:
        """Cards dealt in a round: all hands and the row starters, 0s put into hands left out."""
        return self.num_players * (self.hand_size - self.zeros_each) + NUM_ROWS

    @property
    def num_actions(self) -> int:
        """Size of the action space: the highest action there is in this game, plus one."""
        return ZERO + 1 if self.zeros else ZERO

    @property
    def queue_size(self) -> int:
        """Most cards that are placed at once."""
        return 1 if self.one_by_one else self.num_players * self.cards_per_turn

    @property
    def open_hands(self) -> bool:
        """Whether every hand lies face up for all to see."""
        return self.draft


def check_rules(rules: Any) -> None:
    """Refuse what is no `Rules`, such as the name of a variant.

    Raises
    ------
    TypeError
        Saying how rules are made.
    """
    if not isinstance(rules, Rules):
        raise TypeError(
            f"rules={rules!r}: Rules are needed, as sixnimmt_env.make_rules('base', 4) makes them"
        )
