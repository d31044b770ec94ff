"""What `training.lookahead` learns from: returns, the regression, and who learns."""

from __future__ import annotations

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

from sixnimmt_env.engine import Engine
from sixnimmt_env.state import OVER, State
from training import checkpoint, samples
from training.checkpoint import CHECKPOINT, Stopped
from training.lookahead_trainer import Learner
from training.samples import Samples, _Step

from .runs import LOOKAHEAD, stop_after

NET, POOL = 0, 1


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
