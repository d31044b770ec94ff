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

One `key: value` per line, in this order. Rows count from 1, seats from 0. A 0 card is `0`, two
cards of a seat are `49+0`, none is `-`. `#` starts a comment, empty lines mean nothing.
`docs/notation.md` describes every line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Final

from sixnimmt_env.cards import NUM_CARDS, NUM_ROWS, ZERO
from sixnimmt_env.position import Position, PositionError, piles_of
from sixnimmt_env.record import Draft, Record, RecordError, Turn, check_types, record_of
from sixnimmt_env.replay import replay, states
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
_BYTE_ORDER_MARK: Final = "\ufeff"
# Longest text of a line that an error repeats.
_SHOWN: Final = 40


def write(record: Record) -> str:
    """Text of a record, ending in a newline; `read` gives the same record back.

    The record is written as it is: `replay` tells whether it can be played.

    Raises
    ------
    RecordError, PositionError
        If something in it is of a wrong type.
    TypeError
        If it is no record.
    """
    check_types(record)
    rules = record.rules
    lines = [
        HEADER,
        f"variant: {rules.name}",
        f"players: {rules.num_players}",
        f"row_choice: {rules.row_choice}",
        "",
        *_start_lines(record.start, rules),
        "",
    ]
    for number, turn in enumerate(record.turns, 1):
        row = f" > row {turn.row}" if turn.row else ""
        lines.append(_line(f"turn {number}", _choices(turn)) + row)
    lines.append(_line("heads", record.heads))
    return "\n".join(lines) + "\n"


def _start_lines(start: Position | Draft, rules: Rules) -> list[str]:
    drafted = isinstance(start, Draft)
    lines = [f"first_seat: {start.first_seat}"] if drafted or rules.one_by_one else []
    if isinstance(start, Draft):
        lines += [_line(f"picks {seat}", cards) for seat, cards in enumerate(start.picks)]
    else:
        lines += [_line(f"row {number}", row) for number, row in enumerate(start.rows, 1)]
        hands, piles = enumerate(start.hands), enumerate(piles_of(start))
        lines += [_line(f"hand {seat}", map(_card, hand)) for seat, hand in hands]
        lines += [_line(f"pile {seat}", map(_card, pile)) for seat, pile in piles]
    if start.scores is not None:
        lines.append(_line("scores", start.scores))
    return lines


def _choices(turn: Turn) -> list[str]:
    words = []
    for card, second in zip_longest(turn.cards, turn.second, fillvalue=0):
        word = _card(card) if card else "-"
        words.append(f"{word}+{_card(second)}" if second else word)
    return words


def _card(card: int) -> str:
    return "0" if card == ZERO else str(card)


