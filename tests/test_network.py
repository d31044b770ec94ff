"""The learned players' network: every game it can be made for, and what it is told of a card."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sixnimmt_env.cards import PASS, TAKE_ROW, ZERO
from sixnimmt_env.encoding import encode, field_table, observation_size
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import Observation, observe
from sixnimmt_env.position import Position, position_of
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import PLAY, TAKE
from sixnimmt_env.trained.features import CARD_FEATURES, Described, describe, whole_size
from sixnimmt_env.trained.layout import widened
from sixnimmt_env.trained.network import logits
from sixnimmt_env.variants import VARIANTS, make_rules
from tests.networks import counts_of, random_network, random_states, random_views
from tests.rounds import all_rules, name_of

# Places of a card's features.
NUMBER, HEADS, FITS, GAP, BEFORE, AFTER = range(6)
LENGTH, ROW_HEADS, SIXTH, CHANCE, COST, RIVALS, RANK = slice(6, 11), 11, 12, 13, 14, 15, 16
OWN_BEFORE, OWN_AFTER, LOWER, ROW, LOW_HEADS, LOW_CHANCE, FILLS, FIRST_BEFORE, FIRST_AFTER = range(
    17, CARD_FEATURES
)


def _cards(rules: Rules, seen: Observation) -> dict[int, np.ndarray]:
    """What is told of each card of one decision."""
    seen_as = describe(rules, encode(seen))
    assert (seen_as.who == 0).all()
    return dict(zip(seen_as.card.tolist(), seen_as.cards, strict=True))


def _told(rules: Rules, rows: list[list[int]], hands: list[list[int]]) -> dict[int, np.ndarray]:
    return _cards(rules, observe(rules, Position(rows=rows, hands=hands).state(rules), 0))


# What is told of a card, in positions by hand

ROWS = [[60], [36, 37, 38], [70], [90, 91, 92, 93, 94]]
HANDS = [[29, 40, 45, 95], [62, 63, 64, 65]]
HIDDEN = 104 - 10 - 4


def test_a_card_that_fits():
    card = _told(make_rules(num_players=2), ROWS, HANDS)[40]
    assert card[NUMBER] == pytest.approx(40 / 104) and card[HEADS] == pytest.approx(3 / 7)
    assert card[FITS] == 1 and card[GAP] == pytest.approx(2 / 20)
    assert card[BEFORE] == pytest.approx(1 / 20)  # 39
    assert card[AFTER] == pytest.approx(18 / 20)  # 41 ... 59 without 45
    assert card[LENGTH].tolist() == [0, 0, 1, 0, 0] and card[ROW_HEADS] == pytest.approx(3 / 27)
    assert card[SIXTH] == 0 and card[CHANCE] == 0  # one rival cannot play two cards
    assert card[RIVALS] == pytest.approx(0.5 / HIDDEN)
    assert card[RANK] == pytest.approx(1 / 10) and card[ROW] == 0.25
    assert card[OWN_BEFORE] == 0 and card[OWN_AFTER] == pytest.approx(0.2)  # 45
    assert card[LOWER] == pytest.approx((39 - 4) / HIDDEN)
    assert not card[[LOW_HEADS, LOW_CHANCE, FILLS, FIRST_BEFORE, FIRST_AFTER]].any()


def test_a_card_behind_another_one_in_hand():
    card = _told(make_rules(num_players=2), ROWS, HANDS)[45]
    assert card[GAP] == pytest.approx(7 / 20) and card[BEFORE] == pytest.approx(5 / 20)
    assert card[OWN_BEFORE] == pytest.approx(0.2) and card[OWN_AFTER] == 0
    assert card[RANK] == pytest.approx(2 / 10)


def test_a_sixth_card():
    card = _told(make_rules(num_players=2), ROWS, HANDS)[95]
    assert card[FITS] == 1 and card[GAP] == pytest.approx(1 / 20) and card[BEFORE] == 0
    assert card[LENGTH].tolist() == [0, 0, 0, 0, 1]
    assert card[[ROW_HEADS, SIXTH, COST]] == pytest.approx(7 / 27)
    assert card[CHANCE] == 1 and card[FILLS] == 0 and card[ROW] == 1


def test_a_low_card_takes_the_row_with_fewest_heads():
    card = _told(make_rules(num_players=2), ROWS, HANDS)[29]
    assert card[FITS] == 0 and card[GAP] == 0 and card[ROW] == 0 and card[RANK] == 0
    assert card[BEFORE] == pytest.approx(28 / 20) and card[AFTER] == pytest.approx(6 / 20)
    assert not card[LENGTH].any() and card[SIXTH] == 0
    assert card[[ROW_HEADS, LOW_HEADS]] == pytest.approx(3 / 27)
    chance = round(28 / HIDDEN * 128) / 128  # that the rival plays a lower card
    assert card[[CHANCE, LOW_CHANCE]] == pytest.approx(chance)
    assert card[COST] == pytest.approx(chance * 3 / 27)


def test_the_chance_that_others_fill_the_row():
    rows = [[60], [36, 37, 38, 39], [70], [90]]
    hands = [[45, 61], [62, 63], [64, 65], [66, 67]]
    cards = _told(make_rules(num_players=4), rows, hands)
    hidden = 104 - 7 - 2
    share = round(5 / hidden * 128) / 128  # 40 ... 44
    assert cards[45][CHANCE] == pytest.approx(1 - (1 - share) ** 3)
    assert cards[45][FILLS] == cards[45][CHANCE]
    assert cards[45][RIVALS] == pytest.approx(3 * 5 / hidden * 0.5)
    assert cards[61][[CHANCE, FILLS, BEFORE]].tolist() == [0, 0, 0]


@pytest.mark.parametrize("variant", ["plus", "simplified"])
def test_a_low_card_is_appended_to_the_row_with_the_highest_end(variant: str):
    rows = [[60], [90, 91, 92, 93, 94], [70], [50, 55]]
    hands = [[3, 57, 95, ZERO], [4, 58, 96, ZERO]]
    cards = _told(make_rules(variant, 2), rows, hands)
    assert sorted(cards) == [3, 57, 95]  # no numbered card, no description
    heads = (3 + 1 + 1 + 1 + 1) / 27
    for number, fits in ((3, 0), (95, 1)):
        card = cards[number]
        assert card[FITS] == fits and card[LENGTH].tolist() == [0, 0, 0, 0, 1]
        assert card[[ROW_HEADS, SIXTH]] == pytest.approx(heads)
        assert card[CHANCE] == 1 and card[COST] == pytest.approx(heads)
    assert cards[3][BEFORE] == pytest.approx(2 / 20) and cards[3][GAP] == 0
    assert cards[57][FITS] == 1 and cards[57][GAP] == pytest.approx(2 / 20)
    assert cards[57][LENGTH].tolist() == [0, 1, 0, 0, 0] and cards[57][SIXTH] == 0


def test_who_plays_alone_has_nobody_before():
    cards = _told(make_rules("simplified", 2), [[60], [36, 37, 38, 39], [70], [90]], [[45], [46]])
    assert cards[45][BEFORE] > 0 and cards[45][[CHANCE, RIVALS]].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("first", "marked"),
    [(72, {75: FIRST_BEFORE}), (75, {72: FIRST_AFTER}), (5, {}), (ZERO, {})],
)
def test_a_second_card_knows_the_first(first: int, marked: dict[int, int]):
    rules = make_rules("plus", 2)
    rows = [[60], [90], [70], [50]]
    state = Position(rows=rows, hands=[[5, 72, 75, ZERO], [4, 58, 96, 99]]).state(rules)
    places = [FIRST_BEFORE, FIRST_AFTER]
    for card in _cards(rules, observe(rules, state, 0)).values():
        assert not card[places].any()
    Engine(rules).step(state, np.array([[first], [4]]))
    seen = observe(rules, state, 0)
    assert seen.action_mask[0, PASS] == 1  # no second card
    for number, card in _cards(rules, seen).items():
        want = [float(marked.get(number) == place) for place in places]
        assert card[places].tolist() == want, number


def test_the_pool_is_described_in_a_draft():
    rules = make_rules("pro", 2)
    seen = observe(rules, Engine(rules).reset(0), 0)
    assert sorted(_cards(rules, seen)) == list(range(1, rules.num_cards + 1))


def test_a_row_that_can_be_taken():
    rules = make_rules(num_players=3)
    rows = [[60, 61], [36, 37, 38], [75], [90]]
    state = Position(rows=rows, hands=[[20, 65], [62, 63], [95, 96]]).state(rules)
    Engine(rules).step(state, np.array([[20], [62], [95]]))
    seen = describe(rules, encode(observe(rules, state, 0)))
    assert seen.taking.tolist() == [0]
    row = seen.rows[0]
    heads = np.array([3 + 1, 1 + 1 + 1, 2, 3])
    np.testing.assert_allclose(row[:, 0], heads / 27, rtol=1e-6)
    np.testing.assert_allclose(row[:, 1], (heads - 2) / 27, atol=1e-6)
    np.testing.assert_allclose(row[:, 2], np.array([2, 3, 1, 1]) / 5, rtol=1e-6)
    np.testing.assert_allclose(row[:, 3], np.array([61, 38, 75, 90]) / 104, rtol=1e-6)
    assert row[:, 4].tolist() == [0.25, 0, 0.5, 0.75]
    np.testing.assert_allclose(row[:, 5], [0.2, 0, 0, 0], atol=1e-6)  # own 65
    # 62 goes to row 1 and 95 to row 4; were row 2 taken, neither would follow 20.
    np.testing.assert_allclose(row[:, 7], [1 / 3, 0, 0, 1 / 3], rtol=1e-6)
    np.testing.assert_allclose(row[:, 8], [0, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(row[:, 9], (np.array([38, 61, 38, 38]) - 20) / 20, rtol=1e-6)


def test_cards_that_would_follow_into_a_row_taken():
    rules = make_rules(num_players=3)
    rows = [[60], [36], [75], [90]]
    state = Position(rows=rows, hands=[[20, 65], [30, 63], [45, 96]]).state(rules)
    Engine(rules).step(state, np.array([[20], [30], [45]]))
    seen = describe(rules, encode(observe(rules, state, 0)))
    # Row 2 taken, the next end is 60: both 30 and 45 follow; otherwise it is 36.
    np.testing.assert_allclose(seen.rows[0, :, 8] * 3, [1, 2, 1, 1], rtol=1e-6)
    np.testing.assert_allclose(seen.rows[0, :, 7] * 3, [0, 1, 0, 0], rtol=1e-6)


# What it does not depend on


@pytest.mark.parametrize("rules", all_rules(), ids=name_of)
def test_sizes_and_bounds(rules: Rules):
    for seen in random_views(rules, 3):
        vectors = encode(seen)
        found = describe(rules, vectors)
        assert found.whole.shape == (len(seen), whole_size(rules))
        assert found.cards.shape == (found.who.size, CARD_FEATURES)
        for values in (found.whole, found.cards, found.rows):
            assert values.dtype == np.float32 and np.isfinite(values).all()
            # Where hands are public, cards in hand are counted and no share of the hidden ones.
            assert values.size == 0 or abs(values).max() <= (50 if rules.open_hands else 8)
        taking = (seen.phase == TAKE) & seen.decides
        np.testing.assert_array_equal(found.taking, np.flatnonzero(taking))
        cards = np.zeros(seen.action_mask.shape, np.int8)
        cards[found.who, found.card] = 1
        legal = seen.action_mask[:, 1:TAKE_ROW].astype(bool)
        assert (cards[:, 1:TAKE_ROW] >= legal).all()  # every card that can be played is scored


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_the_order_of_rows_does_not_matter(variant: str):
    rules = make_rules(variant, 3)
    network = random_network(rules)
    order = np.array([2, 0, 3, 1])
    for seen in random_views(rules, 4):
        vectors = encode(seen)
        turned = vectors.copy()
        for field in field_table(rules):
            if field.name in ("rows", "row_end", "row_len", "row_heads"):
                part = vectors[:, field.start : field.stop].reshape(len(seen), 4, -1)
                turned[:, field.start : field.stop] = part[:, order].reshape(len(seen), -1)
        before, after = (logits(network.weights, rules, v) for v in (vectors, turned))
        rows = slice(TAKE_ROW, TAKE_ROW + 4)
        np.testing.assert_allclose(after[:, rows], before[:, rows][:, order], atol=1e-4)
        np.testing.assert_allclose(after[:, :TAKE_ROW], before[:, :TAKE_ROW], atol=1e-4)


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_empty_seats_do_not_matter(variant: str):
    """A game of three, laid out as one of the most players, is told the same."""
    rules = make_rules(variant, 3)
    largest = make_rules(variant, max(counts_of(variant)))
    for episode in ("round", "match"):
        played = make_rules(variant, 3, episode=episode)
        for seen in random_views(played, 4):
            vectors = encode(seen)
            wide = widened(vectors, played, largest)
            assert wide.shape == (len(seen), observation_size(largest))
            here, there = describe(played, vectors), describe(largest, wide)
            for name in ("who", "card", "cards", "taking", "rows"):
                np.testing.assert_array_equal(getattr(here, name), getattr(there, name), name)
            np.testing.assert_allclose(here.whole, there.whole, rtol=1e-6)
    assert widened(vectors, rules, rules) is vectors


@pytest.mark.parametrize("variant", ["base", "tactics", "plus", "simplified"])
def test_hidden_hands_are_not_told(variant: str):
    rules = make_rules(variant, 3)
    rng = np.random.default_rng(0)
    changed = 0
    for state in random_states(rules, 1):
        if state.phase[0] != PLAY:
            continue
        position = position_of(state, rules)
        table = {card for row in position.rows for card in row}
        known = table | {card for pile in position.piles or [] for card in pile}
        known |= set(position.hands[0])
        hidden = [card for card in range(1, rules.num_cards + 1) if card not in known]
        pool = iter(rng.permutation(hidden).tolist())
        hands = [position.hands[0]]
        for hand in position.hands[1:]:
            hands.append([card if card == ZERO else next(pool) for card in hand])
        other = Position(position.rows, hands, position.piles, position.scores, position.first_seat)
        changed += hands != position.hands
        found = []
        for each in (position, other):
            vectors = encode(observe(rules, each.state(rules), 0))
            found.append(describe(rules, vectors))
        _assert_same(*found)
    assert changed > 2


def _assert_same(left: Described, right: Described) -> None:
    for name in Described._fields:
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), name)


# The network in torch


def _model(rules: Rules, **options: Any) -> Any:
    torch = pytest.importorskip("torch")
    sb3_contrib = pytest.importorskip("sb3_contrib")
    from agents.network import CardPolicy, network
    from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
    from sixnimmt_env.trained.scope import scope_of

    torch.set_num_threads(1)  # more wait for each other on a busy machine
    env = SixNimmtVecEnv(2, num_players=rules.num_players, variant=rules.name)
    model = sb3_contrib.MaskablePPO(
        CardPolicy, env, n_steps=2, batch_size=4, policy_kwargs=network(rules), seed=0, device="cpu"
    )
    model.scope = scope_of([rules])
    return model


@pytest.mark.parametrize(
    ("variant", "players"), [(v, n) for v in VARIANTS for n in (2, 4, max(counts_of(v)))]
)
def test_every_game_is_played_legally(variant: str, players: int):
    rules = make_rules(variant, players)
    model = _model(rules)
    import torch

    from agents.learned import SB3Policy
    from sixnimmt_env.policy import play

    result = play([SB3Policy(model, greedy=False)] * players, rules, games=4)
    assert result.heads.shape == (4, players)  # an illegal action would be refused
    seen = observe(rules, Engine(rules).reset(1, 3), 0)
    with torch.no_grad():
        vectors = torch.as_tensor(encode(seen))
        chances = model.policy.get_distribution(vectors, seen.action_mask).distribution.probs
        values = model.policy.predict_values(vectors)
    chances, values = chances.numpy(), values.numpy()
    assert chances.shape == (3, rules.num_actions)
    assert values.shape == (3, 1) and np.isfinite(values).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-5)
    assert (chances[seen.action_mask == 0] < 1e-6).all()
    # It begins with about equal chances.
    legal = seen.action_mask.astype(bool)
    fair = np.broadcast_to(1 / legal.sum(axis=1, keepdims=True), legal.shape)
    np.testing.assert_allclose(chances[legal], fair[legal], rtol=0.2)


def test_it_learns():
    model = _model(make_rules(num_players=2))
    before = {name: value.clone() for name, value in model.policy.state_dict().items()}
    model.learn(4)
    after = model.policy.state_dict()
    changed = {name.split(".")[1] for name in before if (before[name] != after[name]).any()}
    assert {"trunk", "card", "mix", "card_score", "value"} <= changed


def test_widths_can_be_chosen():
    pytest.importorskip("torch")
    from agents.network import CardNetwork, network
    from sixnimmt_env.envs.spaces import flat_space

    rules = make_rules(num_players=2)
    options: Any = network(rules, width=32, card_width=16)["features_extractor_kwargs"]
    made = CardNetwork(flat_space(observation_size(rules)), **options)
    assert made.trunk[0].out_features == 32 and made.card.out_features == 16
    assert made.features_dim == rules.num_actions + 1
