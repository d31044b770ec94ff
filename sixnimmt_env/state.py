"""State: the arrays of B games at once, the game always on the last axis.

Every rule is then a whole-array operation over contiguous bytes. Wide arrays are padded so that
their rows do not start a multiple of 4096 bytes apart: such rows share one cache set, which makes
gathers, scatters and transpositions five to ten times slower.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sixnimmt_env.cards import NUM_CARDS, NUM_ROWS, ROW_CAPACITY
from sixnimmt_env.rules import Rules

U8 = NDArray[np.uint8]

# Phases: what is being decided in a game.
OVER: Final = 0
DRAFT: Final = 1
PLAY: Final = 2
TAKE: Final = 3
PHASE_NAMES: Final = ("over", "draft", "play", "take")

# Where a card is. Hands and piles add the seat.
UNSEEN: Final = 0
TABLE: Final = 1
POOL: Final = 2
HAND: Final = 16
PILE: Final = 32

_CACHE_LINE: Final = 64


def lane_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Zeros of `shape`, rows padded to an odd number of cache lines when they are long."""
    games = shape[-1]
    width = games * np.dtype(dtype).itemsize
    if width < 16 * _CACHE_LINE:
        return np.zeros(shape, dtype)
    lines = -(-width // _CACHE_LINE) | 1
    padded = lines * _CACHE_LINE // np.dtype(dtype).itemsize
    return np.zeros((*shape[:-1], padded), dtype)[..., :games]


def lane_copy(array: NDArray[Any]) -> NDArray[Any]:
    """Copy an array, with padded rows."""
    copy = lane_zeros(array.shape, array.dtype)
    copy[...] = array
    return copy


@lru_cache(maxsize=16)
def lane_numbers(num_games: int) -> NDArray[np.intp]:
    """0 ... num_games - 1, read-only."""
    numbers = np.arange(num_games)
    numbers.setflags(write=False)
    return numbers


def scatter(array: U8, rows: U8, games: NDArray[np.intp], value: ArrayLike) -> None:
    """`array[rows, games] = value` for an array (N, B) whose games lie side by side.

    Four times as fast as indexing by two arrays: the whole is addressed as one dimension.
    """
    width = array.strides[0]
    flat = as_strided(array, ((array.shape[0] - 1) * width + array.shape[1],), (1,))
    index = rows.astype(np.intp)
    index *= width
    index += games
    flat[index] = value


Index = slice | NDArray[np.intp]


@dataclass(slots=True)
class State:
    """Arrays of B games. P players, R rows of at most C cards, H cards in a hand.

    Only `Engine` changes a State. `copy`, `view` and `take` give others to work on.

    Attributes
    ----------
    rows : (R, C, B) uint8
        Cards of each row, oldest first, 0 where there is none.
    row_end : (R, B) uint8
        Last card of each row.
    row_len : (R, B) uint8
        Cards in each row.
    row_heads : (R, B) uint8
        Bull heads in each row.
    hand : (P, H, B) uint8
        Cards held, ascending, then 0.
    location : (105, B) uint8
        Where each card number is: `UNSEEN`, `TABLE`, `POOL`, `HAND + seat`, `PILE + seat`.
        Row 0 is not used.
    played : (P, H, B) uint8
        Card each seat played in each turn of this round, 0 for turns to come.
    row_taken : (H, B) uint8
        Row 1 ... R chosen for the low card of each turn, 0 if there was none.
    starters : (R, B) uint8
        First card of each row in this round.
    drafted : (P, H or 0, B) uint8
        Cards in the order in which each seat drafted them.
    pile_heads : (P, B) uint8
        Bull heads taken in this round (the whole deck has 171).
    score : (P, B) int32
        Bull heads of the rounds before this one.
    queue : (P, B) uint16
        Cards of the turn in the order of placement, as `card << 8 | heads << 4 | seat`.
    placed_row : (P, B) uint8
        Row 1 ... R that each card of the queue went to, 0 while it waits.
    placed_heads : (P, B) uint8
        Bull heads its owner took by that placement.
    cursor : (B,) uint8
        Cards of the queue placed so far.
    phase : (B,) uint8
        `OVER`, `DRAFT`, `PLAY` or `TAKE`.
    turn : (B,) uint8
        Turns (in a draft: picks) completed in this round.
    actor : (B,) uint8
        The seat that decides alone in `DRAFT` and `TAKE`.
    first_seat : (B,) uint8
        Seat that drafts first in this round.
    round : (B,) int32
        Rounds completed before this one.
    seed, game_id : (B,) uint64
        What all chance in the game is a function of.
    """

    rows: U8
    row_end: U8
    row_len: U8
    row_heads: U8
    hand: U8
    location: U8
    played: U8
    row_taken: U8
    starters: U8
    drafted: U8
    pile_heads: U8
    score: NDArray[np.int32]
    queue: NDArray[np.uint16]
    placed_row: U8
    placed_heads: U8
    cursor: U8
    phase: U8
    turn: U8
    actor: U8
    first_seat: U8
    round: NDArray[np.int32]
    seed: NDArray[np.uint64]
    game_id: NDArray[np.uint64]

    @classmethod
    def empty(cls, rules: Rules, num_games: int) -> State:
        """All-zero arrays for `num_games` games: no game at all until `Engine.reset`."""
        players, hand, rows = rules.num_players, rules.hand_size, NUM_ROWS
        leading: dict[str, tuple[int, ...]] = {
            "rows": (rows, ROW_CAPACITY),
            "hand": (players, hand),
            "played": (players, hand),
            "drafted": (players, hand if rules.draft else 0),
            "location": (NUM_CARDS + 1,),
            "row_taken": (hand,),
        }
        leading |= dict.fromkeys(("row_end", "row_len", "row_heads", "starters"), (rows,))
        leading |= dict.fromkeys(
            ("pile_heads", "score", "queue", "placed_row", "placed_heads"), (players,)
        )
        wide: dict[str, DTypeLike] = {
            "score": np.int32,
            "round": np.int32,
            "queue": np.uint16,
            "seed": np.uint64,
            "game_id": np.uint64,
        }
        return cls(
            **{
                f: lane_zeros((*leading.get(f, ()), num_games), wide.get(f, np.uint8))
                for f in FIELDS
            }
        )

    @property
    def num_games(self) -> int:
        """B, how many games these arrays hold."""
        return int(self.phase.shape[0])

    @property
    def num_players(self) -> int:
        """P, how many seats each game has."""
        return int(self.hand.shape[0])

    @property
    def nbytes_per_game(self) -> float:
        """Bytes of State that one game takes, padding left out."""
        size: int = sum(getattr(self, f).nbytes for f in FIELDS)
        return size / max(self.num_games, 1)

    def view(self, games: slice) -> State:
        """Give some of the games in the same memory: what changes here changes there."""
        return State(*[getattr(self, f)[..., games] for f in FIELDS])

    def take(self, index: Any) -> State:
        """Copy the games in `index` (integers or a boolean mask), in that order."""
        games = np.arange(self.num_games)[index].reshape(-1)
        taken = State(*[_like(getattr(self, f), games.size) for f in FIELDS])
        for f in FIELDS:
            getattr(taken, f)[...] = getattr(self, f)[..., games]
        return taken

    def copy(self) -> State:
        """Copy all games."""
        return self.take(slice(None))

    def put(self, games: Index, other: State) -> None:
        """Overwrite the games in `games` by those of `other`, in order."""
        for f in FIELDS:
            getattr(self, f)[..., games] = getattr(other, f)

    def totals(self) -> NDArray[np.int32]:
        """Bull heads of each seat in the episode so far, shape (P, B)."""
        return self.score + self.pile_heads

    def acting(self) -> NDArray[np.bool_]:
        """Which seats have something to decide, shape (P, B)."""
        seats = np.arange(self.num_players, dtype=np.uint8)[:, None]
        alone = (self.phase == TAKE) | (self.phase == DRAFT)
        acting: NDArray[np.bool_] = (self.phase == PLAY) | (alone & (self.actor == seats))
        return acting


FIELDS: Final = tuple(f.name for f in fields(State))


def _like(array: NDArray[Any], num_games: int) -> NDArray[Any]:
    return lane_zeros((*array.shape[:-1], num_games), array.dtype)
