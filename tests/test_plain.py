"""Search plays the same without a compiler, and nothing overflows that is not meant to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agents.players import load_player
from agents.rollouts import draw
from sixnimmt_env import make_rules, play

FEW = [("base", 3), ("plus", 2)]
GAMES = [("base", 4), ("pro", 2), ("plus", 3), ("original_zeros", 3)]
PLAYERS = ("monte_carlo:2", "belief:2", "guided:2")


def heads(games: list[tuple[str, int]]) -> str:
    """What searching players end with, as text."""
    found = []
    for variant, count in games:
        rules = make_rules(variant, count)
        for player in PLAYERS if variant == "base" else PLAYERS[:2]:
            seats = [load_player(player), *["random"] * (count - 1)]
            found.append(play(seats, rules, games=1, seed=3).heads.tolist())
    return str(found)


def test_the_generator():
    """xorshift64*, in whole numbers of any size."""
    for seed in (1, 2**63 + 1, 12345678901234567, 2**64 - 1):
        rng, state = np.array([seed], np.uint64), seed
        for bound in [*range(1, 112), 2**20]:
            state ^= state >> 12
            state ^= state << 25 & 2**64 - 1
            state ^= state >> 27
            word = (state * 2685821657736338717 & 2**64 - 1) >> 32
            assert draw(rng, bound) == word * bound >> 32
        assert rng[0] == state


@pytest.mark.parametrize("games", [FEW, pytest.param(GAMES, marks=pytest.mark.slow)], ids=len)
def test_search_without_a_compiler(games):
    pytest.importorskip("numba", reason="it would be compared with itself")
    code = f"from tests.test_plain import heads; print(heads({games}))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"SIXNIMMT_COMPILED": "0"},
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == heads(games)
