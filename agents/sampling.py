"""What search needs of an observation, and deals of the hidden cards that agree with it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.rollouts import APPEND, IN_TURN, TWO, Ints, draw, shuffle
from sixnimmt_env.cards import NUM_CARDS, ZERO
from sixnimmt_env.loops import compiled
from sixnimmt_env.observe import Observation
from sixnimmt_env.rules import MAX_HAND, MAX_ZEROS, Rules
from sixnimmt_env.state import DRAFT, SECOND

MAX_HIDDEN: Final = NUM_CARDS + MAX_ZEROS


class Known(NamedTuple):
    """What n decisions know, as int64 arrays for the compiled loops. Seat 0 decides.

    Attributes
    ----------
    phase : (n,)
        `PLAY`, `TAKE`, `SECOND` or `DRAFT`.
    table : (n, 3, R)
        Ends, lengths and heads of the rows.
    hand : (n, H)
        Own cards, then 0.
    committed : (n,)
        Own first card where a second one is decided on.
    held : (n, P)
        Cards of each seat that are not on the table; a card that lies face down counts.
    forced : (n, P)
        0 cards that another seat must still hold, because it was given them openly.
    hidden : (n, 124)
        Cards that may be in other hands: 0 cards first, then numbers; then 0.
    num_hidden : (n,)
        How many there are.
    shown : (n, P, H)
        Every hand where hands are open, else all 0.
    waiting : (n, P)
        Cards revealed and not placed yet.
    pool : (n, 105)
        Cards to be drafted, ascending, then 0.
    totals : (n, P)
        Heads in the episode so far.
    starters : (n, R)
        First card of each row, 0 where the beginning of the round is unknown.
    played : (n, P, H K)
        Cards of the turns so far.
    row_taken : (n, H)
        Rows chosen for low cards.
    turns : (n,)
        Turns that others have played a card in, the present one included.
    starter : (n,)
        Seat that began the turns, where seats play one after the other.
    """

    phase: Ints
    table: Ints
    hand: Ints
    committed: Ints
    held: Ints
    forced: Ints
    hidden: Ints
    num_hidden: Ints
    shown: Ints
    waiting: Ints
    pool: Ints
    totals: Ints
    starters: Ints
    played: Ints
    row_taken: Ints
    turns: Ints
    starter: Ints


def flags_of(rules: Rules) -> Ints:
    """Switches of the rules that rollouts read."""
    flags = np.zeros(3, np.int64)
    flags[TWO] = rules.cards_per_turn > 1
    flags[IN_TURN] = rules.one_by_one
    flags[APPEND] = rules.low_card == "append"
    return flags


def some(observation: Observation, index: NDArray[np.intp]) -> Observation:
    """Some of the decisions of a record."""
    parts: dict[str, Any] = {
        field.name: getattr(observation, field.name)[index]
        for field in fields(Observation)
        if field.name != "rules"
    }
    return Observation(rules=observation.rules, **parts)


def known(observation: Observation) -> Known:
    """Arrange an observation for the compiled loops."""
    rules = observation.rules
    left = observation.cards_left.astype(np.int64)
    face_down = np.zeros_like(left)
    if rules.cards_per_turn > 1:
        # What a seat neither holds nor has played lies face down before it.
        played = (observation.played != 0).sum(axis=2)
        face_down = rules.hand_size - played - left
        face_down *= (observation.phase == SECOND)[:, None]
        face_down[:, 0] = 0
    forced = np.maximum(rules.zeros_each - observation.zeros_played.astype(np.int64), 0)
    forced[:, 0] = 0
    held = left + face_down
    return Known(
        phase=observation.phase.astype(np.int64),
        table=np.stack(
            (observation.row_end, observation.row_len, observation.row_heads), axis=1
        ).astype(np.int64),
        hand=observation.hand.astype(np.int64),
        committed=observation.committed.astype(np.int64),
        held=held,
        forced=np.minimum(forced, held),
        **_hidden(observation),
        shown=observation.hands.astype(np.int64),
        waiting=observation.waiting.astype(np.int64),
        pool=_listed(observation.pool, NUM_CARDS + 1),
        totals=(observation.pile_heads + observation.score).astype(np.int64),
        starters=observation.starters.astype(np.int64),
        played=np.ascontiguousarray(observation.played).astype(np.int64),
        row_taken=observation.row_taken.astype(np.int64),
        turns=_turns(observation),
        starter=_starter(rules, left),
    )


def _turns(observation: Observation) -> Ints:
    """Turns in the history, 0 where the round did not begin in this game."""
    played = observation.played.max(axis=1) > 0
    each = observation.rules.cards_per_turn
    turns = played[:, ::each].sum(axis=1)
    known_start = observation.starters.all(axis=1) & (observation.phase != DRAFT)
    return np.where(known_start, turns, 0).astype(np.int64)


def _starter(rules: Rules, left: Ints) -> Ints:
    """Seat that begins each turn: those that have played in this one hold a card less."""
    if not rules.one_by_one:
        return np.zeros(len(left), np.int64)
    later = (left >= left[:, :1])[:, 1:]
    # The seats before us in this turn are the last ones clockwise.
    gone = np.cumprod(~later[:, ::-1], axis=1).sum(axis=1)
    return ((left.shape[1] - gone) % left.shape[1]).astype(np.int64)


def _hidden(observation: Observation) -> dict[str, Ints]:
    zeros = observation.unseen_zeros.astype(np.int64)
    unseen = observation.unseen
    count = zeros + unseen.sum(axis=1, dtype=np.int64)
    most = int(zeros.max(initial=0))
    padded = np.zeros((len(observation), most), np.uint8)
    padded[...] = np.arange(most) < zeros[:, None]
    flags = np.concatenate((padded, unseen), axis=1)
    hidden = _listed(flags, MAX_HIDDEN)
    hidden = np.where(hidden < most, ZERO, hidden - most)
    hidden *= np.arange(MAX_HIDDEN) < count[:, None]
    return {"hidden": hidden, "num_hidden": count}


def _listed(flags: NDArray[np.uint8], size: int) -> Ints:
    """Indices of the set flags of each row, ascending, then 0; shape (n, size)."""
    listed = np.zeros((flags.shape[0], size), np.int64)
    at, index = np.nonzero(flags)
    starts = np.searchsorted(at, np.arange(flags.shape[0]))
    listed[at, np.arange(at.size) - starts[at]] = index
    return listed


@compiled
def deal(
    hidden: Ints, num_hidden: int, held: Ints, forced: Ints, shown: Ints, hands: Ints, left: Ints,
    rng: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Deal hidden cards to the other seats, all consistent deals being equally likely.

    The first `num_hidden` of `hidden` are reordered. `hands` (P, H) gets the cards of the other
    seats in random order, `left` (P,) their numbers.
    """
    at, zeros = 0, 0
    for i in range(num_hidden):
        if hidden[i] == ZERO:
            # Put the 0 cards first, for those that some seat is known to hold.
            hidden[i], hidden[zeros] = hidden[zeros], hidden[i]
            zeros += 1
    for seat in range(1, held.shape[0]):
        at += forced[seat]
    # Partial Fisher-Yates shuffle of the others.
    for seat in range(1, held.shape[0]):
        left[seat] = held[seat]
        if shown[seat, 0] > 0:
            for i in range(held[seat]):
                hands[seat, i] = shown[seat, i]
            shuffle(hands[seat], held[seat], rng)
            continue
        for i in range(held[seat]):
            if i < forced[seat]:
                hands[seat, i] = ZERO
                continue
            j = at + draw(rng, num_hidden - at)
            hidden[at], hidden[j] = hidden[j], hidden[at]
            hands[seat, i] = hidden[at]
            at += 1
        if forced[seat] > 0:
            shuffle(hands[seat], held[seat], rng)


