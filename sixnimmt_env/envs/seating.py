"""Who sits where: checks of seats, games, seeds and opponents that a face is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.checks import HIGHEST_SEED, did_you_mean, is_whole, whole
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import Policy, make_policies
from sixnimmt_env.rules import Rules

Opponents = str | Policy | Sequence[str | Policy]

ALL_SEATS: Final = "all"
RANDOM_SEAT: Final = "random"
MOST_GAMES: Final = 10**9
# Where policies come from that are known to act legally.
_OURS: Final = __name__.partition(".")[0] + "."


def consecutive_seeds(first: int, count: int) -> NDArray[np.uint64]:
    """Seeds `first`, `first + 1`, ... of `count` games, shape (count,) uint64."""
    why = f"seeds are 0 to 2**64 - 1, and {count} in a row are needed"
    first = whole("seed", first, 0, HIGHEST_SEED + 1 - count, why)
    return np.uint64(first) + np.arange(count, dtype=np.uint64)


def game_seeds(seed: Any, count: int) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Seeds of games, given as the first one's or as one, or None, for each.

    Returns
    -------
    words : (count,) uint64
        The seeds, 0 where none is given.
    given : (count,) bool
        Where one is.

    Raises
    ------
    ValueError
        If one of them is no seed, or there are not as many.
    """
    if is_whole(seed):
        return consecutive_seeds(seed, count), np.ones(count, np.bool_)
    if isinstance(seed, str) or np.ndim(seed) != 1:
        raise ValueError(
            f"seed={seed!r} is not possible: a whole number from 0 on, or one for each game"
        )
    if len(seed) != count:
        raise ValueError(f"{len(seed)} seeds for {count} games: one for each is needed")
    why = "seeds are 0 to 2**64 - 1, or None"
    words = [
        0 if word is None else whole(f"seed[{game}]", word, 0, HIGHEST_SEED, why)
        for game, word in enumerate(seed)
    ]
    return np.array(words, np.uint64), np.array([word is not None for word in seed])


def game_count(name: str, count: int) -> int:
    """Python's integer of a number of games; ValueError if it is none."""
    return whole(name, count, 1, MOST_GAMES, "at least 1 is needed")


def learning_seat(seat: int | str, players: int) -> Sequence[int] | str:
    """Where the only learner of a game sits, as `SeatBatch` wants it; ValueError."""
    _check_word("seat", seat, (RANDOM_SEAT,))
    if isinstance(seat, str):
        return seat
    why = f"with {players} players it is one of the numbers from 0 to {players - 1}, or 'random'"
    return [whole("seat", seat, 0, players - 1, why)]


def learning_seats(seats: Sequence[int] | str, players: int) -> Sequence[int] | str:
    """Where the learners of a game sit, as `SeatBatch` wants it; ValueError."""
    _check_word("learning_seats", seats, (ALL_SEATS, RANDOM_SEAT))
    if isinstance(seats, str):
        return seats if seats == RANDOM_SEAT else range(players)
    known = range(players)
    listed = isinstance(seats, (Sequence, np.ndarray)) and np.ndim(seats) == 1
    chosen = list(seats) if listed else []
    whole_numbers = all(is_whole(seat) and seat in known for seat in chosen)
    if not chosen or not whole_numbers or len(set(chosen)) < len(chosen):
        raise ValueError(
            f"learning_seats={seats!r} is not possible: with {players} players it is a list of "
            f"different numbers from 0 to {players - 1}, at least one, or 'all' or 'random'"
        )
    return [int(seat) for seat in chosen]


def _check_word(name: str, value: object, known: tuple[str, ...]) -> None:
    if isinstance(value, str) and value not in known:
        raise ValueError(
            f"{name}={value!r} is not known: {did_you_mean(value, known)} seat numbers or one of "
            f"{list(known)}"
        )


def distinct_policies(
    opponents: Opponents | None, needed: int
) -> tuple[list[Policy], NDArray[np.intp]]:
    """Distinct policies, and which of them sits at the first, second ... opponent's seat.

    Random players unless opponents are given, which must not be where there is no seat for them.
    """
    if opponents is not None and not needed and not isinstance(opponents, (list, tuple)):
        raise ValueError(
            f"opponents={opponents!r} is not possible: every seat learns, so that there are none"
        )
    opponents = "random" if opponents is None and needed else opponents or ()
    if isinstance(opponents, (list, tuple)):
        if len(opponents) != needed:
            raise ValueError(
                f"opponents has {len(opponents)} policies for {needed} seats: give one for each "
                "seat that does not learn, or a single one for all of them"
            )
        made = make_policies(opponents)
    else:
        made = make_policies([opponents] * needed)  # type: ignore[list-item]
    distinct = list({id(policy): policy for policy in made}.values())
    numbers = {id(policy): number for number, policy in enumerate(distinct)}
    return distinct, np.array([numbers[id(policy)] for policy in made], np.intp)


def all_ours(policies: Sequence[Policy], rules: Rules) -> bool:
    """Whether all policies are the package's; those that are show now whether they know this game.

    Raises
    ------
    ValueError
        If one of them does not, as a network for other games.
    """
    ours = [policy for policy in policies if type(policy).__module__.startswith(_OURS)]
    if ours:
        seen = observe(rules, Engine(rules).reset(), 0)
        for policy in ours:
            policy.act(seen, np.random.default_rng(0))
    return len(ours) == len(policies)


def games_to_reset(mask: Any, num_envs: int, num_games: int) -> NDArray[np.intp]:
    """Games of the envs that a mask chooses, all without one.

    Raises
    ------
    ValueError, TypeError
        If it is no such mask, or chooses some seats of a game only.
    """
    if mask is None:
        return np.arange(num_games)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise TypeError(f"options['reset_mask'] must be a numpy array of bool, not {mask!r}")
    if mask.shape != (num_envs,):
        raise ValueError(f"options['reset_mask'] has shape {mask.shape}; ({num_envs},) is needed")
    by_seat = mask.reshape(-1, num_games)
    if not by_seat.any():
        raise ValueError("options['reset_mask'] chooses no env: it needs at least one True")
    if (by_seat != by_seat[0]).any():
        raise ValueError(
            "options['reset_mask'] chooses some seats of a game only: all its seats restart "
            "together"
        )
    return np.flatnonzero(by_seat[0])
