"""Registry of variants. The only folder that knows them by name.

A variant is one module here with `rules(num_players, **options) -> Rules`; its docstring is its
page in the docs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sixnimmt_env.checks import did_you_mean, one_of
from sixnimmt_env.rules import Rules, RulesError
from sixnimmt_env.variants import (
    base,
    original_zeros,
    plus,
    plus_equal,
    pro,
    simplified,
    tactics,
)

DEFAULT: Final = "base"
VARIANTS: Final[dict[str, Callable[..., Rules]]] = {
    module.NAME: module.rules
    for module in (base, tactics, pro, plus, plus_equal, original_zeros, simplified)
}

OPTIONS: Final = ("row_choice", "episode", "target", "rounds")


def make_rules(variant: str = DEFAULT, num_players: int = 4, **options: Any) -> Rules:
    """Rules of a variant by name.

    Parameters
    ----------
    variant : str
        One of `VARIANTS`.
    num_players : int
        How many play.
    **options
        `row_choice`, `episode`, `target`, `rounds`; see `Rules`.

    Raises
    ------
    RulesError
        For an unknown variant or rules that cannot be.
    TypeError
        For an unknown option.
    """
    one_of("variant", variant, sorted(VARIANTS), RulesError)
    for name in options:
        if name not in OPTIONS:
            known = ["variant", "num_players", *OPTIONS]
            raise TypeError(
                f"make_rules() got an unexpected keyword argument {name!r}: "
                f"{did_you_mean(name, known)} among {known}"
            )
    return VARIANTS[variant](num_players, **options)
