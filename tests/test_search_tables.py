"""Tables of search and of its model: as large as the largest games, and by their formulas."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

pytest.importorskip("numba", reason="plain Python rollouts are too slow to test")

from agents import model
from agents.belief import Belief
from agents.cautious import Cautious
from agents.monte_carlo import MonteCarlo
from agents.rollouts import HEADS
from sixnimmt_env.cards import ZERO
from sixnimmt_env.policy import play
from sixnimmt_env.rules import Rules
from tests.rounds import all_rules, name_of

FEW = [r for r in all_rules() if r.num_players in (2, 4, 7, 10)]
BIG = [
    Rules(num_players=16, max_players=16, hand_size=6, row_choice="fewest_heads"),
    Rules(num_players=16, max_players=16, hand_size=6, low_card="append", cards_per_turn=2),
    Rules(num_players=2, hand_size=1, low_card="append", zeros=20, cards_per_turn=2),
    Rules(num_players=15, max_players=16, hand_size=6, low_card="append", one_by_one=True),
]


@pytest.mark.parametrize("rules", BIG, ids=lambda rules: f"{rules.num_players}-{rules.zeros}")
def test_tables_hold_the_largest_games(rules: Rules):
    """Sixteen seats, and all cards but one hidden with twenty 0 cards among them."""
    kinds = [MonteCarlo(2), Cautious()]
    if rules.low_card == "take" or rules.cards_per_turn == 2 or rules.one_by_one:
        kinds += [MonteCarlo(2, "model"), Belief(2)]
    for player in kinds:
        play([player] * rules.num_players, rules, games=1, seed=1)


def test_games_without_a_model_are_named():
    rules = Rules(num_players=3, collect=True, name="collecting")
    play([MonteCarlo(2), "random", "random"], rules, games=1)
    with pytest.raises(ValueError, match="no model of good players for collecting"):
        play([Belief(2), "random", "random"], rules, games=1)


@pytest.mark.parametrize("rules", FEW, ids=name_of)
def test_tables_of_the_model(rules: Rules):
    fitted = json.loads(model.PATH.read_text(encoding="utf-8"))["models"][model.kind_of(rules)]
    distance = {int(players): abs(int(players) - rules.num_players) for players in fitted}
    nearest = min(distance, key=lambda players: distance[players])
    w = fitted[str(nearest)]
    weights, base, chance = model.tables(rules)
    np.testing.assert_allclose(weights, [*w[:6], w[6] / 104, *w[7:]])
    for card in range(1, 105):
        height = card / 104
        worth = w[0] * height + w[1] * height**2 + w[10] * HEADS[card]
        assert base[card] == pytest.approx(worth)
    assert base[ZERO] == w[11]
    for n, r, gap in ((0, 1, 50), (3, 2, 10), (9, 4, 90), (15, 3, 4)):
        p = gap / 104
        few = sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(r))
        assert chance[n, r, gap] == pytest.approx(1 - few)
        assert chance[n, 0, gap] == pytest.approx((1 - p) ** n)
