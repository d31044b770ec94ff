"""Means over deals and their bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

RESAMPLES: Final = 1000
LEVEL: Final = 0.95

Sums = NDArray[np.float64]


@dataclass
class Figure:
    """A mean over deals and its 95 % interval, None from a single deal."""

    mean: float
    low: float | None = None
    high: float | None = None


class Bootstrap:
    """Means with bootstrap intervals; deals are what is drawn with replacement.

    Parameters
    ----------
    seed : int
        Of the resamples.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._waiting: list[tuple[Sums, float, Figure]] = []

    def add(self, sums: NDArray[Any], unit: float) -> Figure:
        """Mean of `sums / unit`, one of them for each deal; `run` fills in the interval."""
        values = np.asarray(sums, np.float64)
        figure = Figure(float(values.sum() / (values.size * unit)))
        self._waiting.append((values, unit, figure))
        return figure

    def run(self) -> None:
        """Work out the intervals of all figures, from the same resamples of as many deals."""
        for size in sorted({values.size for values, _, _ in self._waiting} - {1}):
            group = [entry for entry in self._waiting if entry[0].size == size]
            means = self._resampled(np.stack([values for values, _, _ in group], axis=1))
            tail = (1 - LEVEL) / 2
            for ends, (_, unit, figure) in zip(
                np.quantile(means, [tail, 1 - tail], axis=0).T, group, strict=True
            ):
                figure.low, figure.high = (float(end / unit) for end in ends)
        self._waiting = []

    def _resampled(self, values: Sums) -> Sums:
        """Means of the columns in every resample."""
        size = len(values)
        rng = np.random.default_rng([self._seed, size])
        means = np.empty((RESAMPLES, values.shape[1]))
        for i in range(RESAMPLES):
            counts = np.bincount(rng.integers(0, size, size), minlength=size)
            means[i] = counts @ values / size
        return means
