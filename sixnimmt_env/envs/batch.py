"""Games seen from learning seats: what the Gymnasium and Stable-Baselines3 faces share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sixnimmt_env.dealing import LEARNER_SEAT, private_rng, random_seat
from sixnimmt_env.encoding_loops import observe_encoded
from sixnimmt_env.engine import Engine
from sixnimmt_env.envs.options import Options, replace_illegal, seat_rewards
from sixnimmt_env.policy import Policy, let_act, make_policy
from sixnimmt_env.state import OVER, State

Bool = NDArray[np.bool_]
Lanes = NDArray[np.intp]
Opponents = str | Policy | Sequence[str | Policy]

RANDOM_SEAT: Final = "random"
_LEARNER: Final = -1


@dataclass(frozen=True, slots=True)
class View:
    """What n decisions look like to the learners.

    Attributes
    ----------
    observation : (n, F) float32
        Encoded observations.
    action_mask : (n, A) int8
        1 for every legal action.
    """

    observation: NDArray[np.float32]
    action_mask: NDArray[np.int8]

    def take(self, envs: Lanes) -> View:
        """Copy the decisions in `envs`."""
        return View(self.observation[envs], self.action_mask[envs])

    def put(self, envs: Lanes, other: View) -> None:
        """Overwrite the decisions in `envs` by those of `other`, in order."""
        self.observation[envs] = other.observation
        self.action_mask[envs] = other.action_mask


class SeatBatch:
    """G games in which some seats learn and policies hold the others.

    Learning seat `k` of game `g` is env `k * G + g`. Between two decisions of the learners the
    opponents act, as often as only they decide. A learner that has nothing to decide while
    another one has, because its hand is empty or it is not at turn, can only pass.

    Parameters
    ----------
    options : Options
        Rules, rewards and what becomes of illegal actions.
    num_games : int
        G.
    learning_seats : sequence of int or "random"
        The same seats in all games, or one seat drawn anew for every episode.
    opponents : str, Policy or sequence of them
        One policy for all other seats, or one for each, clockwise from the first learning seat.

    Attributes
    ----------
    num_envs : int
        n, learning seats times games.
    seat, game : (n,) intp
        Where each env sits.
    illegal : (n,) int64
        Illegal actions replaced in the episode.
    """

    def __init__(
        self,
        options: Options,
        num_games: int,
        learning_seats: Sequence[int] | str,
        opponents: Opponents,
    ) -> None:
        self.options = options
        self.rules = options.rules
        self.engine = Engine(self.rules)
        if num_games < 1:
            raise ValueError(f"num_games={num_games!r} is not possible: at least 1 is needed")
        self.num_games = index(num_games)
        self.random_seat = isinstance(learning_seats, str)
        seats = _seats(learning_seats, self.rules.num_players)
        self.num_envs = len(seats) * self.num_games
        self.seat: Lanes = np.repeat(np.array(seats, np.intp), self.num_games)
        self.game: Lanes = np.tile(np.arange(self.num_games), len(seats))
        self.policies, self._order = _policies(opponents, self.rules.num_players - len(seats))
        self._owner = np.full((self.rules.num_players, self.num_games), _LEARNER)
        self._place_opponents()
        self.illegal = np.zeros(self.num_envs, np.int64)
        # Totals for which rewards have been given.
        self._rewarded = np.zeros(self._owner.shape, np.int32)
        self.rng = np.random.default_rng()
        self._state: State | None = None

    @property
    def state(self) -> State:
        """The games; not to be changed by others."""
        if self._state is None:
            raise RuntimeError("there is no game yet: call reset() first")
        return self._state

    @property
    def over(self) -> Bool:
        """Where the episode has ended, shape (G,)."""
        over: Bool = self.state.phase == OVER
        return over

    @property
    def started(self) -> bool:
        """Whether there has been a game yet."""
        return self._state is not None

    def start(self, seed: int) -> None:
        """Begin game 0 of `seed + i` in every game i; opponents draw from `seed` as well."""
        seeds = consecutive_seeds(seed, self.num_games)
        if self._state is None:
            self._state = State.empty(self.rules, self.num_games)
        self.rng = private_rng(seed)
        self.begin(np.arange(self.num_games), seeds)

    def begin(self, games: Lanes, seeds: NDArray[np.uint64]) -> None:
        """Begin game 0 of the `seeds` in the `games`."""
        self._begin(games, seeds, np.zeros(games.size, np.uint64))

    def restart(self, games: Lanes) -> None:
        """Begin the next game of their seed in the `games`."""
        self._begin(games, self.state.seed[games], self.state.game_id[games] + np.uint64(1))

    def _begin(self, lanes: Lanes, seeds: NDArray[np.uint64], ids: NDArray[np.uint64]) -> None:
        self.engine.restart(self.state, lanes, seeds, ids)
        self._rewarded[:, lanes] = 0
        begun = np.zeros(self.num_games, np.bool_)
        begun[lanes] = True
        self.illegal[begun[self.game]] = 0
        if self.random_seat:
            drawn = random_seat(self.state, self.rules.num_players, LEARNER_SEAT)
            self.seat[lanes] = drawn[lanes]
            self._place_opponents()
        self._until_learners(begun)

    def _place_opponents(self) -> None:
        self._owner[...] = _LEARNER
        first = self.seat[: self.num_games]
        learns = np.zeros(self._owner.shape, np.bool_)
        learns[self.seat, self.game] = True
        games = np.arange(self.num_games)
        met = np.zeros(self.num_games, np.intp)
        for step in range(1, self.rules.num_players):
            seat = (first + step) % self.rules.num_players
            here = games[~learns[seat, games]]
            self._owner[seat[here], here] = self._order[met[here]]
            met[here] += 1

    def step(self, actions: ArrayLike, where: Bool | None = None) -> NDArray[np.float64]:
        """Let everybody act until learners decide again or the episode is over.

        Parameters
        ----------
        actions : (n,) integers
            One per env.
        where : (G,) bool, optional
            Games to step; all unless given.

        Returns
        -------
        (n,) float64
            Rewards; 0 in games that were not stepped. Heads that opponents took before the
            learners' first decision count for the first step.

        Raises
        ------
        IllegalActionError
            For an illegal action with `illegal_action="raise"`. Nothing has changed then.
        """
        state = self.state
        joint = np.zeros(self._owner.shape, np.int64)
        joint[self.seat, self.game] = self._checked(actions)
        replaced = self._replace(joint, where)
        self._opponents_act(joint, where)
        self.engine.step(state, joint, where)
        if self.policies:
            self._until_learners(np.ones(self.num_games, np.bool_) if where is None else where)
        totals = state.totals()
        over = self.over
        if where is not None:
            totals = np.where(where, totals, self._rewarded)
            over &= where
        rewards = seat_rewards(self.options, totals - self._rewarded, totals, over)
        self._rewarded = totals
        mine: NDArray[np.float64] = rewards[self.seat, self.game]
        if replaced is not None:
            self.illegal += replaced
            if self.options.illegal_action == "penalty":
                mine -= self.options.illegal_penalty * replaced
        return mine

    def _checked(self, actions: ArrayLike) -> NDArray[Any]:
        acts = np.asarray(actions)
        if acts.shape != (self.num_envs,):
            raise ValueError(
                f"actions have shape {acts.shape}; one per env, ({self.num_envs},), is needed"
            )
        if acts.dtype.kind not in "iu":
            raise TypeError(
                f"actions have dtype {acts.dtype}; action numbers are integers 0 to "
                f"{self.rules.num_actions - 1}"
            )
        return acts

    def _replace(self, joint: NDArray[np.int64], where: Bool | None) -> Bool | None:
        if self.options.illegal_action == "raise":
            return None
        # Opponents have not acted yet: what is put at their seats is overwritten when they do.
        refused = replace_illegal(self.engine, self.state, joint, where)
        return np.asarray(refused[self.seat, self.game], np.bool_)

    def _opponents_act(self, joint: NDArray[np.int64], where: Bool | None) -> None:
        if not self.policies:
            return
        acting = self.state.acting()
        if where is not None:
            acting &= where
        for number, policy in enumerate(self.policies):
            deciding = acting & (self._owner == number)
            let_act(policy, self.rules, self.state, deciding, joint, self.rng)

    def _until_learners(self, where: Bool) -> None:
        """Let opponents act where they alone decide, until learners do or the game is over."""
        while True:
            learners = (self.state.acting() & (self._owner == _LEARNER)).any(axis=0)
            alone = where & ~learners & ~self.over
            if not alone.any():
                return
            joint = np.zeros(self._owner.shape, np.int64)
            self._opponents_act(joint, alone)
            self.engine.step(self.state, joint, alone)

    def view(self, envs: Lanes | None = None) -> View:
        """Observe from all envs, or from those in `envs`; new arrays."""
        envs = np.arange(self.num_envs) if envs is None else envs
        return View(*observe_encoded(self.rules, self.state, self.seat[envs], self.game[envs]))

    def heads(self) -> NDArray[np.int64]:
        """Bull heads each env has taken in the episode, shape (n,)."""
        return self.state.totals()[self.seat, self.game].astype(np.int64)


def consecutive_seeds(first: int, count: int) -> NDArray[np.uint64]:
    """Seeds `first`, `first + 1`, ... of `count` games, shape (count,) uint64."""
    if not 0 <= index(first) <= 2**64 - count:
        raise ValueError(
            f"seed={first} is not possible: seeds are whole numbers from 0 to {2**64 - count}"
        )
    return np.uint64(first) + np.arange(count, dtype=np.uint64)


def _seats(seats: Sequence[int] | str, players: int) -> list[int]:
    if isinstance(seats, str):
        if seats != RANDOM_SEAT:
            raise ValueError(
                f"learning seat {seats!r} is not known: give seat numbers or {RANDOM_SEAT!r}"
            )
        return [0]
    if not isinstance(seats, Iterable):
        raise ValueError(f"learning seats {seats!r}: a list of seat numbers is needed")
    chosen = [index(seat) for seat in seats]
    if not chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= set(range(players)):
        raise ValueError(
            f"learning seats {list(seats)} are not possible: with {players} players they are "
            f"different numbers from 0 to {players - 1}, at least one"
        )
    return chosen


def _policies(opponents: Opponents, needed: int) -> tuple[list[Policy], Lanes]:
    """Distinct policies, and which of them sits at the first, second ... opponent's seat."""
    if isinstance(opponents, (list, tuple)):
        if len(opponents) != needed:
            raise ValueError(
                f"opponents has {len(opponents)} policies for {needed} seats: give one for each "
                "seat that does not learn, or a single one for all of them"
            )
        named = list(opponents)
    else:
        named = [opponents] * needed
    policies: list[Policy] = []
    keys: list[Any] = []
    order = []
    for policy in named:
        key = policy if isinstance(policy, str) else id(policy)
        if key not in keys:
            keys.append(key)
            policies.append(make_policy(policy))
        order.append(keys.index(key))
    return policies, np.array(order, np.intp)
