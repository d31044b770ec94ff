"""Rounds of self-play in which every legal action is tried out: where `lookahead` learns from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.network import CardNetwork
from sixnimmt_env.encoding_loops import observe_encoded
from sixnimmt_env.engine import Engine
from sixnimmt_env.policy import Policy, let_act
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER, State
from sixnimmt_env.trained.features import Described, describe

if TYPE_CHECKING:
    from training.lookahead import LookaheadConfig

F32 = NDArray[np.float32]
Index = NDArray[np.intp]

# Decisions at once: their arrays stay in the processor's cache.
BLOCK = 2048


@dataclass(frozen=True, slots=True)
class Samples:
    """Decisions to learn from.

    Attributes
    ----------
    seen : Described
        What n decisions looked like.
    returns : (n,) float32
        Lambda-return of each.
    decision, action : (k,) intp
        Every action that was tried out, sorted by decision; none where only one is legal.
    outcome : (k,) float32
        Reward until the seat's next decision and the value there.
    """

    seen: Described
    returns: F32
    decision: Index
    action: Index
    outcome: F32

    def __len__(self) -> int:
        """How many decisions there are."""
        return len(self.returns)

    def take(self, decisions: Index) -> Samples:
        """Some of the decisions, ascending."""
        place = np.full(len(self), -1)
        place[decisions] = np.arange(decisions.size)
        tried = np.flatnonzero(place[self.decision] >= 0)
        return Samples(
            _take(self.seen, decisions, place),
            self.returns[decisions],
            place[self.decision[tried]],
            self.action[tried],
            self.outcome[tried],
        )


def _take(seen: Described, decisions: Index, place: Index) -> Described:
    cards = np.flatnonzero(place[seen.who] >= 0)
    rows = np.flatnonzero(place[seen.taking] >= 0)
    return Described(
        seen.whole[decisions],
        place[seen.who[cards]],
        seen.card[cards],
        seen.cards[cards],
        place[seen.taking[rows]],
        seen.rows[rows],
    )


def join(samples: Sequence[Samples]) -> Samples:
    """One after the other."""
    first = np.cumsum([0, *(len(part) for part in samples)])
    seen = [part.seen for part in samples]
    return Samples(
        Described(
            np.concatenate([part.whole for part in seen]),
            np.concatenate([part.who + at for part, at in zip(seen, first, strict=False)]),
            np.concatenate([part.card for part in seen]),
            np.ascontiguousarray(np.concatenate([part.cards for part in seen])),
            np.concatenate([part.taking + at for part, at in zip(seen, first, strict=False)]),
            np.concatenate([part.rows for part in seen]),
        ),
        np.concatenate([part.returns for part in samples]),
        np.concatenate([part.decision + at for part, at in zip(samples, first, strict=False)]),
        np.concatenate([part.action for part in samples]),
        np.concatenate([part.outcome for part in samples]),
    )


@dataclass(slots=True)
class _Step:
    """What the learner's seats saw and did in one step of all games of a table."""

    seats: Index
    games: Index
    observations: F32
    mask: NDArray[np.int8]
    values: F32


class Table:
    """Games by one set of rules that are played side by side.

    Parameters
    ----------
    rules : Rules
        What is played; one round of it, whatever its episode.
    games : int
        How many.
    """

    def __init__(self, rules: Rules, games: int) -> None:
        self.rules = replace(rules, episode="round", target=None, rounds=None)
        self.games = games
        self.engine = Engine(self.rules)
        self.sign = 1.0 if rules.collect else -1.0

    def play(
        self,
        net: CardNetwork,
        config: LookaheadConfig,
        others: Sequence[Policy],
        owners: Index,
        ids: NDArray[Any],
        rng: np.random.Generator,
    ) -> Samples:
        """Play a round of each game.

        Parameters
        ----------
        net : CardNetwork
            The learner.
        config : LookaheadConfig
            How to learn.
        others : sequence of Policy
            The pool.
        owners : (P, G) intp
            Who holds each seat: 0 the learner, k the pool's player k - 1.
        ids : (G,) integers
            Numbers of the games, each of which is dealt but once in a run.
        rng : Generator
            Source of chance.
        """
        round_ = _Round(self, net, others, rng)
        state = self.engine.reset((config.seed + 1) << 32, ids)
        steps: list[_Step] = []
        rewards: list[F32] = []
        tried: list[tuple[Index, Index, Index, F32]] = []
        while (live := state.phase != OVER).any():
            joint = np.zeros(owners.shape, np.int64)
            step = round_.act(state, owners, joint)
            # Where nothing can be chosen, the value is learned alone: outcomes lead there as well.
            chosen = np.flatnonzero(rng.random(step.seats.size) < config.share)
            mask = step.mask[chosen]
            decision, action = np.nonzero(mask * (mask.sum(axis=1, keepdims=True) > 1))
            at = chosen[decision]
            outcome = round_.outcomes(state, owners, joint, step.seats[at], step.games[at], action)
            tried.append((chosen, decision, action, outcome))
            before = state.totals()
            self.engine.step(state, joint, live)
            steps.append(step)
            rewards.append((self.sign * (state.totals() - before)).astype(np.float32))
        returns = _returns(steps, rewards, config.trace)
        return join(
            [
                Samples(describe(self.rules, step.observations[chosen]), target[chosen], *rest)
                for step, target, (chosen, *rest) in zip(steps, returns, tried, strict=True)
                if chosen.size
            ]
        )


