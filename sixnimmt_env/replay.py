"""Records played again through the engine, which checks every step: `replay` and `states`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from sixnimmt_env.cards import NUM_ROWS, TAKE_ROW, ZERO, action_name
from sixnimmt_env.engine import Engine
from sixnimmt_env.position import check_scores
from sixnimmt_env.record import Draft, Record, RecordError, Turn, check_types
from sixnimmt_env.state import OVER, PLAY, SECOND, TAKE, State


def states(record: Record) -> Iterator[State]:
    """Play a record through the engine, one State of one game per step.

    Yields
    ------
    State
        The start, then a new State after every pick, every card or cards chosen at once and every
        choice of a row. Where two cards may be played, the first and the second ones of a turn
        are two steps; where seats play one after the other, every card is a step.

    Raises
    ------
    RecordError
        At the first thing that the rules do not allow, with `where` it is.
    PositionError
        If the start is no position.
    TypeError
        If it is no record.
    """
    check_types(record)
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
    TypeError
        If it is no record.
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
    if draft.scores is not None:
        check_scores(draft.scores, engine.rules)
        state.score[:, 0] = draft.scores
    state.first_seat[...] = draft.first_seat
    state.actor[...] = draft.first_seat
    return state


def _play_turn(
    engine: Engine, state: State, turn: Turn, where: str, is_last: bool
) -> Iterator[State]:
    rules = engine.rules
    for cards in [turn.cards, turn.second] if turn.second else [turn.cards]:
        if len(cards) != rules.num_players:
            raise RecordError(
                where, f"{len(cards)} cards, but there are {rules.num_players} players"
            )
    if turn.second and rules.cards_per_turn == 1:
        raise RecordError(where, f"found second cards, but one is played in {rules.name}")
    if state.phase[0] != PLAY:
        why = "the round is over" if state.phase[0] == OVER else "the draft is not done"
        raise RecordError(where, f"found cards, but {why}")
    if rules.one_by_one:
        yield from _one_by_one(engine, state, turn, where, is_last)
    else:
        _step(engine, state, dict(enumerate(turn.cards)), where)
        yield state.copy()
    if rules.cards_per_turn > 1:
        yield from _second_cards(engine, state, turn, where)
    if state.phase[0] == TAKE:
        if turn.row == 0 and is_last:
            return
        if turn.row not in range(1, NUM_ROWS + 1):
            raise RecordError(where, f"found {_row(turn.row)}, but {_must_take(state, turn)}")
        _step(engine, state, {int(state.actor[0]): TAKE_ROW + turn.row - 1}, where)
        yield state.copy()
    elif turn.row:
        raise RecordError(where, f"found {_row(turn.row)}, but nobody has a row to choose")


def _one_by_one(
    engine: Engine, state: State, turn: Turn, where: str, is_last: bool
) -> Iterator[State]:
    players, first = engine.rules.num_players, int(state.first_seat[0])
    order = [(first + i) % players for i in range(players)]
    begin = order.index(int(state.actor[0]))
    for seat in order[:begin]:
        if turn.cards[seat]:
            raise RecordError(
                where,
                f"seat {seat} plays {action_name(turn.cards[seat])}, but had played in this turn "
                "before the record begins: expected '-'",
            )
    for i in range(begin, players):
        if is_last and i > begin and not any(turn.cards[seat] for seat in order[i:]):
            return
        _step(engine, state, {order[i]: turn.cards[order[i]]}, where)
        yield state.copy()


def _second_cards(engine: Engine, state: State, turn: Turn, where: str) -> Iterator[State]:
    cards = dict(enumerate(turn.second))
    if state.phase[0] == SECOND:
        _step(engine, state, cards, where)
        yield state.copy()
        return
    # The first cards were the last ones of all hands, and were revealed at once.
    for seat, card in cards.items():
        if card:
            raise RecordError(where, _no_other(seat, card))


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
        raise RecordError(where, _refusal(engine, state, seat, int(actions[seat, 0])))
    engine.step(state, actions)


def _refusal(engine: Engine, state: State, seat: int, action: int) -> str:
    legal = [choice for choice in engine.legal(state, seat, 0) if choice]
    if state.phase[0] == SECOND:
        if not legal:
            return _no_other(seat, action)
        if action == state.committed[seat, 0] != ZERO:
            return f"seat {seat} plays {action_name(action)} twice"
        return (
            f"seat {seat} cannot choose {action_name(action)} as its second card, expected none "
            f"or one of {_names(legal)}"
        )
    if not legal:
        return f"seat {seat} plays {action_name(action)}, but has no cards left: expected '-'"
    if not action:
        return f"seat {seat} plays no card, expected one of {_names(legal)}"
    return f"seat {seat} cannot choose {action_name(action)}, expected one of {_names(legal)}"


def _no_other(seat: int, card: int) -> str:
    return f"seat {seat} cannot choose {action_name(card)} as its second card: it has no other card"


def _names(cards: Iterable[int]) -> str:
    return " ".join("0" if card == ZERO else str(card) for card in cards)


def _words(numbers: Iterable[int]) -> str:
    return " ".join(str(number) for number in numbers)
