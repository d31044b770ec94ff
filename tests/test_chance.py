"""All chance is a plain function of seed, game and round, and every purpose has its own."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sixnimmt_env import dealing
from sixnimmt_env.cards import ZERO
from sixnimmt_env.dealing import DECK, FIRST_SEAT, LEARNER_SEAT, draws, random_seat, stream
from sixnimmt_env.engine import Engine
from sixnimmt_env.envs.batch import SeatBatch
from sixnimmt_env.envs.options import make_options
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, OVER, State, lane_copy, lane_zeros
from sixnimmt_env.variants import make_rules
from tests.plain_view import case_name
from tests.rounds import PLAYERS, random_actions

WORD = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
PURPOSES = {"deck": DECK, "first seat": FIRST_SEAT, "learner's seat": LEARNER_SEAT}


def mix(word: int) -> int:
    """Finaliser of SplitMix64 on Python's integers."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & WORD
    return word ^ word >> 31


def key_of(seed: int, game: int, round_: int, purpose: int) -> int:
    key = mix(seed + GOLDEN & WORD)
    key = mix(key ^ (game * 0xBF58476D1CE4E5B9 + GOLDEN & WORD))
    return mix(key ^ (round_ << 8) + purpose)


def drawn(key: int, bounds: list[int]) -> list[int]:
    """Numbers below the bounds: the low halves of half as many words, then the high ones."""
    half = (len(bounds) + 1) // 2
    words = [mix(key + (i + 1) * GOLDEN & WORD) for i in range(half)]
    parts = [word & 0xFFFFFFFF for word in words] + [word >> 32 for word in words]
    return [part * bound >> 32 for part, bound in zip(parts, bounds, strict=False)]


def dealt(rules: Rules, seed: int, game: int, round_: int) -> tuple[list[int], list[list[int]]]:
    """Row starters and hands, by a Fisher-Yates shuffle of one deck."""
    deck = list(range(1, rules.num_cards + 1))
    deck += [ZERO] * (rules.zeros - rules.zeros_each * rules.num_players)
    left = [len(deck) - i for i in range(rules.num_dealt)]
    if rules.zeros:  # the row starters are numbers
        left[:4] = [rules.num_cards - i for i in range(4)]
    for i, at in enumerate(drawn(key_of(seed, game, round_, DECK), left)):
        deck[i], deck[i + at] = deck[i + at], deck[i]
    cards = deck[: rules.num_dealt]
    starters = cards[:4] if rules.zeros else cards[-4:]
    rest = cards[4:] if rules.zeros else cards[:-4]
    each = rules.hand_size - rules.zeros_each
    hands = [sorted(rest[i : i + each]) for i in range(0, len(rest), each)]
    return starters, [hand + [ZERO] * rules.zeros_each for hand in hands]


DEALT = [
    make_rules(variant, players, episode="match", rounds=3)
    for variant, numbers in PLAYERS.items()
    for players in (numbers[0], numbers[-1])
]


