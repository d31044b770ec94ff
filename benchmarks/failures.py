"""What is told of a player that has broken down: `Failure`, and text that is safe to write."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Most characters of an error that are kept.
LONGEST_ERROR: Final = 2000

# Part of `Failure.what`.
CRASHED: Final = "crashed"
STALLED: Final = "stalled"
ILLEGAL: Final = "played illegally"


@dataclass(frozen=True)
class Failure:
    """A player that broke down, and with it the chunk.

    Attributes
    ----------
    player : str
        Name of the player.
    what : str
        `CRASHED`, `STALLED` or `ILLEGAL`.
    error : str
        What happened, in a line.
    deal, seat : int, optional
        Where; None if it is not known.
    record : str
        The round so far in the notation, "" if it is not known.
    decisions : int
        Size of the call. Of more than one the position is the first that fails alone or, if none
        does, simply the first.
    """

    player: str
    what: str
    error: str
    deal: int | None = None
    seat: int | None = None
    record: str = ""
    decisions: int = 0


def stalled_text(limit: float) -> str:
    """What is said of a player that took too long."""
    return f"no answer within {limit:g} seconds"


def safe(text: str) -> str:
    """Text of a player that can be written and shown anywhere: as it is, or by its escapes."""
    kept = text if len(text) <= LONGEST_ERROR else text[:LONGEST_ERROR] + "…"
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in kept
    )


def told(error: BaseException) -> str:
    """What an exception says and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
    try:
        text = "".join(traceback.format_exception_only(error)).strip()
    except Exception:  # it is a class of the player's own
        text = type(error).__name__
    return safe(text[:LONGEST_ERROR]) + safe(place)
