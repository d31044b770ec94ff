"""Wins as the objective of search: what shares of wins leave open, heads decide."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba", reason="plain Python rollouts are too slow to test")

from agents.belief import Belief
from agents.monte_carlo import MonteCarlo
from agents.search import add
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import observe
from sixnimmt_env.position import Position
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER
from sixnimmt_env.variants import make_rules
from tests.rounds import random_actions

AVOID, COLLECT = make_rules("base", 2), make_rules("plus", 2)


def chosen(wins, own, others=None, count=100, rules=AVOID, objective="win", legal=None) -> int:
    """Slot of the candidate that is played, given its values."""
    others = np.zeros(len(own)) if others is None else others
    values = np.stack([own, others, wins], axis=1)[None].astype(float)
    legal = np.ones((1, len(own)), bool) if legal is None else np.array([legal])
    return int(MonteCarlo(count, objective=objective)._cost(rules, legal, values).argmin())


@pytest.mark.parametrize("scores", [[60, 0], [0, 60]])
@pytest.mark.parametrize("kind", [MonteCarlo, Belief])
def test_a_lost_or_won_round_is_played_for_heads(kind, scores):
    """51 takes eight heads, and no card wins or loses the match in this round."""
    rules = make_rules("base", 2, episode="match")
    rows = [[41, 42, 43, 45, 50], [80], [90], [95]]
    position = Position(rows, [[51, 81, 96], [1, 2, 3]], scores=scores)
    seen = observe(rules, position.state(rules), 0)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        assert kind(40, objective="win").act(seen, rng)[0] in (81, 96)


@pytest.mark.parametrize("rules", [AVOID, COLLECT], ids=["avoid", "collect"])
@pytest.mark.parametrize("lead", [500, -500])
def test_where_all_shares_are_the_same_heads_decide_alone(rules: Rules, lead: int):
    rules = make_rules(rules.name, 2, episode="match", target=1000)
    engine, rng = Engine(rules), np.random.default_rng(0)
    state = engine.reset(1, 40)
    state.score[0] = max(lead, 0)
    state.score[1] = max(-lead, 0)
    moves = 0
    for _ in range(6):
        seats, games = np.nonzero(state.acting())
        seen = observe(rules, state, seats, games)
        wins, heads = (
            MonteCarlo(20, objective=objective).act(seen, np.random.default_rng(2))
            for objective in ("win", "own")
        )
        np.testing.assert_array_equal(wins, heads)
        moves += len(np.unique(wins))
        engine.step(state, random_actions(state, rng), state.phase != OVER)
    assert moves > 60


@pytest.mark.parametrize("share", [0.0, 1 / 3, 0.5, 1.0])
def test_equal_shares_go_to_the_fewest_heads(share):
    # Sums of thirds in another order are not the same to the last bit.
    wins = np.full(3, share) - [0, 1e-12, 2e-12]
    assert chosen(wins, [3.0, 1.0, 2.0]) == 1
    assert chosen(wins, [3.0, 1.0, 2.0], rules=COLLECT) == 0
    assert chosen(wins, [2.0, 2.0, 2.0], [0.0, 9.0, 9.0]) == 0


def test_shares_that_differ_by_two_standard_errors_decide():
    """Of 100 deals a share of 0.5 has a standard error of 0.05, of 10 000 of 0.005."""
    assert chosen([0.5, 0.41], [3.0, 1.0]) == 1
    assert chosen([0.41, 0.5], [1.0, 3.0]) == 0
    assert chosen([0.5, 0.39], [3.0, 1.0]) == 0
    assert chosen([0.39, 0.5], [1.0, 3.0]) == 1
    assert chosen([0.5, 0.41], [3.0, 1.0], count=10_000) == 0
    assert chosen([0.41, 0.5, 0.42], [0.0, 5.0, 4.0]) == 0
    # All won, or none, is not certain either: 101 of 102, with a standard error of 0.0099.
    assert chosen([1.0, 0.985], [3.0, 1.0]) == 1
    assert chosen([1.0, 0.975], [3.0, 1.0]) == 0
    assert chosen([0.02, 0.0], [3.0, 1.0]) == 1
    assert chosen([0.05, 0.0], [3.0, 1.0]) == 0


def test_illegal_candidates_are_never_chosen():
    legal = [True, True, False]
    for objective in ("own", "relative", "win"):
        at = chosen([0.0, 0.0, 0.0], [2.0, 1.0, 0.0], objective=objective, legal=legal)
        assert at == 1
        at = chosen([0.3, 0.3, 0.0], [2.0, 1.0, 9.0], objective=objective, legal=legal)
        assert at == 1
    at = chosen([0.0, 0.0, 0.0], [2.0, 3.0, 9.0], rules=COLLECT, legal=legal)
    assert at == 1


def test_heads_as_the_objective():
    own, others = [3.0, 2.0, 4.0], [1.0, 0.0, 9.0]
    assert chosen([1.0, 0.0, 0.0], own, others, objective="own") == 1
    assert chosen([1.0, 0.0, 0.0], own, others, objective="relative") == 2
    assert chosen([1.0, 0.0, 0.0], own, others, objective="own", rules=COLLECT) == 2
    assert chosen([1.0, 0.0, 0.0], own, others, objective="relative", rules=COLLECT) == 0


@pytest.mark.parametrize("collect", [False, True])
@pytest.mark.parametrize("players", [2, 3, 10])
def test_outcomes_are_added_up(players: int, collect: bool):
    """Own heads, the others' mean, and the share of the best total; few heads make many ties."""
    rng, best = np.random.default_rng(players), max if collect else min
    for _ in range(200):
        taken, totals = rng.integers(0, 3, players), rng.integers(0, 3, players)
        value = np.array([10.0, 20.0, 30.0])
        add(value, taken, totals, int(collect))
        sums = (taken + totals).tolist()
        share = 1 / sums.count(sums[0]) if sums[0] == best(sums) else 0
        others = taken[1:].sum() / (players - 1)
        np.testing.assert_allclose(value, [10 + taken[0], 20 + others, 30 + share])
