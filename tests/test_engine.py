"""Deals, episodes, bad input: what the engine promises beside the rules of placement."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sixnimmt_env.cards import BULL_HEADS, bull_heads
from sixnimmt_env.engine import Engine, IllegalActionError
from sixnimmt_env.policy import RandomPolicy, choose_actions, play
from sixnimmt_env.rules import Rules, RulesError
from sixnimmt_env.state import FIELDS, HAND, OVER, PILE, PLAY, TABLE, TAKE, State
from sixnimmt_env.variants import make_rules


def same(left: State, right: State) -> bool:
    return all(np.array_equal(getattr(left, f), getattr(right, f)) for f in FIELDS)


def uniform(counts: np.ndarray) -> bool:
    """Chi-square test against equal chances, by its normal approximation, at 4 deviations."""
    expected = counts.sum() / counts.size
    chi_square = ((counts - expected) ** 2 / expected).sum()
    freedom = counts.size - 1
    return bool(abs(chi_square - freedom) < 4 * np.sqrt(2 * freedom))


def play_out(engine: Engine, state: State, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    seats = [RandomPolicy()] * engine.rules.num_players
    while (state.phase != OVER).any():
        actions = choose_actions(seats, engine.rules, state, rng)
        engine.step(state, actions, state.phase != OVER)


def test_bull_heads():
    values, counts = np.unique(BULL_HEADS[1:], return_counts=True)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {
        1: 76,
        2: 9,
        3: 10,
        5: 8,
        7: 1,
    }
    assert BULL_HEADS.sum() == 171
    assert [bull_heads(c) for c in (1, 5, 10, 11, 55, 100, 104)] == [1, 2, 3, 5, 7, 3, 1]
    for card in (0, 105, -1):
        with pytest.raises(ValueError, match=f"no card {card}"):
            bull_heads(card)


@pytest.mark.parametrize("variant", ["base", "tactics", "pro"])
def test_same_game_in_any_batch(variant):
    engine = Engine(make_rules(variant, 4))
    whole = engine.reset(seed=7, games=5000)
    for ids in ([0], [4999], [17, 3, 4096, 17]):
        assert same(engine.reset(seed=7, games=np.array(ids)), whole.take(ids))
    mixed = engine.reset(seed=np.array([7, 8]), games=np.array([3, 3]))
    assert same(mixed.take([0]), whole.take([3]))
    assert variant == "pro" or not same(mixed.take([1]), whole.take([3]))


def test_restart_equals_reset():
    engine = Engine(make_rules("base", 3))
    state = engine.reset(seed=1, games=50)
    play_out(engine, state)
    untouched = state.take(np.arange(0, 50, 2))
    odd = np.arange(1, 50, 2)
    engine.restart(state, odd, seed=1, game_id=odd)
    assert same(state.take(odd), engine.reset(seed=1, games=odd))
    assert same(state.take(np.arange(0, 50, 2)), untouched)


def test_deal_is_uniform():
    rules = make_rules("base", 4)
    state = Engine(rules).reset(seed=3, games=20_000)
    held = np.zeros((rules.num_players, 105))
    for seat in range(rules.num_players):
        held[seat] = (state.location == HAND + seat).sum(axis=1)
    starters = (state.location == TABLE).sum(axis=1)
    for counts in (*held[:, 1:], starters[1:]):
        assert uniform(counts)
    pairs = np.bincount(state.starters[0].astype(int) * 105 + state.starters[1], minlength=105**2)
    grid = pairs.reshape(105, 105)[1:, 1:]
    assert np.diag(grid).sum() == 0
    off = grid[~np.eye(104, dtype=bool)]
    assert uniform(off)


@pytest.mark.parametrize("players", [2, 6, 10])
def test_deal_holds_every_card_once(players):
    state = Engine(make_rules("base", players)).reset(seed=0, games=300)
    for game in range(0, 300, 29):
        cards = np.concatenate((state.hand[..., game].ravel(), state.starters[:, game]))
        assert len(set(cards.tolist())) == 10 * players + 4
        assert cards.min() >= 1
    assert (np.diff(state.hand.astype(int), axis=1) > 0).all()


def test_match_to_a_target_ends_at_66_not_above():
    rules = make_rules("base", 4, episode="match")
    assert rules.target == 66
    engine = Engine(rules)
    state = engine.reset(seed=0, games=400)
    play_out(engine, state)
    totals = state.totals()
    assert (totals.max(axis=0) >= 66).all()
    assert (state.score.max(axis=0) < 66).all()
    assert (totals.max(axis=0) == 66).any(), "no game of this seed ends at exactly 66"


def test_match_of_rounds_deals_anew():
    engine = Engine(make_rules("base", 2, episode="match", rounds=3, row_choice="fewest_heads"))
    state = engine.reset(seed=0, games=20)
    hands = [state.hand.copy()]
    for step in range(30):
        assert (state.round == step // 10).all()
        assert (state.phase == PLAY).all()
        engine.step(state, state.hand[:, 0].copy())
        if step in (9, 19):
            hands.append(state.hand.copy())
            assert (state.pile_heads == 0).all()
    assert (state.phase == OVER).all()
    assert not np.array_equal(hands[0], hands[1])
    assert not np.array_equal(hands[1], hands[2])


def test_pro_changes_the_first_seat_every_round():
    engine = Engine(make_rules("pro", 3, episode="match", rounds=2))
    state = engine.reset(seed=0, games=300)
    first = state.first_seat.copy()
    assert set(first.tolist()) == {0, 1, 2}
    rng = np.random.default_rng(0)
    seats = [RandomPolicy()] * 3
    while (state.round == 0).any():
        actions = choose_actions(seats, engine.rules, state, rng)
        engine.step(state, actions, state.round == 0)
    np.testing.assert_array_equal(state.first_seat, (first + 1) % 3)


def test_round_waits_for_a_low_card_of_the_last_turn():
    """Empty hands are not the end while a row is to be chosen."""
    engine = Engine(make_rules("base", 4))
    state = engine.reset(seed=0, games=3000)
    rng = np.random.default_rng(0)
    seats = [RandomPolicy()] * 4
    waited = 0
    while (state.phase != OVER).any():
        last = (state.phase == TAKE) & (state.hand == 0).all(axis=(0, 1))
        waited += int(last.sum())
        engine.step(state, choose_actions(seats, engine.rules, state, rng), state.phase != OVER)
    assert waited > 50


@pytest.mark.parametrize("row_choice", ["player", "fewest_heads"])
def test_conservation(row_choice):
    engine = Engine(make_rules("base", 5, row_choice=row_choice))
    state = engine.reset(seed=2, games=200)
    rng = np.random.default_rng(0)
    seats = [RandomPolicy()] * 5
    while (state.phase != OVER).any():
        engine.step(state, choose_actions(seats, engine.rules, state, rng), state.phase != OVER)
        heads = BULL_HEADS[:, None] * (state.location >= PILE)
        np.testing.assert_array_equal(heads.sum(axis=0), state.pile_heads.sum(axis=0))
        np.testing.assert_array_equal(BULL_HEADS[state.rows].sum(axis=1), state.row_heads)
        np.testing.assert_array_equal((state.rows != 0).sum(axis=1), state.row_len)
        in_rows = np.take_along_axis(state.location, state.row_end.astype(int), axis=0)
        assert (in_rows == TABLE).all()


@pytest.fixture
def table():
    engine = Engine(make_rules("base", 4))
    return engine, engine.reset(seed=1, games=3)


def refuses(engine, state, actions, error, match, where=None):
    before = state.copy()
    with pytest.raises(error, match=match):
        engine.step(state, actions, where)
    assert same(before, state)


def test_bad_actions_leave_the_state_alone(table):
    engine, state = table
    good = state.hand[:, 0].astype(int)
    for value, what in ((0, "pass"), (105, "take row 1"), (200, "200"), (-1, "-1"), (999, "999")):
        bad = good.copy()
        bad[2, 1] = value
        refuses(engine, state, bad, IllegalActionError, f"player_2 in game 1.*{what}.*legal.*mask")
    bad = good.copy()
    bad[0, 0] = state.hand[1, 0, 0]
    refuses(engine, state, bad, IllegalActionError, re.escape(f"card {bad[0, 0]}"))
    refuses(engine, state, good[:3], ValueError, r"\(3, 3\).*\(4, 3\)")
    refuses(engine, state, good[:, 0], ValueError, "shape")
    refuses(engine, state, good.astype(float), TypeError, "float64")
    refuses(engine, state, np.full((4, 3), np.nan), TypeError, "float64")
    refuses(engine, state, good.astype(str), TypeError, "dtype")
    refuses(engine, state, good, ValueError, "where", where=np.ones(2, bool))
    refuses(engine, state, good, ValueError, "where", where=np.ones(3, int))


def test_acting_after_the_end(table):
    engine, state = table
    play_out(engine, state)
    refuses(engine, state, np.zeros((4, 3), int), IllegalActionError, "game 0 is over.*reset")


def test_only_the_owner_of_a_low_card_acts():
    engine = Engine(make_rules("base", 4))
    state = engine.reset(seed=0, games=500)
    engine.step(state, state.hand[:, 0])
    game = int(np.flatnonzero(state.phase == TAKE)[0])
    one = state.take([game])
    owner = int(one.actor[0])
    assert engine.legal(one, owner, 0) == [105, 106, 107, 108]
    assert all(engine.legal(one, seat, 0) == [0] for seat in range(4) if seat != owner)
    actions = np.zeros((4, 1), int)
    refuses(engine, one, actions, IllegalActionError, f"player_{owner}")
    actions[:, 0] = 105
    refuses(engine, one, actions, IllegalActionError, "legal actions are \\[0\\]")
    actions[:, 0] = 0
    actions[owner] = 106
    engine.step(one, actions)
    assert one.row_taken[0, 0] == 2


def test_where_leaves_other_games_alone(table):
    engine, state = table
    before = state.copy()
    where = np.array([True, False, True])
    actions = state.hand[:, 0].astype(int)
    actions[:, 1] = 77
    engine.step(state, actions, where)
    assert same(state.take([1]), before.take([1]))
    assert not same(state.take([0]), before.take([0]))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"num_players": 11}, "num_players=11.*2 to 10"),
        ({"num_players": 1}, "num_players=1"),
        ({"num_players": 4.0}, "num_players=4.0"),
        ({"num_players": True}, "num_players=True"),
        ({"variant": "tactics", "num_players": 7}, "num_players=7.*2 to 6"),
        ({"variant": "pro", "num_players": 10}, "num_players=10.*2 to 6"),
        ({"variant": "uno"}, "variant='uno'.*base"),
        ({"row_choice": "cheapest"}, "row_choice='cheapest'.*fewest_heads"),
        ({"episode": "day"}, "episode='day'"),
        ({"episode": "match", "target": 0}, "target=0"),
        ({"episode": "match", "target": -5}, "target=-5"),
        ({"episode": "match", "rounds": 0}, "rounds=0"),
        ({"episode": "match", "target": 66, "rounds": 3}, "exclude"),
        ({"target": 66}, "episode='match'"),
        ({"rounds": 2}, "episode='match'"),
    ],
)
def test_rules_that_cannot_be(options, match):
    with pytest.raises(RulesError, match=match):
        make_rules(**options)


def test_rules_check_the_deck():
    with pytest.raises(RulesError, match="num_cards=40"):
        Rules(num_players=4, num_cards=40)
    with pytest.raises(RulesError, match="draft"):
        Rules(num_players=4, num_cards=50, draft=True)


@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_bad_seeds(seed):
    with pytest.raises(ValueError, match="seed"):
        Engine(make_rules()).reset(seed=seed)


@pytest.mark.parametrize("games", [0, -3, 2.5, True])
def test_bad_number_of_games(games):
    with pytest.raises(ValueError, match="games"):
        Engine(make_rules()).reset(games=games)


def test_memory_per_game():
    for players in (2, 4, 10):
        assert Engine(make_rules("base", players)).reset(games=1000).nbytes_per_game <= 600


def test_play_needs_one_policy_per_seat():
    with pytest.raises(ValueError, match="3 policies for 4 players"):
        play(["random"] * 3, make_rules())


@pytest.mark.parametrize("variant", ["base", "tactics", "pro"])
def test_numpy_integers_are_whole_numbers(variant):
    assert make_rules(variant, np.int64(4)) == make_rules(variant, 4)


@pytest.mark.parametrize("games", [5, 400])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda actions: actions + 0.5,
        lambda actions: actions.astype(str),
        lambda actions: actions[:-1],
        lambda actions: actions[:, None],
        lambda actions: actions[0],
        lambda actions: None,
    ],
)
def test_policy_that_returns_no_actions(spoil, games):
    class Broken:
        def act(self, observation, rng):
            return spoil(observation.action_mask.argmax(axis=1))

    with pytest.raises(ValueError, match=r"Broken.act returned .* is needed"):
        play([Broken(), "random"], make_rules("base", 2), games=games)


def test_a_state_of_another_game_is_refused():
    for other in (make_rules("plus", 4), make_rules("base", 3), make_rules("simplified", 4)):
        state = Engine(other).reset(0, 2)
        with pytest.raises(ValueError, match="of another game than base with 4 players"):
            Engine(make_rules("base", 4)).step(state, np.zeros(state.hand.shape[::2], int))


def test_a_class_is_no_policy():
    with pytest.raises(ValueError, match=r"RandomPolicy is a class: give an object, RandomPolicy"):
        play([RandomPolicy] * 4, make_rules())
    with pytest.raises(ValueError, match="a list is needed"):
        play("random", make_rules())


def test_seats_and_games_that_are_not_there():
    engine = Engine(make_rules())
    state = engine.reset(0, 2)
    for seat, game, name in ((-1, 0, "seat -1"), (4, 0, "seat 4"), (0, 2, "game 2")):
        with pytest.raises(ValueError, match=f"there is no {name}"):
            engine.legal(state, seat, game)
