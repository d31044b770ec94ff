"""Deals of the hidden cards that explain what the others have played, as a network judges it.

The round is played again. At each turn the network says how likely a seat would have played the
card that it did play, had it held the cards of a sampled deal. What a seat played depends on its
own hand alone, so that every hand of every sampled deal is judged by itself, and likely hands of
different deals are put together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import NUM_CARDS, TAKE_ROW
from sixnimmt_env.dealing import start_rows
from sixnimmt_env.encoding import field_table
from sixnimmt_env.encoding_loops import observe_encoded
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import Observation
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import HAND, PLAY, TAKE, U8, UNSEEN, State, lane_numbers, scatter
from sixnimmt_env.trained.layout import widened
from sixnimmt_env.trained.network import BLOCK, NetworkPolicy, logits

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Index = NDArray[np.intp]
Bool = NDArray[np.bool_]

# Good players seldom play what is not best, less often than the network's chances say.
SHARPNESS: Final = 2.0
SWEEPS: Final = 2


class Past(NamedTuple):
    """A turn that has been played in some of the decisions.

    Attributes
    ----------
    at : (m,) intp
        Which decisions.
    turn : (m,) uint8
        Which turn of theirs.
    seen : (m, P - 1, F) float32
        What each of the others saw, encoded, with the hand that it had in one of the deals.
    card : (m, P - 1) intp
        What it played.
    """

    at: Index
    turn: U8
    seen: F32
    card: Index


class Table:
    """A game as a network sees it, for replays and for playing on.

    Parameters
    ----------
    policy : NetworkPolicy
        Whose judgement it is.
    rules : Rules
        What is played; one round of it, whatever its episode.

    Raises
    ------
    ValueError
        If the network was trained for other games.
    """

    def __init__(self, policy: NetworkPolicy, rules: Rules) -> None:
        policy.scope.check(rules)
        self.policy = policy
        self.rules = replace(rules, episode="round", target=None, rounds=None)
        self.engine = Engine(self.rules)
        at = {field.name: slice(field.start, field.stop) for field in field_table(self.rules)}
        self._hand, self._unseen = at["hand"], at["unseen"]

    def scores(self, state: State, seats: Index, games: Index) -> F32:
        """Logits (n, A) of seats that decide, -inf where illegal."""
        seen, mask = observe_encoded(self.rules, state, seats, games)
        scores = self._network(seen)
        scores[mask == 0] = -np.inf
        return scores

    def _network(self, seen: F32) -> F32:
        largest = self.policy.scope.rules
        wide = widened(seen, self.rules, largest)
        out = np.empty((len(wide), largest.num_actions), np.float32)
        for at in range(0, len(wide), BLOCK):
            block = slice(at, at + BLOCK)
            out[block] = logits(self.policy.weights, largest, wide[block])
        return out

    def replay(self, observation: Observation, hands: U8) -> tuple[State, list[Past]]:
        """Play the round again up to each decision.

        Parameters
        ----------
        observation : Observation
            n decisions, of rounds whose beginning is known.
        hands : (n, P, H) uint8
            What the seats may hold now, the one that decides first.

        Returns
        -------
        State
            n games as they are now, the deciding seat being seat 0.
        list of Past
            The turns on the way, but for turns in which nobody had a choice.
        """
        state = self._begin(observation, hands)
        past: list[Past] = []
        later = observation.phase == TAKE
        others = np.arange(1, hands.shape[1])
        while True:
            going = (state.turn < observation.turn) | (later & (state.phase == PLAY))
            if not going.any():
                return state, past
            joint = np.zeros((hands.shape[1], len(hands)), np.intp)
            at = np.flatnonzero(going & (state.phase == PLAY))
            joint[:, at] = observation.played[at, :, state.turn[at]].T
            at = at[state.turn[at] < self.rules.hand_size - 1]
            if at.size:
                seats, games = np.tile(others, at.size), np.repeat(at, others.size)
                seen, _ = observe_encoded(self.rules, state, seats, games)
                seen = seen.reshape(at.size, others.size, -1)
                past.append(Past(at, state.turn[at].copy(), seen, joint[1:, at].T))
            at = np.flatnonzero(going & (state.phase == TAKE))
            joint[state.actor[at], at] = observation.row_taken[at, state.turn[at]] + (TAKE_ROW - 1)
            self.engine.step(state, joint, going)

    def _begin(self, observation: Observation, hands: U8) -> State:
        state = State.empty(self.rules, len(hands))
        # Each seat began with a full hand: what it holds and what it has played.
        cards = np.sort(np.concatenate((hands, observation.played), axis=2), axis=2)
        hold(state, cards[..., hands.shape[2] :])
        start_rows(state, slice(None), np.ascontiguousarray(observation.starters.T))
        state.cursor[...] = self.rules.queue_size
        state.phase[...] = PLAY
        return state

    def likelihood(self, observation: Observation, past: list[Past], deals: U8) -> F64:
        """Log-likelihood (n, D, P - 1) of what the others played, for their hands in each deal."""
        held = _flags(deals[:, :, 1:])
        likely = np.zeros(held.shape[:3])
        turns = np.arange(self.rules.hand_size)
        for at, turn, seen, card in past:
            since = turns >= turn[:, None, None]
            played = _flags(np.where(since, observation.played[at, 1:], 0))
            hand = held[at] | played[:, None]
            hidden = (seen[..., self._hand] + seen[..., self._unseen])[:, None]
            full = np.repeat(seen[:, None], hand.shape[1], axis=1)
            full[..., self._hand] = hand
            full[..., self._unseen] = hidden - hand
            scores = self._network(full.reshape(-1, full.shape[-1]))[:, 1 : NUM_CARDS + 1]
            scores = scores.reshape(hand.shape) * np.float32(SHARPNESS)
            scores[~hand] = -np.inf
            scores -= scores.max(axis=3, keepdims=True)
            chosen = np.broadcast_to(card[:, None, :, None] - 1, (*hand.shape[:3], 1))
            likely[at] += np.take_along_axis(scores, chosen, axis=3)[..., 0]
            likely[at] -= np.log(np.exp(scores).sum(axis=3))
        return likely

    def sample(
        self, observation: Observation, deals: U8, count: int, rng: np.random.Generator
    ) -> State:
        """Games as they may be now, (n * count), likely ones more often, the decider at seat 0.

        Parameters
        ----------
        observation : Observation
            n decisions, of rounds whose beginning is known.
        deals : (n, D, P, H) uint8
            Deals to pick from, see `sample_deals`.
        count : int
            Games for each decision.
        rng : numpy.random.Generator
            Source of chance.
        """
        state, past = self.replay(observation, deals[:, 0])
        likely = self.likelihood(observation, past, deals)
        hands = put_together(deals, likely, count, rng)
        games = state.take(np.repeat(np.arange(len(deals)), count))
        hold(games, hands.reshape(-1, *hands.shape[2:]))
        return games


def put_together(deals: U8, likely: F64, count: int, rng: np.random.Generator) -> U8:
    """Hands (n, count, P, H) in proportion to their likelihood, each card in but one of them.

    Systematic resampling (Kitagawa 1996) of whole deals, then Gibbs sampling: one seat after the
    other draws its hand anew from those of all deals that share no card with the other seats'.
    """
    pick = _resample(likely.sum(axis=2), count, rng)
    masks = _masks(deals[:, :, 1:])
    weights = np.exp(likely - likely.max(axis=1, keepdims=True))
    at, others = np.arange(len(deals))[:, None], np.arange(likely.shape[2])
    picks = np.repeat(pick[..., None], others.size, axis=2)
    for seat in np.tile(others, SWEEPS if likely.any() else 0):
        taken = np.zeros((*pick.shape, masks.shape[-1]), np.uint64)
        for other in others[others != seat]:
            taken |= masks[at, picks[..., other], other]
        clash = (masks[:, None, :, seat] & taken[:, :, None]).any(axis=3)
        reached = np.cumsum(np.where(clash, 0, weights[:, None, :, seat]), axis=2)
        point = (1 - rng.random((*pick.shape, 1))) * reached[..., -1:]
        picks[..., seat] = (reached < point).sum(axis=2)
    hands = deals[at, pick]
    hands[:, :, 1:] = deals[at[..., None], picks, others + 1]
    return hands


def _resample(likely: F64, count: int, rng: np.random.Generator) -> Index:
    weights = np.exp(likely - likely.max(axis=1, keepdims=True))
    reached = np.cumsum(weights, axis=1)
    point = (np.arange(count) + rng.random((len(likely), 1))) * reached[:, -1:] / count
    number = (reached[:, None] < point[..., None]).sum(axis=2)
    picked: Index = np.minimum(number, likely.shape[1] - 1)
    return picked


def hold(state: State, hands: U8) -> None:
    """Give the seats of each game `hands` (B, P, H), zeros for no card, in place of theirs."""
    games, players, size = hands.shape
    state.hand[...] = np.sort(hands - np.uint8(1), axis=2).transpose(1, 2, 0)  # 0 is last now
    state.hand += np.uint8(1)
    in_hand = (state.location >= HAND) & (state.location < HAND + players)
    state.location[in_hand] = UNSEEN
    seats = np.repeat(np.arange(HAND, HAND + players, dtype=np.uint8), size)
    cards = state.hand.reshape(players * size, games)
    scatter(state.location, cards, lane_numbers(games), seats[:, None])
    state.location[0] = UNSEEN


def _flags(cards: NDArray[Any]) -> Bool:
    """Whether each card number is among `cards` (..., H), 0 for none; (..., 104)."""
    flags = np.zeros((*cards.shape[:-1], NUM_CARDS + 1), np.bool_)
    np.put_along_axis(flags, cards.astype(np.intp), True, axis=-1)
    return flags[..., 1:]


def _masks(cards: U8) -> NDArray[np.uint64]:
    """The same as bits of two words, (..., 2)."""
    bits = np.packbits(_flags(cards), axis=-1)
    masks = np.zeros((*bits.shape[:-1], 16), np.uint8)
    masks[..., : bits.shape[-1]] = bits
    return masks.view(np.uint64)
