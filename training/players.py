"""Players that a run learns among or is measured against: tried out first, and held fast."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from agents.players import code_of, load_player
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import Policy
from sixnimmt_env.rules import Rules

PAST = "past"
"""In a pool: earlier versions of the learner."""


def load_players(names: Iterable[str], games: Iterable[Rules] = ()) -> dict[str, Policy]:
    """Players by name. Each of them has to know the games, which is tried out.

    Models that need torch come last: a wrong name is refused before it is imported.

    Raises
    ------
    ValueError, OSError
        If there is no such player, or it does not know one of the games.
    """
    given = list(names)
    loaded = {name: load_player(name) for name in sorted(given, key=_is_slow)}
    players = {name: loaded[name] for name in given}
    for rules in games:
        state = Engine(rules).reset()
        first = observe(rules, state, int(state.acting()[:, 0].argmax()))
        for name, player in players.items():
            try:
                player.act(first, np.random.default_rng(0))
            except ValueError as error:
                raise ValueError(f"player {name!r} cannot be used here: {error}") from error
    return players


def _is_slow(name: str) -> bool:
    return isinstance(name, str) and ".zip" in name


def digests(names: Iterable[str]) -> dict[str, str]:
    """Digest of the file of each player that has one: a saved network, or a class of one's own."""
    files = {name: code_of(name) for name in names if name != PAST}
    return {
        name: hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
        for name, paths in files.items()
        if paths
    }