def _returns(steps: list[_Step], rewards: list[F32], trace: float) -> list[F32]:
    """Lambda-returns from each seat's decisions, to its next decision and so on to the end."""
    after, value = np.zeros_like(rewards[0]), np.zeros_like(rewards[0])
    returns = []
    for step, reward in zip(reversed(steps), reversed(rewards), strict=True):
        after += reward
        value += reward
        at = (step.seats, step.games)
        target = trace * after[at] + (1 - trace) * value[at]
        after[at], value[at] = target, step.values
        returns.append(target)
    return returns[::-1]


class _Round:
    """Who acts how, and what would have come of it."""

    def __init__(
        self, table: Table, net: CardNetwork, others: Sequence[Policy], rng: np.random.Generator
    ) -> None:
        self.rules, self.engine, self.sign = table.rules, table.engine, table.sign
        self.net, self.others, self.rng = net, others, rng

    def act(self, state: State, owners: Index, joint: NDArray[np.int64]) -> _Step:
        """Write everybody's actions into `joint` (P, B); what the learner's seats saw."""
        acting = state.acting()
        seats, games = np.nonzero(acting & (owners == 0))
        seen, mask = observe_encoded(self.rules, state, seats, games)
        values = np.zeros(0, np.float32)
        if seats.size:
            out = self._blockwise(self.net.judge, seen)
            values = out[:, -1]
            scores = np.where(mask > 0, out[:, :-1], -np.inf)
            scores += self.rng.gumbel(size=scores.shape)  # its argmax is a draw
            joint[seats, games] = scores.argmax(axis=1)
        for number, policy in enumerate(self.others, start=1):
            theirs = acting & (owners == number)
            if theirs.any():
                let_act(policy, self.rules, state, theirs, joint, self.rng)
        return _Step(seats, games, seen, mask, values)

    def outcomes(
        self,
        state: State,
        owners: Index,
        joint: NDArray[np.int64],
        seats: Index,
        games: Index,
        actions: Index,
    ) -> F32:
        """Reward and value if a seat of a game had acted otherwise and all others as they do.

        Parameters
        ----------
        state : State
            Before the step; not changed.
        owners, joint : (P, B)
            Who holds the seats, and all actions of the step.
        seats, games, actions : (k,) intp
            Whose action is replaced by what.

        Returns
        -------
        (k,) float32
        """
        if not seats.size:
            return np.zeros(0, np.float32)
        lane = np.arange(seats.size)
        tried = state.take(games)
        acts = joint[:, games]
        acts[seats, lane] = actions
        owners = owners[:, games]
        before = tried.totals()[seats, lane]
        self.engine.step(tried, acts)
        # On to the seat's next decision: its value is known to the network there.
        while True:
            waits = (tried.phase != OVER) & ~tried.decides(seats.astype(np.uint8))
            going = np.flatnonzero(waits)
            if not going.size:
                break
            acts = np.zeros_like(acts)
            theirs = np.zeros((acts.shape[0], going.size), np.int64)
            self.act(tried.take(going), owners[:, going], theirs)
            acts[:, going] = theirs
            self.engine.step(tried, acts, waits)
        result = (self.sign * (tried.totals()[seats, lane] - before)).astype(np.float32)
        left = np.flatnonzero(tried.phase != OVER)
        if left.size:
            seen, _ = observe_encoded(self.rules, tried, seats[left], left)
            result[left] += self._blockwise(self.net.values, seen)
        return result

    def _blockwise(self, ask: Callable[[Described], torch.Tensor], observations: F32) -> F32:
        blocks = [observations[at : at + BLOCK] for at in range(0, len(observations), BLOCK)]
        with torch.inference_mode():
            parts = [ask(describe(self.rules, block)).numpy() for block in blocks]
        return np.concatenate(parts)
