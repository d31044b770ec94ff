"""Policies: the protocol, the simplest players, and `play`."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import PASS, ROW_CAPACITY, TAKE_ROW, ZERO
from sixnimmt_env.checks import HIGHEST_SEED, did_you_mean, whole
from sixnimmt_env.dealing import private_rng
from sixnimmt_env.engine import Engine, IllegalActionError
from sixnimmt_env.observe import Observation, observe
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER, PLAY, SECOND, TAKE, State
from sixnimmt_env.trained.network import load_policy
from sixnimmt_env.trained.shipped import TrainedPolicy

Actions = NDArray[np.integer[Any]]

# With more games than this, a call for each seat: slices of a seat cost less than gathers.
ONE_CALL: Final = 256

# Costs of a card for closest gap: its gap where it fits, else one of these and more.
_LOW: Final = 200
_SIXTH: Final = 400
_NO_ROW: Final = 1000


@runtime_checkable
class Policy(Protocol):
    """A player: decides from what a seat may know, for any number of decisions at once."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        """Choose a legal action for each decision.

        Parameters
        ----------
        observation : Observation
            n decisions, from any games and seats of one set of rules.
        rng : numpy.random.Generator
            The only source of chance.

        Returns
        -------
        (n,) integers
            Actions with `observation.action_mask` 1.
        """


class RandomPolicy:
    """Every legal action with equal probability."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        """See `Policy.act`."""
        n, hand = len(observation), observation.hand
        second = observation.phase == SECOND
        playing = ((observation.phase == PLAY) | second) & observation.decides
        choices = observation.cards_left[:, 0].astype(np.intp)
        if observation.rules.zeros:
            # All 0 cards, the last ones of a hand, are one action.
            choices -= np.maximum((hand == ZERO).sum(axis=1) - 1, 0)
        pick = rng.integers(0, np.maximum(choices + second, 1), n)
        actions = hand[np.arange(n), np.minimum(pick, hand.shape[1] - 1)].astype(np.intp)
        actions[second & (pick == choices)] = PASS
        others = np.flatnonzero(~playing)
        if others.size:
            mask = observation.action_mask[others]
            noise = rng.random(mask.shape)
            actions[others] = (noise * mask + mask).argmax(axis=1)
        chosen: Actions = actions
        return chosen


class _CardPolicy:
    """Plays by a rule for cards; takes the row with fewest heads; drafts the lowest card.

    Where two cards may be played in a turn it plays one.
    """

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        """See `Policy.act`."""
        actions = np.asarray(observation.action_mask.argmax(axis=1))
        playing = (observation.phase == PLAY) & observation.decides
        actions = np.where(playing, self._card(observation), actions)
        taking = (observation.phase == TAKE) & observation.decides
        return np.where(taking, TAKE_ROW + cheapest_row(observation), actions)

    def _card(self, observation: Observation) -> Actions:
        raise AssertionError  # pragma: no cover


class LowestPolicy(_CardPolicy):
    """Plays the lowest card in hand, 0 cards first."""

    def _card(self, observation: Observation) -> Actions:
        hand = observation.hand
        lowest: Actions = hand[:, 0].astype(np.intp)
        lowest[(hand == ZERO).any(axis=1)] = ZERO
        return lowest


class HighestPolicy(_CardPolicy):
    """Plays the highest card in hand, 0 cards last."""

    def _card(self, observation: Observation) -> Actions:
        number = observation.hand * (observation.hand != ZERO)
        highest: Actions = number.max(axis=1).astype(np.intp)
        highest[highest == 0] = ZERO
        return highest


class ClosestGapPolicy(_CardPolicy):
    """Plays the card that comes closest after the end of a row that is not full.

    If there is none, it plays a 0 card, or its lowest low card, or else the sixth card of the row
    with fewest heads. Meant for games in which heads are bad; `SixthCardPolicy` is its opposite.
    """

    def _card(self, observation: Observation) -> Actions:
        gap, full, heads = fits(observation)
        cost = np.where(full, _SIXTH + heads, gap)
        if observation.rules.low_card == "take":
            cost = np.where(gap == _NO_ROW, _LOW + observation.hand.astype(np.int16), cost)
        else:
            cost = np.where((gap == _NO_ROW) & ~full, _LOW, cost)
        cost[observation.hand == ZERO] = _LOW - 1
        cost[observation.hand == 0] = _NO_ROW
        return _held(observation, cost.argmin(axis=1))


class SixthCardPolicy(_CardPolicy):
    """Plays the card that would be the sixth of the row with most heads: for collecting heads.

    If there is none, it plays its lowest low card, or else the card with the widest gap to the end
    of its row; 0 cards come last. It plays a second card only if that would be a sixth.
    """

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        """See `Policy.act`."""
        actions = super().act(observation, rng)
        second = (observation.phase == SECOND) & observation.decides
        if second.any():
            worth = self._worth(observation)
            card = _held(observation, worth.argmax(axis=1))
            actions = np.where(second & (worth.max(axis=1) >= _SIXTH), card, actions)
        return actions

    def _card(self, observation: Observation) -> Actions:
        return _held(observation, self._worth(observation).argmax(axis=1))

    def _worth(self, observation: Observation) -> NDArray[np.int16]:
        gap, full, heads = fits(observation)
        takes = full
        if observation.rules.low_card == "take":
            takes = full | (gap == _NO_ROW)
        worth = np.where(takes, _SIXTH + heads, np.minimum(gap, 104))
        worth[observation.hand == ZERO] = 0
        worth[observation.hand == 0] = -1
        return worth


def fits(
    observation: Observation,
) -> tuple[NDArray[np.int16], NDArray[np.bool_], NDArray[np.int16]]:
    """Where each card in hand would go as things stand.

    Returns
    -------
    gap : (n, H) int16
        Distance to the end of its row, `_NO_ROW` for a low card.
    full : (n, H) bool
        Whether it would be the sixth card there.
    heads : (n, H) int16
        Bull heads of that row. The row of a low card is the one with the highest end where low
        cards are appended, otherwise the one with fewest heads.
    """
    hand = observation.hand.astype(np.int16)
    gaps = hand[:, :, None] - observation.row_end[:, None, :].astype(np.int16)
    gaps[gaps < 0] = _NO_ROW
    row = gaps.argmin(axis=2)
    gap = np.take_along_axis(gaps, row[:, :, None], axis=2)[:, :, 0]
    appends = observation.rules.low_card == "append"
    other = observation.row_end.argmax(axis=1) if appends else cheapest_row(observation)
    row = np.where(gap == _NO_ROW, other[:, None], row)
    full = np.take_along_axis(observation.row_len == ROW_CAPACITY, row, axis=1)
    heads = np.take_along_axis(observation.row_heads, row, axis=1).astype(np.int16)
    return gap, full, heads


def _held(observation: Observation, slot: NDArray[np.intp]) -> Actions:
    card: Actions = observation.hand[np.arange(len(observation)), slot].astype(np.intp)
    return card


def cheapest_row(observation: Observation) -> NDArray[np.intp]:
    """Row 0 ... R - 1 with fewest heads (ties: fewest cards, then the lowest), shape (n,)."""
    cost = observation.row_heads.astype(np.int16) * 8 + observation.row_len
    row: NDArray[np.intp] = cost.argmin(axis=1)
    return row


POLICIES: Final[dict[str, Callable[[], Policy]]] = {
    "random": RandomPolicy,
    "lowest": LowestPolicy,
    "highest": HighestPolicy,
    "closest_gap": ClosestGapPolicy,
    "sixth_card": SixthCardPolicy,
    "trained": TrainedPolicy,
}


# Players of the repository, by the names that `agents.players.load_player` knows them by.
CHECKOUT: Final = (
    "coldest_row",
    "cautious",
    "considerate_row",
    "monte_carlo",
    "belief",
    "guided",
)


def make_policy(policy: str | Policy) -> Policy:
    """Make a policy of a name, of a file, of "module:Class", or take an object as it is.

    Parameters
    ----------
    policy : str or Policy
        A name in `POLICIES`; "FILE.npz" for an exported network; "module:Class". With ":sampled"
        after it, "trained" or a file draws from its distribution.

    Raises
    ------
    ValueError
        If there is no such policy, or it has no `act`.
    FileNotFoundError
        If there is no such file.
    """
    return make_policies([policy])[0]


def make_policies(policies: Sequence[str | Policy]) -> list[Policy]:
    """Make a policy of each, the same one where a name or an object comes again.

    All are looked at before the first one is made: a wrong name costs no time.

    Parameters
    ----------
    policies : sequence of str or Policy
        As for `make_policy`.

    Raises
    ------
    ValueError, FileNotFoundError
        As `make_policy` does.
    """
    # By identity: policies may be equal and yet differ, and need not be hashable.
    keys = [policy if isinstance(policy, str) else id(policy) for policy in policies]
    recipes = {key: _recipe(policy) for key, policy in zip(keys, policies, strict=True)}
    made = {key: recipe() for key, recipe in recipes.items()}
    return [made[key] for key in keys]


def _recipe(policy: Any) -> Callable[[], Policy]:
    """Give what makes a policy; raise what can be said without loading anything."""
    if not isinstance(policy, str):
        given = _player(policy, policy)
        return lambda: given
    if policy in POLICIES:
        return POLICIES[policy]
    file = policy.removesuffix(":sampled")
    if file == "trained":
        return partial(TrainedPolicy, greedy=False)
    if file.endswith(".npz"):
        if not os.path.isfile(file):
            raise FileNotFoundError(f"there is no policy file {file}")
        return partial(load_policy, file, greedy=file == policy)
    module, _, name = policy.partition(":")
    if module == "trained":
        raise ValueError(f"policy {policy!r} is not known: 'trained' or 'trained:sampled'")
    if module in CHECKOUT:
        raise ValueError(
            f"policy {policy!r} is a player of the repository, which is not in the package: run "
            f"from a checkout and give the object, agents.players.load_player({policy!r})"
        )
    if not name:
        raise ValueError(
            f"policy {policy!r} is not known: {did_you_mean(policy, POLICIES)} one of "
            f"{sorted(POLICIES)}, 'FILE.npz', 'module:Class', or give an object with "
            "act(observation, rng)"
        )
    if module in POLICIES:
        raise ValueError(f"policy {policy!r} is not known: {module!r} takes nothing after it")
    package = module.partition(".")[0]
    if package not in sys.modules and not (package and find_spec(package)):
        raise ValueError(f"policy {policy!r} cannot be made: there is no module {module!r}")
    return partial(_of_module, policy, module, name)


def _of_module(policy: str, module: str, name: str) -> Policy:
    try:
        made = getattr(importlib.import_module(module), name)()
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"policy {policy!r} cannot be made: {type(error).__name__}: {error}. It is called "
            "without arguments; make the object yourself if it needs any"
        ) from error
    return _player(policy, made)


def _player(policy: object, made: Any) -> Policy:
    if isinstance(made, type):
        raise ValueError(f"policy {made.__name__} is a class: give an object, {made.__name__}()")
    if not callable(getattr(made, "act", None)):
        raise ValueError(f"policy {policy!r} has no act(observation, rng)")
    result: Policy = made
    return result


@dataclass(frozen=True, slots=True)
class PlayResult:
    """Outcome of `play`.

    Attributes
    ----------
    heads : (games, P) int32
        Bull heads of each seat over the episode.
    wins : (games, P) float64
        Share of the win: 1 for a sole best total, 1/k for k that share it, else 0. The lowest
        total is best, or the highest where heads are collected.
    """

    heads: NDArray[np.int32]
    wins: NDArray[np.float64]


def play(
    policies: Sequence[str | Policy], rules: Rules, games: int = 1000, seed: int = 0
) -> PlayResult:
    """Play whole episodes, all at once.

    Parameters
    ----------
    policies : sequence of P names or policies
        One for each seat; the same object may hold several seats.
    rules : Rules
        What is played.
    games : int
        How many episodes: the games 0 ... games - 1 of `seed`.
    seed : int
        Of the deals and of all policies' chance.

    Raises
    ------
    ValueError, FileNotFoundError
        If the number of policies is not the number of players, or for one, for games or for a
        seed that cannot be; before anything is loaded.
    TypeError
        If `rules` are none.
    IllegalActionError
        Naming the policy that chose an illegal action.
    """
    engine = Engine(rules)
    if isinstance(policies, str) or not isinstance(policies, Sequence):
        raise ValueError(
            f"policies={policies!r}: a list is needed, one name or policy for each of the "
            f"{rules.num_players} seats"
        )
    if len(policies) != rules.num_players:
        raise ValueError(
            f"{len(policies)} policies for {rules.num_players} players: one for each seat is needed"
        )
    seed = whole("seed", seed, 0, HIGHEST_SEED, "seeds are 0 to 2**64 - 1")
    games = whole("games", games, 1, sys.maxsize, "at least 1 game is needed")
    seats = make_policies(policies)
    state = engine.reset(seed, games)
    rng = private_rng(seed)
    while True:
        active = state.phase != OVER
        if not active.any():
            break
        actions = choose_actions(seats, rules, state, rng)
        try:
            engine.step(state, actions, active)
        except IllegalActionError as error:
            seat, game = np.argwhere(engine.refused(state, actions, active))[0].tolist()
            choice = int(actions[seat, game])
            raise illegal_choice(
                "policy", seats[seat], engine, state, seat, game, choice
            ) from error
    heads = state.totals().T.copy()
    worth = heads if rules.collect else -heads
    best = worth == worth.max(axis=1, keepdims=True)
    return PlayResult(heads, best / best.sum(axis=1, keepdims=True))


def illegal_choice(
    role: str, policy: Policy, engine: Engine, state: State, seat: int, game: int, action: int
) -> IllegalActionError:
    """Error that says which policy, in which role, chose an illegal action."""
    return IllegalActionError(
        f"{role} {type(policy).__name__}, player_{seat} in game {game}, chose action {action}, "
        f"which is not legal: legal actions are {engine.legal(state, seat, game)}. Its act() has "
        "to choose among the ones marked in observation.action_mask"
    )


def choose_actions(
    seats: Sequence[Policy | None],
    rules: Rules,
    state: State,
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """Actions (P, B) of the seats that decide; 0 for others and for seats without a policy."""
    actions = np.zeros((rules.num_players, state.num_games), np.intp)
    acting = state.acting()
    # By identity, as in `make_policies`.
    for policy in {id(p): p for p in seats if p is not None}.values():
        mine = np.array([p is policy for p in seats])
        let_act(policy, rules, state, acting & mine[:, None], actions, rng)
    return actions


def let_act(
    policy: Policy,
    rules: Rules,
    state: State,
    deciding: NDArray[np.bool_],
    actions: NDArray[Any],
    rng: np.random.Generator,
) -> None:
    """Write a policy's choices into `actions` (P, B) where `deciding` (P, B) is set."""
    if state.num_games <= ONE_CALL:
        seats, games = np.nonzero(deciding)
        if seats.size:
            seen = observe(rules, state, seats, games)
            actions[seats, games] = _checked(policy, policy.act(seen, rng), seats.size)
        return
    for seat in range(rules.num_players):
        lane = np.flatnonzero(deciding[seat])
        if lane.size:
            everywhere = lane.size == state.num_games
            seen = observe(rules, state, seat, None if everywhere else lane)
            actions[seat, lane] = _checked(policy, policy.act(seen, rng), lane.size)


def _checked(policy: Policy, actions: Any, count: int) -> Actions:
    made = np.asarray(actions)
    if made.shape != (count,) or made.dtype.kind not in "iu":
        raise ValueError(
            f"{type(policy).__name__}.act returned dtype {made.dtype}, shape {made.shape}; one "
            f"action number for each decision, integers of shape ({count},), is needed"
        )
    return made
