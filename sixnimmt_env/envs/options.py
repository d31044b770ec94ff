"""What every face lets its user choose, and how heads become rewards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import Parameter, isclass, signature
from numbers import Real
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.checks import HIGHEST_SEED, did_you_mean, is_whole, number_below, one_of, whole
from sixnimmt_env.engine import Engine
from sixnimmt_env.rules import Episode, RowChoice, Rules, check_rules
from sixnimmt_env.state import OVER, State
from sixnimmt_env.variants import make_rules

Reward = Literal["heads", "relative", "win", "rank"]
IllegalAction = Literal["raise", "lowest", "penalty"]
Layout = Literal["dict", "flat"]

REWARDS: Final = ("heads", "relative", "win", "rank")
ILLEGAL_ACTIONS: Final = ("raise", "lowest", "penalty")
RENDER_MODES: Final = ("human", "ansi")
OBSERVATIONS: Final = ("dict", "flat")
MOST_STEPS: Final = 10**9


@dataclass(frozen=True, slots=True)
class Options:
    """Rules and the conventions of a face, checked. Made by `make_options`."""

    rules: Rules
    reward: Reward
    illegal_action: IllegalAction
    illegal_penalty: float


def make_options(
    num_players: int | None = None,
    variant: str | None = None,
    row_choice: RowChoice | None = None,
    episode: Episode | None = None,
    target: int | None = None,
    rounds: int | None = None,
    rules: Rules | None = None,
    reward: Reward = "heads",
    illegal_action: IllegalAction = "raise",
    illegal_penalty: float = 1.0,
) -> Options:
    """Options that all faces share.

    Parameters
    ----------
    num_players : int, optional
        Seats in a game, 4 unless given; how many are possible depends on the variant.
    variant : str, optional
        Name of the game, "base" unless given, see `sixnimmt_env.variants`.
    row_choice : {"player", "fewest_heads"}, optional
        Whether the owner of a low card chooses the row it takes (unless given), or it always takes
        the row with fewest heads. Not for games in which low cards take no row.
    episode : {"round", "match"}, optional
        One deal played out (unless given), or rounds until `target` or for `rounds`.
    target : int, optional
        A match ends after the round in which a total reaches it. Without `rounds` it is 66, unless
        the variant has a number of rounds of its own.
    rounds : int, optional
        A match of exactly this many rounds.
    rules : Rules, optional
        What is played, instead of all the options before it: any game that `Rules` can describe.
    reward : {"heads", "relative", "win", "rank"}
        What an episode's rewards add up to, see `seat_rewards`.
    illegal_action : {"raise", "lowest", "penalty"}
        An illegal action raises `IllegalActionError`, or is replaced by the lowest legal one (pass
        where a second card may be left out) and counted in the info, or that and
        `illegal_penalty` is taken off the reward.
    illegal_penalty : float
        At least 0; only used with "penalty".

    Raises
    ------
    ValueError
        Naming the option, its value and what would be possible.
    TypeError
        If `rules` are no Rules.
    """
    named = {
        "num_players": num_players,
        "variant": variant,
        "row_choice": row_choice,
        "episode": episode,
        "target": target,
        "rounds": rounds,
    }
    game: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    if rules is None:
        rules = make_rules(**game)
    else:
        check_rules(rules)
        if game:
            raise ValueError(
                f"rules and {' and '.join(game)} exclude each other: rules say all about what is "
                "played, so give either rules or what they are to be made of"
            )
    one_of("reward", reward, REWARDS)
    one_of("illegal_action", illegal_action, ILLEGAL_ACTIONS)
    return Options(rules, reward, illegal_action, _penalty(illegal_penalty))


def _penalty(value: Any) -> float:
    try:
        if isinstance(value, Real) and not isinstance(value, bool):
            penalty = float(value)
            if math.isfinite(penalty) and penalty >= 0:
                return penalty
    except OverflowError:  # a whole number beyond all floats
        pass
    raise ValueError(
        f"illegal_penalty={value!r} is not possible: it is taken off the reward, so it is a number "
        "of at least 0"
    )


def refuse_unknown(face: Callable[..., Any], names: Iterable[str]) -> None:
    """Refuse options that neither `face` nor `make_options` has, and name those that there are.

    The message begins as Python's own: libraries that try out options look for these words.

    Raises
    ------
    TypeError
        Naming the first unknown option.
    """
    parameters = [
        *signature(face).parameters.values(),
        *signature(make_options).parameters.values(),
    ]
    known = list(dict.fromkeys(p.name for p in parameters if p.kind is not Parameter.VAR_KEYWORD))
    called = f"{face.__name__}.__init__" if isclass(face) else face.__name__
    for name in names:
        if name not in known:
            raise TypeError(
                f"{called}() got an unexpected keyword argument {name!r}: "
                f"{did_you_mean(name, known)} among {known}"
            )


def check_render_mode(render_mode: str | None, known: tuple[str, ...]) -> str | None:
    """Refuse a render mode that is neither None nor among the known ones.

    Raises
    ------
    TypeError
        As libraries that try out "rgb_array" expect it of an env without pictures.
    """
    if render_mode is not None and not (isinstance(render_mode, str) and render_mode in known):
        raise TypeError(
            f"render_mode={render_mode!r} is not possible: choose None or one of {list(known)}"
        )
    return render_mode


def check_render_seat(render_seat: int | None, rules: Rules) -> int | None:
    """Refuse a seat that there is not; ValueError."""
    if render_seat is None:
        return None
    return number_below("render_seat", render_seat, rules.num_players)


def is_flat(observation: str) -> bool:
    """Whether observations are vectors alone, instead of dicts with the mask; ValueError."""
    one_of("observation", observation, OBSERVATIONS)
    return observation == "flat"


def step_limit(name: str, steps: int | None) -> int | None:
    """Check after how many steps an episode is cut off, None for never; ValueError."""
    if steps is None or (is_whole(steps) and steps == -1):
        return None
    why = "an episode is cut off after 1 step or more, or never: None or -1"
    return whole(name, steps, 1, MOST_STEPS, why)


def seed_word(seed: int) -> int:
    """Python's integer of a seed; ValueError if it is none."""
    return whole("seed", seed, 0, HIGHEST_SEED, "seeds are 0 to 2**64 - 1")


