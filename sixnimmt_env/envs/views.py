"""What learners see of many games at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Lanes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class View:
    """What n decisions look like to the learners.

    Attributes
    ----------
    observation : (n, F) float32
        Encoded observations.
    action_mask : (n, A) int8
        1 for every legal action.
    """

    observation: NDArray[np.float32]
    action_mask: NDArray[np.int8]

    def take(self, envs: Lanes) -> View:
        """Copy the decisions in `envs`."""
        return View(self.observation[envs], self.action_mask[envs])

    def put(self, envs: Lanes, other: View) -> None:
        """Overwrite the decisions in `envs` by those of `other`, in order."""
        self.observation[envs] = other.observation
        self.action_mask[envs] = other.action_mask

    def layout(self, flat: bool) -> Any:
        """Give the observations alone if `flat`, else in a dict with the masks."""
        if flat:
            return self.observation
        return {"observation": self.observation, "action_mask": self.action_mask}

    def row(self, number: int, flat: bool) -> Any:
        """Give one decision, as `layout` gives all."""
        return View(self.observation[number], self.action_mask[number]).layout(flat)
