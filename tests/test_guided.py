"""Guided search: it plays the round again rightly, knows nothing hidden, and plays legally."""

from __future__ import annotations

from dataclasses import fields
from itertools import product
from pathlib import Path
from statistics import fmean, variance

import numpy as np
import pytest

pytest.importorskip("numba", reason="deals are sampled by compiled loops")

from agents import guided
from agents.guided import Guided, outcomes
from agents.likely import SHARPNESS, Table, hold, put_together
from agents.players import load_player, saved_file
from agents.sampling import sample_deals
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import Observation, observe
from sixnimmt_env.policy import choose_actions
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import FIELDS, HAND, OVER, PILE, TAKE, State
from sixnimmt_env.variants import make_rules
from tests.networks import counts_of, random_network, random_states, write_network
from tests.rounds import all_rules, name_of


def _plain(rules: Rules) -> bool:
    one_at_once = rules.cards_per_turn == 1 and not rules.one_by_one
    return one_at_once and not rules.draft and not rules.zeros and rules.low_card == "take"


CHOICES = ("player", "fewest_heads")
BASE = [make_rules("base", p, row_choice=c) for p in counts_of("base") for c in CHOICES]
FEW = [r for r in BASE if r.num_players in (2, 4, 10)]


@pytest.fixture
def few_tries(monkeypatch):
    monkeypatch.setattr(guided, "TRIES", 6)


def turned(state: State, seat: int) -> State:
    """The same games with `seat` as seat 0 and the others clockwise."""
    order = (seat + np.arange(state.num_players)) % state.num_players
    new = state.copy()
    for name in ("hand", "played", "pile_heads", "score"):
        getattr(new, name)[...] = getattr(state, name)[order]
    owned = new.location >= HAND
    owner = ((new.location & 15).astype(int) - seat) % state.num_players
    new.location[owned] = ((new.location & (PILE + HAND)) + owner)[owned]
    queued = new.queue > 0
    owner = ((new.queue & 15).astype(int) - seat) % state.num_players
    new.queue[queued] = ((new.queue & 0xFFF0) + owner)[queued]
    # Outside of a choice of row nobody decides alone, and the actor is the last one who did.
    new.actor[...] = (new.actor.astype(int) - seat) % state.num_players * (new.phase == TAKE)
    return new


def views(rules: Rules, games: int, seed: int = 0):
    """States, a seat and what it sees where it decides."""
    for state in random_states(rules, games, seed):
        for seat in range(rules.num_players):
            lanes = np.flatnonzero(state.decides(np.uint8(seat)) & (state.phase != OVER))
            if lanes.size:
                some = state.take(lanes)
                yield some, seat, observe(rules, some, seat)


@pytest.mark.parametrize("rules", FEW, ids=name_of)
def test_a_replay_of_the_true_deal_is_the_true_state(rules: Rules):
    table = Table(random_network(rules), rules)
    for state, seat, observation in views(rules, 3):
        true = turned(state, seat)
        again, _ = table.replay(observation, true.hand.transpose(2, 0, 1))
        for name in set(FIELDS) - {"seed", "game_id"}:
            now = getattr(again, name)
            if name == "actor":
                now = now * (again.phase == TAKE)
            np.testing.assert_array_equal(now, getattr(true, name), err_msg=name)


@pytest.mark.parametrize("rules", FEW, ids=name_of)
def test_hands_can_be_exchanged_in_a_replayed_state(rules: Rules):
    """The state of one deal with the hands of another is the replayed state of the other."""
    table, rng = Table(random_network(rules), rules), np.random.default_rng(0)
    for _, _, observation in views(rules, 2):
        deals = sample_deals(observation, 2, rng)
        first, _ = table.replay(observation, deals[:, 0])
        second, _ = table.replay(observation, deals[:, 1])
        hold(first, deals[:, 1])
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name), name)


def test_likelihood_is_the_chance_of_what_was_played():
    rules = make_rules("base", 3)
    policy = random_network(rules)
    table, engine, rng = Table(policy, rules), Engine(rules), np.random.default_rng(0)
    state = engine.reset(2, 4)
    likely = np.zeros((4, 3))
    while (state.phase != OVER).any():
        playing = np.flatnonzero((state.phase != TAKE) & (state.phase != OVER))
        for seat in (0, 1, 2) if playing.size == 4 else ():
            if state.turn[0] < rules.hand_size - 1:
                true = turned(state, seat)
                observation = observe(rules, state, seat)
                hands = true.hand.transpose(2, 0, 1)
                _, past = table.replay(observation, hands)
                found = table.likelihood(observation, past, hands[:, None])[:, 0]
                others = [(seat + 1) % 3, (seat + 2) % 3]
                np.testing.assert_allclose(found, likely[:, others], atol=1e-4)
        joint = choose_actions([random_network(rules, greedy=False)] * 3, rules, state, rng)
        for seat in range(3):
            for game in playing:
                seen = observe(rules, state, seat, [game])
                if state.turn[game] < rules.hand_size - 1:
                    chances = policy.probabilities(seen)[0].astype(float) ** SHARPNESS
                    likely[game, seat] += np.log(chances[joint[seat, game]] / chances.sum())
        engine.step(state, joint, state.phase != OVER)


