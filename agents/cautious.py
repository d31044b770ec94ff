"""Cautious: plays the card that is expected to cost the fewest bull heads.

For each card in hand the chance is worked out that just so many of the cards not seen are played by
the others and come between that ours is the sixth card of its row, or that somebody before us takes
that row (`expected_heads`). Counting cards this way is common advice and the chances are those of
drawing from an urn; how they are combined and the prices below are our own work, found by playing
(docs/players.md says how much each is worth).

Heads of one turn are not all that matters, for every card has to be played sometime. So each card
has a price, the heads that it is likely to cost if it is kept (`prices`), which is taken off:

- Where low cards take a row, a card is the dearer to keep the further it is from the middle of the
  deck: the low ones take rows and the high ones come to lie behind many others. It is `KEEP` heads,
  divided by the number of players, at both ends of the deck, and in between grows with the square
  of the distance from the middle. (Heads that players took in the rest of a round, fitted to the
  cards they held, show the same curve.)
- Where low cards are appended, they cost little: only high cards are dear, `KEEP_HIGH` heads for
  the highest and in proportion for the others. Where heads are bad, a card that leaves a wide gap
  below it is up to one head less urgent: it spoils a row for one's own cards in that gap.
- A 0 card is a turn in which nothing happens. Where heads are bad it counts like a card that costs
  `ZERO_WORTH` heads, where they are good like one that wins so many.

A second card is played if it is expected to add less than `PACE` heads for each card that this seat
holds more than the others do on average: who falls behind has to play on alone, and who hurries
gives away chances. Where heads are collected it must win `SECOND_WINS` heads more than that: who
still holds cards when the others have none may win all that is left.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.heuristics import (
    Actions,
    Bools,
    CardPlayer,
    Floats,
    Ints,
    Others,
    fitting_rows,
    held,
    numbers,
)
from sixnimmt_env.cards import BULL_HEADS, NUM_ROWS, PASS, ROW_CAPACITY, ZERO
from sixnimmt_env.observe import Observation
from sixnimmt_env.policy import cheapest_row
from sixnimmt_env.rules import Rules

KEEP: Final = 6.0
KEEP_HIGH: Final = 0.5
ZERO_WORTH: Final = 1.0
PACE: Final = 0.5
SECOND_WINS: Final = 4.0

_ROWS: Final = np.arange(NUM_ROWS)


class Cautious(CardPlayer):
    """Plays the card with the fewest expected heads, less the price of keeping it.

    Where heads are collected it plays the card with the most expected heads.

    Parameters
    ----------
    row : callable
        See `agents.heuristics.CardPlayer`.
    """

    def _card(self, observation: Observation) -> Actions:
        cost = _signed(expected_heads(observation, observation.hand), observation.rules)
        cost = cost - prices(observation)
        zero = -ZERO_WORTH if observation.rules.collect else ZERO_WORTH
        cost = np.where(observation.hand == ZERO, zero, cost)
        return held(observation, _cheapest(observation, cost)[0])

    def _second(self, observation: Observation) -> Actions:
        hand, rules = observation.hand, observation.rules
        others = Others(observation)
        first = np.broadcast_to(observation.committed[:, None], hand.shape)
        alone = expected_heads(observation, first[:, :1], others=others)
        both = expected_heads(observation, hand, first, others)
        both = both + expected_heads(observation, first, hand, others)
        cost = _signed(both - alone, rules)
        if not rules.collect:
            cost = np.where(hand == ZERO, cost + ZERO_WORTH, cost)
        left = observation.cards_left.astype(np.float64)
        allowed = PACE * (left[:, 0] - left[:, 1:].mean(axis=1))
        if rules.collect:
            allowed -= SECOND_WINS
        slot, least = _cheapest(observation, cost)
        return np.where(least < allowed, held(observation, slot), PASS)


def _signed(heads: Floats, rules: Rules) -> Floats:
    return -heads if rules.collect else heads


def _cheapest(observation: Observation, cost: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Slot of the hand with the least cost, and that cost."""
    cost = np.where(observation.hand == 0, np.inf, cost)
    return cost.argmin(axis=1), cost.min(axis=1)


