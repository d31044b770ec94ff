"""What `training.lookahead` learns from: outcomes, returns, the regression, and who learns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("tyro")
pytest.importorskip("yaml")

import torch
from torch import nn

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
from training import checkpoint, samples
from training.lookahead import Learner
from training.run import CHECKPOINT, Stopped
from training.samples import Samples, Table, _Round, _Step

from .networks import random_states
from .runs import LOOKAHEAD, stop_after

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


# Returns


def _step(seats: list[int], values: list[float]) -> _Step:
    """A step of one game, of which some seats decide."""
    nothing = np.zeros(0, np.float32)
    games = np.zeros(len(seats), int)
    return _Step(np.array(seats), games, nothing, nothing, np.array(values, np.float32))


@pytest.mark.parametrize(
    ("trace", "wanted"),
    [
        # Seat 0 decides in steps 1, 2 and 4, seat 1 in steps 1 and 3.
        (1.0, [[-1 - 2 - 4 - 8, -0.5], [-2 - 4 - 8], [-0.5], [-8]]),
        (0.0, [[-1 - 10, -20], [-2 - 4 - 30], [-0.5], [-8]]),
        (0.5, [[-1 + (-10 - 25) / 2, (-20 - 0.5) / 2], [-6 + (-30 - 8) / 2], [-0.5], [-8]]),
    ],
)
def test_returns_of_an_example(trace: float, wanted: list[list[float]]):
    steps = [
        _step([0, 1], [-100, -200]),  # the first values are not used
        _step([0], [-10]),
        _step([1], [-20]),
        _step([0], [-30]),
    ]
    rewards = [
        np.array([[-1], [0]], np.float32),
        np.array([[-2], [0]], np.float32),
        np.array([[-4], [0]], np.float32),
        np.array([[-8], [-0.5]], np.float32),
    ]
    found = samples._returns(steps, rewards, trace)
    assert [part.tolist() for part in found] == wanted


class Recorder(Engine):
    """Notes what a table deals, and who decides with which heads in each of its steps."""

    def reset(self, seed: Any = 0, games: Any = 1) -> State:
        self.state = super().reset(seed, games)
        self.acting: list[np.ndarray] = []
        self.totals: list[np.ndarray] = []
        return self.state

    def step(self, state: State, actions: Any, where: Any = None) -> None:
        if state is self.state:  # not one that is tried out
            self.acting.append(state.acting())
            self.totals.append(state.totals().copy())
        super().step(state, actions, where)


@pytest.mark.parametrize("variant", ["base", "plus", "simplified"])
@pytest.mark.parametrize("share_of_pool", [0.0, 0.6])
def test_every_decision_of_the_learner_and_of_nobody_else_is_learned_from(
    variant: str, share_of_pool: float
):
    """With trace 1 the returns are the heads still to come, of the learner's seats alone."""
    changes = {"pool": ("lowest",), "pool_share": share_of_pool} if share_of_pool else {}
    learner = Learner(LOOKAHEAD.config(variant=variant, trace=1.0, seats=32, **changes))
    (table,) = learner.tables
    table.engine = engine = Recorder(table.rules)
    rng = np.random.default_rng(0)
    owners = np.where(rng.random((4, 8)) < share_of_pool, POOL, NET)
    learner._owners = lambda _: owners
    found = learner.play()
    assert (engine.state.phase == OVER).all()
    final, sign = engine.state.totals(), 1 if table.rules.collect else -1
    wanted = [
        sign * (final - total)[acting & (owners == NET)]
        for acting, total in zip(engine.acting, engine.totals, strict=True)
    ]
    np.testing.assert_array_equal(found.returns, np.concatenate(wanted))
    assert found.returns.any()
    everybody = sum(acting.sum() for acting in engine.acting)
    assert (len(found) < everybody) == (share_of_pool > 0)


