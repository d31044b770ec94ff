"""Random play and the scalar reference beside the engine, for several tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import TAKE_ROW
from sixnimmt_env.engine import Engine
from sixnimmt_env.notation import Record, record_of
from sixnimmt_env.policy import choose_actions, make_policy
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, HAND, OVER, PILE, PLAY, POOL, TABLE, TAKE, State
from sixnimmt_env.variants import VARIANTS, make_rules
from tests.reference import ReferenceDraft, ReferenceRound, bull_heads

PLAYERS = {"base": range(2, 11), "tactics": range(2, 7), "pro": range(2, 7)}
ROW_CHOICES = ("player", "fewest_heads")

assert set(PLAYERS) == set(VARIANTS)


def all_rules() -> list[Rules]:
    """Rules of every variant, number of players and choice of row."""
    return [
        make_rules(variant, players, row_choice=row_choice)
        for variant, numbers in PLAYERS.items()
        for players in numbers
        for row_choice in ROW_CHOICES
    ]


def name_of(rules: Rules) -> str:
    return f"{rules.name}-{rules.num_players}-{rules.row_choice}"


def random_actions(state: State, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Random legal actions (P, B), taken from the State's arrays and not from the engine."""
    players, games = state.num_players, state.num_games
    held = (state.hand > 0).sum(axis=1)
    slot = (rng.random((players, games)) * held).astype(np.intp)
    slot = np.minimum(slot, np.maximum(held - 1, 0))
    card = np.take_along_axis(state.hand, slot[:, None], axis=1)[:, 0]
    actions = np.where(state.phase == PLAY, card, 0).astype(np.uint8)
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
        self.round: ReferenceRound | None = None
        if state.phase[game] == DRAFT:
            self.draft = ReferenceDraft(rules.num_players, int(state.first_seat[game]))
        else:
            hands = [[c for c in hand if c] for hand in state.hand[..., game].tolist()]
            rows = [[c for c in row if c] for row in state.rows[..., game].tolist()]
            self.round = ReferenceRound(hands, rows, rules.row_choice)

    @property
    def over(self) -> bool:
        return self.round is not None and self.round.over

    def step(self, actions: list[int]) -> None:
        """Do what the actions of all seats say."""
        if self.round is None:
            assert self.draft is not None and self.draft.seat is not None
            self.draft.pick(actions[self.draft.seat])
            if self.draft.done:
                self.round = self.draft.start(self.rules.row_choice)
        elif self.round.pending is not None:
            self.round.take(actions[self.round.pending] - TAKE_ROW)
        else:
            self.round.play(actions)

    def facts(self) -> dict[str, Any]:
        """What the game should look like: the same keys and values as `facts_of`."""
        return self._draft_facts() if self.round is None else self._round_facts(self.round)

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

    def check(self, state: State) -> None:
        """Assert that the State says the same as the reference."""
        assert facts_of(state, self.game) == self.facts(), f"game {self.game}"


def facts_of(state: State, game: int) -> dict[str, Any]:
    """One game of a State in plain lists."""
    phase = int(state.phase[game])
    turn_known = state.played[0, :, game].any()
    placements = zip(
        state.queue[:, game].tolist(),
        state.placed_row[:, game].tolist(),
        state.placed_heads[:, game].tolist(),
        strict=True,
    )
    return {
        "phase": phase,
        "actor": int(state.actor[game]) if phase in (DRAFT, TAKE) else None,
        "rows": state.rows[..., game].tolist(),
        "row_end": state.row_end[:, game].tolist(),
        "row_heads": state.row_heads[:, game].tolist(),
        "hands": state.hand[..., game].tolist(),
        "totals": state.totals()[:, game].tolist(),
        "location": state.location[:, game].tolist(),
        "placed": [
            (entry & 15, entry >> 8, row, heads)
            for entry, row, heads in placements
            if turn_known and row
        ],
    }


def _padded(cards: list[int], size: int) -> list[int]:
    return [*cards, *[0] * (size - len(cards))]


def _owned(groups: list[list[int]], code: int) -> list[tuple[list[int], int]]:
    return [(cards, code + seat) for seat, cards in enumerate(groups)]


def _locations(*groups: tuple[list[int], int]) -> list[int]:
    where = [0] * 105
    for cards, code in groups:
        for card in cards:
            where[card] = code
    return where