def test_hands_are_put_together_in_proportion_to_their_likelihood():
    """Two seats with a card each, of three: six deals, and any likelihood of each hand."""
    cards = np.array([(a, b) for a, b in product((5, 6, 7), repeat=2) if a != b], np.uint8)
    chance = np.array([[0, 0], [0.6, 0.1], [0.3, 0.2], [0.1, 0.7]])
    deals = np.zeros((1, 6, 3, 2), np.uint8)
    deals[0, :, 0], deals[0, :, 1:, 0] = (1, 2), cards
    likely = np.log([[(chance[a - 4, 0], chance[b - 4, 1]) for a, b in cards]])
    hands = put_together(deals, likely, 20_000, np.random.default_rng(0))
    assert (hands[:, :, 0] == (1, 2)).all()
    wanted = np.exp(likely[0].sum(axis=1))
    found = [(hands[0, :, 1:, 0] == pair).all(axis=1).mean() for pair in cards]
    np.testing.assert_allclose(found, wanted / wanted.sum(), atol=0.02)


def test_hands_of_different_deals_are_mixed():
    """Of two deals without a card in common, all as likely, four come."""
    deals = np.zeros((1, 2, 3, 1), np.uint8)
    deals[0, :, 1:, 0] = (5, 7), (6, 8)
    likely = np.full((1, 2, 2), np.log(0.5))
    hands = put_together(deals, likely, 400, np.random.default_rng(0))
    pairs, counts = np.unique(hands[0, :, 1:, 0], axis=0, return_counts=True)
    assert pairs.tolist() == [[5, 7], [5, 8], [6, 7], [6, 8]] and counts.min() > 60


@pytest.mark.parametrize("players", [3, 10])
def test_no_card_is_in_two_hands(players: int):
    rules = make_rules("base", players)
    table, rng = Table(random_network(rules), rules), np.random.default_rng(0)
    for _, _, observation in views(rules, 1):
        state = table.sample(observation, sample_deals(observation, 8, rng), 5, rng)
        for game in range(state.num_games):
            held = state.hand[:, :, game]
            held = held[held > 0]
            assert np.unique(held).size == held.size == observation.cards_left[0].sum()
            owners = state.location[held, game] - HAND
            np.testing.assert_array_equal(state.hand[owners, :, game].any(axis=1), True)
            assert (owners < players).all()


@pytest.mark.parametrize("choice", CHOICES)
def test_outcomes_of_what_the_network_does_are_those_of_its_game(choice: str):
    rules = make_rules("base", 4, row_choice=choice)
    policy = random_network(rules)
    table, engine, rng = Table(policy, rules), Engine(rules), np.random.default_rng(0)
    state = engine.reset(3, 20)
    earlier = []
    while (live := state.phase != OVER).any():
        lanes = np.flatnonzero(live & state.decides(np.uint8(0)))
        joint = choose_actions([policy] * 4, rules, state, rng)
        if lanes.size:
            some = state.take(lanes)
            heads = outcomes(table, some, np.arange(lanes.size), joint[0, lanes])
            earlier.append((lanes, some.pile_heads[0] + heads))
        engine.step(state, joint, live)
    for lanes, total in earlier:
        np.testing.assert_array_equal(total, state.pile_heads[0, lanes])


@pytest.mark.parametrize("rules", BASE, ids=name_of)
def test_it_plays_legally_everywhere(rules: Rules, few_tries):
    player, rng = Guided(random_network(rules), 2), np.random.default_rng(0)
    seats = np.arange(rules.num_players)
    for state in random_states(rules, 1):
        seen = observe(rules, state, seats, np.zeros_like(seats))
        actions = player.act(seen, rng)
        assert seen.action_mask[seats, actions].all()


def test_it_knows_nothing_hidden(few_tries):
    rules = make_rules("base", 4)
    player, differ = Guided(random_network(rules), 4), 0
    for state, seat, observation in list(views(rules, 1))[1::3]:
        other = state.copy()
        hands = state.hand.transpose(2, 0, 1).copy()
        a, b = (seat + 1) % 4, (seat + 2) % 4
        if not np.array_equal(observation.cards_left[:, 1], observation.cards_left[:, 2]):
            continue
        hands[:, [a, b]] = hands[:, [b, a]]
        hold(other, hands)
        differ += not np.array_equal(other.hand, state.hand)
        seen = observe(rules, other, seat)
        for name in (field.name for field in fields(Observation)):
            if name != "rules":
                np.testing.assert_array_equal(getattr(seen, name), getattr(observation, name))
        first = player.act(observation, np.random.default_rng(1))
        np.testing.assert_array_equal(first, player.act(seen, np.random.default_rng(1)))
    assert differ > 5


