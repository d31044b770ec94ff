"""What heuristic players share: the frame of a player, and the chances of what the others play."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.considerate_row import best_row
from sixnimmt_env.cards import BULL_HEADS, NUM_CARDS, TAKE_ROW, ZERO
from sixnimmt_env.observe import Observation
from sixnimmt_env.rules import MAX_SEATS, MAX_ZEROS
from sixnimmt_env.state import DRAFT, PLAY, SECOND, TAKE

Actions = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
RowRule = Callable[[Observation], NDArray[np.intp]]

# Cards near this part of the deck are drafted first. Among three random players cautious took
# 11.3, 3.1, 2.5, 2.8 and 6.0 heads when it drafted towards 0, 0.5, 0.6, 0.65 and 1 of the deck.
_DRAFT: Final = 0.6

_WAYS: Final = np.array(
    [[comb(n, k) for k in range(MAX_SEATS)] for n in range(NUM_CARDS + MAX_ZEROS + 1)], float
)
"""(n, k): ways to choose k of n cards."""


class CardPlayer:
    """A player that is a rule for cards: subclasses write `_card`, and more where they differ.

    It drafts cards a little above the middle of the deck, which are the easiest to get rid of, and
    plays one card where it may play two.

    Parameters
    ----------
    row : callable
        Chooses the row 0 ... R - 1 that a low card takes, for n decisions at once; by default
        `agents.considerate_row.best_row`.

    Raises
    ------
    ValueError
        If `row` is no function.
    """

    def __init__(self, row: RowRule = best_row) -> None:
        if not callable(row):
            raise ValueError(
                f"row={row!r} is not possible: a function of observations is needed, such as "
                "sixnimmt_env.policy.cheapest_row"
            )
        self.row = row

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        """See `sixnimmt_env.policy.Policy.act`."""
        actions: Actions = observation.action_mask.argmax(axis=1)
        decides = observation.decides
        for phase, choose in (
            (PLAY, self._card),
            (SECOND, self._second),
            (TAKE, self._take),
            (DRAFT, self._draft),
        ):
            here = (observation.phase == phase) & decides
            if here.any():
                actions = np.where(here, choose(observation), actions)
        return actions

    def _card(self, observation: Observation) -> Actions:
        raise NotImplementedError

    def _second(self, observation: Observation) -> Actions:
        return np.zeros(len(observation), np.intp)

    def _take(self, observation: Observation) -> Actions:
        return TAKE_ROW + self.row(observation)

    def _draft(self, observation: Observation) -> Actions:
        card = np.arange(observation.pool.shape[1])
        distance = np.abs(card - _DRAFT * observation.rules.num_cards)
        card_to_pick: Actions = np.where(observation.pool > 0, distance, np.inf).argmin(axis=1)
        return card_to_pick


def held(observation: Observation, slot: NDArray[np.intp]) -> Actions:
    """Card in one slot of each hand, shape (n,)."""
    card: Actions = observation.hand[np.arange(len(observation)), slot].astype(np.intp)
    return card


def numbers(cards: NDArray[Any]) -> Ints:
    """Card numbers to compute with; a 0 card counts as 0, like no card."""
    return np.where(cards == ZERO, 0, cards).astype(np.int64)


def fitting_rows(card: Ints, end: Ints, usable: Bools | None = None) -> tuple[NDArray[Any], Bools]:
    """Find the row that each card fits.

    Parameters
    ----------
    card : (n, k) int64
        Cards.
    end : (n, R) int64
        Ends of the rows.
    usable : (n, R) bool, optional
        Rows to look at.

    Returns
    -------
    row : (n, k) intp
        The row whose end is below the card with the smallest difference.
    low : (n, k) bool
        Whether there is none.
    """
    if usable is not None:
        end = np.where(usable, end, NUM_CARDS + 1)
    below = np.where(end[:, None] < card[:, :, None], end[:, None], -1)
    return below.argmax(axis=2), below.max(axis=2) < 0


class Others:
    """Chances of what the other seats play in this turn, given all that a seat has seen.

    Each of the others that still hold cards plays one, and any of its cards with the same chance.
    Where hands are hidden these are any of the cards not seen, every set of them being equally
    likely, which makes the counts below hypergeometric; cards in the stock and 0 cards are among
    those not seen. Where hands are open, each of the others plays a card of its own hand. Where
    seats play one after the other, nobody's card comes between.

    Parameters
    ----------
    observation : Observation
        n decisions.

    Attributes
    ----------
    number : (n, 1) int64
        How many of the others play a card.
    """

    def __init__(self, observation: Observation) -> None:
        rules = observation.rules
        playing = observation.cards_left[:, 1:] > 0
        if rules.one_by_one:
            playing = np.zeros_like(playing)
        elif rules.cards_per_turn > 1:
            playing |= _last_card_committed(observation)
        self.number: Ints = playing.sum(axis=1, keepdims=True)
        self._at = np.arange(len(observation))[:, None]
        cards = observation.unseen.astype(np.int64)
        self._hands: list[tuple[Ints, Ints]] = []
        if rules.open_hands:
            for seat in range(1, rules.num_players):
                hand = np.zeros_like(cards)
                hand[self._at, observation.hands[:, seat]] = 1
                hand[:, 0] = 0
                cards += hand
                size = np.maximum(observation.cards_left[:, [seat]], 1).astype(np.int64)
                self._hands.append((hand.cumsum(axis=1), size))
        self._cards: Ints = cards.cumsum(axis=1)
        self._heads: Ints = (cards * BULL_HEADS).cumsum(axis=1)
        self._hidden = self._cards[:, -1:] + observation.unseen_zeros[:, None]
        self._sets = np.maximum(_WAYS[self._hidden, self.number], 1)

    def mean_heads(self, low: Ints, high: Ints) -> Floats:
        """Mean heads of the others' possible cards between two cards; 0 where there are none."""
        count = self._between(self._cards, low, high)
        mean: Floats = self._between(self._heads, low, high) / np.maximum(count, 1)
        return mean

    def chance(self, low: Ints, high: Ints, count: Ints, none_below: Ints | None = None) -> Floats:
        """Chance that the others play exactly so many cards between two cards.

        Parameters
        ----------
        low, high : (n, k) int64
            Cards; what counts is higher than `low` and lower than `high`.
        count : (n, k) int64
            How many. Numbers that cannot be have chance 0.
        none_below : (n, 1) int64, optional
            And no card lower than this one.

        Returns
        -------
        (n, k) float64
        """
        lowest = np.zeros_like(self.number) if none_below is None else none_below
        low = np.maximum(low, lowest - 1)
        if self._hands:
            return self._chance_of_hands(low, high, count, lowest)
        possible = (count >= 0) & (count <= self.number)
        count = np.where(possible, count, 0)
        inside = self._between(self._cards, low, high)
        outside = self._hidden - inside - self._between(self._cards, 0, lowest)
        ways = _WAYS[inside, count] * _WAYS[outside, self.number - count]
        return np.where(possible, ways / self._sets, 0.0)

    def _chance_of_hands(self, low: Ints, high: Ints, count: Ints, lowest: Ints) -> Floats:
        shape = np.broadcast_shapes(low.shape, high.shape, count.shape)
        chances = np.zeros((len(self._hands) + 1, *shape))  # of 0, 1, ... cards in the hands so far
        chances[0] = 1.0
        for cards, size in self._hands:
            inside = self._between(cards, low, high) / size
            outside = 1 - inside - self._between(cards, 0, lowest) / size
            chances[1:] = chances[1:] * outside + chances[:-1] * inside
            chances[0] *= outside
        possible = (count >= 0) & (count <= len(self._hands))
        index = np.broadcast_to(np.where(possible, count, 0), shape)
        return np.where(possible, np.take_along_axis(chances, index[None], axis=0)[0], 0.0)

    def _between(self, cumulated: Ints, low: Ints | int, high: Ints) -> Ints:
        upto = cumulated[self._at, np.maximum(high - 1, 0)]
        between: Ints = np.maximum(upto - cumulated[self._at, low], 0)
        return between


def _last_card_committed(observation: Observation) -> Bools:
    """Others whose last card lies face down as the first one of this turn, shape (n, P - 1)."""
    before = (observation.played[:, 1:] != 0).sum(axis=2)
    last = (before == observation.rules.hand_size - 1) & (observation.cards_left[:, 1:] == 0)
    committed: Bools = last & (observation.phase == SECOND)[:, None]
    return committed