def prices(observation: Observation) -> Floats:
    """Heads that each card in hand is expected to cost later if it is kept, shape (n, H).

    See the module's docstring. What stands at 0 cards and empty slots means nothing.
    """
    rules = observation.rules
    card = numbers(observation.hand)
    part = (card - 0.5) / rules.num_cards
    if rules.low_card == "take" and not rules.collect:
        extreme: Floats = KEEP / rules.num_players * (2 * part - 1) ** 2
        return extreme
    price: Floats = KEEP_HIGH * part
    if not rules.collect:
        end = observation.row_end.astype(np.int64)
        row, low = fitting_rows(card, end)
        gap = card - np.take_along_axis(end, row, axis=1)
        price = price - np.where(low, 0, gap) / rules.num_cards
    return price


def expected_heads(
    observation: Observation,
    card: NDArray[Any],
    also: NDArray[Any] | None = None,
    others: Others | None = None,
) -> Floats:
    """Heads that each card is expected to bring its owner in this turn.

    Parameters
    ----------
    observation : Observation
        n decisions about cards.
    card : (n, k) integers
        Own cards, each looked at for itself. No card and 0 cards bring nothing.
    also : (n, k) integers, optional
        The card that is played together with each of them, 0 for none. With a 0 card a number is
        placed ahead of all others.
    others : Others, optional
        What the others may play, if it has been made already.

    Returns
    -------
    (n, k) float64

    Notes
    -----
    There are two cases. If no low card is played, ours goes to the row that it fits now, and so do
    all cards between that row's end and ours. With k free places ours is the sixth card if exactly
    k come between, or k + 5: then somebody took the row on the way. If a low card is played, the
    row that it goes to holds ours no more. That row is taken to be the one with fewest heads (where
    low cards are appended it is certain: the one with the highest end). Ours goes to the nearest of
    the other rows, or else behind the low card. A low card of our own is the first one, or comes
    behind somebody's lower one.

    Given what `Others` assumes, this is the exact expectation for hidden hands, up to five players
    and low cards that do take the row with fewest heads. Otherwise heads of the cards between count
    with a mean. Not looked at: that others may place two cards, or one ahead of all with a 0.
    """
    others = others or Others(observation)
    ahead = np.zeros(card.shape, np.bool_) if also is None else also == ZERO
    also = np.zeros(card.shape, np.int64) if also is None else numbers(also)
    card = numbers(card)
    lowest = observation.row_end.min(axis=1)[:, None].astype(np.int64)
    low = card < lowest
    low_before = (also > 0) & (also < lowest)
    target = _row_of_low_cards(observation)[:, None]
    most = int(others.number.max(initial=0)) + int(also.any())
    total = np.zeros(card.shape)
    for low_played in (False, True):
        usable = target != _ROWS if low_played else None
        bottom, free, heads = _destination(observation, card, target, usable)
        between = (also > bottom) & (also < card)
        mean = others.mean_heads(bottom, card)
        for again in range(0, most + 1, ROW_CAPACITY):
            count = free + again - between
            chance = others.chance(bottom, card, count)
            quiet = np.where(low_before, 0.0, others.chance(bottom, card, count, lowest))
            if low_played:
                chance = np.where(low | ahead, 0.0, chance - quiet)
            else:
                chance = np.where(ahead, count == 0, np.where(low, chance, quiet))
            more = (ROW_CAPACITY if again else free) - between
            taken = (0 if again else heads) + between * BULL_HEADS[also] + more * mean
            total += chance * taken
    return np.where(card > 0, total, 0.0)


def _row_of_low_cards(observation: Observation) -> NDArray[np.intp]:
    """Row that a low card goes to, as far as one can tell, shape (n,)."""
    rules = observation.rules
    row = cheapest_row(observation)
    if rules.low_card == "append":
        row = observation.row_end.argmax(axis=1)
    elif rules.collect and rules.row_choice == "player":
        row = observation.row_heads.argmax(axis=1)
    return row


def _destination(
    observation: Observation, card: Ints, target: NDArray[np.intp], usable: Bools | None
) -> tuple[Ints, Ints, Ints]:
    """Row of each card: the end that cards before it must exceed, free places and heads.

    A card that fits none of the usable rows goes to the row `target` (n, 1), behind any lower card.
    Where it would take that row it counts as full.
    """
    end = observation.row_end.astype(np.int64)
    row, low = fitting_rows(card, end, usable)
    row = np.where(low, target, row)
    free = ROW_CAPACITY - np.take_along_axis(observation.row_len, row, axis=1).astype(np.int64)
    if observation.rules.low_card == "take":
        free = np.where(low, 0, free)
    heads = np.take_along_axis(observation.row_heads, row, axis=1).astype(np.int64)
    return np.where(low, 0, np.take_along_axis(end, row, axis=1)), free, heads
