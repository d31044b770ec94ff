"""A game as text for a terminal.

Every card is shown with its bull heads as a small raised number: `55⁷` is card 55 with 7 heads, `0`
a 0 card, which has none. In ASCII that is `55^7`, for terminals that know no raised numbers.
Colours only repeat what the text says, and are left out where the environment variable
`NO_COLOR` is set (https://no-color.org).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Final

import numpy as np

from sixnimmt_env.cards import BULL_HEADS, NUM_ROWS, ROW_CAPACITY, ZERO
from sixnimmt_env.checks import number_below
from sixnimmt_env.position import pile_of
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, OVER, PLAY, POOL, SECOND, TAKE, State, check_fits

_RAISED: Final = "⁰¹²³⁴⁵⁶⁷"
_COLOUR_OF_HEADS: Final = {0: "", 1: "", 2: "36", 3: "33", 5: "31", 7: "1;35"}
_BETWEEN: Final = "·"
# Columns for the cards in a line of 80.
_POOL_WIDTH: Final = 75
_HAND_WIDTH: Final = 60
_PILE_WIDTH: Final = 50


def show(state: State, rules: Rules, game: int = 0, seat: int | None = None) -> None:
    """Print what `render` returns, in ASCII where stdout cannot encode all of it."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        (_RAISED + _BETWEEN).encode(encoding)
        table = render(state, rules, game, seat)
        table.encode(encoding)  # the name of a game may be in any language
    except (UnicodeEncodeError, LookupError):  # or an encoding that nobody knows
        table = render(state, rules, game, seat, ascii_only=True)
    print(table)


def render(
    state: State,
    rules: Rules,
    game: int = 0,
    seat: int | None = None,
    ascii_only: bool = False,
) -> str:
    """Draw the table of one game.

    Parameters
    ----------
    state : State
        Games by `rules`.
    rules : Rules
        What is played.
    game : int
        Which game.
    seat : int, optional
        Show what this seat may see: hands of the others are hidden, unless the game is played
        with open hands, and so are first cards that they have committed face down. All of it is
        shown if left out.
    ascii_only : bool
        Write `55^7` instead of `55⁷`, and nothing else that is not ASCII.

    Returns
    -------
    str
        Several lines, the last one without a newline: the rows, what was just played in the
        order of placement, hands and piles of all seats, and who must choose what.

    Raises
    ------
    ValueError
        If there is no such game or seat, or the State is of another game than `rules`.
    """
    check_fits(state, rules)
    game = number_below("game", game, state.num_games)
    seat = seat if seat is None else number_below("seat", seat, state.num_players)
    table = _Table(state.take([game]), rules, seat, not os.environ.get("NO_COLOR"), ascii_only)
    parts = [table.title(), table.rows(), table.last_turn(), table.seats(), table.decision()]
    text = "\n\n".join("\n".join(lines) for lines in parts if lines)
    return text.encode("ascii", "backslashreplace").decode() if ascii_only else text


