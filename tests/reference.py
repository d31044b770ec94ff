"""A slow, plain scalar reference for the base game and its known-deck variants.

It exists to be obviously right: lists and ints, one card at a time, as a person would deal
and place them. It shares no code with the engine, so that the two can be compared, and it
serves as the "plain Python player" that benchmarks measure against.
"""

from __future__ import annotations

import random

NUM_ROWS = 4
ROW_CAPACITY = 5
HAND_SIZE = 10
DECK_SIZE = 104
ROW_CHOICES = ("player", "fewest_heads")


def bull_heads(card: int) -> int:
    """Return the bull heads printed on a card (1 to 104): 1, 2, 3, 5 or 7."""
    if not 1 <= card <= DECK_SIZE:
        raise ValueError(f"no such card: {card}")
    if card == 55:
        return 7
    if card % 11 == 0:
        return 5
    if card % 10 == 0:
        return 3
    if card % 5 == 0:
        return 2
    return 1


def total_heads(cards: list[int]) -> int:
    """Return the bull heads of several cards together."""
    return sum(bull_heads(card) for card in cards)


class ReferenceRound:
    """One round: everybody's hand, the four rows and the cards taken.

    Parameters
    ----------
    hands : list of list of int
        Cards of each seat, equally many for all; 2 to 10 seats.
    rows : list of list of int
        The four rows, oldest card first, one to five cards each.
    row_choice : {"player", "fewest_heads"}
        What a low card takes: a row its owner chooses with `take`, or the row with the fewest
        heads (ties: fewest cards, then lowest row number) without asking.

    Attributes
    ----------
    hands : list of list of int
        Cards not yet played, ascending.
    rows : list of list of int
        The four rows, oldest card first.
    piles : list of list of int
        Cards each seat has taken, in the order taken.
    pending : int or None
        Seat that must choose a row before the turn goes on.
    unplaced : list of tuple of (int, int)
        (seat, card) revealed but not placed yet, in placing order; empty unless a seat is
        pending, whose own card is then the first.
    placements : list of tuple of (int, int, int, int)
        (seat, card, row index 0 to 3, heads taken) of the current or last turn, in placing
        order.
    """

    def __init__(
        self, hands: list[list[int]], rows: list[list[int]], row_choice: str = "player"
    ) -> None:
        if row_choice not in ROW_CHOICES:
            raise ValueError(f"row_choice must be one of {ROW_CHOICES}, not {row_choice!r}")
        _check_position(hands, rows)
        self.row_choice = row_choice
        self.hands = [sorted(hand) for hand in hands]
        self.rows = [list(row) for row in rows]
        self.piles: list[list[int]] = [[] for _ in hands]
        self.pending: int | None = None
        self.unplaced: list[tuple[int, int]] = []
        self.placements: list[tuple[int, int, int, int]] = []

    @property
    def heads(self) -> list[int]:
        """Bull heads each seat has taken so far."""
        return [total_heads(pile) for pile in self.piles]

    @property
    def over(self) -> bool:
        """Whether every hand is empty and nobody has a row left to choose."""
        return self.pending is None and all(not hand for hand in self.hands)

    def play(self, cards: list[int]) -> None:
        """Reveal one card per seat and place them until done or a row must be chosen.

        Parameters
        ----------
        cards : list of int
            The card of each seat.
        """
        if self.pending is not None:
            raise ValueError(f"seat {self.pending} must choose a row first")
        if self.over:
            raise ValueError("the round is over")
        if len(cards) != len(self.hands):
            raise ValueError(f"need {len(self.hands)} cards, got {len(cards)}")
        for seat, card in enumerate(cards):
            if card not in self.hands[seat]:
                raise ValueError(f"seat {seat} does not hold {card}")
        for seat, card in enumerate(cards):
            self.hands[seat].remove(card)
        self.placements = []
        self.unplaced = sorted(enumerate(cards), key=lambda seat_and_card: seat_and_card[1])
        self._place_waiting_cards()

    def take(self, row_index: int) -> None:
        """Let the pending seat take a row, then go on with the turn.

        Parameters
        ----------
        row_index : int
            Row to take, 0 to 3.
        """
        if self.pending is None:
            raise ValueError("nobody has to choose a row")
        if row_index not in range(NUM_ROWS):
            raise ValueError(f"row index must be 0 to 3, not {row_index}")
        seat, card = self.unplaced.pop(0)
        self.pending = None
        self._take_row(seat, card, row_index)
        self._place_waiting_cards()

    def _place_waiting_cards(self) -> None:
        while self.unplaced:
            seat, card = self.unplaced[0]
            row_index = self._fitting_row(card)
            if row_index is None and self.row_choice == "player":
                self.pending = seat
                return
            self.unplaced.pop(0)
            if row_index is None:
                self._take_row(seat, card, self._fewest_heads_row())
            elif len(self.rows[row_index]) == ROW_CAPACITY:
                self._take_row(seat, card, row_index)
            else:
                self.rows[row_index].append(card)
                self.placements.append((seat, card, row_index, 0))

    def _fitting_row(self, card: int) -> int | None:
        best_row = None
        best_difference = DECK_SIZE
        for row_index, row in enumerate(self.rows):
            difference = card - row[-1]
            if 0 < difference < best_difference:
                best_row = row_index
                best_difference = difference
        return best_row

    def _fewest_heads_row(self) -> int:
        def cost(row_index: int) -> tuple[int, int, int]:
            row = self.rows[row_index]
            return total_heads(row), len(row), row_index

        return min(range(NUM_ROWS), key=cost)

    def _take_row(self, seat: int, card: int, row_index: int) -> None:
        taken = self.rows[row_index]
        self.rows[row_index] = [card]
        self.piles[seat].extend(taken)
        self.placements.append((seat, card, row_index, total_heads(taken)))


