"""All chance in the game, as a function of `(seed, game_id, round)` and nothing else.

Game 123 of a seed is therefore the same alone, in a batch of a million, in any face and on any
machine. Random words come from SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
number generators", 2014) in counter mode, hands from a Fisher-Yates shuffle over whole batches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env import loops
from sixnimmt_env.cards import BULL_HEADS, NUM_CARDS, NUM_ROWS, ZERO
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import (
    DRAFT,
    FIELDS,
    HAND,
    PLAY,
    POOL,
    TABLE,
    U8,
    Index,
    State,
    lane_numbers,
    lane_zeros,
    scatter,
)

U64 = NDArray[np.uint64]

# Independent streams of one round.
DECK: Final = 0
FIRST_SEAT: Final = 1
LEARNER_SEAT: Final = 2

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_MUL_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MUL_2: Final = np.uint64(0x94D049BB133111EB)
_LOW_HALF: Final = np.uint64(0xFFFFFFFF)
_HALF: Final = np.uint64(32)


def _mix(words: U64) -> U64:
    """Finaliser of SplitMix64: every output bit depends on every input bit. In place."""
    words ^= words >> np.uint64(30)
    words *= _MUL_1
    words ^= words >> np.uint64(27)
    words *= _MUL_2
    words ^= words >> np.uint64(31)
    return words


def stream(seed: U64, game_id: U64, round_: NDArray[Any], purpose: int) -> U64:
    """Key of one stream of random words per game, shape (B,)."""
    key = _mix(seed + _GOLDEN)
    key = _mix(key ^ (game_id * _MUL_1 + _GOLDEN))
    return _mix(key ^ ((round_.astype(np.uint64) << np.uint64(8)) + np.uint64(purpose)))


def draws(key: U64, bounds: NDArray[np.uint64]) -> U64:
    """Uniform integers in [0, bounds[i]), shape (len(bounds), B).

    Multiply-shift on 32 random bits; its bias is below `bound / 2**32`.
    """
    count = len(bounds)
    half = (count + 1) // 2
    counter = np.arange(1, half + 1, dtype=np.uint64)[:, None] * _GOLDEN
    words = _mix(key + counter)
    out = lane_zeros((2 * half, key.shape[0]), np.uint64)
    np.bitwise_and(words, _LOW_HALF, out=out[:half])
    np.right_shift(words, _HALF, out=out[half:])
    out = out[:count]
    out *= bounds[:, None]
    out >>= _HALF
    return out


def random_seat(state: State, num_players: int, purpose: int) -> U8:
    """One uniformly random seat per game, shape (B,)."""
    key = stream(state.seed, state.game_id, state.round, purpose)
    seats: U8 = draws(key, np.array([num_players], np.uint64))[0].astype(np.uint8)
    return seats


def private_rng(seed: int | Sequence[int]) -> np.random.Generator:
    """Give policies their chance: as `numpy.random.default_rng(seed)`, but the seed is not in it.

    With the seed, every hand could be dealt again. What can be read from this generator instead,
    and what it spawns from, is a digest.
    """
    state = np.random.PCG64(seed).state
    digest = hashlib.sha256(repr(state).encode()).digest()
    bits = np.random.PCG64(int.from_bytes(digest, "little"))
    bits.state = state
    return np.random.Generator(bits)


def shuffle(key: U64, cards: U8, count: int, first: int = 0, out_of: int = 0) -> U8:
    """First `count` cards of a shuffled deck of `cards`, shape (count, B) uint8.

    The `first` ones come from the first `out_of` cards of the deck alone.
    """
    games, size = key.shape[0], cards.shape[0]
    deck = lane_zeros((size, games), np.uint8)
    deck[...] = cards[:, None]
    flat, width = _flat(deck)
    left = np.arange(size, size - count, -1).astype(np.uint64)
    left[:first] -= np.uint64(size - out_of)
    at = draws(key, left).view(np.int64)
    at += np.arange(count)[:, None]
    at *= width
    at += np.arange(games)
    if loops.COMPILED and games <= loops.MOST_GAMES:
        loops.swap(deck, flat, at)
    else:
        for i in range(count):
            drawn = flat.take(at[i])
            flat[at[i]] = deck[i]
            deck[i] = drawn
    return deck[:count]


def _flat(array: U8) -> tuple[U8, int]:
    """One-dimensional view of a fresh `lane_zeros` array and the distance of its rows."""
    whole = array if array.base is None else array.base
    flat: U8 = whole.reshape(-1)
    return flat, int(whole.shape[-1])


@lru_cache(maxsize=64)
def sorting_network(size: int) -> tuple[tuple[int, int], ...]:
    """List the comparators of Batcher's odd-even merge sort (Knuth 5.2.2, algorithm M)."""
    pairs = []
    top = 1 << max(size - 1, 0).bit_length() >> 1
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while True:
            pairs += [(i, i + d) for i in range(size - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
    return tuple(pairs)


def sort_lanes(items: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Sort equally shaped arrays elementwise: item 0 becomes the smallest. Overwrites them."""
    spare = np.empty_like(items[0])
    for i, j in sorting_network(len(items)):
        low, high = items[i], items[j]
        np.minimum(low, high, out=spare)
        np.maximum(low, high, out=high)
        items[i], spare = spare, low
    return items


_KEPT: Final = ("seed", "game_id", "round", "score", "queue", "placed_row", "placed_heads")
_OF_ONE_ROUND: Final = tuple(name for name in FIELDS if name not in _KEPT)


def start_round(rules: Rules, state: State, games: Index) -> None:
    """Set the games in `games` to the start of the round that their `round` says.

    Reads `seed`, `game_id`, `round`; keeps `score` and the last turn's queue.
    """
    count = int(state.phase[games].shape[0])
    if isinstance(games, slice) and count == state.num_games:
        for name in _OF_ONE_ROUND:
            getattr(state, name)[...] = 0
        _begin(rules, state)
        return
    new = State.empty(rules, count)
    for name in _KEPT:
        getattr(new, name)[...] = getattr(state, name)[..., games]
    _begin(rules, new)
    state.put(games, new)


def _begin(rules: Rules, state: State) -> None:
    state.cursor[...] = rules.queue_size
    if rules.one_by_one:
        _choose_starter(rules, state)
    if rules.draft:
        _lay_out(rules, state)
    else:
        _deal(rules, state)


def _deal(rules: Rules, state: State) -> None:
    key = stream(state.seed, state.game_id, state.round, DECK)
    starters, cards = _starters_and_hands(rules, key)
    each = rules.hand_size - rules.zeros_each
    hands = cards.reshape(rules.num_players, each, state.num_games)
    seats = np.repeat(np.arange(HAND, HAND + rules.num_players, dtype=np.uint8), each)
    numbered = cards * (cards != ZERO) if rules.zeros else cards
    scatter(state.location, numbered, lane_numbers(state.num_games), seats[:, None])
    state.location[0] = 0
    if state.num_games <= loops.MOST_GAMES or not each:
        state.hand[:, :each] = np.sort(hands, axis=1)
    else:
        slots = sort_lanes([hands[:, i].copy() for i in range(each)])
        for i, slot in enumerate(slots):
            state.hand[:, i] = slot
    state.hand[:, each:] = ZERO
    start_rows(state, slice(None), starters)
    state.phase[...] = PLAY


def _starters_and_hands(rules: Rules, key: U64) -> tuple[U8, U8]:
    """Row starters (R, B) and the cards dealt to hands, seat by seat."""
    numbers = np.arange(1, rules.num_cards + 1, dtype=np.uint8)
    if not rules.zeros:
        cards = shuffle(key, numbers, rules.num_dealt)
        return cards[-NUM_ROWS:], cards[:-NUM_ROWS]
    # The 0s are shuffled in when the row starters lie on the table.
    left = rules.zeros - rules.zeros_each * rules.num_players
    deck = np.concatenate((numbers, np.full(left, ZERO, np.uint8)))
    cards = shuffle(key, deck, rules.num_dealt, NUM_ROWS, rules.num_cards)
    return cards[:NUM_ROWS], cards[NUM_ROWS:]


def _choose_starter(rules: Rules, state: State) -> None:
    """At random in the first round, then who has the most heads (ties: the lowest seat)."""
    drawn = random_seat(state, rules.num_players, FIRST_SEAT)
    most = state.score.argmax(axis=0)
    state.first_seat[...] = np.where(state.round == 0, drawn, most)
    state.actor[...] = state.first_seat


def _lay_out(rules: Rules, state: State) -> None:
    """Lay the whole deck face up for a draft."""
    state.location[1 : rules.num_cards + 1] = POOL
    first = state.copy()
    first.round[...] = 0
    drawn = random_seat(first, rules.num_players, FIRST_SEAT)
    state.first_seat[...] = (drawn + state.round) % rules.num_players
    state.actor[...] = state.first_seat
    state.phase[...] = DRAFT


def start_rows(state: State, games: Index, cards: U8) -> None:
    """Start the rows with `cards` (R, n), which lie in no row yet."""
    state.starters[:, games] = cards
    state.rows[:, 0, games] = cards
    state.row_end[:, games] = cards
    state.row_len[:, games] = 1
    state.row_heads[:, games] = BULL_HEADS[cards]
    scatter(state.location, cards, lane_numbers(state.num_games)[games], TABLE)


assert NUM_ROWS < 5 and NUM_CARDS < 128  # the kernels keep rows and cards in small bit fields