def reset_options(options: dict[str, Any] | None) -> dict[str, Any]:
    """Options of `reset`, none for None.

    Raises
    ------
    TypeError
        If they are no dict.
    """
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"options={options!r} is not possible: a dict is needed, or None")
    return options or {}


def seat_rewards(
    options: Options, heads: NDArray[Any], totals: NDArray[Any], over: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Rewards of one step.

    The table is for games in which heads are bad. Where they are collected (`Rules.collect`) all
    is the other way round: plus the heads taken, one's own minus the mean of the others', and the
    highest total is first and wins.

    =============  ==================================================  ========================
    kind           reward of a step                                    sum over an episode
    =============  ==================================================  ========================
    ``heads``      minus the bull heads taken in it                    minus the total
    ``relative``   mean of the others' heads in it minus the own       mean of the others' totals
                                                                       minus the own
    ``win``        at the end 1 for the lowest total, shared equally   share of the win
                   by those who tie for it; else 0
    ``rank``       at the end +1 for the first ... -1 for the last in  place
                   equal steps, ties averaged; else 0
    =============  ==================================================  ========================

    Parameters
    ----------
    options : Options
        Which of them, and whether heads count for or against a player.
    heads : (P, B) integers
        Bull heads taken in this step.
    totals : (P, B) integers
        Bull heads taken in the episode, this step included.
    over : (B,) bool
        Where the episode ended with this step.

    Returns
    -------
    (P, B) float64
    """
    kind = options.reward
    if options.rules.collect:
        heads, totals = -heads, -totals
    if kind == "heads":
        return (-heads).astype(np.float64)
    players = heads.shape[0]
    if kind == "relative":
        relative: NDArray[np.float64] = (heads.sum(axis=0) - players * heads) / (players - 1)
        return relative
    rewards = np.zeros(heads.shape)
    ended = np.flatnonzero(over)
    if ended.size:
        final = totals[:, ended]
        rewards[:, ended] = _win(final) if kind == "win" else _rank(final)
    return rewards


def _win(totals: NDArray[Any]) -> NDArray[np.float64]:
    lowest = totals == totals.min(axis=0)
    share: NDArray[np.float64] = lowest / lowest.sum(axis=0)
    return share


def _rank(totals: NDArray[Any]) -> NDArray[np.float64]:
    # Seats above minus seats below: +(P - 1) for the first, 0 for a tie of all.
    balance = np.sign(totals[None] - totals[:, None]).sum(axis=1)
    place: NDArray[np.float64] = balance / (totals.shape[0] - 1)
    return place


def replace_illegal(
    engine: Engine, state: State, actions: NDArray[Any], where: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Replace illegal actions by the lowest legal one, in place.

    Parameters
    ----------
    engine : Engine
        Judges the actions.
    state : State
        What they are meant for.
    actions : (P, B) signed integers
        Changed in place.
    where : (B,) bool, optional
        Games that are looked at; all unless given.

    Returns
    -------
    (P, B) bool
        Which were replaced. Never in a game that is over: there is no legal action.
    """
    refused = engine.refused(state, actions, where)
    if refused.any():
        refused &= state.phase != OVER
        np.copyto(actions, engine.lowest_legal(state), where=refused)
    return refused
