"""Checks of what callers give: whole numbers, numbers of games and seats, names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# Seeds and ids of games are 64 bits wide.
HIGHEST_SEED: Final = 2**64 - 1


def is_whole(value: object) -> bool:
    """Whether this is a whole number, be it Python's or NumPy's; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole(
    name: str,
    value: Any,
    low: int,
    high: int,
    why: str,
    error: type[ValueError] = ValueError,
) -> int:
    """Python's integer of a whole number within bounds.

    NumPy's small integers are turned into it, since their arithmetic wraps around.

    Parameters
    ----------
    name : str
        What the value is called.
    value : int
        The number.
    low, high : int
        Bounds, both allowed.
    why : str
        Rule that it breaks if it is out of bounds.
    error : type
        What is raised.

    Raises
    ------
    ValueError
        Or `error`, naming the value and the rule.
    """
    if not is_whole(value):
        raise error(f"{name}={value!r} is not possible: a whole number is needed; {why}")
    if not low <= int(value) <= high:
        raise error(f"{name}={value} is not possible: {why}")
    return int(value)


def number_below(name: str, value: Any, count: int) -> int:
    """Python's integer of the number of one of `count` seats or games; ValueError otherwise."""
    if not is_whole(value):
        raise ValueError(f"{name}={value!r} is not possible: a whole number is needed")
    if not 0 <= int(value) < count:
        raise _none_such(name, int(value), count)
    return int(value)


def numbers_below(name: str, values: Any, count: int) -> NDArray[np.intp]:
    """Numbers of some of `count` seats or games, shape (n,); ValueError if there are none such.

    Negative numbers do not count from the end: they are mistakes.
    """
    array = np.asarray(values)
    listed = isinstance(values, (list, tuple))  # in which NumPy takes True for 1
    whole_numbers = all(map(is_whole, values)) if listed else array.dtype.kind in "iu"
    if array.ndim != 1 or not (whole_numbers or not array.size):
        raise ValueError(f"{name}={values!r} is not possible: a list of whole numbers is needed")
    numbers = array.astype(np.intp)
    # Negative ones, seen without a sign, are above all others.
    if numbers.size and numbers.view(np.uintp).max() >= count:
        raise _none_such(name, array[numbers.view(np.uintp) >= count][0], count)
    return numbers


def game_numbers(games: Any, count: int) -> NDArray[np.intp]:
    """Numbers of some of `count` games, given as such or as a mask of bool (count,)."""
    array = np.asarray(games)
    if array.dtype == np.bool_:
        return np.flatnonzero(game_mask("games", array, count))
    return numbers_below("games", games, count)


def game_mask(name: str, mask: Any, count: int) -> NDArray[np.bool_]:
    """Which of `count` games, bool (count,); ValueError if it is anything else."""
    array = np.asarray(mask)
    if array.dtype != np.bool_ or array.shape != (count,):
        raise ValueError(
            f"{name} has dtype {array.dtype} and shape {array.shape}; bool ({count},) is needed"
        )
    return array


def _none_such(name: str, value: object, count: int) -> ValueError:
    known = f"they are 0 to {count - 1}" if count else "there are none"
    return ValueError(f"there is no {name.removesuffix('s')} {value}: {known}")


def seeds(name: str, values: Any, count: int | None = None) -> NDArray[np.uint64]:
    """Seeds or ids of games: one for all `count` or one for each; any (n,) without a count.

    Raises
    ------
    ValueError
        If they are no whole numbers of 64 bits, or not as many.
    """
    array = np.asarray(values)
    if isinstance(values, (list, tuple)) and array.ndim == 1:
        # Looked at one by one: NumPy takes True for 1, and makes small and huge integers floats.
        good = all(is_whole(value) and 0 <= value <= HIGHEST_SEED for value in values)
        array = np.array(values, np.uint64) if good else array
    else:
        good = array.dtype.kind == "u" or (array.dtype.kind == "i" and not bool((array < 0).any()))
    if not good:
        raise ValueError(
            f"{name}={values!r} is not possible: whole numbers 0 to 2**64 - 1 are needed"
        )
    if array.ndim and (array.ndim > 1 or count not in (None, array.size)):
        needed = "(n,)" if count is None else f"({count},)"
        raise ValueError(f"{name} has shape {array.shape}; one for each game, {needed}, is needed")
    return array.astype(np.uint64)


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Begin a list of what is known: with the name that is most like this one, if one is."""
    like = get_close_matches(name, known, 1) if isinstance(name, str) else []
    return f"did you mean {like[0]!r}? Choose" if like else "choose"


def one_of(
    name: str, value: object, known: Iterable[str], error: type[ValueError] = ValueError
) -> None:
    """Refuse a word that is not among the known ones.

    Raises
    ------
    ValueError
        Or `error`, naming the known ones and the one that is most like it.
    """
    words = list(known)
    if not isinstance(value, str) or value not in words:
        raise error(f"{name}={value!r} is not known: {did_you_mean(value, words)} one of {words}")
