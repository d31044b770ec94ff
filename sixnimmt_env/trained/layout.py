"""Observations of games with fewer players, laid out as those of a game with more."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.encoding import field_table, observation_size
from sixnimmt_env.rules import Rules


@lru_cache(maxsize=256)
def columns(rules: Rules, largest: Rules) -> NDArray[np.intp] | None:
    """Where the numbers of an observation lie in that of a game with more players.

    Seats that are not there read as seats without cards. Fields that the larger game lacks, such
    as the scores of a match, are left out.

    Returns
    -------
    (2, k) intp or None
        Columns there and here; None if the observations are laid out alike.
    """
    here = {field.name: field for field in field_table(rules)}
    there = {field.name: field for field in field_table(largest)}
    if [(f.start, f.size) for f in here.values()] == [(f.start, f.size) for f in there.values()]:
        return None
    pairs = [
        (there[name].start + i, field.start + i)
        for name, field in here.items()
        if name in there
        for i in range(field.size)
    ]
    return np.array(pairs, np.intp).T


def widened(observations: NDArray[np.float32], rules: Rules, largest: Rules) -> NDArray[np.float32]:
    """Lay observations (n, F) out as those of a game with more players, (n, F largest)."""
    mapped = columns(rules, largest)
    if mapped is None:
        return observations
    wide = np.zeros((observations.shape[0], observation_size(largest)), np.float32)
    wide[:, mapped[0]] = observations[:, mapped[1]]
    return wide