def _line(key: str, words: Iterable[object]) -> str:
    return " ".join([f"{key}:", *map(str, words)])


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
    TypeError
        If it is no text.
    """
    if not isinstance(text, str):
        raise TypeError(
            f"found {type(text).__name__}, expected the text of a record as str (bytes have to be "
            "decoded, files to be read first)"
        )
    lines = _Lines(text.removeprefix(_BYTE_ORDER_MARK))
    rules = _read_rules(lines)
    drafted = lines.next_is("first_seat") and not rules.one_by_one
    start = _read_draft(lines, rules) if drafted else _read_start(lines, rules)
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
        raise lines.error("variant", f"found {_shown(variant)}, expected one of {sorted(VARIANTS)}")
    players = lines.numbers("players", 0, NUM_CARDS, 1)[0]
    try:
        rules = make_rules(variant, players)
    except RulesError as error:
        raise lines.error("players", str(error)) from None
    if rules.low_card == "append" and not lines.next_is("row_choice"):
        return rules
    row_choice = lines.value("row_choice", f"one of {list(ROW_CHOICES)}")
    if row_choice not in ROW_CHOICES:
        raise lines.error(
            "row_choice", f"found {_shown(row_choice)}, expected one of {ROW_CHOICES}"
        )
    try:
        return make_rules(variant, players, row_choice=row_choice)
    except RulesError as error:
        raise lines.error("row_choice", str(error)) from None


def _read_start(lines: _Lines, rules: Rules) -> Position:
    cards, seats, zero = rules.num_cards, range(rules.num_players), _zero(rules)
    first_seat = _read_seat(lines, rules) if rules.one_by_one else 0
    rows = [lines.numbers(f"row {number}", 1, cards) for number in range(1, NUM_ROWS + 1)]
    hands = [lines.numbers(f"hand {seat}", 1, cards, also=zero) for seat in seats]
    piles = None
    if lines.next_is("pile"):
        piles = [lines.numbers(f"pile {seat}", 1, cards, also=zero) for seat in seats]
    return Position(rows, hands, piles, _read_scores(lines, rules), first_seat)


def _read_scores(lines: _Lines, rules: Rules) -> list[int] | None:
    if lines.next_is("scores"):
        return lines.numbers("scores", 0, MAX_TARGET, rules.num_players)
    return None


def _zero(rules: Rules) -> dict[str, int]:
    return {"0": ZERO} if rules.zeros else {}


def _read_seat(lines: _Lines, rules: Rules) -> int:
    return lines.numbers("first_seat", 0, rules.num_players - 1, 1)[0]


def _read_draft(lines: _Lines, rules: Rules) -> Draft:
    first_seat = _read_seat(lines, rules)
    seats = range(rules.num_players)
    picks = [lines.numbers(f"picks {seat}", 1, rules.num_cards) for seat in seats]
    return Draft(first_seat, picks, _read_scores(lines, rules))


def _read_turn(lines: _Lines, rules: Rules, number: int) -> Turn:
    key = f"turn {number}"
    cards, arrow, choice = lines.value(key, "a card of every seat").partition(">")
    row = 0
    if arrow:
        words = choice.split()
        known = [str(i) for i in range(1, NUM_ROWS + 1)]
        if len(words) != 2 or words[0] != "row" or words[1] not in known:
            raise lines.error(
                key, f"found {_shown('>' + choice)}, expected '> row' and a number 1 to {NUM_ROWS}"
            )
        row = int(words[1])
    words = "+".join(part.strip() for part in cards.split("+")).split()
    choices = [_read_choice(lines, key, word, rules) for word in words]
    lines.check_count(key, words, rules.num_players)
    first = tuple(choice[0] for choice in choices)
    if rules.cards_per_turn == 1:
        return Turn(first, row)
    return Turn(first, row, tuple(choice[1] for choice in choices))


def _read_choice(lines: _Lines, key: str, word: str, rules: Rules) -> tuple[int, int]:
    """First and second card of a seat, 0 for none."""
    cards, most = word.split("+"), rules.cards_per_turn
    if len(cards) > most:
        raise lines.error(
            key, f"found {_shown(word)}, {len(cards)} cards of a seat, expected {most} at most"
        )
    if len(cards) > 1 and not {"", "-"}.isdisjoint(cards):
        raise lines.error(
            key, f"found {_shown(word)}, expected one card, or two such as 49+0, or '-' alone"
        )
    none = {"-": 0} if len(cards) == 1 and (most > 1 or rules.one_by_one) else {}
    numbers = [lines.number(key, card, 1, rules.num_cards, _zero(rules) | none) for card in cards]
    return numbers[0], numbers[1] if len(numbers) > 1 else 0


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


class _Lines:
    """The lines of a record, taken one after the other, and where each key was."""

    def __init__(self, text: str) -> None:
        whole = text.splitlines()
        bare = [line.partition("#")[0].strip() for line in whole]
        self.lines = [(number, line) for number, line in enumerate(bare, 1) if line]
        self.last = len(whole)
        self.at = 0
        self.found: dict[str, int] = {}
        if not self.lines:
            raise RecordError("line 1", f"the text is empty, expected the first line {HEADER!r}")
        if self._peek() != HEADER:
            raise self._unexpected(f"the text of a record, with the first line {HEADER!r}")
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

    def numbers(
        self,
        key: str,
        low: int,
        high: int,
        count: int | None = None,
        also: Mapping[str, int] | None = None,
    ) -> list[int]:
        """Take the next line and return its numbers, `count` of them."""
        amount = "numbers" if count is None else f"{count} numbers"
        words = self.value(key, f"{amount} {low} to {high}").split()
        numbers = [self.number(key, word, low, high, also or {}) for word in words]
        if count is not None:
            self.check_count(key, words, count)
        return numbers

    def number(self, key: str, word: str, low: int, high: int, also: Mapping[str, int]) -> int:
        """Give the number that a word means: one from `low` to `high`, or what `also` says."""
        if word in also:
            return also[word]
        # A length that int() would take seconds for, or refuse, is no number of a game.
        whole = word.isascii() and word.isdecimal() and len(word) <= len(str(high))
        if not whole or not low <= int(word) <= high:
            known = " or ".join([f"a number {low} to {high}", *also])
            raise self.error(key, f"found {_shown(word)}, expected {known}")
        return int(word)

    def check_count(self, key: str, words: list[str], count: int) -> None:
        """Raise an error if there are more or fewer words."""
        if len(words) != count:
            raise self.error(key, f"found {len(words)} numbers, expected {count}")

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
            return RecordError(f"line {number}", f"found {_shown(line)}, expected {expected}")
        return RecordError(f"line {self.last}", f"the record ends here, expected {expected}")
