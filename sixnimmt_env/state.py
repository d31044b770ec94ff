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
from sixnimmt_env.checks import game_numbers
from sixnimmt_env.rules import Rules

U8 = NDArray[np.uint8]

# Phases: what is being decided in a game.
OVER: Final = 0
DRAFT: Final = 1
PLAY: Final = 2
TAKE: Final = 3
SECOND: Final = 4
PHASE_NAMES: Final = ("over", "draft", "play", "take", "second card")

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

    K cards may be played in a turn, and Q is the most that are placed at once (`Rules.queue_size`).

    `Engine` plays its games on, in place, and `put` overwrites some by those of another State.
    `copy` and `take` give a State in memory of its own, `view` one in the same memory.

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
        Cards held, ascending, then 0. A 0 card is 109.
    committed : (P or 0, B) uint8
        First card of each seat in phase `SECOND`, hidden until all reveal; 0 otherwise. No
        longer in `hand`.
    zeros_played : (P or 0, B) uint8
        0 cards each seat has played in this round.
    location : (105, B) uint8
        Where each card number is: `UNSEEN`, `TABLE`, `POOL`, `HAND + seat`, `PILE + seat`.
        Row 0 is not used, and 0 cards have no location.
    played : (P, H K, B) uint8
        Cards each seat has revealed in this round, K places for each turn, 0 where there is none.
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
    queue : (Q, B) uint16
        Cards of the turn in the order of placement, as `card << 8 | heads << 4 | seat`. Places
        that are not needed come first and are 0. With two cards in a turn the highest bit is
        set for cards without a 0.
    placed_row : (Q, B) uint8
        Row 1 ... R that each card of the queue went to, 0 while it waits.
    placed_heads : (Q, B) uint8
        Bull heads its owner took by that placement.
    cursor : (B,) uint8
        Places of the queue that are done.
    phase : (B,) uint8
        `OVER`, `DRAFT`, `PLAY`, `TAKE` or `SECOND`.
    turn : (B,) uint8
        Turns (in a draft: picks) completed in this round.
    actor : (B,) uint8
        The seat that decides alone in `DRAFT`, in `TAKE`, and in `PLAY` one by one.
    first_seat : (B,) uint8
        Seat that drafts first in this round, or plays first one by one.
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
    committed: U8
    zeros_played: U8
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
            "committed": (players if rules.cards_per_turn > 1 else 0,),
            "zeros_played": (players if rules.zeros else 0,),
            "played": (players, hand * rules.cards_per_turn),
            "drafted": (players, hand if rules.draft else 0),
            "location": (NUM_CARDS + 1,),
            "row_taken": (hand,),
        }
        leading |= dict.fromkeys(("row_end", "row_len", "row_heads", "starters"), (rows,))
        leading |= dict.fromkeys(("pile_heads", "score"), (players,))
        leading |= dict.fromkeys(("queue", "placed_row", "placed_heads"), (rules.queue_size,))
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
    def two_cards(self) -> bool:
        """Whether two cards may be played in a turn, so that hands are empty at different times."""
        return bool(self.committed.shape[0] > 0)

    @property
    def one_by_one(self) -> bool:
        """Whether seats play one after the other."""
        return bool(self.queue.shape[0] == 1)

    @property
    def nbytes_per_game(self) -> float:
        """Bytes of State that one game takes, padding left out."""
        size: int = sum(getattr(self, f).nbytes for f in FIELDS)
        return size / max(self.num_games, 1)

    def view(self, games: slice) -> State:
        """Give some of the games in the same memory: what changes here changes there."""
        return State(*[getattr(self, f)[..., games] for f in FIELDS])

    def take(self, games: Any) -> State:
        """Copy some of the games, in that order; the same one may come more than once.

        Parameters
        ----------
        games : (n,) integers or (B,) bool
            Their numbers, or which they are.

        Raises
        ------
        ValueError
            If there is no such game.
        """
        games = game_numbers(games, self.num_games)
        taken = State(*[_like(getattr(self, f), games.size) for f in FIELDS])
        for f in FIELDS:
            getattr(taken, f)[...] = getattr(self, f)[..., games]
        return taken

    def copy(self) -> State:
        """Copy all games."""
        return State(*[lane_copy(getattr(self, f)) for f in FIELDS])

    def put(self, games: Index, other: State) -> None:
        """Overwrite the games in `games` by those of `other`, in order."""
        for f in FIELDS:
            getattr(self, f)[..., games] = getattr(other, f)

    def totals(self) -> NDArray[np.int32]:
        """Bull heads of each seat in the episode so far, shape (P, B)."""
        return self.score + self.pile_heads

    def acting(self) -> NDArray[np.bool_]:
        """Which seats have something to decide, shape (P, B)."""
        acting: NDArray[np.bool_] = np.zeros((self.num_players, self.num_games), np.bool_)
        for seat, decides in enumerate(acting):
            decides[...] = self.decides(np.uint8(seat))
        return acting

    def decides(self, seat: Any) -> NDArray[np.bool_]:
        """Whether `seat`, one or (B,) uint8, has something to decide; shape (B,)."""
        alone = (self.phase == TAKE) | (self.phase == DRAFT)
        together = self.phase == PLAY
        if self.one_by_one:
            alone, together = together, np.zeros_like(together)
        elif self.two_cards:
            together |= self.phase == SECOND
            lowest = self.hand[:, 0]
            held = lowest[seat] if np.ndim(seat) == 0 else lowest[seat, lane_numbers(seat.size)]
            together &= held != 0
        deciding: NDArray[np.bool_] = together | (alone & (self.actor == seat))
        return deciding


FIELDS: Final = tuple(f.name for f in fields(State))


def _like(array: NDArray[Any], num_games: int) -> NDArray[Any]:
    return lane_zeros((*array.shape[:-1], num_games), array.dtype)


def check_fits(state: State, rules: Rules) -> None:
    """Refuse a State whose arrays are not those of a game by these rules.

    Raises
    ------
    ValueError
        Naming the game that is asked for.
    TypeError
        If it is no State.
    """
    if not isinstance(state, State):
        raise TypeError(f"state={state!r}: a State is needed, as Engine.reset gives one")
    seats_and_cards = (rules.num_players, rules.hand_size)
    if state.hand.shape[:2] != seats_and_cards or state.queue.shape[0] != rules.queue_size:
        raise ValueError(
            f"this State is of another game than {rules.name} with {rules.num_players} players: "
            "use the rules, or the engine, that made it"
        )
