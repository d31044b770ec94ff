"""No way from what one seat gets to what another one holds."""

from __future__ import annotations

import numpy as np
import pytest

from sixnimmt_env.dealing import private_rng
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import RandomPolicy, choose_actions, play
from sixnimmt_env.state import OVER
from sixnimmt_env.variants import make_rules

from .memory import Prying, assert_alone, assert_apart, beyond, record_arrays

GAMES = [
    ("base", 4, "player"),
    ("base", 10, "fewest_heads"),
    ("pro", 3, "player"),
    ("plus", 4, "player"),
    ("simplified", 3, "player"),
]
RULES = [make_rules(name, n, row_choice=choice) for name, n, choice in GAMES]
each = pytest.mark.parametrize("rules", RULES, ids=lambda r: f"{r.name}-{r.num_players}")
TABLES = [("base", 4), ("plus", 3), ("simplified", 3), ("pro", 3)]
variants = pytest.mark.parametrize(("variant", "players"), TABLES)


def test_the_detector_works():
    hands = np.arange(12, dtype=np.uint8).reshape(3, 4) + 1
    assert beyond(hands[1]).tolist() == [1, 2, 3, 4, 9, 10, 11, 12]
    assert beyond(hands[:, 1:3].T).size == 6
    assert beyond(hands).size == 0 and beyond(hands[1].copy()).size == 0
    assert beyond(np.frombuffer(b"\1\2\3", np.uint8)[1:2]).tolist() == [1, 3]
    assert beyond(np.broadcast_to(np.zeros((), np.uint8), (3, 4))).size == 0


@each
@pytest.mark.parametrize("games", [7, 1500])  # rows of large batches are padded
def test_records_lead_nowhere(rules, games):
    engine, rng = Engine(rules), np.random.default_rng(0)
    state = engine.reset(seed=3, games=games)
    seats = [RandomPolicy()] * rules.num_players
    last, some = rules.num_players - 1, np.array([3, 1, 3, 5])
    for _ in range(5):
        for seen in (
            observe(rules, state, 0),
            observe(rules, state, last),
            observe(rules, state, last, some),
            observe(rules, state, last, np.arange(games) < 5),
            observe(rules, state, np.arange(games) % rules.num_players),
            observe(rules, state, np.array([last, 0, 1, 0]), some),
        ):
            arrays = record_arrays(seen)
            assert_alone(**arrays)
            assert_apart([a for a in arrays.values() if a.flags.writeable], state)
        for _ in range(2):
            engine.step(state, choose_actions(seats, rules, state, rng), state.phase != OVER)


def test_what_all_records_share_cannot_be_written():
    rules = make_rules()
    hands = observe(rules, Engine(rules).reset(), 0).hands
    while isinstance(hands, np.ndarray):
        assert not hands.flags.writeable
        with pytest.raises(ValueError):
            hands.setflags(write=True)
        hands = hands.base
    assert isinstance(hands, bytes)


@each
@pytest.mark.parametrize("games", [3, 300])  # one call for all seats, and one for each
def test_policies(rules, games):
    """One that holds all seats, and one for each seat."""
    engine = Engine(rules)
    one = Prying()
    for seats in ([one] * rules.num_players, [Prying() for _ in range(rules.num_players)]):
        state, rng = engine.reset(1, games), np.random.default_rng(0)
        for policy in seats:
            policy.state = state
        for _ in range(4):
            engine.step(state, choose_actions(seats, rules, state, rng))
        assert min(policy.calls for policy in seats) > 0
        play(seats, rules, games=2, seed=1)


@variants
def test_parallel(variant, players):
    sixnimmt_v0 = pytest.importorskip("sixnimmt_env.sixnimmt_v0")
    env = sixnimmt_v0.parallel_env(variant=variant, num_players=players)
    observations, _ = env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(7):
        arrays = [a for seen in observations.values() for a in seen.values()]
        assert_apart(arrays, env.unwrapped._state)
        for seen in observations.values():
            assert_alone(**seen)
        actions = {a: rng.choice(np.flatnonzero(o["action_mask"])) for a, o in observations.items()}
        observations = env.step(actions)[0]
    assert_alone(state=env.state())


@variants
def test_aec(variant, players):
    sixnimmt_v0 = pytest.importorskip("sixnimmt_env.sixnimmt_v0")
    env = sixnimmt_v0.env(variant=variant, num_players=players)
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(4 * players):
        seen = [env.observe(agent) for agent in env.possible_agents]
        assert_apart([a for one in seen for a in one.values()])
        for one in (*seen, env.last()[0]):
            assert_alone(**one)
        env.step(rng.choice(np.flatnonzero(env.last()[0]["action_mask"])))


@variants
def test_single_and_its_opponents(variant, players):
    pytest.importorskip("gymnasium")
    from sixnimmt_env.envs.single import SixNimmtEnv

    opponent = Prying()
    env = SixNimmtEnv(opponents=opponent, seat=1, variant=variant, num_players=players)
    seen, _ = env.reset(seed=1)
    opponent.state = env.game
    rng, over = np.random.default_rng(0), False
    while not over:
        assert_alone(**seen)
        assert_apart(list(seen.values()), env.game)
        seen, _, over, _, _ = env.step(rng.choice(np.flatnonzero(seen["action_mask"])))
    assert opponent.calls > 3


@variants
def test_vector_and_its_opponents(variant, players):
    """All learners are of one owner: their observations are one array, but nothing else is."""
    pytest.importorskip("gymnasium")
    from sixnimmt_env.envs.vector import SixNimmtVectorEnv

    opponent = Prying()
    for options in ({"self_play": True}, {"opponents": opponent}):
        env = SixNimmtVectorEnv(12, variant=variant, num_players=players, **options)
        seen, _ = env.reset(seed=1)
        for _ in range(5):
            assert_alone(**seen)
            seen = env.step(seen["action_mask"].argmax(axis=1))[0]
    assert opponent.calls > 3


@variants
def test_sb3_and_its_opponents(variant, players):
    pytest.importorskip("stable_baselines3")
    from sixnimmt_env.envs.sb3 import SixNimmtVecEnv

    opponent = Prying()
    env = SixNimmtVecEnv(3, [0], opponent, variant=variant, num_players=players)
    seen = env.reset()
    for _ in range(5):
        assert_alone(seen=seen)
        seen = env.step(env.action_masks().argmax(axis=1))[0]
    assert opponent.calls > 3


def test_arena():
    pytest.importorskip("openskill")
    pytest.importorskip("tqdm")
    from benchmarks.lineups import Config, chunks, lineups
    from benchmarks.tournament import Clock, play_chunk

    config = Config(("tests.memory:Prying", "random"), seats=3, rounds=4, variant="plus")
    for chunk in chunks(config, lineups(config)):
        assert "failure" not in play_chunk(config, chunk, 60, Clock())


def test_the_seed_is_not_in_the_chance_of_policies():
    """With it, a policy could deal all hands again."""
    rng, open_rng = private_rng(7), np.random.default_rng(7)
    bits = rng.bit_generator
    assert bits.seed_seq.entropy != 7 and bits.seed_seq.entropy > 2**128
    assert bits.seed_seq.entropy == private_rng(7).bit_generator.seed_seq.entropy
    assert bits.seed_seq.entropy != private_rng(8).bit_generator.seed_seq.entropy
    np.testing.assert_array_equal(rng.random(5), open_rng.random(5))
    spawned = rng.spawn(1)[0].random()
    assert spawned == private_rng(7).spawn(1)[0].random() != open_rng.spawn(1)[0].random()
