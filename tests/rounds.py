"""Random play and the scalar reference beside the engine, for several tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import TAKE_ROW, ZERO
from sixnimmt_env.engine import Engine
from sixnimmt_env.notation import Record, record_of
from sixnimmt_env.policy import choose_actions, make_policy
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, HAND, OVER, PILE, PLAY, POOL, SECOND, TABLE, TAKE, State
from sixnimmt_env.variants import VARIANTS, make_rules
from tests.reference import ReferenceDraft, ReferenceRound, bull_heads
from tests.reference_plus import PlusRound, SimplifiedRound

PLAYERS = {
    "base": range(2, 11),
    "tactics": range(2, 7),
    "pro": range(2, 7),
    "plus": range(2, 8),
    "plus_equal": range(2, 8),
    "original_zeros": range(2, 8),
    "simplified": range(2, 8),
}
PLUS_FAMILY = ("plus", "plus_equal", "original_zeros", "simplified")
ROW_CHOICES = ("player", "fewest_heads")

assert set(PLAYERS) == set(VARIANTS)


def row_choices(variant: str) -> tuple[str, ...]:
    """What can be said about the choice of row in a variant."""
    return ROW_CHOICES[:1] if variant in PLUS_FAMILY else ROW_CHOICES


def all_rules() -> list[Rules]:
    """Rules of every variant, number of players and choice of row."""
    return [
        make_rules(variant, players, row_choice=row_choice)
        for variant, numbers in PLAYERS.items()
        for players in numbers
        for row_choice in row_choices(variant)
    ]


def name_of(rules: Rules) -> str:
    return f"{rules.name}-{rules.num_players}-{rules.row_choice}"


def random_actions(state: State, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Random legal actions (P, B), taken from the State's arrays and not from the engine."""
    players, games = state.num_players, state.num_games
    held = (state.hand > 0).sum(axis=1)
    # Equal 0 cards at the end of a hand are one action.
    held -= np.maximum((state.hand == ZERO).sum(axis=1) - 1, 0)
    second = state.phase == SECOND
    slot = (rng.random((players, games)) * (held + second)).astype(np.intp)
    passes = slot == held
    slot = np.minimum(slot, np.maximum(held - 1, 0))
    card = np.take_along_axis(state.hand, slot[:, None], axis=1)[:, 0]
    actions = np.where((state.phase == PLAY) | second & ~passes, card, 0).astype(np.uint8)
    if state.one_by_one:
        actions *= np.arange(players)[:, None] == state.actor
    lane = np.flatnonzero(state.phase == TAKE)
    rows = rng.integers(0, 4, lane.size)
    actions[state.actor[lane], lane] = TAKE_ROW + rows
    lane = np.flatnonzero(state.phase == DRAFT)
    if lane.size:
        noise = rng.random((state.location.shape[0], lane.size), np.float32) + 1
        picks = (noise * (state.location[:, lane] == POOL)).argmax(axis=0)
        actions[state.actor[lane], lane] = picks
    return actions


def random_record(rules: Rules, seed: int, steps: int = 1000) -> tuple[Record, State]:
    """Record and State of a game by random players, at most that many steps long."""
    engine, rng = Engine(rules), np.random.default_rng(seed)
    state = engine.reset(seed)
    players = [make_policy("random")] * rules.num_players
    for _ in range(steps):
        if state.phase[0] == OVER:
            break
        engine.step(state, choose_actions(players, rules, state, rng))
    return record_of(state, rules), state