class _Table:
    """One game and how to show it; every method returns lines."""

    def __init__(
        self, state: State, rules: Rules, seat: int | None, colour: bool, ascii_only: bool
    ) -> None:
        self.state = state
        self.rules = rules
        self.seat = seat
        self.colour = colour
        self.ascii_only = ascii_only
        # Columns of a card, with room before the widest one.
        self.width = 6 if ascii_only else 5
        self.no_card = " " * (self.width - 1)
        self.phase = int(state.phase[0])
        self.turn = int(state.turn[0])

    def title(self) -> list[str]:
        rules, size = self.rules, self.rules.hand_size
        parts = [f"6 nimmt! {rules.name}, {rules.num_players} players"]
        if rules.episode == "match":
            until = f"to {rules.target} heads" if rules.target else f"of {rules.rounds}"
            parts.append(f"round {int(self.state.round[0]) + 1} {until}")
        if self.phase == DRAFT:
            parts.append(f"pick {self.turn + 1} of {size * rules.num_players}")
        else:
            turn = f"turn {self.turn + (self.phase != OVER)}"
            # With two cards in a turn nobody knows how many turns there will be.
            parts.append(turn if rules.cards_per_turn > 1 else f"{turn} of {size}")
        return [self._paint((" - " if self.ascii_only else f" {_BETWEEN} ").join(parts), "1")]

    def rows(self) -> list[str]:
        if self.phase == DRAFT:
            return self._pool()
        lines = []
        for number, row in enumerate(self.state.rows[..., 0], 1):
            cards = [int(card) for card in row if card]
            gap = " " * self.width * (ROW_CAPACITY - len(cards))
            heads = f"{_heads(int(self.state.row_heads[number - 1, 0]), 3):<9}"
            note = {ROW_CAPACITY: "full, the next card takes it", ROW_CAPACITY - 1: "room for one"}
            mark = "!" if len(cards) == ROW_CAPACITY else " "
            line = f"{mark} row {number}  {self._cards(cards)}{gap}  {heads}"
            lines.append(f"{line}  {note.get(len(cards), '')}".rstrip())
        return lines

    def _pool(self) -> list[str]:
        pool = np.flatnonzero(self.state.location[:, 0] == POOL).tolist()
        return ["Cards to pick from", *(f"  {line}" for line in self._wrapped(pool, _POOL_WIDTH))]

    def last_turn(self) -> list[str]:
        state = self.state
        started = bool(state.played.any())
        # At the very start and in a draft the queue says nothing of interest.
        if self.phase == DRAFT or not (started or state.round[0]):
            return []
        lines = self._zeros_set_aside() if started else []
        for i, entry in enumerate(state.queue[:, 0].tolist()):
            card, seat = entry >> 8 & 127, entry & 15
            row, heads = int(state.placed_row[i, 0]), int(state.placed_heads[i, 0])
            if heads:
                fate = f"takes row {row}: {_heads(heads)}"
            else:
                fate = f"to row {row}" if row else "waits"
            if card:
                lines.append(f"  {self._cards([card])}  seat {seat} {fate}")
        when = "Just played" if started else "Last turn of the round before"
        return [when, *lines] if lines else []

    def _zeros_set_aside(self) -> list[str]:
        """Say who played 0 cards when cards were last revealed in this round."""
        players = self.rules.num_players
        played = self.state.played[..., 0].reshape(players, -1, self.rules.cards_per_turn)
        last = int(np.flatnonzero(played.any(axis=(0, 2)))[-1])
        zeros = (played[:, last] == ZERO).sum(axis=1)
        last_seat = (int(self.state.actor[0]) - 1) % players
        seats = [last_seat] if self.rules.one_by_one else range(players)
        return [
            f"  {self._cards([ZERO] * int(zeros[seat]))}  seat {seat} sets aside"
            for seat in seats
            if zeros[seat]
        ]

    def seats(self) -> list[str]:
        acting = self.state.acting()[:, 0]
        lines = []
        for seat in range(self.rules.num_players):
            mark = self._paint("*", "1") if acting[seat] else " "
            first, *more = self._hand(seat) or [f"{self.no_card}-"]
            lines += [f"{mark} seat {seat}  hand  {first}", *_indented(more), *self._pile(seat)]
        return lines

    def _hand(self, seat: int) -> list[str]:
        cards = [int(card) for card in self.state.hand[seat, :, 0] if card]
        if self.seat not in (None, seat) and not self.rules.open_hands:
            size, most = len(cards), _HAND_WIDTH // self.width
            return [f"{self.no_card}?" * min(most, size - i) for i in range(0, size, most)]
        lines = self._wrapped(cards, _HAND_WIDTH)
        committed = int(self.state.committed[seat, 0]) if self.phase == SECOND else 0
        if committed:
            lines = lines or [f"{self.no_card}-"]
            lines.append(f"  + first card {self._cards([committed]).strip()}")
        return lines

    def _pile(self, seat: int) -> list[str]:
        total = _heads(int(self.state.pile_heads[seat, 0]))
        score = int(self.state.score[seat, 0])
        if self.rules.episode == "match" or score:
            total += f", {int(self.state.totals()[seat, 0])} in all"
        lines = self._wrapped(pile_of(self.state, seat), _PILE_WIDTH)
        first = f"          pile  {lines[0] if lines else self.no_card + '-'}  {total}"
        return [first, *_indented(lines[1:])]

    def _wrapped(self, cards: list[int], columns: int) -> list[str]:
        most = columns // self.width
        return [self._cards(cards[i : i + most]) for i in range(0, len(cards), most)]

    def decision(self) -> list[str]:
        seat = int(self.state.actor[0])
        if self.phase == PLAY:
            if self.rules.one_by_one:
                return [f"Seat {seat} plays a card."]
            if self.rules.cards_per_turn > 1:
                return ["All who hold cards choose a first card."]
            return ["All choose a card."]
        if self.phase == SECOND:
            return ["All who hold cards choose a second card, or none."]
        if self.phase == DRAFT:
            return [f"Seat {seat} picks a card."]
        if self.phase == TAKE:
            card = next(c >> 8 for c in self.state.queue[:, 0].tolist() if c & 15 == seat)
            return [f"Seat {seat} chooses the row that card {card} takes, 1 to {NUM_ROWS}."]
        totals = self.state.totals()[:, 0]
        most = totals.max() if self.rules.collect else totals.min()
        best = np.flatnonzero(totals == most)
        names = " and ".join(f"seat {i}" for i in best)
        return [f"Over: {names} {'win' if len(best) > 1 else 'wins'} with {_heads(most)}."]

    def _cards(self, cards: Iterable[int]) -> str:
        """Cards of the same width, so that those above one another line up."""
        shown = []
        for card in cards:
            heads = 0 if card == ZERO else int(BULL_HEADS[card])
            raised = f"^{heads}" if self.ascii_only else _RAISED[heads]
            text = f"{card}{raised}" if heads else "0"
            shown.append(
                " " * (self.width - len(text)) + self._paint(text, _COLOUR_OF_HEADS[heads])
            )
        return "".join(shown)

    def _paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code else text


def _indented(lines: list[str]) -> list[str]:
    return [f"{' ' * 16}{line}" for line in lines]


def _heads(number: int, width: int = 0) -> str:
    return f"{number:{width}} head" if number == 1 else f"{number:{width}} heads"
