"""What a trained network can play."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

from sixnimmt_env.rules import MAX_PLAYERS, ROW_CHOICES, RowChoice, Rules

# A network plays on where these differ: it learned for some of the first two, it knows of no more
# than one round, and the deck and the deal follow from the number of players.
_FREE = (
    "num_players",
    "row_choice",
    "episode",
    "target",
    "rounds",
    "num_cards",
    "zeros_each",
    "max_players",
)


@dataclass(frozen=True, slots=True)
class Scope:
    """Games that a network was trained for.

    Attributes
    ----------
    rules : Rules
        The game with the most players among them; its encoding is what the network reads.
    players : tuple of int
        Numbers of players, ascending.
    row_choices : tuple of str
        Which it met; one who learned to choose rows can also do without.
    """

    rules: Rules
    players: tuple[int, ...]
    row_choices: tuple[RowChoice, ...]

    def why_not(self, rules: Rules) -> str | None:
        """Why the network cannot play by `rules`, in words; None if it can."""
        differ = [
            field.name
            for field in fields(Rules)
            if field.name not in _FREE
            and getattr(rules, field.name) != getattr(self.rules, field.name)
        ]
        if rules.num_players not in self.players:
            differ.append("num_players")
        if "player" not in self.row_choices and rules.row_choice not in self.row_choices:
            differ.append("row_choice")
        if not differ:
            return None
        return f"it was trained for {self} and cannot play {in_words(rules)}: {differ} differ"

    def check(self, rules: Rules) -> None:
        """Refuse other games.

        Raises
        ------
        ValueError
            Saying what the network was trained for, and what differs.
        """
        reason = self.why_not(rules)
        if reason is not None:
            raise ValueError(f"this network does not fit, {reason}; use one for these rules")

    def __str__(self) -> str:
        """Name the games in words."""
        counts = [str(count) for count in self.players]
        players = counts[0] if len(counts) == 1 else f"{', '.join(counts[:-1])} or {counts[-1]}"
        choices = ""
        if self.rules.low_card == "take":
            choices = f", row_choice={' or '.join(self.row_choices)}"
        return f"{self.rules.name} with {players} players{choices}"

    def as_dict(self) -> dict[str, Any]:
        """All of it in plain numbers and words."""
        rules = {field.name: getattr(self.rules, field.name) for field in fields(Rules)}
        return {
            "rules": rules,
            "players": list(self.players),
            "row_choices": list(self.row_choices),
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Scope:
        """Reverse of `as_dict`.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is none of `as_dict`.
        """
        rules = Rules(**content["rules"])
        for field in fields(Rules):
            value, kind = getattr(rules, field.name), type(field.default)
            if kind in (bool, str) and type(value) is not kind:
                raise ValueError(f"{field.name}={value!r} is not possible: it is a {kind.__name__}")
        if not rules.name.isprintable():
            raise ValueError(f"name={rules.name!r} is not possible: it cannot be printed")
        players, choices = tuple(content["players"]), tuple(content["row_choices"])
        possible = range(2, min(rules.num_players, MAX_PLAYERS) + 1)
        ascending = all(low < high for low, high in pairwise(players))
        whole = all(type(count) is int and count in possible for count in players)
        if not whole or not ascending or players[-1:] != (rules.num_players,):
            raise ValueError(f"players={players} do not fit {in_words(rules)}, the largest game")
        if not choices or not set(choices) <= set(ROW_CHOICES):
            raise ValueError(f"row_choices={choices} are not known: some of {list(ROW_CHOICES)}")
        return cls(rules, players, choices)


def scope_of(rules: list[Rules]) -> Scope:
    """Make the scope of a network that learns several games at once, which are of one kind.

    Raises
    ------
    ValueError
        If they are not.
    """
    largest = replace(max(rules, key=lambda r: r.num_players), row_choice="player")
    players = tuple(sorted({r.num_players for r in rules}))
    choices = {r.row_choice for r in rules}
    scope = Scope(largest, players, tuple(c for c in ROW_CHOICES if c in choices))
    for each in rules:
        scope.check(each)
    return scope


def in_words(rules: Rules) -> str:
    """Name of the game, its players and its row choice."""
    choice = f", row_choice={rules.row_choice}" if rules.low_card == "take" else ""
    return f"{rules.name} with {rules.num_players} players{choice}"
