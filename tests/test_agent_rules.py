"""Every heuristic player against a plain statement of its rule, one decision at a time."""

from __future__ import annotations

from collections import Counter
from itertools import islice, product
from math import inf

import numpy as np
import pytest

from agents.cautious import Cautious, expected_heads
from agents.coldest_row import ColdestRow
from agents.considerate_row import ConsiderateRow
from agents.heuristics import Others
from sixnimmt_env.cards import PASS, TAKE_ROW
from sixnimmt_env.encoding import encode, field_table
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import Observation, observe
from sixnimmt_env.policy import cheapest_row
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, OVER, PLAY, SECOND, TAKE
from sixnimmt_env.variants import VARIANTS, make_rules
from tests.plain_rules import (
    cautious_costs,
    chance,
    coldest,
    considerate,
    decisions,
    drafted,
    expected,
    mean_between,
    plain,
    second_costs,
)
from tests.rounds import name_of, random_actions, row_choices

RNG = np.random.default_rng(0)
COLLECTING = Rules(num_players=3, collect=True, name="collecting")
GAMES = [
    make_rules(variant, players, row_choice=row_choice)
    for variant in VARIANTS
    for players in sorted({2, 4, make_rules(variant, 2).max_players})
    for row_choice in row_choices(variant)
] + [COLLECTING]


def is_least(costs: dict[int, float], action: int) -> bool:
    """Whether an action costs least, to the precision of sums of floats."""
    return costs.get(action, inf) <= min(costs.values()) + 1e-9


@pytest.mark.parametrize("rules", GAMES, ids=name_of)
def test_cautious_and_coldest_row(rules: Rules):
    looked_at: Counter[int] = Counter()
    for seen, plains in decisions(rules):
        cautious, cold = Cautious().act(seen, RNG), ColdestRow().act(seen, RNG)
        cheap = Cautious(cheapest_row).act(seen, RNG), ColdestRow(cheapest_row).act(seen, RNG)
        for i, one in enumerate(plains):
            looked_at[one.phase] += 1
            if one.phase == TAKE:
                assert cautious[i] == cold[i] == considerate(one)
                assert cheap[0][i] == cheap[1][i] == TAKE_ROW + one.low_row
                continue
            assert cheap[0][i] == cautious[i] and cheap[1][i] == cold[i]
            if one.phase == DRAFT:
                assert cautious[i] == cold[i] == drafted(one)
            elif one.phase == PLAY:
                assert cold[i] == coldest(one)
                assert is_least(cautious_costs(one), int(cautious[i]))
            else:
                assert cold[i] == PASS
                assert is_least(second_costs(one), int(cautious[i]))
    assert looked_at[PLAY] > 100
    assert bool(looked_at[TAKE]) == (rules.row_choice == "player" and rules.low_card == "take")
    assert bool(looked_at[SECOND]) == (rules.cards_per_turn == 2)
    assert bool(looked_at[DRAFT]) == rules.draft


@pytest.mark.parametrize("variant", ["plus", "original_zeros"])
def test_expected_heads_of_second_cards(variant: str):
    """With four others and a card of ours in between, a row may be taken on the way."""
    for seen, plains in islice(decisions(make_rules(variant, 5)), 3, None, 3):
        also = np.broadcast_to(seen.committed[:, None], seen.hand.shape)
        found = expected_heads(seen, seen.hand, also)
        for i, one in enumerate(plains):
            for k, card in enumerate(one.hand):
                assert found[i, k] == pytest.approx(expected(one, card, one.committed))


@pytest.mark.parametrize(
    "rules", [make_rules(v, p) for v in ("base", "plus", "pro") for p in (2, 6)], ids=name_of
)
def test_chances_between_any_two_cards(rules: Rules):
    rng = np.random.default_rng(0)
    for seen, plains in islice(decisions(rules), 3, None, 8):
        others, shape = Others(seen), (len(seen), 6)
        low, count = rng.integers(0, 60, shape), rng.integers(-1, 5, shape)
        high, below = low + rng.integers(1, 45, shape), rng.integers(0, 40, (len(seen), 1))
        free, bound = others.chance(low, high, count), others.chance(low, high, count, below)
        mean = others.mean_heads(low, high)
        for i, k in product(range(len(seen)), range(6)):
            one, bounds = plains[i], (int(low[i, k]), int(high[i, k]))
            assert free[i, k] == pytest.approx(chance(one, *bounds, count[i, k]))
            least = int(below[i, 0])
            assert bound[i, k] == pytest.approx(chance(one, *bounds, count[i, k], least))
            assert mean[i, k] == pytest.approx(mean_between(one, *bounds))


class LastAction:
    """Stands for any player: the highest action that is legal."""

    def act(self, observation: Observation, rng: np.random.Generator) -> np.ndarray:
        mask = observation.action_mask
        return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


@pytest.mark.parametrize("rules", [r for r in GAMES if r.num_players in (2, 3, 10)], ids=name_of)
def test_considerate_row_plays_as_the_other_but_for_rows(rules: Rules):
    for seen, plains in decisions(rules, seed=1):
        found, other = ConsiderateRow(LastAction()).act(seen, RNG), LastAction().act(seen, RNG)
        wanted = [
            considerate(s) if s.phase == TAKE else a for s, a in zip(plains, other, strict=True)
        ]
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("rules", [make_rules("base", 4), COLLECTING], ids=name_of)
def test_rows_that_are_equally_good(rules: Rules):
    """Rows of the same balance, in all that can be told apart: heads, then cards, then number."""
    engine, rng = Engine(rules), np.random.default_rng(5)
    state, ties, met = engine.reset(5, 300), 0, 0
    for _ in range(25):
        seats, games = np.nonzero(state.acting() & (state.phase == TAKE))
        if seats.size:
            seen = observe(rules, state, seats, games)
            found = Cautious().act(seen, RNG)
            for i in range(len(seen)):
                one = plain(seen, i)
                assert found[i] == considerate(one)
                ties += len(set(zip(one.heads, one.lens, strict=True))) < 4
                met += 1
        engine.step(state, random_actions(state, rng), state.phase != OVER)
    assert met > 200 and ties > 50


@pytest.mark.parametrize(
    ("end", "most"), [({}, 66 + 171), ({"target": 30}, 30 + 171), ({"rounds": 3}, 3 * 171)]
)
def test_scores_are_encoded_as_shares_of_the_most_that_can_be(end: dict[str, int], most: int):
    """The heads of the whole deck in each round, or in the round after the target was missed."""
    rules = make_rules("base", 3, episode="match", **end)
    state = Engine(rules).reset(0, 2)
    state.score[:, 1] = (20, 1, 12)
    field = next(field for field in field_table(rules) if field.name == "score")
    found = encode(observe(rules, state, 1))[:, field.start : field.stop]
    np.testing.assert_allclose(found, [[0, 0, 0], np.divide([1, 12, 20], most)], rtol=1e-6)
