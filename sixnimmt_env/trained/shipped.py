"""The policy "trained": networks that come with the package, one of which fits the game."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import as_file, files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.observe import Observation
from sixnimmt_env.rules import Rules
from sixnimmt_env.trained.network import NetworkPolicy, load_policy
from sixnimmt_env.trained.scope import in_words

FOLDER: Final = files("sixnimmt_env.trained") / "policies"
"""Where the files are."""


class TrainedPolicy:
    """The network of the package that was trained for the game it is asked about.

    It looks the network up at each decision, so that it holds nothing but this setting.

    Parameters
    ----------
    greedy : bool
        Play the most probable action, or draw one from the network's distribution.
    """

    def __init__(self, greedy: bool = True) -> None:
        self.greedy = greedy

    def act(self, observation: Observation, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `sixnimmt_env.policy.Policy.act`.

        Raises
        ------
        ValueError
            If the package has no network for this game.
        """
        return fitting(observation.rules, self.greedy).act(observation, rng)


@lru_cache(maxsize=256)
def fitting(rules: Rules, greedy: bool = True) -> NetworkPolicy:
    """Network for a game: of those that fit the one for the fewest numbers of players.

    Parameters
    ----------
    rules : Rules
        The game.
    greedy : bool
        Play the most probable action, or draw one.

    Raises
    ------
    ValueError
        If none fits; it names the games that there are networks for.
    """
    every = shipped()
    fits = [policy for policy in every if policy.scope.why_not(rules) is None]
    if not fits:
        games = "; ".join(str(policy.scope) for policy in every) or "no game yet"
        raise ValueError(
            f"there is no trained player for {in_words(rules)}. The package has trained players "
            f"for: {games}. Train one of your own with `python -m training.ppo` and load it with "
            "sixnimmt_env.load_policy"
        )
    chosen = min(fits, key=lambda policy: len(policy.scope.players))
    return NetworkPolicy(chosen.weights, chosen.scope, greedy, chosen.about)


@cache
def shipped() -> tuple[NetworkPolicy, ...]:
    """Load all networks of the package, in the order of their files' names."""
    found = [file for file in FOLDER.iterdir() if file.name.endswith(".npz")]
    found.sort(key=lambda file: file.name)
    policies = []
    for file in found:
        with as_file(file) as path:  # a real file even where the package is a zip archive
            policies.append(load_policy(path))
    return tuple(policies)