def _check_position(hands: list[list[int]], rows: list[list[int]]) -> None:
    if not 2 <= len(hands) <= 10:
        raise ValueError(f"2 to 10 players, not {len(hands)}")
    if any(len(hand) != len(hands[0]) for hand in hands):
        raise ValueError("all hands must hold equally many cards")
    if len(rows) != NUM_ROWS:
        raise ValueError(f"need four rows, got {len(rows)}")
    for row in rows:
        if not 1 <= len(row) <= ROW_CAPACITY:
            raise ValueError(f"a row holds one to five cards: {row}")
        if row != sorted(row):
            raise ValueError(f"a row must ascend: {row}")
    cards = [card for group in hands + rows for card in group]
    if any(not 1 <= card <= DECK_SIZE for card in cards):
        raise ValueError("cards are numbered 1 to 104")
    if len(set(cards)) != len(cards):
        raise ValueError("a card occurs twice")


class ReferenceDraft:
    """The open draft that comes before a round of the Pro variant.

    Parameters
    ----------
    num_players : int
        Number of seats, 2 to 6.
    first_seat : int
        Seat that picks first; the picks go round in ascending seat order.

    Attributes
    ----------
    pool : list of int
        Cards nobody has picked yet, ascending.
    hands : list of list of int
        Cards picked so far by each seat, ascending.
    seat : int or None
        Seat whose pick it is; None once the draft is done.
    """

    def __init__(self, num_players: int, first_seat: int) -> None:
        if not 2 <= num_players <= 6:
            raise ValueError(f"2 to 6 players, not {num_players}")
        if first_seat not in range(num_players):
            raise ValueError(f"no such seat: {first_seat}")
        self.pool = list(range(1, HAND_SIZE * num_players + NUM_ROWS + 1))
        self.hands: list[list[int]] = [[] for _ in range(num_players)]
        self.seat: int | None = first_seat

    @property
    def done(self) -> bool:
        """Whether everybody holds ten cards."""
        return len(self.pool) == NUM_ROWS

    def pick(self, card: int) -> None:
        """Give a card of the pool to the seat whose pick it is."""
        if self.seat is None:
            raise ValueError("the draft is done")
        if card not in self.pool:
            raise ValueError(f"{card} is not in the pool")
        self.pool.remove(card)
        self.hands[self.seat].append(card)
        self.hands[self.seat].sort()
        self.seat = None if self.done else (self.seat + 1) % len(self.hands)

    def start(self, row_choice: str = "player") -> ReferenceRound:
        """Begin the round; the four cards left start rows 1 to 4 in ascending order."""
        if not self.done:
            raise ValueError("the draft is not done")
        return ReferenceRound(self.hands, [[card] for card in self.pool], row_choice)


def deal_round(
    num_players: int, rng: random.Random, row_choice: str = "player", num_cards: int = DECK_SIZE
) -> ReferenceRound:
    """Deal ten cards to each seat, then four row starters in dealt order.

    The parameters are those of `random_round`; the round returned awaits its first turn.
    """
    num_dealt = HAND_SIZE * num_players
    if not num_dealt + NUM_ROWS <= num_cards <= DECK_SIZE:
        raise ValueError(f"cannot deal to {num_players} players from {num_cards} cards")
    deck = list(range(1, num_cards + 1))
    rng.shuffle(deck)
    hands = [deck[start : start + HAND_SIZE] for start in range(0, num_dealt, HAND_SIZE)]
    rows = [[card] for card in deck[num_dealt : num_dealt + NUM_ROWS]]
    return ReferenceRound(hands, rows, row_choice)


def random_round(
    num_players: int, rng: random.Random, row_choice: str = "player", num_cards: int = DECK_SIZE
) -> ReferenceRound:
    """Deal a round and play it out with uniformly random legal choices.

    Parameters
    ----------
    num_players : int
        Number of seats.
    rng : random.Random
        Source of the shuffle and of every choice.
    row_choice : {"player", "fewest_heads"}
        See `ReferenceRound`; with "player" a low card takes a uniformly random row.
    num_cards : int
        Cards 1 to `num_cards` are used.

    Returns
    -------
    ReferenceRound
        The finished round.
    """
    game = deal_round(num_players, rng, row_choice, num_cards)
    while not game.over:
        if game.pending is not None:
            game.take(rng.randrange(NUM_ROWS))
        else:
            game.play([rng.choice(hand) for hand in game.hands])
    return game
