"""A reset with seeds depends on nothing else: opponents who act before the learner included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sixnimmt_env.envs.single import SixNimmtEnv
from sixnimmt_env.envs.vector import SixNimmtVectorEnv
from sixnimmt_env.variants import VARIANTS

SEEDS = [3, 4, 2**64 - 1, 6]


def played(env: Any, seed: Any, steps: int = 3) -> list[np.ndarray[Any, Any]]:
    """What is seen after a reset and some steps."""
    seen, _ = env.reset(seed=seed)
    shown = [seen["observation"]]
    for _ in range(steps):
        seen, *_ = env.step(seen["action_mask"].argmax(axis=-1))
        shown.append(seen["observation"])
    return shown


def same(one: list[np.ndarray[Any, Any]], other: list[np.ndarray[Any, Any]]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("seat", [0, 2, "random"])
@pytest.mark.parametrize("variant", sorted(VARIANTS))
@pytest.mark.parametrize("seed", [5, SEEDS], ids=["one", "each"])
def test_vector(variant: str, seat: Any, seed: Any) -> None:
    fresh = played(SixNimmtVectorEnv(4, variant=variant, seat=seat), seed)
    used = SixNimmtVectorEnv(4, variant=variant, seat=seat)
    played(used, 99)
    assert same(fresh, played(used, seed))
    assert same(fresh, played(used, seed))
    assert not same(fresh, played(used, 100))


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_single(variant: str) -> None:
    fresh = played(SixNimmtEnv(variant=variant, seat=2), 5)
    used = SixNimmtEnv(variant=variant, seat=2)
    played(used, 99)
    assert same(fresh, played(used, 5))


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_sb3(variant: str) -> None:
    sb3 = pytest.importorskip("sixnimmt_env.envs.sb3", exc_type=ImportError)
    shown = []
    for before in (5, 99):
        env = sb3.SixNimmtVecEnv(4, learning_seats=[2], opponents="random", variant=variant)
        for seed in (before, 5):
            env.seed(seed)
            seen = env.reset()
        shown.append([seen, env.step(env.action_masks().argmax(axis=1))[0]])
    assert same(*shown)


def test_opponents_act_in_no_game_that_is_thrown_away() -> None:
    """With a seed for every game, the first reset begins these games and no others."""

    class Counts:
        def __init__(self) -> None:
            self.decisions = 0

        def act(self, observation: Any, rng: np.random.Generator) -> Any:
            self.decisions += len(observation)
            return observation.action_mask.argmax(axis=1)

    counts = []
    for seed in (SEEDS, np.array(SEEDS, np.uint64)):
        policy = Counts()
        SixNimmtVectorEnv(4, variant="pro", seat=2, opponents=policy).reset(seed=seed)
        counts.append(policy.decisions)
    policy = Counts()
    env = SixNimmtVectorEnv(4, variant="pro", seat=2, opponents=policy)
    env.reset(seed=1)
    policy.decisions = 0
    env.reset(seed=SEEDS)
    assert counts == [policy.decisions] * 2
