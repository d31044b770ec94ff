"""A round as text that people can read, write and send: `write`, `read` and `replay` it.

    sixnimmt record 1
    variant: base
    players: 2
    row_choice: player

    row 1: 60
    row 2: 36 37 38 39 40
    row 3: 70
    row 4: 90
    hand 0: 29
    hand 1: 62

    turn 1: 29 62 > row 2
    heads: 7 0

One `key: value` per line, in this order. Rows count from 1, seats from 0. `#` starts a comment,
empty lines mean nothing. `docs/notation.md` describes every line.
"""

from __future__ import annotations

from typing import Any, Final

from sixnimmt_env.cards import NUM_CARDS, NUM_ROWS
from sixnimmt_env.position import Position, PositionError
from sixnimmt_env.record import Draft, Record, RecordError, Turn, record_of, replay, states
from sixnimmt_env.rules import MAX_TARGET, ROW_CHOICES, Rules, RulesError
from sixnimmt_env.variants import VARIANTS, make_rules

__all__ = [
    "Draft",
    "Record",
    "RecordError",
    "Turn",
    "read",
    "record_of",
    "replay",
    "states",
    "write",
]

HEADER: Final = "sixnimmt record 1"


def write(record: Record) -> str:
    """Text of a record, ending in a newline; `read` gives the same record back.

    The record is written as it is: `replay` tells whether it can be played.
    """
    rules = record.rules
    lines = [
        HEADER,
        f"variant: {rules.name}",
        f"players: {rules.num_players}",
        f"row_choice: {rules.row_choice}",
        "",
        *_start_lines(record.start),
        "",
    ]
    for number, turn in enumerate(record.turns, 1):
        row = f" > row {turn.row}" if turn.row else ""
        lines.append(_line(f"turn {number}", turn.cards) + row)
    lines.append(_line("heads", record.heads))
    return "\n".join(lines) + "\n"


def _start_lines(start: Position | Draft) -> list[str]:
    if isinstance(start, Draft):
        picks = [_line(f"picks {seat}", cards) for seat, cards in enumerate(start.picks)]
        return [f"first_seat: {start.first_seat}", *picks]
    lines = [_line(f"row {number}", row) for number, row in enumerate(start.rows, 1)]
    lines += [_line(f"hand {seat}", hand) for seat, hand in enumerate(start.hands)]
    if start.piles is not None:
        lines += [_line(f"pile {seat}", pile) for seat, pile in enumerate(start.piles)]
    if start.scores is not None:
        lines.append(_line("scores", start.scores))
    return lines


def _line(key: str, numbers: Any) -> str:
    return " ".join([f"{key}:", *(str(number) for number in numbers)])


def read(text: str) -> Record:
    """Record from its text, which is checked to the end by playing it.

    Parameters
    ----------
    text : str
        What `write` gives, or a person has typed.

    Returns
    -------
    Record
        One that `replay` plays without an error.

    Raises
    ------
    RecordError
        At the first thing that is wrong, with the number of its line (`where`), what was found
        and what is expected there.
    """
    lines = _Lines(text)
    rules = _read_rules(lines)
    start = _read_draft(lines, rules) if lines.next_is("first_seat") else _read_start(lines, rules)
    turns: list[Turn] = []
    while lines.next_is("turn"):
        turns.append(_read_turn(lines, rules, len(turns) + 1))
    heads = lines.numbers("heads", 0, MAX_TARGET, rules.num_players)
    lines.end()
    record = Record(rules, start, turns, heads)
    try:
        replay(record)
    except (RecordError, PositionError) as error:
        raise lines.error(error.where, error.problem) from None
    return record


def _read_rules(lines: _Lines) -> Rules:
    variant = lines.value("variant", f"one of {sorted(VARIANTS)}")
    if variant not in VARIANTS:
        raise lines.error("variant", f"found {variant!r}, expected one of {sorted(VARIANTS)}")
    players = lines.numbers("players", 0, NUM_CARDS, 1)[0]
    row_choice = lines.value("row_choice", f"one of {list(ROW_CHOICES)}")
    if row_choice not in ROW_CHOICES:
        raise lines.error("row_choice", f"found {row_choice!r}, expected one of {ROW_CHOICES}")
    try:
        return make_rules(variant, players, row_choice=row_choice)
    except RulesError as error:
        raise lines.error("players", str(error)) from None


