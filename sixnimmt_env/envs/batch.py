"""Games seen from learning seats: what the Gymnasium and Stable-Baselines3 faces share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sixnimmt_env.dealing import LEARNER_SEAT, private_rng, random_seat
from sixnimmt_env.encoding_loops import observe_encoded
from sixnimmt_env.engine import Engine, IllegalActionError
from sixnimmt_env.envs.options import Options, replace_illegal, seat_rewards
from sixnimmt_env.envs.seating import Opponents, all_ours, consecutive_seeds, distinct_policies
from sixnimmt_env.envs.views import Lanes, View
from sixnimmt_env.policy import illegal_choice, let_act
from sixnimmt_env.state import FIELDS, OVER, State

Bool = NDArray[np.bool_]

_LEARNER: Final = -1


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
        One policy for all other seats, or one for each, clockwise from the first learning seat;
        random players if None.

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
        opponents: Opponents | None,
    ) -> None:
        self.options = options
        self.rules = options.rules
        self.engine = Engine(self.rules)
        self.num_games = num_games
        self.random_seat = isinstance(learning_seats, str)
        seats: Sequence[int] = [0] if isinstance(learning_seats, str) else learning_seats
        self.num_envs = len(seats) * num_games
        self.seat: Lanes = np.repeat(np.array(seats, np.intp), num_games)
        self.game: Lanes = np.tile(np.arange(num_games), len(seats))
        others = self.rules.num_players - len(seats)
        self.policies, self._order = distinct_policies(opponents, others)
        self._trusted = all_ours(self.policies, self.rules)
        self._owner = np.full((self.rules.num_players, self.num_games), _LEARNER)
        self._place_opponents()
        self.illegal = np.zeros(self.num_envs, np.int64)
        # Totals for which rewards have been given.
        self._rewarded = np.zeros(self._owner.shape, np.int32)
        self.rng = np.random.default_rng()
        self._state: State | None = None
        self._spare: State | None = None
        self._guarded = False

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

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """If anything is raised inside, leave everything as it was before.

        Policies that are not ours may fail, or act illegally, when the games have already moved.
        Ours do not: where all are ours, only what chance they have drawn is given back.
        """
        if self._guarded or not self.policies:
            yield
            return
        chance = self.rng.bit_generator.state
        rng, started = self.rng, self._state is not None
        kept = None if self._trusted else self._keep()
        self._guarded = True
        try:
            yield
        except BaseException:
            self.rng = rng
            rng.bit_generator.state = chance
            if not started:
                self._state = None
            if kept is not None:
                self.seat, self._owner, self.illegal, self._rewarded = kept
                if self._state is not None and self._spare is not None:
                    self._state.put(slice(None), self._spare)
            raise
        finally:
            self._guarded = False

    def _keep(self) -> tuple[Lanes, NDArray[np.intp], NDArray[np.int64], NDArray[np.int32]]:
        if self._state is not None:
            if self._spare is None:
                self._spare = self._state.copy()
            for field in FIELDS:  # faster than State.put, which takes any games
                np.copyto(getattr(self._spare, field), getattr(self._state, field))
        seat, owner = (self.seat, self._owner)
        if self.random_seat:
            seat, owner = seat.copy(), owner.copy()
        return seat, owner, self.illegal.copy(), self._rewarded.copy()

    def start(self, seed: int | NDArray[np.uint64]) -> None:
        """Begin game 0 of `seed + i`, or of `seed[i]`, in every game i.

        Opponents draw from `seed` as well, from their first decision on.
        """
        if isinstance(seed, np.ndarray):
            seeds, rng = seed, private_rng(seed.tolist())
        else:
            seeds, rng = consecutive_seeds(seed, self.num_games), private_rng(seed)
        with self.all_or_nothing():
            if self._state is None:
                self._state = State.empty(self.rules, self.num_games)
            self.rng = rng
            self.begin(np.arange(self.num_games), seeds)

    def begin(self, games: Lanes, seeds: NDArray[np.uint64]) -> None:
        """Begin game 0 of the `seeds` in the `games`."""
        self._begin(games, seeds, np.zeros(games.size, np.uint64))

    def restart(self, games: Lanes) -> None:
        """Begin the next game of their seed in the `games`."""
        self._begin(games, self.state.seed[games], self.state.game_id[games] + np.uint64(1))

    def _begin(self, lanes: Lanes, seeds: NDArray[np.uint64], ids: NDArray[np.uint64]) -> None:
        with self.all_or_nothing():
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
            For an illegal action with `illegal_action="raise"`, or of an opponent. Nothing has
            changed then.
        """
        joint = np.zeros(self._owner.shape, np.int64)
        joint[self.seat, self.game] = self._checked(actions)
        with self.all_or_nothing():
            replaced = self._replace(joint, where)
            self._opponents_act(joint, where)
            self._play(joint, where)
            if self.policies:
                self._until_learners(np.ones(self.num_games, np.bool_) if where is None else where)
        state = self.state
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

    def _play(self, joint: NDArray[np.int64], where: Bool | None) -> None:
        """Let the engine carry out all actions; say which opponent gave an illegal one."""
        try:
            self.engine.step(self.state, joint, where)
        except IllegalActionError as error:
            refused = self.engine.refused(self.state, joint, where)
            seat, game = (int(i) for i in np.argwhere(refused)[0])
            owner = int(self._owner[seat, game])
            if owner == _LEARNER or self.over[game]:
                raise
            choice, policy = int(joint[seat, game]), self.policies[owner]
            raise illegal_choice(
                "opponent", policy, self.engine, self.state, seat, game, choice
            ) from error

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
            self._play(joint, alone)

    def view(self, envs: Lanes | None = None) -> View:
        """Observe from all envs, or from those in `envs`; new arrays."""
        envs = np.arange(self.num_envs) if envs is None else envs
        return View(*observe_encoded(self.rules, self.state, self.seat[envs], self.game[envs]))

    def heads(self) -> NDArray[np.int64]:
        """Bull heads each env has taken in the episode, shape (n,)."""
        return self.state.totals()[self.seat, self.game].astype(np.int64)
