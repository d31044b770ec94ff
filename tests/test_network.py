"""The learned players' network: every game it can be made for, and what it knows of a card."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO

from agents.learned import SB3Policy
from agents.network import CardFeatures, CardPolicy, network
from sixnimmt_env.cards import ZERO
from sixnimmt_env.encoding import encode, observation_size
from sixnimmt_env.engine import Engine
from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from sixnimmt_env.envs.spaces import flat_space
from sixnimmt_env.observe import Observation, observe
from sixnimmt_env.policy import play
from sixnimmt_env.position import Position
from sixnimmt_env.rules import Rules
from sixnimmt_env.variants import VARIANTS, make_rules

GAMES = [(v, n) for v in VARIANTS for n in (2, 4, make_rules(v, 2).max_players)]
SIXTH, SIXTH_HEADS, COMMITTED = 8, 9, slice(10, 13)


def _model(rules: Rules) -> SB3Policy:
    torch.set_num_threads(1)  # more wait for each other on a busy machine
    env = SixNimmtVecEnv(2, num_players=rules.num_players, variant=rules.name)
    kwargs = network(rules)
    model = MaskablePPO(
        CardPolicy, env, n_steps=2, batch_size=4, policy_kwargs=kwargs, seed=0, device="cpu"
    )
    model.rules = rules
    return SB3Policy(model, greedy=False)


def _features(rules: Rules) -> CardFeatures:
    torch.manual_seed(0)
    return CardFeatures(flat_space(observation_size(rules)), rules)


def _described(rules: Rules, seen: Observation) -> torch.Tensor:
    """What the network knows of the first hand's cards, highest first."""
    features = _features(rules)
    vectors = torch.as_tensor(encode(seen))
    numbers = torch.as_tensor(seen.hand.astype(np.float32))
    cards = (numbers * (numbers != ZERO)).sort(dim=1, descending=True).values
    return features.describe(vectors, cards)[0]


@pytest.mark.parametrize(("variant", "players"), GAMES)
def test_every_game_is_played_legally(variant: str, players: int):
    rules = make_rules(variant, players)
    agent = _model(rules)
    result = play([agent] * players, rules, games=4)  # an illegal action would be refused
    assert result.heads.shape == (4, players)
    state = Engine(rules).reset(1, 3)
    seen = observe(rules, state, 0)
    with torch.no_grad():
        policy = agent.model.policy
        vectors = torch.as_tensor(encode(seen))
        chances = policy.get_distribution(vectors, seen.action_mask).distribution.probs.numpy()
        values = policy.predict_values(vectors).numpy()
    assert chances.shape == (3, rules.num_actions) and np.isfinite(values).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-5)
    assert (chances[seen.action_mask == 0] < 1e-6).all()
    assert (chances[seen.action_mask == 1] > 1e-6).all()


def test_the_base_game_needs_no_more_than_before():
    features = _features(make_rules())
    assert features.card.in_features == 8
    assert features.trunk[0].in_features == observation_size(make_rules()) + 10 * 8
    assert features.features_dim == 256 + 109


@pytest.mark.parametrize("variant", ["plus", "simplified"])
def test_a_low_card_is_described_by_the_row_with_the_highest_end(variant: str):
    rules = make_rules(variant, 2)
    rows = [[60], [90, 91, 92, 93, 94], [70], [50, 55]]
    state = Position(rows=rows, hands=[[3, 57, 95, ZERO], [4, 58, 96, ZERO]]).state(rules)
    high, middle, low = _described(rules, observe(rules, state, 0))[:3]
    heads = (3 + 1 + 1 + 1 + 1) / 27
    for card, gap, fits in ((high, 1, 1.0), (low, 3 - 94, 0.0)):
        assert card[2] == fits and card[3] == pytest.approx(gap / 104)
        assert card[5] == 1 and card[6] == pytest.approx(heads)
        assert card[SIXTH] == 1 and card[SIXTH_HEADS] == pytest.approx(heads)
    assert middle[2] == 1 and middle[3] == pytest.approx(2 / 104)
    assert middle[5] == pytest.approx(2 / 5) and middle[6] == pytest.approx((3 + 7) / 27)
    assert middle[SIXTH] == 0 and middle[SIXTH_HEADS] == 0
    zero = _described(rules, observe(rules, state, 0))[3]
    assert (zero == 0).all()  # no numbered card, no description


@pytest.mark.parametrize(("first", "known"), [(5, [5 / 104, 0, 1]), (ZERO, [0, 1, 1])])
def test_a_second_card_knows_the_first(first: int, known: list[float]):
    rules = make_rules("plus", 2)
    rows = [[60], [90], [70], [50]]
    state = Position(rows=rows, hands=[[5, 6, ZERO], [4, 58, 96]]).state(rules)
    before = _described(rules, observe(rules, state, 0))
    assert (before[:, COMMITTED] == 0).all()
    Engine(rules).step(state, np.array([[first], [4]]))
    seen = observe(rules, state, 0)
    assert seen.action_mask[0, 0] == 1  # no second card
    assert _described(rules, seen)[0, COMMITTED].tolist() == pytest.approx(known)


def test_only_numbered_cards_are_scored_by_the_scorer():
    rules = make_rules("plus", 2)
    features = _features(rules)
    rows = [[60], [90], [70], [50]]
    state = Position(rows=rows, hands=[[5, 6, 104, ZERO], [4, 58, 96, 99]]).state(rules)
    seen = observe(rules, state, 0)
    with torch.no_grad():
        scores = features(torch.as_tensor(encode(seen)))[0, 256:]
    assert scores.shape == (rules.num_actions,)
    assert set(torch.nonzero(scores).flatten().tolist()) == {5, 6, 104}