def sample_deals(
    observation: Observation, count: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Deal the hidden cards of each decision, all deals that agree with it being equally likely.

    Parameters
    ----------
    observation : Observation
        n decisions.
    count : int
        Deals of each.
    rng : numpy.random.Generator
        Source of chance.

    Returns
    -------
    (n, count, P, H) uint8
        Cards of every seat, those that lie face down included, in any order, then 0. Seat 0 is
        the one that decides and has its own hand.
    """
    know = known(observation)
    n, players = know.held.shape
    deals = np.zeros((n, count, players, MAX_HAND), np.uint8)
    seeds = rng.integers(0, 2**64, n, dtype=np.uint64)
    _deal_many(know.hidden, know.num_hidden, know.held, know.forced, know.shown, seeds, deals)
    deals = deals[..., : observation.rules.hand_size]
    deals[:, :, 0] = observation.hand[:, None]
    return deals


@compiled
def _deal_many(
    hidden: Ints, num_hidden: Ints, held: Ints, forced: Ints, shown: Ints,
    seeds: NDArray[np.uint64], deals: NDArray[np.uint8],
) -> None:  # fmt: skip
    players = held.shape[1]
    hands = np.zeros((players, MAX_HAND), np.int64)
    left = np.zeros(players, np.int64)
    rng = np.zeros(1, np.uint64)
    for i in range(deals.shape[0]):
        rng[0] = seeds[i] | np.uint64(1)
        for d in range(deals.shape[1]):
            deal(hidden[i], num_hidden[i], held[i], forced[i], shown[i], hands, left, rng)
            for seat in range(1, players):
                for k in range(left[seat]):
                    deals[i, d, seat, k] = hands[seat, k]
