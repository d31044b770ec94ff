"""Search that is guided by a trained network.

The network alone decides at a glance. Here its best few actions are played to the end of the
round, on deals that explain what the others have played (see `agents.likely`), everybody playing
by the network: determinised Monte Carlo, with the network as the model of the others, as the
policy of the rollouts and as the prior. What the rollouts say of an action is trusted as far as
they agree with each other; for the rest the network's first judgement stands.
"""

from __future__ import annotations

from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from agents.likely import F32, F64, Bool, Index, Table
from agents.sampling import sample_deals, some
from sixnimmt_env.checks import whole
from sixnimmt_env.observe import Observation
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER, PLAY, State
from sixnimmt_env.trained.network import NetworkPolicy, load_policy
from sixnimmt_env.trained.shipped import fitting

DETERMINISATIONS: Final = 32
TRIES: Final = 128
# Heads by which a logit of a network that learned by lookahead differs, its temperature.
HEADS: Final = 0.5
# Actions that are tried: so many at most, none by so many heads behind the best.
CANDIDATES: Final = 5
FAR_BEHIND: Final = 4.0
# Variance, in heads, of the outcome of an action about what the network says of it.
DOUBT: Final = 0.5
# Games that are played at once: their arrays stay in the processor's cache.
GAMES: Final = 4096


class Guided:
    """Monte Carlo search on likely deals, everybody playing by a trained network.

    Parameters
    ----------
    policy : NetworkPolicy, optional
        The network; by default the one of the package for the game. It should have learned by
        lookahead, so that its logits are in heads.
    determinisations : int
        Deals on which every candidate is tried.

    Raises
    ------
    ValueError
        If the number is not possible, or the policy is no such network.

    Notes
    -----
    It plays the games that the network plays, of those in which seats play one card each at once
    and a low card takes a row. It decides on the heads of one round. Where the beginning of the
    round is unknown, the network decides. Everybody is taken to play the network's most probable
    actions, as the players of a policy file do.
    """

    def __init__(
        self, policy: NetworkPolicy | None = None, determinisations: int = DETERMINISATIONS
    ) -> None:
        if policy is not None and not isinstance(policy, NetworkPolicy):
            raise ValueError(
                f"policy={policy!r} is not possible: a NetworkPolicy is needed, as "
                "sixnimmt_env.load_policy makes it of a file"
            )
        self.policy = policy
        self.determinisations = whole(
            "determinisations", determinisations, 2, 1000, "a whole number, 2 to 1000"
        )

    @classmethod
    def from_spec(cls, arguments: list[str]) -> Self:
        """Make one of words: a number of determinisations, then a policy file; or either.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            For a word that is none of these.
        """
        words = list(arguments)
        count = int(words.pop(0)) if words and words[0].isdecimal() else DETERMINISATIONS
        file = ":".join(words)
        if file and not file.endswith(".npz"):
            raise ValueError(
                f"{file!r} is not known: give a number of determinisations, a policy file "
                "'FILE.npz', or both in this order"
            )
        return cls(load_policy(file) if file else None, count)

    def act(self, observation: Observation, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `sixnimmt_env.policy.Policy.act`.

        Raises
        ------
        ValueError
            If the game is not one of those that it plays.
        """
        rules = observation.rules
        _check(rules)
        policy = fitting(rules) if self.policy is None else self.policy
        prior = policy.logits(observation)
        actions: NDArray[np.intp] = prior.argmax(axis=1)
        choice = observation.decides & (observation.action_mask.sum(axis=1) > 1)
        searched = np.flatnonzero(choice & observation.starters.all(axis=1))
        block = max(1, GAMES // (CANDIDATES * self.determinisations))
        table = Table(policy, rules)
        for start in range(0, searched.size, block):
            at = searched[start : start + block]
            actions[at] = self._search(table, some(observation, at), prior[at], rng)
        return actions

    def _search(
        self, table: Table, observation: Observation, prior: F32, rng: np.random.Generator
    ) -> Index:
        count = self.determinisations
        candidates = np.argsort(-prior, axis=1, kind="stable")[:, :CANDIDATES]
        behind = HEADS * np.take_along_axis(prior, candidates, axis=1)
        behind = behind[:, :1] - behind
        tried = behind <= FAR_BEHIND
        behind[~tried] = FAR_BEHIND
        tries = max(TRIES, count) if observation.turn.any() else count
        deals = sample_deals(observation, tries, rng)
        state = table.sample(observation, deals, count, rng)
        at, which = np.nonzero(tried)
        lanes = at[:, None] * count + np.arange(count)
        actions = np.repeat(candidates[at, which], count)
        heads = np.zeros((*tried.shape, count))
        heads[at, which] = outcomes(table, state, lanes.ravel(), actions).reshape(lanes.shape)
        cost = _judged(heads, behind)
        cost[~tried] = np.inf
        best: Index = candidates[np.arange(len(cost)), cost.argmin(axis=1)]
        return best


def _judged(heads: F64, behind: F32) -> F64:
    """Heads that each candidate is expected to cost more than the first one, (n, C).

    The mean over the deals and what the network says, weighed by their precision: with a normal
    prior about the network's judgement, this is the mean of the posterior.
    """
    more = heads - heads[:, :1]
    error = more.var(axis=2, ddof=1) / heads.shape[2]
    trust = DOUBT / (DOUBT + error)
    cost: F64 = trust * more.mean(axis=2) + (1 - trust) * behind
    return cost


def outcomes(table: Table, state: State, lanes: Index, actions: Index) -> NDArray[np.int64]:
    """Heads of seat 0 until the end of the round if it does each of `actions` now.

    Parameters
    ----------
    table : Table
        Whose network all seats play by.
    state : State
        Games in which seat 0 decides. The others do the same whatever it does.
    lanes, actions : (k,) intp
        Games and actions.
    """
    others = state.acting()
    others[0] = False
    tried, joint = state.take(lanes), _play(table, state, others)[:, lanes]
    joint[0] = actions
    before = tried.pile_heads[0].astype(np.int64)
    table.engine.step(tried, joint)
    while (live := tried.phase != OVER).any():
        table.engine.step(tried, _play(table, tried, tried.acting()), live)
    heads: NDArray[np.int64] = tried.pile_heads[0] - before
    return heads


def _play(table: Table, state: State, acting: Bool) -> Index:
    """Most probable actions (P, B) of the seats that act."""
    joint = np.zeros(acting.shape, np.intp)
    last = acting & (state.phase == PLAY) & (state.turn == table.rules.hand_size - 1)
    joint[last] = state.hand[:, 0][last]
    seats, games = np.nonzero(acting & ~last)
    if seats.size:
        joint[seats, games] = table.scores(state, seats, games).argmax(axis=1)
    return joint


def _check(rules: Rules) -> None:
    if (
        rules.cards_per_turn > 1
        or rules.one_by_one
        or rules.draft
        or rules.zeros
        or rules.low_card != "take"
    ):
        raise ValueError(
            f"guided cannot play {rules.name}: it plays games in which all seats play one card at "
            "once and a low card takes a row; belief and monte_carlo play every game"
        )
