"""Observations as vectors for networks: numbers in [0, 1], laid out by a field table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import NUM_CARDS, NUM_ROWS, ROW_CAPACITY, ZERO
from sixnimmt_env.observe import Observation
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, PLAY, SECOND, TAKE

DECK_HEADS: Final = 171
MOST_ROW_HEADS: Final = 27


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the encoded vector."""

    name: str
    start: int
    size: int
    meaning: str
    write: Callable[[Observation, NDArray[np.float32]], None]

    @property
    def stop(self) -> int:
        """Index after the field's last element."""
        return self.start + self.size


_Spec = tuple[str, int, str, Callable[[Observation, NDArray[np.float32]], None]]


def _scaled(name: str, scale: float) -> Callable[[Observation, NDArray[np.float32]], None]:
    def write(observation: Observation, out: NDArray[np.float32]) -> None:
        values = getattr(observation, name)
        shape = (out.shape[0], *values.shape[1:])
        np.multiply(values, np.float32(1 / scale), out=out.reshape(shape), casting="unsafe")

    return write


def _write_hand(observation: Observation, out: NDArray[np.float32]) -> None:
    out[...] = 0
    at = observation.hand.astype(np.intp)
    at[at == ZERO] = 0
    out[np.arange(len(observation))[:, None], at - 1] = 1
    # An empty slot marked the last column: card 104 is the only true owner of it.
    out[:, -1] = at.max(axis=1) == NUM_CARDS


def _write_cards(name: str) -> Callable[[Observation, NDArray[np.float32]], None]:
    def write(observation: Observation, out: NDArray[np.float32]) -> None:
        out[...] = getattr(observation, name)[:, 1:]

    return write


def _write_phase(observation: Observation, out: NDArray[np.float32]) -> None:
    for i, phase in enumerate((DRAFT, PLAY, TAKE)):
        out[:, i] = observation.phase == phase


def _write_decides(observation: Observation, out: NDArray[np.float32]) -> None:
    out[:, 0] = observation.decides


def _write_hands(observation: Observation, out: NDArray[np.float32]) -> None:
    out[...] = 0
    others = observation.hands[:, 1:].astype(np.intp)
    n, seats, _ = others.shape
    grid = out.reshape(n, seats, NUM_CARDS)
    grid[np.arange(n)[:, None, None], np.arange(seats)[:, None], others - 1] = 1
    grid[..., -1] = others.max(axis=2) == NUM_CARDS


def _write_zeros(observation: Observation, out: NDArray[np.float32]) -> None:
    held = (observation.hand == ZERO).sum(axis=1)
    np.multiply(held, np.float32(1 / observation.rules.zeros), out=out[:, 0], casting="unsafe")


def _write_committed(observation: Observation, out: NDArray[np.float32]) -> None:
    zero = observation.committed == ZERO
    number = observation.committed * ~zero
    np.multiply(number, np.float32(1 / NUM_CARDS), out=out[:, 0], casting="unsafe")
    out[:, 1] = zero
    out[:, 2] = observation.phase == SECOND


def _specs(rules: Rules) -> list[_Spec]:
    seats, rows = rules.num_players, NUM_ROWS
    second = "; all 0 for a second card" if rules.cards_per_turn > 1 else ""
    specs: list[_Spec] = [
        ("hand", NUM_CARDS, "1 for each card held, by card number", _write_hand),
        ("unseen", NUM_CARDS, "1 for each card not seen in this round", _write_cards("unseen")),
        (
            "rows",
            rows * ROW_CAPACITY,
            "cards of each row, oldest first, / 104",
            _scaled("rows", NUM_CARDS),
        ),
        ("row_end", rows, "last card of each row / 104", _scaled("row_end", NUM_CARDS)),
        ("row_len", rows, "cards in each row / 5", _scaled("row_len", ROW_CAPACITY)),
        ("row_heads", rows, "bull heads in each row / 27", _scaled("row_heads", MOST_ROW_HEADS)),
        (
            "waiting",
            seats,
            "card of each seat revealed and not placed yet / 104",
            _scaled("waiting", NUM_CARDS),
        ),
        (
            "pile_heads",
            seats,
            "bull heads each seat took in this round / 171",
            _scaled("pile_heads", DECK_HEADS),
        ),
        (
            "cards_left",
            seats,
            "cards in each hand / hand size",
            _scaled("cards_left", rules.hand_size),
        ),
        (
            "turn",
            1,
            "turns completed / hand size (in a draft: picks / all picks)",
            _scaled(
                "turn", rules.num_players * rules.hand_size if rules.draft else rules.hand_size
            ),
        ),
        ("phase", 3, f"one-hot: draft, play, take a row{second}", _write_phase),
        ("decides", 1, "1 if this seat has something to decide", _write_decides),
    ]
    if rules.episode == "match":
        specs.append(
            (
                "score",
                seats,
                f"bull heads of earlier rounds / {_most_score(rules)}",
                _scaled("score", _most_score(rules)),
            )
        )
    if rules.draft:
        specs.append(("pool", NUM_CARDS, "1 for each card to be drafted", _write_cards("pool")))
    if rules.open_hands:
        specs.append(
            (
                "hands",
                (seats - 1) * NUM_CARDS,
                "1 for each card the others hold, seat by seat",
                _write_hands,
            )
        )
    if rules.zeros:
        specs += [
            ("zeros", 1, f"0 cards held / {rules.zeros}", _write_zeros),
            (
                "unseen_zeros",
                1,
                f"0 cards not seen in this round / {rules.zeros}",
                _scaled("unseen_zeros", rules.zeros),
            ),
        ]
    if rules.cards_per_turn > 1:
        specs.append(
            (
                "committed",
                3,
                "own first card / 104, 1 if it is a 0 card, 1 if a second one is decided on",
                _write_committed,
            )
        )
    return specs


def _most_score(rules: Rules) -> int:
    return rules.target + DECK_HEADS if rules.target else DECK_HEADS * (rules.rounds or 1)


def score_scale(rules: Rules) -> float:
    """Factor by which scores are encoded, 0 where there are none."""
    return float(np.float32(1 / _most_score(rules))) if rules.episode == "match" else 0.0


@lru_cache(maxsize=64)
def field_table(rules: Rules) -> tuple[Field, ...]:
    """Fields of the encoded vector, in order: name, place, size and meaning."""
    table, start = [], 0
    for name, size, meaning, write in _specs(rules):
        table.append(Field(name, start, size, meaning, write))
        start += size
    return tuple(table)


def observation_size(rules: Rules) -> int:
    """Length of the encoded vector."""
    return field_table(rules)[-1].stop


def encode(observation: Observation, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Encode observations as vectors for networks.

    Parameters
    ----------
    observation : Observation
        n decisions.
    out : (n, size) float32, optional
        Where to write.

    Returns
    -------
    (n, size) float32
        Numbers in [0, 1], laid out as `field_table` says.
    """
    table = field_table(observation.rules)
    if out is None:
        out = np.empty((len(observation), table[-1].stop), np.float32)
    for field in table:
        field.write(observation, out[:, field.start : field.stop])
    return out
