"""A slow, plain scalar reference for the games with 0 cards.

Like `tests.reference` it shares no code with the engine. A 0 card is the int 0. Bull heads are
always counted positively; whether they are good or bad is up to `winners`, so that Plus, with
or without an equal deal, and the original game with 0 cards share `PlusRound`.
"""

from __future__ import annotations

import random

from tests.reference import NUM_ROWS, ROW_CAPACITY, total_heads

HIGHEST_CARD = 104
NUM_ZEROS = 7
PLUS_HAND_SIZE = 15
SIMPLIFIED_HAND_SIZE = 12
Deal = tuple[list[list[int]], list[list[int]]]


class _Table:
    """What both kinds of round share: hands, rows, piles and how one card is placed."""

    def __init__(self, hands: list[list[int]], rows: list[list[int]]) -> None:
        _check_position(hands, rows)
        self.hands = [sorted(hand) for hand in hands]
        self.rows = [list(row) for row in rows]
        self.piles: list[list[int]] = [[] for _ in hands]
        self.placements: list[tuple[int, int, int, int]] = []

    @property
    def heads(self) -> list[int]:
        """Bull heads each seat has taken so far; a 0 card has none."""
        return [total_heads([card for card in pile if card != 0]) for pile in self.piles]

    @property
    def over(self) -> bool:
        """Whether every hand is empty."""
        return all(not hand for hand in self.hands)

    def _place(self, seat: int, card: int) -> None:
        """Put a numbered card into its row; the sixth card takes the five before it."""
        row_index = self._row_for(card)
        taken: list[int] = []
        if len(self.rows[row_index]) == ROW_CAPACITY:
            taken, self.rows[row_index] = self.rows[row_index], []
        self.rows[row_index].append(card)
        self.piles[seat].extend(taken)
        self.placements.append((seat, card, row_index, total_heads(taken)))

    def _row_for(self, card: int) -> int:
        """Return the row with the nearest end below the card, else the one with the highest end."""
        ends = [row[-1] for row in self.rows]
        lower_ends = [end for end in ends if end < card]
        return ends.index(max(lower_ends or ends))


class PlusRound(_Table):
    """One round of Plus, of Plus with an equal deal or of the original game with 0 cards.

    Parameters
    ----------
    hands : list of list of int
        Cards of each seat, 2 to 7 seats; sizes may differ, and all but one may be empty.
    rows : list of list of int
        The four rows, oldest card first, one to five cards each; they need not ascend.

    Attributes
    ----------
    hands, rows : list of list of int
        As they are now; hands ascend, so that the 0s come first.
    piles : list of list of int
        Cards each seat has taken, in the order taken. A seat's own 0s go there when revealed,
        before any card of the turn is placed.
    placements : list of tuple of (int, int, int, int)
        (seat, card, row index 0 to 3, heads taken) of the last turn, in placing order. A 0 is
        not placed and does not occur.
    """

    def play(self, commits: list[list[int]]) -> None:
        """Reveal and place one or two cards of each seat that holds cards, none of the others."""
        if self.over:
            raise ValueError("the round is over")
        if len(commits) != len(self.hands):
            raise ValueError(f"need the cards of {len(self.hands)} seats, got {len(commits)}")
        for seat, commit in enumerate(commits):
            self._check_commit(seat, commit)

        with_zero: list[tuple[int, int]] = []
        without_zero: list[tuple[int, int]] = []
        for seat, commit in enumerate(commits):
            for card in commit:
                self.hands[seat].remove(card)
                if card == 0:
                    self.piles[seat].append(0)
                elif 0 in commit:
                    with_zero.append((card, seat))
                else:
                    without_zero.append((card, seat))
        self.placements = []
        for card, seat in sorted(with_zero) + sorted(without_zero):
            self._place(seat, card)

    def _check_commit(self, seat: int, commit: list[int]) -> None:
        hand = self.hands[seat]
        if not hand and commit:
            raise ValueError(f"seat {seat} has no cards left and cannot play {commit}")
        if hand and not commit:
            raise ValueError(f"seat {seat} holds cards and must play one or two")
        if len(commit) > 2:
            raise ValueError(f"seat {seat} plays more than two cards: {commit}")
        if any(commit.count(card) > hand.count(card) for card in commit):
            raise ValueError(f"seat {seat} does not hold {' and '.join(map(str, commit))}")