def test_what_is_tried_out_are_the_legal_actions_where_there_is_a_choice():
    """A card that is the last one is not tried out, but its value is learned."""
    learner = Learner(LOOKAHEAD.config(seats=16))
    found = learner.play()
    cards = np.bincount(found.seen.who, minlength=len(found))
    assert sorted(cards.tolist()) == sorted(16 * list(range(1, 11)))
    tried = np.bincount(found.decision, minlength=len(found))
    np.testing.assert_array_equal(tried, np.where(cards > 1, cards, 0))
    choices = np.isin(found.seen.who, np.flatnonzero(cards > 1))
    np.testing.assert_array_equal(found.action, found.seen.card[choices])
    assert (np.diff(found.decision) >= 0).all()


def test_a_share_of_the_decisions():
    learner = Learner(LOOKAHEAD.config(seats=400, share=0.25))
    number = len(learner.play())
    assert abs(number - 0.25 * 4000) < 4 * (4000 * 0.25 * 0.75) ** 0.5


def test_who_sits_where():
    """A learner in every game; the pool in its share of them, all of one kind or mixed."""
    pool = {"pool": ("lowest", "highest"), "pool_share": 0.4}
    for alone in (False, True):
        learner = Learner(LOOKAHEAD.config(seats=16_000, alone=alone, **pool))
        owners = learner._owners(learner.tables[0])
        assert (owners == NET).any(axis=0).all()
        met = (owners != NET).any(axis=0)
        # A mixed table may have learners only.
        assert abs(met.mean() - 0.4 * (1 if alone else 0.5 + 0.5 * 26 / 27)) < 0.04
        seats = (owners[:, met] == NET).mean(axis=1)
        assert np.ptp(seats) < 0.06  # no seat is preferred
        kinds = [set(column[column != NET]) for column in owners[:, met].T]
        assert {1} in kinds and {2} in kinds
        assert ({1, 2} in kinds) != alone
        assert ((owners[:, met] == NET).sum(axis=0) == 1).all() == alone
    learner = Learner(LOOKAHEAD.config())
    assert not learner._owners(learner.tables[0]).any()


