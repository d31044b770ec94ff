"""What a seat knows and how it is encoded, in plain lists and one game at a time.

An independent statement of `sixnimmt_env.observe` and `sixnimmt_env.encoding`: facts come from the
history in the State (who played which card when) where there is one, not from the arrays that the
package keeps for speed. Nothing of the package but numbers of phases and cards is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sixnimmt_env.cards import TAKE_ROW, ZERO
from sixnimmt_env.engine import Engine
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, OVER, PILE, PLAY, POOL, SECOND, TAKE, State
from sixnimmt_env.variants import make_rules
from tests.reference import bull_heads
from tests.rounds import PLAYERS, random_actions, row_choices

# Facts that are one number; the others are lists.
NUMBERS = ("phase", "turn", "round", "committed", "unseen_zeros", "decides")


def cases() -> list[Rules]:
    """Rules of every variant with few, several and most players, one round and both matches."""
    ends: tuple[dict[str, Any], ...] = (
        {},
        {"episode": "match", "target": 30},
        {"episode": "match", "rounds": 2},
    )
    made = [
        make_rules(variant, players, row_choice=row_choice, **end)
        for variant, numbers in PLAYERS.items()
        for players, end in zip((numbers[0], numbers[2], numbers[-1]), ends, strict=True)
        for row_choice in row_choices(variant)
    ]
    # Decks and hands of other sizes, for which nothing can be right by chance.
    made += [
        Rules(num_players=3, num_cards=30, hand_size=4, episode="match", target=9),
        Rules(num_players=4, num_cards=24, hand_size=5, row_choice="fewest_heads"),
        Rules(num_players=3, num_cards=22, hand_size=6, draft=True, episode="match", rounds=3),
        Rules(num_players=3, num_cards=33, hand_size=8, low_card="append", zeros=3,
              cards_per_turn=2, episode="match", target=20),
        Rules(num_players=4, num_cards=29, hand_size=6, low_card="append", zeros=2,
              one_by_one=True, episode="match", rounds=2),
        Rules(num_players=3, num_cards=40, hand_size=7, low_card="append", cards_per_turn=2),
        Rules(num_players=2, num_cards=20, hand_size=8, low_card="append", one_by_one=True),
    ]  # fmt: skip
    return made


def case_name(rules: Rules) -> str:
    end = f"target{rules.target}" if rules.target else f"rounds{rules.rounds or 1}"
    return f"{rules.name}-{rules.num_players}x{rules.hand_size}-{rules.row_choice}-{end}"


def moments(rules: Rules, games: int, seed: int, share: float = 1.0) -> Iterator[State]:
    """States of random games from the deal to the end, or a random share of them."""
    engine, rng = Engine(rules), np.random.default_rng(seed)
    state = engine.reset(seed, games)
    while True:
        if rng.random() < share:
            yield state.copy()
        active = state.phase != OVER
        if not active.any():
            return
        engine.step(state, random_actions(state, rng), active)


def facts(rules: Rules, state: State, seat: int, game: int) -> dict[str, Any]:
    """All that a seat may know, by the names of the Observation's fields."""
    players = state.num_players
    order = [(seat + k) % players for k in range(players)]
    phase, turn = int(state.phase[game]), int(state.turn[game])
    hands = [[c for c in hand if c] for hand in state.hand[..., game].tolist()]
    played = state.played[..., game].tolist()
    rows = [[c for c in row if c] for row in state.rows[..., game].tolist()]
    starters = state.starters[:, game].tolist()
    first = state.committed[:, game].tolist() or [0] * players
    where = state.location[:, game].tolist()
    pool = [int(place == POOL) for place in where]
    lying = {card for row in rows for card in row}
    gone = {card for card, place in enumerate(where) if place >= PILE}

    seen = {*starters, *hands[seat], first[seat], *(c for cards in played for c in cards)}
    unseen = [int(0 < c <= rules.num_cards and c not in seen) for c in range(105)]
    zeros = [cards.count(ZERO) for cards in played]
    known_zeros = hands[seat].count(ZERO) + int(first[seat] == ZERO) + sum(zeros)
    waiting = [0] * players
    if phase == TAKE:
        waiting = [cards[turn] if cards[turn] not in lying | gone else 0 for cards in played]
    piles = [[c for c in range(1, 105) if where[c] == PILE + s] for s in range(players)]
    legal = _legal(rules, phase, seat, int(state.actor[game]), hands, pool)
    return {
        "phase": phase,
        "turn": turn,
        "round": int(state.round[game]),
        "hand": _filled(hands[seat], rules.hand_size),
        "committed": first[seat],
        "rows": [_filled(row, 5) for row in rows] if rows[0] else [[0] * 5] * 4,
        "row_end": [row[-1] if row else 0 for row in rows],
        "row_len": [len(row) for row in rows],
        "row_heads": [sum(map(bull_heads, row)) for row in rows],
        "unseen": [0] * 105 if rules.draft else unseen,
        "unseen_zeros": rules.zeros - known_zeros,
        "zeros_played": [zeros[s] for s in order],
        "played": [played[s] for s in order],
        "row_taken": state.row_taken[:, game].tolist(),
        "starters": starters,
        "waiting": [waiting[s] for s in order],
        "pile_heads": [sum(map(bull_heads, piles[s])) for s in order],
        "cards_left": [len(hands[s]) for s in order],
        "score": [int(state.score[s, game]) for s in order],
        "pool": pool,
        "hands": [_filled(hands[s] if rules.draft else [], rules.hand_size) for s in order],
        "action_mask": [int(a in (legal or [0])) for a in range(110 if rules.zeros else 109)],
        "decides": bool(legal),
    }


