"""What can be reached from an array: by `.base`, everything in the memory that it is a view of."""

from __future__ import annotations

import ctypes
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from sixnimmt_env.observe import Observation
from sixnimmt_env.policy import RandomPolicy
from sixnimmt_env.state import FIELDS, State

RECORD = [f.name for f in fields(Observation) if f.name != "rules"]


def beyond(array: np.ndarray) -> np.ndarray:
    """Bytes that are not 0 in the memory around an array, those that it shows left out."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    if root.base is not None:
        root = np.frombuffer(root.base, np.uint8)
    low, high = np.lib.array_utils.byte_bounds(root)
    memory = np.frombuffer(ctypes.string_at(low, high - low), np.uint8).copy()
    if array.size:
        at = array.ctypes.data - low
        as_strided(memory[at:], (*array.shape, array.itemsize), (*array.strides, 1))[...] = 0
    return memory[memory != 0]


def assert_alone(**arrays: np.ndarray) -> None:
    """Nothing else can be reached from any of them."""
    for name, array in arrays.items():
        assert isinstance(array, np.ndarray), name
        assert beyond(array).size == 0, name


def record_arrays(seen: Observation) -> dict[str, np.ndarray]:
    return {name: getattr(seen, name) for name in RECORD}


def assert_apart(arrays: list[np.ndarray], state: State | None = None) -> None:
    """None of them shares memory with another one or with the State."""
    others = [getattr(state, name) for name in FIELDS] if state is not None else []
    for i, array in enumerate(arrays):
        for other in arrays[:i] + others:
            assert not np.may_share_memory(array, other)


class Prying(RandomPolicy):
    """Plays at random, and looks for what its observations should not lead to."""

    def __init__(self) -> None:
        self.calls = 0
        self.state: State | None = None

    def act(self, observation: Observation, rng: np.random.Generator) -> Any:
        arrays = record_arrays(observation)
        assert_alone(**arrays)
        if self.state is not None:
            for array in arrays.values():
                assert not any(np.shares_memory(array, getattr(self.state, f)) for f in FIELDS)
        self.calls += 1
        actions = super().act(observation, rng)
        for array in arrays.values():  # whatever is written there harms nobody
            if array.flags.writeable:
                array[...] = 99
        return actions
