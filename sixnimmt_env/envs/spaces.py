"""Gymnasium spaces of one seat."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from sixnimmt_env.encoding import observation_size
from sixnimmt_env.rules import Rules


def action_space(rules: Rules) -> spaces.Discrete:
    """Make the space of action numbers; see `sixnimmt_env.cards`."""
    return spaces.Discrete(rules.num_actions)


def flat_space(size: int) -> spaces.Box:
    """Make the space of vectors of `size` numbers in [0, 1]."""
    return spaces.Box(0.0, 1.0, (size,), np.float32)


def dict_space(rules: Rules) -> spaces.Dict:
    """Make the space of encoded observation and mask of legal actions."""
    return spaces.Dict(
        {
            "observation": flat_space(observation_size(rules)),
            "action_mask": spaces.Box(0, 1, (rules.num_actions,), np.int8),
        }
    )


def observation_space(rules: Rules, flat: bool) -> spaces.Space[Any]:
    """Make the space of observations: encoded ones alone if `flat`, else with the mask."""
    return flat_space(observation_size(rules)) if flat else dict_space(rules)