def test_it_differs_from_the_network_and_repeats_itself(few_tries):
    rules = make_rules("base", 4)
    policy, same = random_network(rules), []
    for _, _, observation in list(views(rules, 2))[::3]:
        actions = Guided(policy, 8).act(observation, np.random.default_rng(5))
        again = Guided(policy, 8).act(observation, np.random.default_rng(5))
        np.testing.assert_array_equal(actions, again)
        same += (actions == policy.act(observation, np.random.default_rng(5))).tolist()
    assert 0.3 < np.mean(same) < 1


def test_the_network_decides_where_the_beginning_is_unknown(few_tries):
    rules = make_rules("base", 4)
    policy = random_network(rules)
    for state, seat, _ in views(rules, 2):
        state.starters[...] = 0
        seen = observe(rules, state, seat)
        actions = Guided(policy, 4).act(seen, np.random.default_rng(0))
        np.testing.assert_array_equal(actions, policy.act(seen, np.random.default_rng(0)))


def test_rollouts_are_trusted_as_far_as_they_agree():
    behind = np.array([[0.0, 0.5]], np.float32)
    noise = np.where(np.arange(100) % 2, 30.0, -30.0)
    heads = np.zeros((1, 2, 100))
    heads[0, 1] = noise - 3
    assert guided._judged(heads, behind)[0, 1] == pytest.approx(0.5, abs=0.3)
    heads[0, 1] = noise / 30 - 3
    assert guided._judged(heads, behind)[0, 1] == pytest.approx(-3, abs=0.1)


def test_judgements_are_weighed_by_their_precision():
    """Against the posterior of a normal prior, one candidate after the other."""
    rng = np.random.default_rng(0)
    heads = rng.integers(0, 20, (3, 4, 9)).astype(float)
    behind = rng.random((3, 4)).astype(np.float32)
    found = guided._judged(heads, behind)
    for i, k in product(range(3), range(4)):
        more = [a - b for a, b in zip(heads[i, k], heads[i, 0], strict=True)]
        error = variance(more) / 9
        wanted = (fmean(more) / error + behind[i, k] / 0.5) / (1 / error + 1 / 0.5) if k else 0
        assert found[i, k] == pytest.approx(wanted)


def test_what_is_tried(few_tries, monkeypatch):
    """The network's best five where there is a choice, none four heads behind the best."""
    rules, tried, counts = make_rules("base", 4), [], set()
    policy = random_network(rules)
    for name in ("card_score.weight", "row_score.weight"):
        policy.weights[name] = policy.weights[name] * 6

    def nothing(table, state, lanes, actions):
        tried.extend(zip((lanes // 2).tolist(), actions.tolist(), strict=True))
        return np.zeros(len(lanes), np.int64)

    monkeypatch.setattr(guided, "outcomes", nothing)
    for _, _, observation in list(views(rules, 3))[::2]:
        tried.clear()
        Guided(policy, 2).act(observation, np.random.default_rng(0))
        wanted, prior = set(), policy.logits(observation)
        choice = [i for i in range(len(prior)) if observation.action_mask[i].sum() > 1]
        for place, i in enumerate(choice):
            best = sorted(np.flatnonzero(observation.action_mask[i]), key=lambda a: -prior[i, a])
            good = [a for a in best[:5] if (prior[i, best[0]] - prior[i, a]) / 2 <= 4]
            wanted |= {(place, int(a)) for a in good}
            counts.add(len(good))
        assert set(tried) == wanted
    assert counts >= {1, 3, 5}


@pytest.mark.parametrize("rules", [r for r in all_rules() if not _plain(r)], ids=name_of)
def test_other_games_are_refused(rules: Rules):
    seen = observe(rules, Engine(rules).reset(0), 0)
    with pytest.raises(ValueError, match="guided cannot play"):
        Guided(random_network(make_rules("base", 4))).act(seen, np.random.default_rng(0))


def test_a_network_for_other_games_is_refused():
    rules = make_rules("base", 3)
    seen = observe(rules, Engine(rules).reset(0), 0)
    with pytest.raises(ValueError, match="trained for base with 4 players"):
        Guided(random_network(make_rules("base", 4))).act(seen, np.random.default_rng(0))


def test_players_by_name(tmp_path: Path):
    file = tmp_path / "policy.npz"
    write_network(file, make_rules("base", 4))
    player = load_player(f"guided:8:{file}")
    assert player.determinisations == 8 and player.policy is not None
    assert load_player(f"guided:{file}").determinisations == guided.DETERMINISATIONS
    assert load_player("guided:8").policy is None
    assert saved_file(f"guided:8:{file}") == saved_file(f"guided:{file}") == file
    assert saved_file("guided:8") is None
    for spec in ("guided:x", f"guided:{file}:8", "guided:1", "guided:8:8"):
        with pytest.raises(ValueError):
            load_player(spec)
