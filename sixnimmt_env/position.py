"""Any position by hand: plain lists of card numbers make a playable State, and back.

    >>> from sixnimmt_env.position import Position
    >>> from sixnimmt_env.variants import make_rules
    >>> rules = make_rules("base", num_players=2)
    >>> state = Position(rows=[[60], [36, 37, 38], [70], [90]], hands=[[29], [62]]).state(rules)

Rows are numbered from 1 and seats from 0, here as everywhere. A 0 card is written 109, which is
`cards.ZERO`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sixnimmt_env.cards import BULL_HEADS, NUM_ROWS, ROW_CAPACITY, ZERO
from sixnimmt_env.checks import is_whole, number_below
from sixnimmt_env.rules import MAX_TARGET, Rules, check_rules
from sixnimmt_env.state import HAND, PHASE_NAMES, PILE, PLAY, TABLE, State, check_fits


class PositionError(ValueError):
    """A position that cannot be; the message says where, what was found and what is possible.

    Attributes
    ----------
    where : str
        The part that is wrong, for example "row 2", "hand 0" or "scores".
    problem : str
        What is wrong with it.
    """

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.problem = problem


@dataclass(slots=True)
class Position:
    """One game in which nobody's card waits to be placed, in plain lists of card numbers.

    Parameters
    ----------
    rows : list of list of int
        The four rows, each of 1 to 5 cards, without 0 cards. They ascend, unless low cards are
        appended in this game.
    hands : list of list of int
        Cards of each seat in any order. Turns played so far follow from it: `rules.hand_size`
        minus the size of the largest hand. All hands are equally large, except where two cards
        may be played in a turn (any sizes, some may be empty) and where seats play one after the
        other (those who have played in this turn hold one card less).
    piles : list of list of int, optional
        Cards each seat has taken in this round and 0 cards it has played, in any order; nothing
        if left out.
    scores : list of int, optional
        Bull heads of each seat from earlier rounds; all 0 if left out.
    first_seat : int
        Seat that plays first in this round where seats play one after the other; 0 elsewhere.
    """

    rows: list[list[int]]
    hands: list[list[int]]
    piles: list[list[int]] | None = None
    scores: list[int] | None = None
    first_seat: int = 0

    def check(self, rules: Rules) -> None:
        """Raise a `PositionError` if this is no position of a game by `rules`."""
        check_rules(rules)
        _check_rows(self.rows)
        _check_first_seat(self.first_seat, rules)
        _check_hands(self.hands, rules)
        if rules.one_by_one:
            _check_turn([len(hand) for hand in self.hands], self.first_seat)
        if self.piles is not None:
            _check_count("piles", self.piles, rules)
        if self.scores is not None:
            check_scores(self.scores, rules)
        _check_cards(self, rules)

    def state(self, rules: Rules) -> State:
        """State of one game in this position, in phase `PLAY`.

        The game has no past: `played`, `row_taken` and the last turn's queue are empty, and
        `starters` are known only where no card has been played. If it is a match, it continues
        as round 1 of game 0 of seed 0.

        Raises
        ------
        PositionError
            If this is no position of a game by `rules`.
        """
        return stack([self], rules)


def stack(positions: Sequence[Position], rules: Rules) -> State:
    """State of one game per position, in that order.

    Parameters
    ----------
    positions : sequence of Position
        As many as there shall be games, B.
    rules : Rules
        What is played.

    Returns
    -------
    State
        B games in phase `PLAY`.

    Raises
    ------
    PositionError
        If one of them is no position of a game by `rules`.
    TypeError
        If one of them is no Position at all.
    """
    check_rules(rules)
    for position in positions:
        if not isinstance(position, Position):
            raise TypeError(f"found {position!r}: every game is given as a Position")
        position.check(rules)
    state = State.empty(rules, len(positions))
    state.phase[...] = PLAY
    state.cursor[...] = rules.queue_size
    for game, position in enumerate(positions):
        _fill(state, game, position, rules)
    return state


def position_of(state: State, rules: Rules, game: int = 0) -> Position:
    """Position of one game of a State, the inverse of `Position.state`.

    Hands and piles come out ascending, with the 0 cards at the end.

    Raises
    ------
    ValueError
        If the game is not in phase `PLAY`, but over, drafting or in the middle of a turn, or
        there is no such game.
    """
    check_fits(state, rules)
    game = number_below("game", game, state.num_games)
    phase = int(state.phase[game])
    if phase != PLAY:
        raise ValueError(
            f"game {game} is in phase {PHASE_NAMES[phase]!r}: only a game in which all players "
            f"choose a card (phase {PHASE_NAMES[PLAY]!r}) is a position"
        )
    seats = range(rules.num_players)
    return Position(
        rows=[[int(card) for card in row if card] for row in state.rows[..., game]],
        hands=[[int(card) for card in hand if card] for hand in state.hand[..., game]],
        piles=[pile_of(state, seat, game) for seat in seats],
        scores=[int(score) for score in state.score[:, game]],
        first_seat=int(state.first_seat[game]) if rules.one_by_one else 0,
    )


def pile_of(state: State, seat: int, game: int = 0) -> list[int]:
    """Cards that a seat has taken in this round, ascending, then the 0 cards it has played.

    Raises
    ------
    ValueError
        If there is no such seat or game.
    """
    seat = number_below("seat", seat, state.num_players)
    game = number_below("game", game, state.num_games)
    taken = [int(card) for card in np.flatnonzero(state.location[:, game] == PILE + seat)]
    zeros = int(state.zeros_played[seat, game]) if len(state.zeros_played) else 0
    return taken + [ZERO] * zeros


def _check_count(name: str, lists: Sequence[object], rules: Rules) -> None:
    if not is_list(lists) or len(lists) != rules.num_players:
        found = f"{len(lists)} given" if is_list(lists) else f"found {lists!r}"
        raise PositionError(name, f"{found}, but there are {rules.num_players} players, one each")


def is_list(value: object) -> bool:
    """Whether this is a list, a tuple or an array that is more than one number."""
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _check_rows(rows: Sequence[Sequence[int]]) -> None:
    if not is_list(rows) or len(rows) != NUM_ROWS:
        raise PositionError("rows", f"found {rows!r}, but there are exactly {NUM_ROWS} rows")
    for number, row in enumerate(rows, 1):
        if not is_list(row) or not 1 <= len(row) <= ROW_CAPACITY:
            raise PositionError(
                f"row {number}", f"found {row!r}, but a row is a list of 1 to {ROW_CAPACITY} cards"
            )


def _check_first_seat(first_seat: int, rules: Rules) -> None:
    highest = rules.num_players - 1 if rules.one_by_one else 0
    if not is_whole(first_seat) or not 0 <= first_seat <= highest:
        seats = f"seats are 0 to {highest}" if rules.one_by_one else f"{rules.name} knows only 0"
        raise PositionError("first_seat", f"found {first_seat!r}, but {seats}")


def _check_hands(hands: Sequence[Sequence[int]], rules: Rules) -> None:
    _check_count("hands", hands, rules)
    even = rules.cards_per_turn == 1 and not rules.one_by_one
    fewest = 1 if even else 0
    for seat, hand in enumerate(hands):
        if not is_list(hand) or not fewest <= len(hand) <= rules.hand_size:
            raise PositionError(
                f"hand {seat}",
                f"found {hand!r}, but a hand is a list of {fewest} to {rules.hand_size} cards",
            )
        if even and len(hand) != len(hands[0]):
            raise PositionError(
                f"hand {seat}",
                f"{len(hand)} cards, but hand 0 has {len(hands[0])}: all hands are equally large",
            )
    if not any(len(hand) for hand in hands):
        raise PositionError("hands", "all are empty, but somebody has to play")


def _check_turn(sizes: list[int], first_seat: int) -> None:
    done = _have_played(sizes, first_seat)
    for i in range(len(sizes)):
        seat = (first_seat + i) % len(sizes)
        size = max(sizes) - (i < done)
        if sizes[seat] != size:
            raise PositionError(
                f"hand {seat}",
                f"{sizes[seat]} cards, expected {size}: clockwise from seat {first_seat}, which "
                "plays first, those who have played in this turn hold one card less than the rest",
            )


def _have_played(sizes: list[int], first_seat: int) -> int:
    """How many seats, clockwise from the first, have played in this turn."""
    in_order = sizes[first_seat:] + sizes[:first_seat]
    return in_order.index(max(sizes))


def check_scores(scores: Sequence[int], rules: Rules) -> None:
    """Raise a `PositionError` if these cannot be the scores of earlier rounds."""
    _check_count("scores", scores, rules)
    for seat, score in enumerate(scores):
        if not is_whole(score) or not 0 <= score <= MAX_TARGET:
            raise PositionError(
                "scores", f"seat {seat} has {score!r}, but a score is a number 0 to {MAX_TARGET}"
            )
        if rules.target is not None and score >= rules.target:
            raise PositionError(
                "scores",
                f"seat {seat} has {score}, but a total of {rules.target} has ended the match",
            )


def piles_of(position: Position) -> Sequence[Sequence[int]]:
    """Piles of a position, () where they are left out."""
    return () if position.piles is None else position.piles


def _places(position: Position) -> Iterator[tuple[str, Sequence[int]]]:
    for number, row in enumerate(position.rows, 1):
        yield f"row {number}", row
    for seat, hand in enumerate(position.hands):
        yield f"hand {seat}", hand
    for seat, pile in enumerate(piles_of(position)):
        yield f"pile {seat}", pile


def _check_cards(position: Position, rules: Rules) -> None:
    seen: dict[int, str] = {}
    zeros = 0
    for where, cards in _places(position):
        if not is_list(cards):
            raise PositionError(where, f"found {cards!r}, but it is a list of cards")
        in_row = where.startswith("row")
        for card in cards:
            if rules.zeros and not in_row and is_whole(card) and card == ZERO:
                zeros += 1
                if zeros > rules.zeros:
                    raise PositionError(
                        where, f"one 0 card too many: there are {rules.zeros} in all"
                    )
                continue
            if not is_whole(card) or not 1 <= card <= rules.num_cards:
                raise PositionError(where, _no_card(card, in_row, rules))
            if card in seen:
                raise PositionError(
                    where, f"card {card} is also in {seen[card]}, but every card exists once"
                )
            seen[card] = where
        if in_row and rules.low_card == "take" and list(cards) != sorted(cards):
            raise PositionError(where, f"found {list(cards)}, but the cards of a row ascend")


def check_lists(position: Position) -> None:
    """Raise a `PositionError` if a part is no list of whole numbers, by whatever rules."""
    for name in ("rows", "hands"):
        if not is_list(getattr(position, name)):
            raise PositionError(name, f"found {getattr(position, name)!r}, expected lists of cards")
    if position.piles is not None and not is_list(position.piles):
        raise PositionError("piles", f"found {position.piles!r}, expected lists of cards or None")
    parts = [*_places(position), ("first_seat", (position.first_seat,))]
    if position.scores is not None:
        parts.append(("scores", position.scores))
    for where, numbers in parts:
        if not is_list(numbers) or not all(map(is_whole, numbers)):
            raise PositionError(where, f"found {numbers!r}, expected whole numbers")


def _no_card(card: object, in_row: bool, rules: Rules) -> str:
    problem = f"there is no card {card!r}: the deck is 1 to {rules.num_cards}"
    if not rules.zeros:
        return problem
    return problem + (
        ", and 0 cards never lie in a row" if in_row else f", and a 0 card is written {ZERO}"
    )


def _numbers(cards: Sequence[int]) -> list[int]:
    return [int(card) for card in cards if card != ZERO]


def _fill(state: State, game: int, position: Position, rules: Rules) -> None:
    where = state.location[:, game]
    for i, row in enumerate(position.rows):
        state.rows[i, : len(row), game] = row
        state.row_end[i, game] = row[-1]
        state.row_len[i, game] = len(row)
        state.row_heads[i, game] = BULL_HEADS[list(row)].sum()
        where[list(row)] = TABLE
    for seat, hand in enumerate(position.hands):
        state.hand[seat, : len(hand), game] = sorted(hand)
        where[_numbers(hand)] = HAND + seat
    piles = piles_of(position)
    for seat, pile in enumerate(piles):
        taken = _numbers(pile)
        state.pile_heads[seat, game] = BULL_HEADS[taken].sum()
        where[taken] = PILE + seat
        if rules.zeros:
            state.zeros_played[seat, game] = len(pile) - len(taken)
    if position.scores is not None:
        state.score[:, game] = position.scores
    sizes = [len(hand) for hand in position.hands]
    state.turn[game] = rules.hand_size - max(sizes)
    if rules.one_by_one:
        first = int(position.first_seat)
        state.first_seat[game] = first
        state.actor[game] = (first + _have_played(sizes, first)) % rules.num_players
    new = min(sizes) == rules.hand_size and (state.row_len[:, game] == 1).all()
    if new and not any(len(pile) for pile in piles):
        state.starters[:, game] = state.row_end[:, game]
