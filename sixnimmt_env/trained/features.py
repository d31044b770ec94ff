"""What the trained networks look at: every held card and every row described by its prospects.

A plain network has to learn anew for each of 104 cards what it means to fit a row. Here each card
in hand is described by the row it would go to as things stand, each row that can be taken by what
taking it leads to, and the table as a whole by its rows in ascending order of their ends. None of
it depends on the number of players, on the order of the rows or on where the others sit, so that
one network can play any number of players.

These numbers are inputs: no gradient goes through them. The same code serves training and play.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import BULL_HEADS, NUM_CARDS, NUM_ROWS, ROW_CAPACITY
from sixnimmt_env.encoding import DECK_HEADS, field_table
from sixnimmt_env.rules import MAX_PLAYERS, Rules

F32 = NDArray[np.float32]
Index = NDArray[np.intp]

CARD_FEATURES: Final = 26
ROW_FEATURES: Final = 10
_TABLE_FEATURES: Final = 38
_EXTRA_FIELDS: Final = ("zeros", "unseen_zeros", "committed", "pool")
_SHARES: Final = 128


class Described(NamedTuple):
    """Encoded observations as the networks see them.

    Attributes
    ----------
    whole : (n, W) float32
        Each decision's table, hand and hidden cards.
    who, card : (m,) intp
        Decision and number of every card that can be chosen, sorted by both.
    cards : (m, CARD_FEATURES) float32
        Those cards.
    taking : (t,) intp
        Decisions in which a row is chosen.
    rows : (t, R, ROW_FEATURES) float32
        The rows there, in the order of the table.
    """

    whole: F32
    who: Index
    card: Index
    cards: F32
    taking: Index
    rows: F32


def whole_size(rules: Rules) -> int:
    """Length W of `Described.whole`."""
    sizes = {field.name: field.size for field in field_table(rules)}
    raw = 2 * NUM_CARDS + sizes["turn"] + sizes["phase"] + sizes["decides"]
    return _TABLE_FEATURES + raw + sum(sizes.get(name, 0) for name in _EXTRA_FIELDS)


def describe(rules: Rules, observations: F32) -> Described:
    """Describe encoded observations.

    Parameters
    ----------
    rules : Rules
        What they were encoded for.
    observations : (n, F) float32
        As `sixnimmt_env.encoding.encode` writes them.

    Returns
    -------
    Described
    """
    table = _Table(rules, observations)
    who, card, cards = _cards(rules, table)
    taking, rows = _rows(table)
    return Described(_whole(rules, table), who, card, cards, taking, rows)


@lru_cache(maxsize=64)
def _slices(rules: Rules) -> dict[str, slice]:
    return {field.name: slice(field.start, field.stop) for field in field_table(rules)}


@lru_cache(maxsize=1)
def _chances() -> F32:
    """Chance that at least j of k cards fall into a share of the deck, (k, j, share in 128ths)."""
    share = np.arange(_SHARES + 1) / _SHARES
    table = np.zeros((MAX_PLAYERS, ROW_CAPACITY + 1, _SHARES + 1))
    for k in range(MAX_PLAYERS):
        left = np.ones(_SHARES + 1)
        for j in range(ROW_CAPACITY + 1):
            table[k, j] = left
            left = left - math.comb(k, j) * share**j * (1 - share) ** max(k - j, 0)
    return table.clip(0, 1).astype(np.float32)


class _Table:
    """Numbers about n decisions that several descriptions need. Rows ascend by their ends."""

    def __init__(self, rules: Rules, observations: F32) -> None:
        at = _slices(rules)
        self.observations, self.at = observations, at
        self.n = observations.shape[0]
        self.hand = observations[:, at["hand"]]
        ends = np.rint(observations[:, at["row_end"]] * NUM_CARDS).astype(np.intp)
        self.order = ends.argsort(axis=1)
        flat = self.order + np.arange(0, NUM_ROWS * self.n, NUM_ROWS)[:, None]
        # 0, the ends of the rows, 104: between them lie the cards that go to one row.
        self.edges = np.zeros((self.n, NUM_ROWS + 2), np.intp)
        self.edges[:, 1:-1] = ends.ravel()[flat]
        self.edges[:, -1] = NUM_CARDS
        self.length = observations[:, at["row_len"]].ravel()[flat] * np.float32(ROW_CAPACITY)
        self.length = np.rint(self.length)
        self.heads = observations[:, at["row_heads"]].ravel()[flat]
        self.unseen, self.unseen_at = self._summed(observations[:, at["unseen"]])
        self.own, self.own_at = self._summed(self.hand)
        self.cards_left = observations[:, at["cards_left"]]
        self.waiting = observations[:, at["waiting"]]
        self.phase = observations[:, at["phase"]]
        self.rivals = (self.cards_left[:, 1:] > 0).sum(axis=1)
        self.hidden = self.unseen[:, -1]

    def _summed(self, flags: F32) -> tuple[F32, F32]:
        """How many flagged cards are not above each number, and not above each edge."""
        summed = np.zeros((self.n, NUM_CARDS + 1), np.float32)
        np.cumsum(flags, axis=1, out=summed[:, 1:])
        start = np.arange(0, summed.size, NUM_CARDS + 1)[:, None]
        return summed, summed.ravel()[start + self.edges]

    def committed(self) -> tuple[Index, Index]:
        """Own first card of this turn (0 for none or a 0 card) and how many ends lie below it."""
        share = self.observations[:, self.at["committed"]][:, 0]
        card = np.rint(share * NUM_CARDS).astype(np.intp)
        return card, (card[:, None] > self.edges[:, 1:-1]).sum(axis=1)


def _cards(rules: Rules, table: _Table) -> tuple[Index, Index, F32]:
    choices = table.hand > 0
    if rules.draft:
        pool = table.observations[:, table.at["pool"]] > 0
        choices = np.where(table.phase[:, :1] > 0, pool, choices)
    who, slot = np.nonzero(choices)
    card = slot + 1
    below = (card[:, None] > table.edges[who, 1:-1]).sum(axis=1)
    place = who * (NUM_ROWS + 1) + below
    # Column 0 of these is for cards below all ends.
    appends = rules.low_card == "append"
    low_heads = table.heads[:, -1] if appends else table.heads.min(axis=1)
    low_length = table.length[:, -1] if appends else np.zeros(table.n, np.float32)
    length = np.column_stack((low_length, table.length)).ravel()[place]
    heads = np.column_stack((low_heads, table.heads)).ravel()[place]
    number = who * (NUM_CARDS + 1) + card
    start, stop = table.unseen_at[:, :-1].ravel()[place], table.unseen_at[:, 1:].ravel()[place]
    before = table.unseen.ravel()[number - 1] - start
    after = stop - table.unseen.ravel()[number]
    fits = below > 0
    rivals = np.zeros_like(table.rivals) if rules.one_by_one else table.rivals
    need = np.maximum(ROW_CAPACITY - length, 0).astype(np.intp)
    if not appends:
        need[~fits] = 1  # a lower card of somebody else takes a row first
    share = before / np.maximum(table.hidden, 1)[who]
    chance = _chances()[rivals[who], need, np.rint(share * _SHARES).astype(np.intp)]
    sixth = length == ROW_CAPACITY
    held = table.own.ravel()
    rank = held[number - 1]
    out = np.zeros((CARD_FEATURES, who.size), np.float32)
    out[0] = card * np.float32(1 / NUM_CARDS)
    out[1] = BULL_HEADS[card] * np.float32(1 / 7)
    out[2] = fits
    out[3] = (card - table.edges[:, :-1].ravel()[place]) * np.float32(1 / 20)
    out[3] *= fits
    out[4] = before * np.float32(1 / 20)
    out[5] = after * np.float32(1 / 20)
    for cards in range(1, ROW_CAPACITY + 1):
        out[5 + cards] = length == cards
    out[11] = heads
    out[12] = sixth * heads
    out[13] = chance
    out[14] = chance * heads
    out[15] = rivals[who] * share * np.float32(0.5)
    out[16] = rank * np.float32(1 / rules.hand_size)
    out[17] = (rank - table.own_at[:, :-1].ravel()[place]) * np.float32(0.2)
    out[18] = (table.own_at[:, 1:].ravel()[place] - held[number]) * np.float32(0.2)
    out[19] = table.unseen.ravel()[number - 1] / np.maximum(table.hidden, 1)[who]
    out[20] = below * np.float32(0.25)
    out[21] = ~fits * heads
    out[22] = ~fits * chance
    out[23] = fits * (need == 1) * chance  # one more card and the row is full
    if rules.cards_per_turn > 1:
        first, ends_below = table.committed()
        same = (first[who] > 0) & (ends_below[who] == below)
        out[24] = same & (first[who] < card)
        out[25] = same & (first[who] > card)
    return who, card, out.T


def _whole(rules: Rules, table: _Table) -> F32:
    out = np.empty((table.n, whole_size(rules)), np.float32)
    rows = slice(1, NUM_ROWS + 1)
    pile = table.observations[:, table.at["pile_heads"]] * np.float32(DECK_HEADS / 50)
    # Where observations are laid out for more players, seats without cards are not there.
    there = (table.cards_left[:, 1:] > 0) | (pile[:, 1:] > 0)
    lowest = np.where(there, pile[:, 1:], np.inf).min(axis=1, keepdims=True)
    hidden = np.maximum(table.hidden, 1)[:, None]
    others = table.cards_left[:, 1:].sum(axis=1, keepdims=True) * np.float32(rules.hand_size)
    parts: list[NDArray[Any]] = [
        table.edges[:, rows] * np.float32(1 / NUM_CARDS),
        table.length * np.float32(1 / ROW_CAPACITY),
        table.heads,
        table.length == ROW_CAPACITY,
        np.diff(table.unseen_at, axis=1) * np.float32(1 / 20),
        np.diff(table.own_at, axis=1) * np.float32(0.2),
        table.heads.min(axis=1, keepdims=True),
        table.own[:, -1:] * np.float32(1 / rules.hand_size),
        table.rivals[:, None] * np.float32(1 / MAX_PLAYERS),
        (table.rivals == 1)[:, None],
        table.hidden[:, None] * np.float32(1 / NUM_CARDS),
        np.minimum(others / hidden, 1),
        pile[:, :1],
        pile[:, 1:].max(axis=1, keepdims=True),
        pile[:, 1:].sum(axis=1, keepdims=True) * np.float32(1 / MAX_PLAYERS),
        np.where(lowest < np.inf, lowest, 0),
        table.waiting[:, :1],
        (table.waiting[:, 1:] > 0).sum(axis=1, keepdims=True) * np.float32(1 / MAX_PLAYERS),
    ]
    names = ["hand", "unseen", "turn", "phase", "decides", *_EXTRA_FIELDS]
    parts += [table.observations[:, table.at[name]] for name in names if name in table.at]
    at = 0
    for part in parts:
        out[:, at : at + part.shape[1]] = part
        at += part.shape[1]
    return out


def _rows(table: _Table) -> tuple[Index, F32]:
    decides = table.observations[:, table.at["decides"]][:, 0] > 0
    taking = np.flatnonzero((table.phase[:, 2] > 0) & decides)
    out = np.zeros((ROW_FEATURES, taking.size, NUM_ROWS), np.float32)
    if not taking.size:
        return taking, out.transpose(1, 2, 0)
    ends, heads = table.edges[taking, 1:-1], table.heads[taking]
    waiting = np.rint(table.waiting[taking] * NUM_CARDS).astype(np.intp)
    others = waiting[:, 1:]
    goes = (others[:, :, None] > ends[:, None]).sum(axis=2)  # to the row of this rank, 0 for none
    # Were this row taken, the own card would be its end, and the next end the lowest other one.
    next_end = np.where(np.arange(NUM_ROWS) == 0, ends[:, 1:2], ends[:, :1])
    follow = (others[:, :, None] > 0) & (others[:, :, None] < next_end[:, None])
    out[0] = heads
    out[1] = heads - heads.min(axis=1, keepdims=True)
    out[2] = table.length[taking] * np.float32(1 / ROW_CAPACITY)
    out[3] = ends * np.float32(1 / NUM_CARDS)
    out[4] = np.arange(NUM_ROWS) * np.float32(0.25)
    out[5] = np.diff(table.own_at[taking], axis=1)[:, 1:] * np.float32(0.2)
    out[6] = np.diff(table.unseen_at[taking], axis=1)[:, 1:] * np.float32(1 / 20)
    out[7] = (goes[:, :, None] == np.arange(1, NUM_ROWS + 1)).sum(axis=1) * np.float32(1 / 3)
    out[8] = follow.sum(axis=1) * np.float32(1 / 3)
    out[9] = (next_end - waiting[:, :1]) * np.float32(1 / 20)
    back = table.order[taking].argsort(axis=1)
    return taking, np.take_along_axis(out.transpose(1, 2, 0), back[:, :, None], axis=1)
