"""A game as text for a terminal.

Every card is shown with its bull heads as a small raised number: `55⁷` is card 55 with 7 heads.
Colours only repeat what the text says, and are left out where the environment variable
`NO_COLOR` is set (https://no-color.org).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

import numpy as np

from sixnimmt_env.cards import BULL_HEADS, NUM_ROWS, ROW_CAPACITY
from sixnimmt_env.position import pile_of
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, PLAY, POOL, TAKE, State

_RAISED: Final = "⁰¹²³⁴⁵⁶⁷"
_COLOUR_OF_HEADS: Final = {1: "", 2: "36", 3: "33", 5: "31", 7: "1;35"}
# Cards in a line of 80 columns.
_POOL_WIDTH: Final = 15
_PILE_WIDTH: Final = 10


def render(state: State, rules: Rules, game: int = 0, seat: int | None = None) -> str:
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
        with open hands. All hands are shown if left out.

    Returns
    -------
    str
        Several lines, the last one without a newline: the rows, what was just played in the
        order of placement, hands and piles of all seats, and who must choose what.

    Raises
    ------
    ValueError
        If there is no such game or seat.
    """
    if not 0 <= game < state.num_games:
        raise ValueError(f"there is no game {game}: the games are 0 to {state.num_games - 1}")
    if seat is not None and not 0 <= seat < state.num_players:
        raise ValueError(f"there is no seat {seat}: the seats are 0 to {state.num_players - 1}")
    table = _Table(state.take([game]), rules, seat, colour=not os.environ.get("NO_COLOR"))
    parts = [table.title(), table.rows(), table.last_turn(), table.seats(), table.decision()]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


class _Table:
    """One game and how to show it; every method returns lines."""

    def __init__(self, state: State, rules: Rules, seat: int | None, colour: bool) -> None:
        self.state = state
        self.rules = rules
        self.seat = seat
        self.colour = colour
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
            parts.append(f"turn {min(self.turn + 1, size)} of {size}")
        return [self._paint(" · ".join(parts), "1")]

    def rows(self) -> list[str]:
        if self.phase == DRAFT:
            return self._pool()
        lines = []
        for number, row in enumerate(self.state.rows[..., 0], 1):
            cards = [int(card) for card in row if card]
            gap = "     " * (ROW_CAPACITY - len(cards))
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
        # At the very start and in a draft the queue says nothing of interest.
        earlier_round = self.turn == 0 and self.phase == PLAY and self.state.round[0] > 0
        if not (earlier_round or self.phase == TAKE or (self.turn and self.phase != DRAFT)):
            return []
        lines = []
        for i, entry in enumerate(self.state.queue[:, 0].tolist()):
            card, seat = entry >> 8, entry & 15
            row, heads = int(self.state.placed_row[i, 0]), int(self.state.placed_heads[i, 0])
            if heads:
                fate = f"takes row {row}: {_heads(heads)}"
            else:
                fate = f"to row {row}" if row else "waits"
            if card:
                lines.append(f"  {self._cards([card])}  seat {seat} {fate}")
        when = "Last turn of the round before" if earlier_round else "Just played"
        return [when, *lines] if lines else []

    def seats(self) -> list[str]:
        acting = self.state.acting()[:, 0]
        lines = []
        for seat in range(self.rules.num_players):
            mark = self._paint("*", "1") if acting[seat] else " "
            lines += [f"{mark} seat {seat}  hand  {self._hand(seat)}", *self._pile(seat)]
        return lines

    def _hand(self, seat: int) -> str:
        cards = [int(card) for card in self.state.hand[seat, :, 0] if card]
        if not cards:
            return "    -"
        if self.seat in (None, seat) or self.rules.open_hands:
            return self._cards(cards)
        return "    ?" * len(cards)

    def _pile(self, seat: int) -> list[str]:
        total = _heads(int(self.state.pile_heads[seat, 0]))
        score = int(self.state.score[seat, 0])
        if self.rules.episode == "match" or score:
            total += f", {int(self.state.totals()[seat, 0])} in all"
        lines = self._wrapped(pile_of(self.state, seat), _PILE_WIDTH)
        return [f"          pile  {lines[0] if lines else '    -'}  {total}"] + [
            f"{' ' * 16}{line}" for line in lines[1:]
        ]

    def _wrapped(self, cards: list[int], width: int) -> list[str]:
        return [self._cards(cards[i : i + width]) for i in range(0, len(cards), width)]

    def decision(self) -> list[str]:
        seat = int(self.state.actor[0])
        if self.phase == PLAY:
            return ["All choose a card."]
        if self.phase == DRAFT:
            return [f"Seat {seat} picks a card."]
        if self.phase == TAKE:
            card = next(c >> 8 for c in self.state.queue[:, 0].tolist() if c & 15 == seat)
            return [f"Seat {seat} chooses the row that card {card} takes, 1 to {NUM_ROWS}."]
        totals = self.state.totals()[:, 0]
        best = np.flatnonzero(totals == totals.min())
        names = " and ".join(f"seat {i}" for i in best)
        return [f"Over: {names} {'win' if len(best) > 1 else 'wins'} with {_heads(totals.min())}."]

    def _cards(self, cards: Iterable[int]) -> str:
        """Cards five columns wide each, so that those above one another line up."""
        shown = []
        for card in cards:
            heads = int(BULL_HEADS[card])
            text = f"{card}{_RAISED[heads]}"
            shown.append(" " * (5 - len(text)) + self._paint(text, _COLOUR_OF_HEADS[heads]))
        return "".join(shown)

    def _paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code else text


def _heads(number: int, width: int = 0) -> str:
    return f"{number:{width}} head" if number == 1 else f"{number:{width}} heads"