class ReferenceGame:
    """One game of a State, played along by the scalar reference and compared with it."""

    def __init__(self, rules: Rules, state: State, game: int) -> None:
        self.rules = rules
        self.game = game
        self.draft: ReferenceDraft | None = None
        self.round: Any = None
        self.committed: list[int] | None = None
        if state.phase[game] == DRAFT:
            self.draft = ReferenceDraft(rules.num_players, int(state.first_seat[game]))
        else:
            hands = [[c for c in hand if c] for hand in state.hand[..., game].tolist()]
            rows = [[c for c in row if c] for row in state.rows[..., game].tolist()]
            if rules.name in PLUS_FAMILY:
                hands = [[_printed(c) for c in hand] for hand in hands]
                if rules.name == "simplified":
                    self.round = SimplifiedRound(hands, rows, int(state.first_seat[game]))
                else:
                    self.round = PlusRound(hands, rows)
            else:
                self.round = ReferenceRound(hands, rows, rules.row_choice)

    @property
    def over(self) -> bool:
        return self.round is not None and bool(self.round.over)

    def step(self, actions: list[int]) -> None:
        """Do what the actions of all seats say."""
        if self.round is None:
            assert self.draft is not None and self.draft.seat is not None
            self.draft.pick(actions[self.draft.seat])
            if self.draft.done:
                self.round = self.draft.start(self.rules.row_choice)
        elif isinstance(self.round, SimplifiedRound):
            assert self.round.seat is not None
            self.round.play(_printed(actions[self.round.seat]))
        elif isinstance(self.round, PlusRound):
            self._step_plus(self.round, actions)
        elif self.round.pending is not None:
            self.round.take(actions[self.round.pending] - TAKE_ROW)
        else:
            self.round.play(actions)

    def _step_plus(self, game: PlusRound, actions: list[int]) -> None:
        if self.committed is None:
            self.committed = actions
            if any(len(hand) > 1 for hand in game.hands):
                return
            actions = [0] * len(actions)
        pairs = zip(self.committed, actions, strict=True)
        self.committed = None
        game.play([[_printed(card) for card in pair if card] for pair in pairs])

    def facts(self) -> dict[str, Any]:
        """What the game should look like: the same keys and values as `facts_of`."""
        if self.round is None:
            return self._draft_facts()
        if isinstance(self.round, ReferenceRound):
            return self._round_facts(self.round)
        return self._plus_facts(self.round)

    def _draft_facts(self) -> dict[str, Any]:
        assert self.draft is not None
        players = self.rules.num_players
        return {
            "phase": DRAFT,
            "actor": self.draft.seat,
            "rows": [[0] * 5] * 4,
            "row_end": [0] * 4,
            "row_heads": [0] * 4,
            "hands": [_padded(hand, 10) for hand in self.draft.hands],
            "totals": [0] * players,
            "location": _locations((self.draft.pool, POOL), *_owned(self.draft.hands, HAND)),
            "placed": [],
        }

    def _round_facts(self, game: ReferenceRound) -> dict[str, Any]:
        waiting = [card for _, card in game.unplaced]
        return {
            "phase": OVER if game.over else PLAY if game.pending is None else TAKE,
            "actor": game.pending,
            "rows": [_padded(row, 5) for row in game.rows],
            "row_end": [row[-1] for row in game.rows],
            "row_heads": [sum(map(bull_heads, row)) for row in game.rows],
            "hands": [_padded(hand, 10) for hand in game.hands],
            "totals": game.heads,
            "location": _locations(
                ([*waiting, *(card for row in game.rows for card in row)], TABLE),
                *_owned(game.hands, HAND),
                *_owned(game.piles, PILE),
            ),
            "placed": [(seat, card, row + 1, heads) for seat, card, row, heads in game.placements],
        }

    def _plus_facts(self, game: PlusRound | SimplifiedRound) -> dict[str, Any]:
        size = self.rules.hand_size
        one_by_one = isinstance(game, SimplifiedRound)
        committed = self.committed or [0] * len(game.hands)
        hands = [_without(hand, card) for hand, card in zip(game.hands, committed, strict=True)]
        phase = OVER if game.over else PLAY if self.committed is None else SECOND
        return {
            "phase": phase,
            "actor": game.seat if one_by_one else None,
            "rows": [_padded(row, 5) for row in game.rows],
            "row_end": [row[-1] for row in game.rows],
            "row_heads": [sum(map(bull_heads, row)) for row in game.rows],
            "hands": [_padded(hand, size) for hand in hands],
            "totals": game.heads,
            "location": _locations(
                ([card for row in game.rows for card in row], TABLE),
                *_owned(game.hands, HAND),
                *_owned(game.piles, PILE),
            ),
            "placed": []
            if phase == SECOND
            else [(seat, card, row + 1, heads) for seat, card, row, heads in game.placements],
            "committed": committed,
            "zeros_played": [pile.count(0) for pile in game.piles],
        }

    def check(self, state: State) -> None:
        """Assert that the State says the same as the reference."""
        assert facts_of(state, self.game) == self.facts(), f"game {self.game}"


def facts_of(state: State, game: int) -> dict[str, Any]:
    """One game of a State in plain lists."""
    phase = int(state.phase[game])
    turn_known = state.played[..., game].any() and phase != SECOND
    placements = zip(
        state.queue[:, game].tolist(),
        state.placed_row[:, game].tolist(),
        state.placed_heads[:, game].tolist(),
        strict=True,
    )
    alone = phase in (DRAFT, TAKE) or (state.one_by_one and phase == PLAY)
    plus = {}
    if state.zeros_played.size:
        committed = state.committed[:, game].tolist() or [0] * state.num_players
        plus = {"committed": committed, "zeros_played": state.zeros_played[:, game].tolist()}
    return {
        "phase": phase,
        "actor": int(state.actor[game]) if alone else None,
        "rows": state.rows[..., game].tolist(),
        "row_end": state.row_end[:, game].tolist(),
        "row_heads": state.row_heads[:, game].tolist(),
        "hands": state.hand[..., game].tolist(),
        "totals": state.totals()[:, game].tolist(),
        "location": state.location[:, game].tolist(),
        "placed": [
            (entry & 15, entry >> 8 & 127, row, heads)
            for entry, row, heads in placements
            if turn_known and row
        ],
        **plus,
    }


def _printed(card: int) -> int:
    """What is printed on a card: the reference writes a 0 card as 0."""
    return 0 if card == ZERO else card


def _without(hand: list[int], committed: int) -> list[int]:
    """Cards of the reference's hand as the engine has them, the committed one taken out."""
    cards = sorted(card or ZERO for card in hand)
    if committed:
        cards.remove(committed)
    return cards


def _padded(cards: list[int], size: int) -> list[int]:
    return [*cards, *[0] * (size - len(cards))]


def _owned(groups: list[list[int]], code: int) -> list[tuple[list[int], int]]:
    return [(cards, code + seat) for seat, cards in enumerate(groups)]


def _locations(*groups: tuple[list[int], int]) -> list[int]:
    where = [0] * 105
    for cards, code in groups:
        for card in cards:
            where[card] = code
    where[0] = 0
    return where
