"""Golden rounds: the files are what the engine plays today, and replay in both referees."""

from __future__ import annotations

from pathlib import Path

import pytest

from sixnimmt_env.cards import TAKE_ROW
from sixnimmt_env.notation import Draft, Record, Turn, read, states, write
from sixnimmt_env.position import Position
from sixnimmt_env.state import OVER
from tests.golden import FOLDER, differences, golden_rules, golden_texts
from tests.rounds import ReferenceGame

FILES = sorted(FOLDER.glob("*.txt"))


def test_files_are_what_is_played_today() -> None:
    assert differences(golden_texts()) == [], "run: python -m tests.golden"


def test_a_changed_file_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.golden.FOLDER", tmp_path)
    texts = {tmp_path / "a.txt": "a\n", tmp_path / "b.txt": "b\n"}
    (tmp_path / "b.txt").write_text("c\n")
    (tmp_path / "c.txt").write_text("c\n")
    assert [line.split(":")[0] for line in differences(texts)] == ["a.txt", "b.txt", "c.txt"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden_round_replays_in_engine_and_reference(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    record = read(text)
    assert write(record) == text
    assert record.rules in golden_rules()
    played = list(states(record))
    game = ReferenceGame(record.rules, played[0], 0)
    game.check(played[0])
    for actions, state in zip(actions_of(record), played[1:], strict=True):
        game.step(actions)
        game.check(state)
    assert played[-1].phase[0] == OVER
    assert game.round is not None
    assert game.round.heads == record.heads


def actions_of(record: Record) -> list[list[int]]:
    """Actions of all seats in every step of a record."""
    if isinstance(record.start, Draft):
        steps = [alone(record, seat, card) for _, seat, card in record.start.in_order()]
        held = len(record.start.picks) * len(record.start.picks[0])
    else:
        steps = []
        held = sum(map(len, record.start.hands))
    for turn in record.turns:
        held -= sum(card > 0 for card in turn.cards)
        if record.rules.one_by_one:
            steps += one_after_the_other(record, turn)
            continue
        steps.append(list(turn.cards))
        if turn.second and held:
            steps.append(list(turn.second))
            held -= sum(card > 0 for card in turn.second)
        if turn.row:
            low = turn.cards.index(min(turn.cards))
            steps.append(alone(record, low, TAKE_ROW + turn.row - 1))
    assert held == 0
    return steps


def one_after_the_other(record: Record, turn: Turn) -> list[list[int]]:
    assert isinstance(record.start, Position)
    seats = range(record.rules.num_players)
    order = sorted(seats, key=lambda seat: seat < record.start.first_seat)
    return [alone(record, seat, turn.cards[seat]) for seat in order]


def alone(record: Record, seat: int, action: int) -> list[int]:
    return [action if seat == other else 0 for other in range(record.rules.num_players)]