def test_every_game_is_dealt_once_in_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also after a stop, at several tables, and not where the run is measured."""
    dealt: list[tuple[int, int]] = []
    reset = Engine.reset

    def noted(engine: Engine, seed: Any = 0, games: Any = 1) -> State:
        state = reset(engine, seed, games)
        dealt.extend(zip(state.seed.tolist(), state.game_id.tolist(), strict=True))
        return state

    monkeypatch.setattr(Engine, "reset", noted)
    config = LOOKAHEAD.config(players=(2, 4, 2), seats=48, seed=5)
    with monkeypatch.context() as patch:
        stop_after(patch, 1)
        with pytest.raises(Stopped):
            LOOKAHEAD.train(config, tmp_path)
    LOOKAHEAD.train(config, tmp_path, resume=True)
    learned = [game for game in dealt if game[0] == 6 << 32]
    updates = len(checkpoint.load(tmp_path / CHECKPOINT)["metrics"])
    assert updates == 2 and len(learned) == updates * (8 + 4 + 8)
    assert len(set(learned)) == len(learned)
    assert all(seed < 2**32 for seed, _ in set(dealt) - set(learned))


# The regression


class Logits(nn.Module):
    """Logits and values that are weights themselves."""

    def __init__(self, out: Any) -> None:
        super().__init__()
        self.out = nn.Parameter(torch.as_tensor(out, dtype=torch.float32))

    def judge(self, seen: Any) -> torch.Tensor:
        return self.out


DECISION = np.array([0, 0, 0, 2, 2])
ACTION = np.array([1, 2, 4, 0, 3])
OUTCOME = np.array([-3.0, 0.0, -6.0, -1.0, -2.0], np.float32)
RETURNS = np.array([-4.0, -2.5, -1.0], np.float32)  # decision 1 was without a choice


def _learn(out: np.ndarray, temperature: float) -> tuple[np.ndarray, tuple[float, float]]:
    """Gradient at some logits and values, and the errors."""
    config = LOOKAHEAD.config(temperature=temperature, value_weight=0.25)
    learner: Any = SimpleNamespace(config=config, net=Logits(out))
    learner.optimizer = torch.optim.SGD(learner.net.parameters(), lr=0.0)
    seen: Any = None
    errors = Learner._step(learner, Samples(seen, RETURNS, DECISION, ACTION, OUTCOME))
    return learner.net.out.grad.numpy(), errors


def _fitting(temperature: float, rng: np.random.Generator) -> np.ndarray:
    """Logits (outcome - mean) / temperature, but for a constant, and the returns."""
    out = rng.standard_normal((3, 6)).astype(np.float32)
    for decision in (0, 2):
        here = decision == DECISION
        centred = OUTCOME[here] - OUTCOME[here].mean()
        out[decision, ACTION[here]] = centred / temperature + rng.standard_normal()
    out[:, -1] = RETURNS
    return out


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_nothing_is_learned_where_it_fits(temperature: float):
    gradient, errors = _learn(_fitting(temperature, np.random.default_rng(0)), temperature)
    np.testing.assert_allclose(gradient, 0, atol=1e-6)
    assert errors == pytest.approx((0, 0), abs=1e-9)


def test_gradients_where_it_does_not_fit():
    """By hand: logit 2 of decision 0 is 1 too high, and value 1 is 2 too high."""
    temperature = 0.5
    out = _fitting(temperature, np.random.default_rng(0))
    out[0, 2] += 1
    out[1, -1] += 2
    gradient, errors = _learn(out, temperature)
    wanted = np.zeros_like(out)
    # Centred, the logits are off by -1/3, 2/3 and -1/3; the mean is over three decisions.
    off = temperature * np.array([-1 / 3, 2 / 3, -1 / 3])
    wanted[0, [1, 2, 4]] = 2 * temperature * off / 3
    wanted[1, -1] = 0.25 * 2 * 2 / 3
    np.testing.assert_allclose(gradient, wanted, atol=1e-6)
    assert errors == pytest.approx(((off**2).sum() / 3, 4 / 3), rel=1e-5)


def test_a_part_of_the_samples_is_what_was_played():
    learner = Learner(LOOKAHEAD.config(players=(2, 3), row_choice="both", seats=24))
    whole = learner.play()
    decisions = np.sort(np.random.default_rng(0).permutation(len(whole))[: len(whole) // 2])
    part = whole.take(decisions)
    assert len(part) == len(whole) // 2
    np.testing.assert_array_equal(part.returns, whole.returns[decisions])
    np.testing.assert_array_equal(part.seen.whole, whole.seen.whole[decisions])
    for new, old in enumerate(decisions):
        for mine, theirs in (
            (part.seen.cards[part.seen.who == new], whole.seen.cards[whole.seen.who == old]),
            (part.seen.card[part.seen.who == new], whole.seen.card[whole.seen.who == old]),
            (part.seen.rows[part.seen.taking == new], whole.seen.rows[whole.seen.taking == old]),
            (part.action[part.decision == new], whole.action[whole.decision == old]),
            (part.outcome[part.decision == new], whole.outcome[whole.decision == old]),
        ):
            np.testing.assert_array_equal(mine, theirs)
    with torch.no_grad():
        judged = learner.net.judge(whole.seen)[decisions]
        torch.testing.assert_close(learner.net.judge(part.seen), judged)


def test_the_average_and_the_rate():
    """The mean of all weights at first, then an exponential one; the rate falls to 0."""
    config = LOOKAHEAD.config(average=0.6, steps=100_000)
    learner = Learner(config)
    mean = {name: w.clone() for name, w in learner.net.state_dict().items()}
    rates = []
    for update in range(1, 5):
        done = learner.decisions
        learner.update(learner.play())
        rates.append((learner.optimizer.param_groups[0]["lr"], done))
        past = min(0.6, 1 - 1 / (update + 1))
        for name, weight in learner.net.state_dict().items():
            mean[name] = past * mean[name] + (1 - past) * weight
    for name, weight in mean.items():
        torch.testing.assert_close(learner.average[name], weight)
    for rate, done in rates:
        assert rate == pytest.approx(config.learning_rate * (1 - done / config.steps))
    assert learner.decisions == 4 * 160
