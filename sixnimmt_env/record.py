"""A whole round, or a round so far, as data: how it began and what everybody did.

A `Record` is enough to play the round again, which `sixnimmt_env.replay` does. `record_of` makes
the record of a game that the engine has dealt. `sixnimmt_env.notation` writes and reads records as
text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sixnimmt_env.checks import is_whole, number_below
from sixnimmt_env.position import Position, check_lists, is_list
from sixnimmt_env.rules import MAX_TARGET, Rules, check_rules
from sixnimmt_env.state import DRAFT, State, check_fits
from sixnimmt_env.variants import make_rules


class RecordError(ValueError):
    """A record that is no round of the game; the message says where and what is expected.

    Attributes
    ----------
    where : str
        The part that is wrong, for example "turn 3", "picks 0" or "heads".
    problem : str
        What is wrong with it.
    """

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Turn:
    """What happened in one turn.

    Attributes
    ----------
    cards : tuple of int
        Card of every seat, in seat order; a 0 card is 109 (`cards.ZERO`). 0 stands for a seat that
        has no cards left or, where seats play one after the other, that does not play within this
        record: it has not played yet in the last turn, or had played before the first one.
    row : int
        Row 1 to 4 that a player chose for the low card; 0 if nobody has chosen one.
    second : tuple of int
        Second card of every seat, 0 for none; () where only one card can be played in a turn.
    """

    cards: tuple[int, ...]
    row: int = 0
    second: tuple[int, ...] = ()


@dataclass(slots=True)
class Draft:
    """How the hands of a draft game came about.

    Attributes
    ----------
    first_seat : int
        Seat that picked first; the others follow clockwise.
    picks : list of list of int
        Cards of each seat in the order in which it picked them.
    scores : list of int, optional
        Bull heads of each seat from earlier rounds; all 0 if left out.
    """

    first_seat: int
    picks: list[list[int]]
    scores: list[int] | None = None

    def in_order(self) -> Iterator[tuple[int, int, int]]:
        """Yield (round of picks from 0, seat, card) in the order of picking."""
        players, total = len(self.picks), sum(len(picks) for picks in self.picks)
        for i in range(total):
            seat, number = (self.first_seat + i) % players, i // players
            if number >= len(self.picks[seat]):
                raise RecordError(
                    f"picks {seat}",
                    f"{len(self.picks[seat])} cards, but {total} picks in all, clockwise from "
                    f"seat {self.first_seat}, make at least {number + 1}",
                )
            yield number, seat, self.picks[seat][number]


@dataclass(slots=True)
class Record:
    """One round, from its start to the end or as far as it has come.

    Parameters
    ----------
    rules : Rules
        Rules of one round of a registered variant, as `make_rules` gives them.
    start : Position or Draft
        The deal, or any position by hand; in a draft game the draft.
    turns : list of Turn
        All turns so far.
    heads : list of int
        Bull heads that each seat has taken in this round so far, those in `start.piles` included.

    Raises
    ------
    ValueError
        If `rules` are not those of one round of a registered variant.
    RecordError, PositionError
        If anything is of a wrong type.
    TypeError
        If `rules` are none.
    """

    rules: Rules
    start: Position | Draft
    turns: list[Turn]
    heads: list[int]

    def __post_init__(self) -> None:
        check_rules(self.rules)
        check_types(self)
        if self.rules != _round_rules(self.rules):
            raise ValueError(
                f"a record holds one round, but these rules are of a {self.rules.episode}: use "
                f"make_rules({self.rules.name!r}, {self.rules.num_players}, row_choice=...)"
            )


def check_types(record: Record) -> None:
    """Refuse what is no record at all, so that nothing in it is rounded or misread.

    Whether it can be played is for `replay` to say, and for `Position.check` of its start.

    Raises
    ------
    RecordError, PositionError
        Saying where something is of a wrong type.
    TypeError
        If it is no `Record`.
    """
    if not isinstance(record, Record):
        raise TypeError(
            f"found {type(record).__name__}, expected a Record: sixnimmt_env.notation.read makes "
            "one of its text"
        )
    if not isinstance(record.rules, Rules):
        raise RecordError("rules", f"found {record.rules!r}, expected Rules, as of make_rules")
    if isinstance(record.start, Draft):
        _check_draft(record.start)
    elif isinstance(record.start, Position):
        check_lists(record.start)
    else:
        raise RecordError("start", f"found {record.start!r}, expected a Position or a Draft")
    if not isinstance(record.turns, (list, tuple)):
        raise RecordError("turns", f"found {record.turns!r}, expected a list of Turns")
    for number, turn in enumerate(record.turns, 1):
        where = f"turn {number}"
        if not isinstance(turn, Turn):
            raise RecordError(where, f"found {turn!r}, expected a Turn")
        _check_numbers(where, turn.cards)
        _check_numbers(where, turn.second)
        _check_numbers(where, (turn.row,))
    _check_numbers("heads", record.heads)


def _check_draft(draft: Draft) -> None:
    _check_numbers("first_seat", (draft.first_seat,))
    if not is_list(draft.picks):
        raise RecordError("picks", f"found {draft.picks!r}, expected a list for each seat")
    for seat, picks in enumerate(draft.picks):
        _check_numbers(f"picks {seat}", picks)
    if draft.scores is not None:
        _check_numbers("scores", draft.scores)


def _check_numbers(where: str, numbers: Any) -> None:
    if not is_list(numbers):
        raise RecordError(where, f"found {numbers!r}, expected a list of whole numbers")
    for number in numbers:
        if not is_whole(number) or not 0 <= number <= MAX_TARGET:
            raise RecordError(where, f"found {number!r}, expected a number 0 to {MAX_TARGET}")


def record_of(state: State, rules: Rules, game: int = 0) -> Record:
    """Record of the current round of one game, from its history in the State.

    Cards that are committed and not revealed yet are still recorded as held.

    Parameters
    ----------
    state : State
        Games by `rules`.
    rules : Rules
        In a match, the round being played or the last one is recorded.
    game : int
        Which game.

    Raises
    ------
    ValueError
        If the game was set by hand in mid-round, the rules are of no registered variant or not
        those of the State, or there is no such game.
    """
    check_rules(rules)
    check_fits(state, rules)
    game = number_below("game", game, state.num_games)
    if state.phase[game] != DRAFT and not state.starters[:, game].all():
        raise ValueError(
            f"game {game} was set by hand in the middle of a round, so its beginning is unknown: "
            "make a Record with its Position as start instead"
        )
    return Record(
        rules=_round_rules(rules),
        start=_start_of(state, rules, game),
        turns=_turns_of(state, rules, game),
        heads=state.pile_heads[:, game].tolist(),
    )


def _turns_of(state: State, rules: Rules, game: int) -> list[Turn]:
    turns = []
    per_turn = rules.cards_per_turn
    for number, row in enumerate(state.row_taken[:, game].tolist()):
        played = state.played[:, number * per_turn : (number + 1) * per_turn, game].T.tolist()
        if not any(played[0]):
            break
        turns.append(Turn(tuple(played[0]), row, *map(tuple, played[1:])))
    return turns


def _round_rules(rules: Rules) -> Rules:
    named = make_rules(rules.name, rules.num_players, row_choice=rules.row_choice)
    if replace(rules, episode="round", target=None, rounds=None) != named:
        raise ValueError(
            f"these rules are not those of the variant {rules.name!r}, and a record names its "
            "rules by the variant only"
        )
    return named


def _start_of(state: State, rules: Rules, game: int) -> Position | Draft:
    scores: list[int] | None = state.score[:, game].tolist()
    if not any(scores or []):
        scores = None
    if rules.draft and (state.phase[game] == DRAFT or state.drafted[..., game].all()):
        picks = [[card for card in cards if card] for cards in state.drafted[..., game].tolist()]
        return Draft(int(state.first_seat[game]), picks, scores)
    cards = [state.hand[..., game], state.played[..., game]]
    if rules.cards_per_turn > 1:
        cards.append(state.committed[:, game, None])
    hands = np.concatenate(cards, axis=1).tolist()
    return Position(
        rows=[[card] for card in state.starters[:, game].tolist()],
        hands=[sorted(card for card in hand if card) for hand in hands],
        scores=scores,
        first_seat=int(state.first_seat[game]) if rules.one_by_one else 0,
    )
