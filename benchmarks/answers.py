"""Answers of the processes that play, checked: `decode` and `checked`.

A player shares its process with the code that answers, and may answer in its place. So what comes
is JSON, which can do nothing, and counts only if it is what the task can have as its result.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

from benchmarks.failures import CRASHED, ILLEGAL, LONGEST_ERROR, STALLED
from benchmarks.lineups import Chunk, Config
from benchmarks.tournament import CALL, Result

# Most bytes of an answer: a chunk has at most 50 deals * 10 plays * 10 slots.
LONGEST_ANSWER: Final = 1_000_000
# More heads than any match can bring a player.
MOST_HEADS: Final = 1_000_000
# Most characters of an error, each of which may have become an escape, and of a record.
_LONGEST_TEXT: Final = 12 * LONGEST_ERROR
_MOST: Final = 2**53
_FIELDS: Final = {"player", "what", "error", "deal", "seat", "record", "decisions"}


class ForgedError(ValueError):
    """An answer that the arena's own code does not give."""


def decode(data: bytes) -> Any:
    """What the bytes of an answer say; raises ForgedError if that is nothing."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ForgedError("no JSON") from error


def checked(config: Config, chunk: Chunk, answer: dict[str, Any]) -> Result:
    """Result of a chunk as `play_chunk` gives it, and nothing besides.

    Parameters
    ----------
    config : Config
        Of the arena.
    chunk : Chunk
        That was to be played.
    answer : dict
        What its process says.

    Raises
    ------
    ForgedError
        If the answer is no result of this chunk.
    """
    outcome = "failure" if "failure" in answer else "heads"
    _need(set(answer) == {"lineup", "chunk", "cpu", outcome}, "keys")
    lineup, number = chunk.key
    _need(answer["lineup"] == lineup and _whole(answer["chunk"], number, number), "another chunk")
    if outcome == "heads":
        _check_heads(config, chunk, answer["heads"])
    else:
        _check_failure(config, chunk, answer["failure"])
    cpu = answer["cpu"]
    _need(isinstance(cpu, dict) and set(cpu) == set(chunk.lineup.players), "players of cpu")
    for spent in cpu.values():
        _need(isinstance(spent, list) and len(spent) == 2, "shape of cpu")
        seconds, decisions = spent
        _need(isinstance(seconds, float) and math.isfinite(seconds) and seconds >= 0, "seconds")
        _need(_whole(decisions, 0, _MOST), "decisions")
    return answer


def _check_heads(config: Config, chunk: Chunk, heads: Any) -> None:
    level = [heads]
    for length in (len(chunk.deals), chunk.lineup.plays, config.seats):
        _need(all(isinstance(part, list) and len(part) == length for part in level), "shape")
        level = [inner for part in level for inner in part]
    _need(all(_whole(count, 0, MOST_HEADS) for count in level), "heads")


def _check_failure(config: Config, chunk: Chunk, failure: Any) -> None:
    _need(isinstance(failure, dict) and set(failure) == _FIELDS, "fields of the failure")
    _need(failure["player"] in chunk.lineup.players, "player")
    _need(failure["what"] in (CRASHED, STALLED, ILLEGAL), "what")
    _need(is_text(failure["error"]) and is_text(failure["record"]), "text")
    deal, seat, deals = failure["deal"], failure["seat"], chunk.deals
    _need(deal is None or _whole(deal, deals.start, deals.stop - 1), "deal")
    _need(seat is None or _whole(seat, 0, config.seats - 1), "seat")
    _need((deal is None) == (seat is None), "deal without seat")
    _need(_whole(failure["decisions"], 0, CALL), "decisions of the failure")


def is_text(value: Any) -> bool:
    """Whether this is text that can be written and shown anywhere."""
    return (
        isinstance(value, str)
        and len(value) <= _LONGEST_TEXT
        and all(c.isprintable() or c == "\n" for c in value)
    )


def _whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _need(right: bool, what: str) -> None:
    if not right:
        raise ForgedError(what)
