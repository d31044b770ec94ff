"""A whole round, or a round so far, as data: how it began and what everybody did.

A `Record` is enough to play the round again: `replay` does so through the engine and checks the
result, `states` gives the State after every step, `record_of` makes the record of a game that
the engine has dealt. `sixnimmt_env.notation` writes and reads records as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sixnimmt_env.cards import NUM_ROWS, TAKE_ROW, action_name
from sixnimmt_env.engine import Engine
from sixnimmt_env.position import Position
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, OVER, PLAY, TAKE, State
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
        Card of every seat, in seat order.
    row : int
        Row 1 to 4 that a player chose for the low card; 0 if nobody has chosen one.
    """

    cards: tuple[int, ...]
    row: int = 0


@dataclass(slots=True)
class Draft:
    """How the hands of a draft game came about.

    Attributes
    ----------
    first_seat : int
        Seat that picked first; the others follow clockwise.
    picks : list of list of int
        Cards of each seat in the order in which it picked them.
    """

    first_seat: int
    picks: list[list[int]]

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
    """

    rules: Rules
    start: Position | Draft
    turns: list[Turn]
    heads: list[int]

    def __post_init__(self) -> None:
        if self.rules != _round_rules(self.rules):
            raise ValueError(
                f"a record holds one round, but these rules are of a {self.rules.episode}: use "
                f"make_rules({self.rules.name!r}, {self.rules.num_players}, row_choice=...)"
            )


def states(record: Record) -> Iterator[State]:
    """Play a record through the engine, one State of one game per step.

    Yields
    ------
    State
        The start, then a new State after every pick, every reveal and every choice of a row.

    Raises
    ------
    RecordError
        At the first thing that the rules do not allow, with `where` it is.
    PositionError
        If the start is no position.
    """
    engine = Engine(record.rules)
    if isinstance(record.start, Draft):
        state = _start_draft(engine, record.start)
        yield state.copy()
        for _, seat, card in record.start.in_order():
            _step(engine, state, {seat: card}, f"picks {seat}")
            yield state.copy()
    else:
        state = record.start.state(record.rules)
        yield state.copy()
    for number, turn in enumerate(record.turns, 1):
        is_last = number == len(record.turns)
        yield from _play_turn(engine, state, turn, f"turn {number}", is_last)


def replay(record: Record) -> State:
    """Play a record through the engine and check its result.

    Returns
    -------
    State
        One game, at the end of the record.

    Raises
    ------
    RecordError
        If the rules do not allow something in it, or the heads are not those it gives.
    PositionError
        If the start is no position.
    """
    for state in states(record):
        last = state
    heads = last.pile_heads[:, 0].tolist()
    if list(record.heads) != heads:
        problem = f"found {_words(record.heads)}, but the cards played give {_words(heads)}"
        if last.phase[0] == TAKE:
            problem += (
                f"; the last turn still waits for seat {last.actor[0]} to choose a row: "
                "a '> row n' may be missing there"
            )
        raise RecordError("heads", problem)
    return last


def record_of(state: State, rules: Rules, game: int = 0) -> Record:
    """Record of the current round of one game, from its history in the State.

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
        If the game was set by hand in mid-round or the rules are of no registered variant.
    """
    phase = int(state.phase[game])
    turns = 0 if phase == DRAFT else int(state.turn[game]) + (phase == TAKE)
    played = state.played[:, :turns, game].T.tolist()
    rows = state.row_taken[:turns, game].tolist()
    known = phase == DRAFT or bool(state.starters[:, game].all())
    if not known or not all(all(cards) for cards in played):
        raise ValueError(
            f"game {game} was set by hand in the middle of a round, so its beginning is unknown: "
            "make a Record with its Position as start instead"
        )
    return Record(
        rules=_round_rules(rules),
        start=_start_of(state, rules, game, played),
        turns=[Turn(tuple(cards), row) for cards, row in zip(played, rows, strict=True)],
        heads=state.pile_heads[:, game].tolist(),
    )


def _round_rules(rules: Rules) -> Rules:
    named = make_rules(rules.name, rules.num_players, row_choice=rules.row_choice)
    if replace(rules, episode="round", target=None, rounds=None) != named:
        raise ValueError(
            f"these rules are not those of the variant {rules.name!r}, and a record names its "
            "rules by the variant only"
        )
    return named


def _start_of(state: State, rules: Rules, game: int, played: list[list[int]]) -> Position | Draft:
    if rules.draft and (state.phase[game] == DRAFT or state.drafted[..., game].all()):
        picks = [[card for card in cards if card] for cards in state.drafted[..., game].tolist()]
        return Draft(int(state.first_seat[game]), picks)
    held = [[card for card in hand if card] for hand in state.hand[..., game].tolist()]
    past = [[cards[seat] for cards in played] for seat in range(rules.num_players)]
    scores = state.score[:, game].tolist()
    return Position(
        rows=[[card] for card in state.starters[:, game].tolist()],
        hands=[sorted(hand + cards) for hand, cards in zip(held, past, strict=True)],
        scores=scores if any(scores) else None,
    )


def _start_draft(engine: Engine, draft: Draft) -> State:
    players = engine.rules.num_players
    if not engine.rules.draft:
        raise RecordError("first_seat", f"there is no draft in {engine.rules.name}")
    if draft.first_seat not in range(players):
        raise RecordError(
            "first_seat", f"found {draft.first_seat}, but seats are 0 to {players - 1}"
        )
    if len(draft.picks) != players:
        raise RecordError("picks", f"{len(draft.picks)} lists, but there are {players} players")
    state = engine.reset(seed=0, games=1)
    state.first_seat[...] = draft.first_seat
    state.actor[...] = draft.first_seat
    return state


def _play_turn(
    engine: Engine, state: State, turn: Turn, where: str, is_last: bool
) -> Iterator[State]:
    players = engine.rules.num_players
    if len(turn.cards) != players:
        raise RecordError(where, f"{len(turn.cards)} cards, but there are {players} players")
    if state.phase[0] != PLAY:
        why = "the round is over" if state.phase[0] == OVER else "the draft is not done"
        raise RecordError(where, f"found cards, but {why}")
    _step(engine, state, dict(enumerate(turn.cards)), where)
    yield state.copy()
    if state.phase[0] == TAKE:
        if turn.row == 0 and is_last:
            return
        if turn.row not in range(1, NUM_ROWS + 1):
            raise RecordError(where, f"found {_row(turn.row)}, but {_must_take(state, turn)}")
        _step(engine, state, {int(state.actor[0]): TAKE_ROW + turn.row - 1}, where)
        yield state.copy()
    elif turn.row:
        raise RecordError(where, f"found {_row(turn.row)}, but nobody has a row to choose")


def _must_take(state: State, turn: Turn) -> str:
    seat = int(state.actor[0])
    return (
        f"card {turn.cards[seat]} of seat {seat} is lower than every row end and takes one of "
        f"the rows 1 to {NUM_ROWS}: expected '> row' and its number"
    )


def _row(row: int) -> str:
    return f"'> row {row}'" if row else "no '> row'"


def _step(engine: Engine, state: State, choices: dict[int, int], where: str) -> None:
    actions = np.zeros((engine.rules.num_players, 1), np.int64)
    for seat, action in choices.items():
        actions[seat] = action
    refused = np.flatnonzero(engine.refused(state, actions)[:, 0])
    if refused.size:
        seat = int(refused[0])
        legal = engine.legal(state, seat, 0)
        raise RecordError(
            where,
            f"seat {seat} cannot choose {action_name(int(actions[seat, 0]))}, expected one of "
            f"{_words(legal)}",
        )
    engine.step(state, actions)


def _words(numbers: list[int]) -> str:
    return " ".join(str(number) for number in numbers)