@pytest.mark.parametrize("rules", DEALT, ids=case_name)
@pytest.mark.parametrize("games", [3, 400])
def test_deals_are_those_of_a_plain_shuffle(rules, games):
    seeds = np.arange(games, dtype=np.uint64) * np.uint64(0x123456789ABCDEF1)
    ids = np.arange(games) * 7 + (1 << 40)
    engine, rng = Engine(rules), np.random.default_rng(0)
    state = engine.reset(seeds, ids)
    met = set()
    for _ in range(200 if games < 10 else 1):
        for game in range(0, games, 1 + games // 8):
            round_ = int(state.round[game])
            if state.turn[game] or (game, round_) in met or state.phase[game] == OVER:
                continue
            met.add((game, round_))
            seed, number = int(seeds[game]), int(ids[game])
            first = drawn(key_of(seed, number, round_, FIRST_SEAT), [rules.num_players])
            if rules.draft:
                begins = drawn(key_of(seed, number, 0, FIRST_SEAT), [rules.num_players])[0]
                assert state.phase[game] == DRAFT
                assert state.first_seat[game] == (begins + round_) % rules.num_players
                continue
            starters, hands = dealt(rules, seed, number, round_)
            assert state.starters[:, game].tolist() == starters
            if not state.played[..., game].any() and not state.committed[..., game].any():
                assert state.hand[..., game].tolist() == hands
            if rules.one_by_one and round_ == 0:
                assert state.first_seat[game] == first[0]
        active = state.phase != OVER
        if not active.any():
            break
        engine.step(state, random_actions(state, rng), active)
    assert len(met) > games if games < 10 else len(met) > 5


def test_streams_of_all_purposes_differ():
    named = {n for n, v in vars(dealing).items() if n.isupper() and isinstance(v, int)}
    assert {"DECK", "FIRST_SEAT", "LEARNER_SEAT"} <= named
    assert len(set(PURPOSES.values())) == len(PURPOSES)
    games = np.arange(4000, dtype=np.uint64)
    rounds = games * 0
    words = {n: stream(games, games, rounds, purpose) for n, purpose in PURPOSES.items()}
    seats = {n: draws(word, np.array([4], np.uint64))[0] for n, word in words.items()}
    for left, right in combinations(PURPOSES, 2):
        assert not (words[left] == words[right]).any()
        pairs = np.bincount((seats[left] * 4 + seats[right]).astype(int), minlength=16)
        assert pairs.min() > 170, "4000 games, so 250 in each of 16 pairs"


@pytest.mark.parametrize(("seed", "game", "round_", "purpose"), [
    (0, 0, 0, 0), (1, 2, 3, 1), (WORD, WORD, 9999, 2), (1 << 63, 12345, 7, 1),
])  # fmt: skip
def test_stream_and_draws_are_those_of_plain_integers(seed, game, round_, purpose):
    key = stream(*(np.array([word], np.uint64) for word in (seed, game)),
                 np.array([round_], np.int32), purpose)  # fmt: skip
    assert key.tolist() == [key_of(seed, game, round_, purpose)]
    for bounds in ([5], [1, 104], [104, 103, 102], list(range(110, 2, -1))):
        made = draws(key, np.array(bounds, np.uint64))
        assert made[:, 0].tolist() == drawn(int(key[0]), bounds)


def test_the_learner_sits_where_chance_puts_it_whoever_begins():
    """Were both of one purpose, the learner would always begin (or never)."""
    batch = SeatBatch(make_options(4, "simplified"), 2000, "random", "lowest")
    batch.start(0)
    state = State.empty(batch.rules, 2000)
    state.seed[...] = np.arange(2000)
    first = random_seat(state, 4, FIRST_SEAT)
    learner = random_seat(state, 4, LEARNER_SEAT)
    np.testing.assert_array_equal(batch.state.first_seat, first)
    np.testing.assert_array_equal(batch.seat, learner)
    pairs = np.bincount(batch.seat * 4 + first, minlength=16)
    assert pairs.min() > 80, "2000 games, so 125 in each of 16 pairs"


def test_long_rows_do_not_share_a_cache_set():
    for games, dtype in ((1, np.uint8), (900, np.uint8), (127, np.uint64), (255, np.int32)):
        assert lane_zeros((3, games), dtype).strides[0] == games * np.dtype(dtype).itemsize
    for games, dtype in ((1024, np.uint8), (1025, np.uint8), (4096, np.uint8), (128, np.uint64)):
        array = lane_zeros((3, 2, games), dtype)
        assert array.shape == (3, 2, games) and not array.any()
        width = array.strides[1]
        assert width % 64 == 0 and width // 64 % 2 == 1
        assert 0 <= width - games * np.dtype(dtype).itemsize < 128
    copied = lane_copy(np.arange(2 * 2048, dtype=np.uint16).reshape(2, 2048))
    assert copied.strides[0] == 65 * 64
    np.testing.assert_array_equal(copied.ravel(), np.arange(2 * 2048))
