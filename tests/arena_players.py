"""Players of tests/test_arena.py that break down in different ways, and one that counts."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any

import numpy as np

from sixnimmt_env.observe import Observation
from sixnimmt_env.policy import LowestPolicy

Actions = Any


class Crashes(LowestPolicy):
    """Cannot divide by zero when it holds card 42 in the third turn."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        holds = (observation.hand == 42).any(axis=1) & (observation.turn == 2)
        if holds.any():
            return 1 // 0
        return super().act(observation, rng)


class CrashesAtOnce:
    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        raise RuntimeError("out of order")


class Illegal(LowestPolicy):
    """Plays a card that it does not hold in the second turn."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        actions = super().act(observation, rng)
        observation.action_mask[...] = 1  # does not help
        absent = (observation.unseen[:, 1:] == 1).argmax(axis=1) + 1
        return np.where(observation.turn == 1, absent, actions)


class WrongShape(LowestPolicy):
    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        return super().act(observation, rng)[:1]


class Stalls(LowestPolicy):
    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        if observation.turn.max() == 1:
            time.sleep(3600)
        return super().act(observation, rng)


class StallsStubbornly:
    """No alarm reaches it."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        while True:
            with contextlib.suppress(BaseException):
                time.sleep(3600)


class Dies:
    """Takes its process with it."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        os._exit(7)


class Remembers(LowestPolicy):
    """Would play differently in its second chunk, if it were the same object then."""

    def __init__(self) -> None:
        self.calls = 0

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        self.calls += 1
        late = (
            observation.action_mask.shape[1] - 1 - observation.action_mask[:, ::-1].argmax(axis=1)
        )
        return late if self.calls > 20 else super().act(observation, rng)


class SlowRandom:
    """Random, so slowly if need be that a run can be ended in the middle."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        time.sleep(float(os.environ.get("ARENA_SLOW", "0")))
        mask = observation.action_mask
        return (rng.random(mask.shape) * mask + mask).argmax(axis=1)