def _legal(
    rules: Rules, phase: int, seat: int, actor: int, hands: list[list[int]], pool: list[int]
) -> list[int]:
    """Legal actions of a seat that decides; none of one that does not."""
    if phase == DRAFT:
        return [card for card, open_ in enumerate(pool) if open_] if actor == seat else []
    if phase == TAKE:
        return [TAKE_ROW + row for row in range(4)] if actor == seat else []
    if phase == SECOND:
        return [0, *hands[seat]] if hands[seat] else []
    if phase == PLAY and (actor == seat or not rules.one_by_one):
        return hands[seat]
    return []


def _filled(cards: list[int], size: int) -> list[int]:
    return [*cards, *[0] * (size - len(cards))]


def fields(rules: Rules, known: dict[str, Any]) -> list[tuple[str, list[float]]]:
    """Names and numbers of the encoded vector, in order."""
    players, size = rules.num_players, rules.hand_size
    hand = [card for card in known["hand"] if card]
    made = [
        ("hand", [float(card in hand) for card in range(1, 105)]),
        ("unseen", known["unseen"][1:]),
        ("rows", [card / 104 for row in known["rows"] for card in row]),
        ("row_end", [card / 104 for card in known["row_end"]]),
        ("row_len", [number / 5 for number in known["row_len"]]),
        ("row_heads", [heads / 27 for heads in known["row_heads"]]),
        ("waiting", [card / 104 for card in known["waiting"]]),
        ("pile_heads", [heads / 171 for heads in known["pile_heads"]]),
        ("cards_left", [number / size for number in known["cards_left"]]),
        ("turn", [known["turn"] / (players * size if rules.draft else size)]),
        ("phase", [float(known["phase"] == phase) for phase in (DRAFT, PLAY, TAKE)]),
        ("decides", [float(known["decides"])]),
    ]
    if rules.episode == "match":
        most = 171 * rules.rounds if rules.rounds else rules.target + 171
        made.append(("score", [heads / most for heads in known["score"]]))
    if rules.draft:
        made.append(("pool", known["pool"][1:]))
        others = known["hands"][1:]
        made.append(("hands", [float(c in cards) for cards in others for c in range(1, 105)]))
    if rules.zeros:
        made.append(("zeros", [hand.count(ZERO) / rules.zeros]))
        made.append(("unseen_zeros", [known["unseen_zeros"] / rules.zeros]))
    if rules.cards_per_turn == 2:
        first = known["committed"]
        number = 0 if first == ZERO else first / 104
        made.append(("committed", [number, float(first == ZERO), float(known["phase"] == SECOND)]))
    return made
