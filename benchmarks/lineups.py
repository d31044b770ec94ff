"""Who plays whom in an arena, and who sits where: `Config`, `Lineup` and `lineups`.

A lineup is a table of players that plays every deal in all rotations of the seats.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.players import PLAYERS, load_player, saved_file
from sixnimmt_env.checks import HIGHEST_SEED, one_of, whole
from sixnimmt_env.dealing import private_rng
from sixnimmt_env.engine import Engine
from sixnimmt_env.rules import MAX_PLAYERS, Rules
from sixnimmt_env.variants import make_rules

PARTS: Final = ("all", "tables", "cross")

# Deals in a chunk, the unit of work. Results depend on it (policies' chance is drawn per chunk),
# so it is the same whatever the number of processes.
CHUNK: Final = 50
# With more players than seats: all possible tables if there are no more than this ...
MOST_TABLES: Final = 50
# ... otherwise tables are drawn, at least so many for every player.
TABLES_EACH: Final = 6
# What fits into memory: players, deals of a lineup, and chunks of all lineups together.
MOST_PLAYERS: Final = 100
MOST_ROUNDS: Final = 1_000_000
MOST_CHUNKS: Final = 500_000


@dataclass(frozen=True)
class Config:
    """All that the results of an arena are a function of.

    Parameters
    ----------
    players : tuple of str
        What `agents.players.load_player` knows. The same one twice is two players.
    seats : int
        Players at a table.
    rounds : int
        Deals of every lineup (of the first round, in a match).
    variant, row_choice, episode, target
        See `make_rules`; None where nothing is said.
    seed : int
        Of the deals and of all chance of the players.
    split : int
        Also play this many of one player against the others of another, 0 for not.
    parts : {"all", "tables", "cross"}
        Tables of different players, the cross table of one against the others, or both.
    """

    players: tuple[str, ...]
    seats: int = 4
    rounds: int = 2000
    variant: str = "base"
    row_choice: str | None = None
    episode: str = "round"
    target: int | None = None
    seed: int = 0
    split: int = 0
    parts: str = "all"

    def __post_init__(self) -> None:
        for name in ("seats", "rounds", "target", "seed", "split"):
            value = getattr(self, name)
            if isinstance(value, np.integer):  # they overflow, and no file can hold them
                object.__setattr__(self, name, int(value))
        if isinstance(self.players, list):
            object.__setattr__(self, "players", tuple(self.players))

    @property
    def rules(self) -> Rules:
        """What is played."""
        options = {"row_choice": self.row_choice, "target": self.target}
        given = {name: value for name, value in options.items() if value is not None}
        return make_rules(self.variant, self.seats, episode=self.episode, **given)

    @property
    def names(self) -> tuple[str, ...]:
        """Unique names: the second "random" is "random#2"."""
        seen: Counter[str] = Counter()
        names = []
        for spec in self.players:
            seen[spec] += 1
            names.append(spec if seen[spec] == 1 else f"{spec}#{seen[spec]}")
        return tuple(names)

    @property
    def specs(self) -> dict[str, str]:
        """What each name is loaded from."""
        return dict(zip(self.names, self.players, strict=True))

    def check(self) -> None:
        """Refuse what cannot be played, without making any player: `Pool.check` does that.

        Raises
        ------
        ValueError
            Naming the value and what would be possible.
        FileNotFoundError
            If there is no such file of a saved network.
        """
        if not isinstance(self.players, tuple) or not self.players:
            raise ValueError(f"players={self.players!r}: a tuple of at least one name is needed")
        for name, low, high in (
            ("rounds", 1, MOST_ROUNDS),
            ("seed", 0, HIGHEST_SEED),
            ("split", 0, MAX_PLAYERS),
        ):
            why = f"a whole number from {low} to {high} is needed"
            whole(name, getattr(self, name), low, high, why)
        one_of("parts", self.parts, PARTS)
        if len(self.players) > MOST_PLAYERS:
            raise ValueError(
                f"{len(self.players)} players are not possible: at most {MOST_PLAYERS}"
            )
        for spec in self.players:
            _check_name(spec)
        Engine(self.rules)
        self._check_lineups()
        count = len(lineups(self)) * -(-self.rounds // CHUNK)
        if count > MOST_CHUNKS:
            raise ValueError(
                f"rounds={self.rounds} is not possible with {len(lineups(self))} lineups: at most "
                f"{MOST_CHUNKS // len(lineups(self)) * CHUNK}, or use fewer players"
            )

    def _check_lineups(self) -> None:
        if len(self.players) < 2:
            raise ValueError(f"players={self.players!r}: at least two are needed")
        if self.split and not 2 <= self.split <= self.seats - 2:
            raise ValueError(
                f"split={self.split} is not possible with {self.seats} seats: at least two of "
                "either player are needed, one against the others is always played"
            )
        if self.split and self.parts == "tables":
            raise ValueError(
                f"split={self.split} has no meaning with parts='tables': use 'all' or 'cross'"
            )
        if self.parts == "tables" and len(self.players) < self.seats:
            raise ValueError(
                f"parts='tables' is not possible: {len(self.players)} players do not fill a table "
                f"of {self.seats}"
            )


def _check_name(spec: object) -> None:
    """Refuse what cannot be a player, without loading anything."""
    if not isinstance(spec, str) or not spec or not spec.isprintable():
        raise ValueError(f"player {spec!r}: a name of characters that can be printed is needed")
    file = saved_file(spec)
    if file is not None:
        if not file.is_file():
            raise FileNotFoundError(f"player {spec!r}: there is no policy file {file}")
    elif ":" not in spec and spec not in PLAYERS:
        load_player(spec)  # says what is known


@dataclass(frozen=True)
class Lineup:
    """Players of a table.

    Attributes
    ----------
    kind : {"table", "one", "same", "split"}
        Different players; one against the others; all the same; several against the others.
    seats : tuple of str
        Names of the players at seats 0, 1, ... before any rotation. A place in it is a slot.
    """

    kind: str
    seats: tuple[str, ...]

    @property
    def name(self) -> str:
        """For people and files."""
        if self.kind == "table":
            return "table: " + ", ".join(self.seats)
        counts = Counter(self.seats)
        return " against ".join(f"{count} {player}" for player, count in counts.items())

    @property
    def players(self) -> tuple[str, ...]:
        """Every player once, in the order of slots."""
        return tuple(dict.fromkeys(self.seats))

    @property
    def key(self) -> int:
        """Of the lineup's random numbers: the same in every arena that has this lineup."""
        digest = hashlib.sha256(f"{self.kind} {self.name}".encode()).digest()
        return int.from_bytes(digest[:8], "little")

    @property
    def plays(self) -> int:
        """How many different rotations there are."""
        size = len(self.seats)
        turned = (self.seats[-r:] + self.seats[:-r] for r in range(1, size))
        return next((r for r, seats in enumerate(turned, 1) if seats == self.seats), size)

    def seating(self, deals: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Slot at each seat, shape (deals, plays, seats).

        Players of a table sit down in another random order on each deal, then rotate.
        """
        size = len(self.seats)
        order = np.tile(np.arange(size), (deals, 1))
        if self.kind == "table":
            order = rng.permuted(order, axis=1)
        seat = np.arange(size)
        return np.stack([order[:, (seat - r) % size] for r in range(self.plays)], axis=1)


@dataclass(frozen=True)
class Chunk:
    """The deals `CHUNK * number` ... of one lineup: what a process plays at once."""

    lineup: Lineup
    number: int
    rounds: int

    @property
    def deals(self) -> range:
        """Ids of the games."""
        start = CHUNK * self.number
        return range(start, min(start + CHUNK, self.rounds))

    @property
    def key(self) -> tuple[str, int]:
        """What names it in files."""
        return self.lineup.name, self.number

    def rng(self, seed: int, purpose: int) -> np.random.Generator:
        """Random numbers of this chunk alone: purpose 0 is the seating, then the players."""
        return private_rng([seed, self.lineup.key, self.number, purpose])


def lineups(config: Config) -> list[Lineup]:
    """All lineups of an arena."""
    names, size = config.names, config.seats
    made = []
    if config.parts != "cross" and len(names) >= size:
        tables = draw_tables(len(names), size, config.seed)
        made += [Lineup("table", tuple(names[i] for i in table)) for table in tables]
    if config.parts != "tables":
        made += [Lineup("same", (name,) * size) for name in names]
        made += [Lineup("one", (a, *(b,) * (size - 1))) for a, b in permutations(names, 2)]
        if config.split:
            half = 2 * config.split == size  # then "A against B" and "B against A" are the same
            pairs = (combinations if half else permutations)(names, 2)
            made += [Lineup("split", _alternating(a, b, config.split, size)) for a, b in pairs]
    return made


def _alternating(a: str, b: str, count: int, size: int) -> tuple[str, ...]:
    """`count` seats of `a`, as evenly among those of `b` as possible, the first at seat 0."""
    mine = {i * size // count for i in range(count)}
    return tuple(a if seat in mine else b for seat in range(size))


def draw_tables(players: int, size: int, seed: int) -> list[tuple[int, ...]]:
    """Tables of `size` players, every player at equally many.

    All possible tables if there are no more than `MOST_TABLES`. Otherwise drawn: whoever sat
    least often sits down next, among those who has met the others at the table least, ties by lot.
    """
    every = combinations(range(players), size)
    tables = [table for _, table in zip(range(MOST_TABLES + 1), every, strict=False)]
    if len(tables) <= MOST_TABLES:
        return tables
    each = next(e for e in range(TABLES_EACH, TABLES_EACH + size) if e * players % size == 0)
    rng = np.random.default_rng([seed, players, size])
    sat = np.zeros(players, int)
    met: NDArray[Any] = np.zeros((players, players), int)
    tables = []
    for _ in range(each * players // size):
        table: list[int] = []
        for _ in range(size):
            free = [i for i in range(players) if i not in table]
            cost = [(sat[i], met[i, table].sum(), rng.random()) for i in free]
            table.append(min(zip(cost, free, strict=True))[1])
        sat[table] += 1
        met[np.ix_(table, table)] += 1
        tables.append(tuple(sorted(table)))
    return tables


def chunks(config: Config, made: Sequence[Lineup]) -> list[Chunk]:
    """All chunks: the first of every lineup, then the second of every lineup, and so on."""
    count = -(-config.rounds // CHUNK)
    return [Chunk(lineup, k, config.rounds) for k in range(count) for lineup in made]
