"""What every face lets its user choose, and how heads become rewards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.engine import Engine
from sixnimmt_env.rules import Episode, RowChoice, Rules
from sixnimmt_env.state import OVER, State
from sixnimmt_env.variants import DEFAULT, make_rules

Reward = Literal["heads", "relative", "win", "rank"]
IllegalAction = Literal["raise", "lowest", "penalty"]

REWARDS: Final = ("heads", "relative", "win", "rank")
ILLEGAL_ACTIONS: Final = ("raise", "lowest", "penalty")
RENDER_MODES: Final = ("human", "ansi")


@dataclass(frozen=True, slots=True)
class Options:
    """Rules and the conventions of a face, checked. Made by `make_options`."""

    rules: Rules
    reward: Reward
    illegal_action: IllegalAction
    illegal_penalty: float


def make_options(
    num_players: int = 4,
    variant: str = DEFAULT,
    row_choice: RowChoice = "player",
    episode: Episode = "round",
    target: int | None = None,
    rounds: int | None = None,
    reward: Reward = "heads",
    illegal_action: IllegalAction = "raise",
    illegal_penalty: float = 1.0,
) -> Options:
    """Options that all faces share.

    Parameters
    ----------
    num_players : int
        Seats in a game; how many are possible depends on the variant.
    variant : str
        Name of the game, see `sixnimmt_env.variants`.
    row_choice : {"player", "fewest_heads"}
        Whether the owner of a low card chooses the row it takes, or it always takes the row with
        fewest heads. Not for games in which low cards take no row.
    episode : {"round", "match"}
        One deal played out, or rounds until `target` or for `rounds`.
    target : int, optional
        A match ends after the round in which a total reaches it. Without `rounds` it is 66, unless
        the variant has a number of rounds of its own.
    rounds : int, optional
        A match of exactly this many rounds.
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
    """
    rules = make_rules(
        variant,
        num_players,
        row_choice=row_choice,
        episode=episode,
        target=target,
        rounds=rounds,
    )
    one_of("reward", reward, REWARDS)
    one_of("illegal_action", illegal_action, ILLEGAL_ACTIONS)
    if not (math.isfinite(illegal_penalty) and illegal_penalty >= 0):
        raise ValueError(
            f"illegal_penalty={illegal_penalty!r} is not possible: it is taken off the reward, "
            "so it is a number of at least 0"
        )
    return Options(rules, reward, illegal_action, float(illegal_penalty))


def refuse_unknown(face: Callable[..., Any], names: Iterable[str]) -> None:
    """Refuse options that neither `face` nor `make_options` has, and name those that there are.

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
    for name in names:
        if name not in known:
            raise TypeError(f"there is no option {name!r}: choose among {known}")


def one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    """Refuse a word that is not among the known ones."""
    if value not in known:
        raise ValueError(f"{name}={value!r} is not known: choose one of {list(known)}")


def check_render_mode(render_mode: str | None) -> str | None:
    """Refuse a render mode that is neither None nor among `RENDER_MODES`."""
    if render_mode is not None:
        one_of("render_mode", render_mode, RENDER_MODES)
    return render_mode


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