def _read_start(lines: _Lines, rules: Rules) -> Position:
    cards, seats = rules.num_cards, range(rules.num_players)
    rows = [lines.numbers(f"row {number}", 1, cards) for number in range(1, NUM_ROWS + 1)]
    hands = [lines.numbers(f"hand {seat}", 1, cards) for seat in seats]
    piles = scores = None
    if lines.next_is("pile"):
        piles = [lines.numbers(f"pile {seat}", 1, cards) for seat in seats]
    if lines.next_is("scores"):
        scores = lines.numbers("scores", 0, MAX_TARGET, rules.num_players)
    return Position(rows, hands, piles, scores)


def _read_draft(lines: _Lines, rules: Rules) -> Draft:
    first_seat = lines.numbers("first_seat", 0, rules.num_players - 1, 1)[0]
    seats = range(rules.num_players)
    return Draft(first_seat, [lines.numbers(f"picks {s}", 1, rules.num_cards) for s in seats])


def _read_turn(lines: _Lines, rules: Rules, number: int) -> Turn:
    key = f"turn {number}"
    cards, arrow, choice = lines.value(key, "a card of every seat").partition(">")
    row = 0
    if arrow:
        words = choice.split()
        known = [str(i) for i in range(1, NUM_ROWS + 1)]
        if len(words) != 2 or words[0] != "row" or words[1] not in known:
            raise lines.error(
                key, f"found '>{choice}', expected '> row' and a number 1 to {NUM_ROWS}"
            )
        row = int(words[1])
    numbers = lines.parse(key, cards, 1, rules.num_cards, rules.num_players)
    return Turn(tuple(numbers), row)


class _Lines:
    """The lines of a record, taken one after the other, and where each key was."""

    def __init__(self, text: str) -> None:
        whole = text.splitlines()
        bare = [line.partition("#")[0].strip() for line in whole]
        self.lines = [(number, line) for number, line in enumerate(bare, 1) if line]
        self.last = len(whole)
        self.at = 0
        self.found: dict[str, int] = {}
        if self._peek() != HEADER:
            raise self._unexpected(f"the first line {HEADER!r}")
        self.at = 1

    def next_is(self, word: str) -> bool:
        """Whether the key of the next line begins with this word."""
        key = self._peek().partition(":")[0].split()
        return bool(key) and key[0] == word

    def value(self, key: str, expected: str) -> str:
        """Take the next line, which has to have this key, and return its value."""
        found, colon, value = self._peek().partition(":")
        if not colon or found.split() != key.split():
            raise self._unexpected(f"'{key}: ' and {expected}")
        self.found[key] = self.lines[self.at][0]
        self.at += 1
        return value.strip()

    def numbers(self, key: str, low: int, high: int, count: int | None = None) -> list[int]:
        """Take the next line and return its numbers, `count` of them."""
        amount = "numbers" if count is None else f"{count} numbers"
        return self.parse(key, self.value(key, f"{amount} {low} to {high}"), low, high, count)

    def parse(
        self, key: str, value: str, low: int, high: int, count: int | None = None
    ) -> list[int]:
        """Numbers of a value, each of them from `low` to `high`."""
        words = value.split()
        for word in words:
            # A length that int() would take seconds for, or refuse, is no number of a game.
            whole = word.isascii() and word.isdecimal() and len(word) <= len(str(high))
            if not whole or not low <= int(word) <= high:
                raise self.error(key, f"found {word!r}, expected a number {low} to {high}")
        if count is not None and len(words) != count:
            raise self.error(key, f"found {len(words)} numbers, expected {count}")
        return [int(word) for word in words]

    def end(self) -> None:
        """Raise an error if there is anything left."""
        if self.at < len(self.lines):
            raise self._unexpected("nothing after the heads")

    def error(self, where: str, problem: str) -> RecordError:
        """Error about a line already taken, or about several if `where` is no single one."""
        first_word = [line for key, line in self.found.items() if key.split()[0] in where]
        line = self.found.get(where, first_word[0] if first_word else self.last)
        return RecordError(f"line {line}", f"{where}: {problem}")

    def _peek(self) -> str:
        return self.lines[self.at][1] if self.at < len(self.lines) else ""

    def _unexpected(self, expected: str) -> RecordError:
        if self.at < len(self.lines):
            number, line = self.lines[self.at]
            return RecordError(f"line {number}", f"found {line!r}, expected {expected}")
        return RecordError(f"line {self.last}", f"the record ends here, expected {expected}")
