"""What `training.lookahead` thinks every action leads to, against playing it out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("tyro")
pytest.importorskip("yaml")

import torch

from agents.network import CardNetwork, network_policy
from sixnimmt_env.cards import PASS, TAKE_ROW, ZERO
from sixnimmt_env.encoding import encode, observation_size
from sixnimmt_env.engine import Engine
from sixnimmt_env.envs.spaces import flat_space
from sixnimmt_env.observe import Observation, observe
from sixnimmt_env.policy import LowestPolicy
from sixnimmt_env.position import Position
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import DRAFT, OVER, PLAY, SECOND, TAKE, State
from sixnimmt_env.trained.scope import scope_of
from sixnimmt_env.variants import make_rules
from training.samples import Table, _Round

from .networks import random_states

NET, POOL = 0, 1


class Calm:
    """Chance that makes the learner play the action it thinks best."""

    def gumbel(self, size: Any) -> np.ndarray:
        return np.zeros(size)


class LowestRow(LowestPolicy):
    """Lowest card, and the first row."""

    def act(self, observation: Observation, rng: Any) -> np.ndarray:
        lowest = super().act(observation, rng)
        return np.where(observation.phase == TAKE, TAKE_ROW, lowest)


def _net(rules: Rules, seed: int = 0) -> CardNetwork:
    """A network that is far from indifferent."""
    torch.manual_seed(seed)
    net = CardNetwork(flat_space(observation_size(rules)), rules, 16, 8)
    for weight in net.parameters():
        weight.data = torch.randn(weight.shape) / weight.shape[-1] ** 0.5
    return net


class ByHand:
    """One game after the other, one step after the other."""

    def __init__(self, rules: Rules, net: CardNetwork, others: Any) -> None:
        self.rules, self.net, self.others = rules, net, others
        self.engine = Engine(rules)
        scope = scope_of([replace(rules, row_choice="player")])
        self.policy = network_policy(net.state_dict(), scope, {})

    def choose(self, state: State, owners: np.ndarray) -> np.ndarray:
        """What everybody does in a state of one game."""
        acts = np.zeros((self.rules.num_players, 1), np.int64)
        for seat in np.flatnonzero(state.acting()[:, 0]):
            player = self.policy if owners[seat] == NET else self.others
            acts[seat] = player.act(observe(self.rules, state, int(seat)), None)
        return acts

    def outcome(
        self, state: State, owners: np.ndarray, acts: np.ndarray, seat: int, action: int
    ) -> float:
        """Reward until the seat's next decision and the value there."""
        state, acts = state.copy(), acts.copy()
        acts[seat] = action
        before = int(state.totals()[seat, 0])
        self.engine.step(state, acts)
        while state.phase[0] != OVER and not state.acting()[seat, 0]:
            self.engine.step(state, self.choose(state, owners))
        taken = int(state.totals()[seat, 0]) - before
        value = 0.0
        if state.phase[0] != OVER:
            with torch.no_grad():
                seen = torch.as_tensor(encode(observe(self.rules, state, seat)))
                value = self.net(seen)[0, -1].item()
        return (taken if self.rules.collect else -taken) + value


def _assert_outcomes(
    rules: Rules, state: State, owners: np.ndarray, seed: int = 0, most: int = 100
) -> int:
    """Compare the alternatives of all seats in some games, or `most` of them; how many."""
    net, others = _net(rules, seed), LowestRow()
    table = Table(rules, state.num_games)
    before = state.copy()
    joint = np.zeros(owners.shape, np.int64)
    round_ = _Round(table, net, [others], Calm())
    step = round_.act(state, owners, joint)
    assert (owners[step.seats, step.games] == NET).all()
    decision, action = np.nonzero(step.mask)
    seats, games = step.seats[decision], step.games[decision]
    found = round_.outcomes(state, owners, joint, seats, games, action)
    for field in ("hand", "rows", "phase", "pile_heads"):
        np.testing.assert_array_equal(getattr(state, field), getattr(before, field))
    hand = ByHand(rules, net, others)
    some = np.random.default_rng(seed).permutation(len(found))[:most]
    for game in np.unique(games[some]):
        one, owner = state.take([game]), owners[:, game]
        chosen = hand.choose(one, owner)
        np.testing.assert_array_equal(joint[:, game], chosen[:, 0])
        for k in some[games[some] == game]:
            wanted = hand.outcome(one, owner, chosen, int(seats[k]), int(action[k]))
            assert found[k] == pytest.approx(wanted, abs=1e-4), (game, seats[k], action[k])
    return some.size


# Outcomes in positions by hand

ROWS = [[60], [36, 37, 38], [70], [90, 91, 92, 93, 94]]