class SimplifiedRound(_Table):
    """One round of the simplified game: seats take turns and play one open card at a time.

    Parameters and attributes are those of `PlusRound`, but all hands hold equally many cards
    and `placements` has the last card only, or nothing if it was a 0. There are also:

    Parameters
    ----------
    starter : int
        Seat that plays first; the others follow in ascending seat order.

    Attributes
    ----------
    seat : int or None
        Seat that plays next; None once the round is over.
    """

    def __init__(self, hands: list[list[int]], rows: list[list[int]], starter: int) -> None:
        super().__init__(hands, rows)
        if any(len(hand) != len(hands[0]) for hand in hands):
            raise ValueError("all hands must hold equally many cards")
        if starter not in range(len(hands)):
            raise ValueError(f"no such seat: {starter}")
        self.seat: int | None = starter

    def play(self, card: int) -> None:
        """Play a card of the seat whose turn it is; a 0 just goes to its pile."""
        seat = self.seat
        if seat is None:
            raise ValueError("the round is over")
        if card not in self.hands[seat]:
            raise ValueError(f"seat {seat} does not hold {card}")
        self.hands[seat].remove(card)
        self.placements = []
        if card == 0:
            self.piles[seat].append(0)
        else:
            self._place(seat, card)
        self.seat = None if self.over else (seat + 1) % len(self.hands)


def _check_position(hands: list[list[int]], rows: list[list[int]]) -> None:
    _check_num_players(len(hands))
    if all(not hand for hand in hands):
        raise ValueError("at least one seat must hold cards")
    if len(rows) != NUM_ROWS:
        raise ValueError(f"need four rows, got {len(rows)}")
    for row in rows:
        if not 1 <= len(row) <= ROW_CAPACITY:
            raise ValueError(f"a row holds one to five cards: {row}")
        if 0 in row:
            raise ValueError(f"a 0 is never in a row: {row}")
    cards = [card for group in hands + rows for card in group]
    if any(not 0 <= card <= HIGHEST_CARD for card in cards):
        raise ValueError("cards are numbered 0 to 104")
    if cards.count(0) > NUM_ZEROS:
        raise ValueError("there are only seven 0s")
    if any(cards.count(card) > 1 for card in cards if card != 0):
        raise ValueError("a numbered card occurs twice")


def _check_num_players(num_players: int) -> None:
    if not 2 <= num_players <= 7:
        raise ValueError(f"2 to 7 players, not {num_players}")


def _deal(num_players: int, rng: random.Random, hand_size: int, zeros_each: int) -> Deal:
    """Start the rows, give everybody `zeros_each` 0s, shuffle in the others and fill the hands."""
    _check_num_players(num_players)
    deck = list(range(1, HIGHEST_CARD + 1))
    rng.shuffle(deck)
    rows = [[deck.pop()] for _ in range(NUM_ROWS)]
    hands = [[0] * zeros_each for _ in range(num_players)]
    deck += [0] * (NUM_ZEROS - zeros_each * num_players)
    rng.shuffle(deck)
    for hand in hands:
        while len(hand) < hand_size:
            hand.append(deck.pop())
        hand.sort()
    return hands, rows


def deal_plus(num_players: int, rng: random.Random, equal: bool = False) -> Deal:
    """Deal 15 cards to each seat and start the rows; returns (hands, rows).

    With `equal` everybody first gets two 0s (2 or 3 players) or one (4 to 7 players).
    """
    zeros_each = 2 if num_players <= 3 else 1
    return _deal(num_players, rng, PLUS_HAND_SIZE, zeros_each if equal else 0)


def deal_simplified(num_players: int, rng: random.Random) -> Deal:
    """Deal 12 cards to each seat and start the rows; returns (hands, rows)."""
    return _deal(num_players, rng, SIMPLIFIED_HAND_SIZE, 0)


def next_starter(totals: list[int]) -> int:
    """Return who starts the next simplified round: the most heads so far, else the lowest seat."""
    return totals.index(max(totals))


def winners(totals: list[int], collect: bool) -> list[int]:
    """Return the winning seats: the most heads if they are collected (Plus), else the fewest."""
    best = max(totals) if collect else min(totals)
    return [seat for seat, total in enumerate(totals) if total == best]


def random_commit(hand: list[int], rng: random.Random) -> list[int]:
    """Return random cards to play: a first one, then a second one or none; 0s count once."""
    if not hand:
        return []
    first = rng.choice(sorted(set(hand)))
    remaining = list(hand)
    remaining.remove(first)
    second = rng.choice([None, *sorted(set(remaining))])
    return [first] if second is None else [first, second]


def random_plus(num_players: int, rng: random.Random, equal: bool = False) -> PlusRound:
    """Deal a round and play it out with `random_commit`; returns the finished round."""
    game = PlusRound(*deal_plus(num_players, rng, equal))
    while not game.over:
        game.play([random_commit(hand, rng) for hand in game.hands])
    return game


def random_simplified(num_players: int, rng: random.Random) -> SimplifiedRound:
    """Deal a round, play it out from a random starter with uniformly random distinct cards."""
    hands, rows = deal_simplified(num_players, rng)
    game = SimplifiedRound(hands, rows, rng.randrange(num_players))
    while game.seat is not None:
        game.play(rng.choice(sorted(set(game.hands[game.seat]))))
    return game
