"""A choice of row that looks at who is hurt by it.

When a low card takes a row, all cards of the turn lie open, so what happens in the rest of the turn
is certain for each of the rows. `best_row` works it out and weighs the heads of the chosen row
against those that the others are then made to take: their loss is a gain. That the row with fewest
heads is not always the one to take is an example of the printed rules (`docs/rules.md`, "Turn").
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import BULL_HEADS, NUM_ROWS, ROW_CAPACITY, TAKE_ROW
from sixnimmt_env.observe import Observation
from sixnimmt_env.policy import Policy, make_policy
from sixnimmt_env.state import TAKE

_EYE: Final = np.eye(NUM_ROWS, dtype=np.bool_)


def best_row(observation: Observation) -> NDArray[np.intp]:
    """Row whose heads, less the mean of what the others then take in this turn, are fewest.

    Where heads are collected it is the row for which that is most. Ties: fewest heads (most where
    they are collected), then fewest cards, then the lowest row.

    Parameters
    ----------
    observation : Observation
        n decisions. Only those in phase `TAKE` mean anything.

    Returns
    -------
    (n,) intp
        Row 0 ... R - 1.
    """
    others = rest_of_turn(observation)
    own = observation.row_heads.astype(np.int64)
    sign = -1 if observation.rules.collect else 1
    balance = sign * (own * (observation.rules.num_players - 1) - others)
    rank = (balance * 256 + sign * own) * 8 + observation.row_len
    row: NDArray[np.intp] = rank.argmin(axis=1)
    return row


def rest_of_turn(observation: Observation) -> NDArray[np.int64]:
    """Heads that all others together take in the rest of the turn, by the row that is taken.

    Parameters
    ----------
    observation : Observation
        n decisions in phase `TAKE`.

    Returns
    -------
    (n, R) int64
    """
    # Axis 1: the row that is taken, axis 2: the rows. The low card starts the one that is taken.
    own = observation.waiting[:, 0].astype(np.int64)[:, None, None]
    end = np.where(_EYE, own, observation.row_end[:, None, :])
    length = np.where(_EYE, 1, observation.row_len[:, None, :]).astype(np.int64)
    heads = np.where(_EYE, BULL_HEADS[own], observation.row_heads[:, None, :]).astype(np.int64)
    lost = np.zeros(end.shape[:2], np.int64)
    for card in np.sort(observation.waiting[:, 1:], axis=1).T.astype(np.int64):
        card = card[:, None, None]
        below = np.where(end < card, end, -1)
        here = (below == below.max(axis=2, keepdims=True)) & (card > 0)
        full = here & (length == ROW_CAPACITY)
        lost += (full * heads).sum(axis=2)
        heads = np.where(full, 0, heads) + here * BULL_HEADS[card]
        length = np.where(full, 0, length) + here
        end = np.where(here, card, end)
    return lost


class ConsiderateRow:
    """A player whose rows are chosen by `best_row`, and everything else by another player.

    Parameters
    ----------
    player : str or Policy
        Plays the cards; what `sixnimmt_env.policy.make_policy` makes a policy of.

    Raises
    ------
    ValueError
        If there is no such policy.
    """

    def __init__(self, player: str | Policy) -> None:
        self.player = make_policy(player)

    def act(self, observation: Observation, rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        """See `sixnimmt_env.policy.Policy.act`."""
        actions = self.player.act(observation, rng)
        taking = (observation.phase == TAKE) & observation.decides
        if taking.any():
            actions = np.where(taking, TAKE_ROW + best_row(observation), actions)
        return actions