@pytest.mark.parametrize("row_choice", ["player", "fewest_heads"])
@pytest.mark.parametrize("owner", [NET, POOL])
def test_outcomes_in_the_base_game(row_choice: str, owner: int):
    """Sixth cards, low cards of oneself and of another one, who takes a row."""
    rules = make_rules(num_players=3, row_choice=row_choice)
    hands = [[3, 39, 95, 61], [5, 40, 96, 71], [29, 41, 97, 72]]
    state = Position(rows=ROWS, hands=hands).state(rules)
    owners = np.array([[NET], [owner], [NET]])
    assert _assert_outcomes(rules, state, owners) == (12 if owner == NET else 8)


@pytest.mark.parametrize("row_choice", ["player", "fewest_heads"])
def test_outcomes_of_the_row_that_is_taken(row_choice: str):
    rules = make_rules(num_players=3, row_choice=row_choice)
    state = Position(rows=ROWS, hands=[[20, 65], [30, 63], [45, 96]]).state(rules)
    Engine(rules).step(state, np.array([[20], [30], [45]]))
    assert (state.phase == TAKE).all() == (row_choice == "player")
    number = 4 if row_choice == "player" else 3
    assert _assert_outcomes(rules, state, np.zeros((3, 1), int)) == number


def test_the_last_card_counts_what_it_takes():
    """Nothing follows, so that the heads are known."""
    rules = make_rules(num_players=2, row_choice="fewest_heads")
    for hands, heads in (
        ([[95], [61]], 7),  # a sixth card: 90 ... 94
        ([[3], [61]], 2),  # lowest of all: row 3 has fewest heads, 70 and 60 have 3 each
        ([[71], [61]], 0),
    ):
        rows = [[60], [36, 37, 38], [75], [90, 91, 92, 93, 94]]
        state = Position(rows=rows, hands=hands).state(rules)
        round_ = _Round(Table(rules, 1), _net(rules), [LowestRow()], Calm())
        owners, joint = np.array([[NET], [POOL]]), np.array([[0], hands[1]])
        zero = np.zeros(1, np.intp)
        found = round_.outcomes(state, owners, joint, zero, zero, np.array(hands[0]))
        assert found.tolist() == [-heads]


@pytest.mark.parametrize("variant", ["plus", "plus_equal"])
def test_outcomes_where_a_second_card_may_follow(variant: str):
    rules = make_rules(variant, 2)
    hands = [[5, 57, 95, ZERO], [4, 58, 96, ZERO]]
    state = Position(rows=[[60], [90, 91, 92, 93, 94], [70], [50, 55]], hands=hands).state(rules)
    owners = np.zeros((2, 1), int)
    assert _assert_outcomes(rules, state, owners) == 8
    Engine(rules).step(state, np.array([[95], [ZERO]]))
    assert (state.phase == SECOND).all()
    assert _assert_outcomes(rules, state, owners) == 8  # three cards or none


def test_heads_that_are_collected_count_for_and_others_against():
    hands = [[95], [58]]
    for variant, sign in (("plus", 1), ("simplified", -1), ("original_zeros", -1)):
        rules = make_rules(variant, 2)
        rows = [[60], [90, 91, 92, 93, 94], [70], [50, 55]]
        state = Position(rows=rows, hands=hands).state(rules)
        joint, zero = np.array([[0], [58 if variant != "simplified" else PASS]]), np.zeros(1, int)
        round_ = _Round(Table(rules, 1), _net(rules), [], Calm())
        found = round_.outcomes(state, np.zeros((2, 1), int), joint, zero, zero, np.array([95]))
        assert found.tolist() == [sign * (3 + 1 + 1 + 1 + 1)], variant


@pytest.mark.parametrize(
    ("rules", "met"),
    [
        (make_rules("base", 2), {PLAY, TAKE}),
        (make_rules("base", 4, row_choice="fewest_heads"), {PLAY}),
        (make_rules("simplified", 3), {PLAY}),
        (make_rules("plus", 3), {PLAY, SECOND}),
        (make_rules("pro", 2), {DRAFT, PLAY, TAKE}),
    ],
    ids=lambda value: value.name if isinstance(value, Rules) else "",
)
def test_outcomes_all_the_way_through_random_games(rules: Rules, met: set[int]):
    rng, tried, phases = np.random.default_rng(0), 0, set()
    for number, state in enumerate(random_states(rules, 3, seed=3)):
        live = state.phase != OVER
        if not live.any():
            break
        owners = rng.integers(0, 2, (rules.num_players, 3))
        owners[:, ~live] = POOL
        phases |= set(state.phase[live].tolist())
        tried += _assert_outcomes(rules, state, owners, seed=number, most=4)
    assert tried > 30 and phases == met
