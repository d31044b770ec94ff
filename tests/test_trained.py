"""Trained players without torch: what they can play, their files, and the policy "trained"."""

from __future__ import annotations

import copy
import io
import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sixnimmt_env
from agents.learned import file_of
from agents.players import load_player, saved_file
from sixnimmt_env import load_policy, make_policy, make_rules, observe, play, sixnimmt_v0
from sixnimmt_env.envs.single import SixNimmtEnv
from sixnimmt_env.envs.vector import SixNimmtVectorEnv
from sixnimmt_env.observe import Observation
from sixnimmt_env.policy import Policy
from sixnimmt_env.trained import shipped
from sixnimmt_env.trained.network import NetworkPolicy, policy_bytes
from sixnimmt_env.trained.scope import Scope, scope_of
from sixnimmt_env.variants import VARIANTS
from tests.networks import counts_of, random_network, random_views, write_file, write_network

BASE = [make_rules(num_players=n) for n in (2, 3, 4)]


def views(rules: Any, games: int = 5) -> list[Observation]:
    return list(random_views(rules, games))


# What a network can play


def test_scope_of_several_games():
    scope = scope_of([make_rules(num_players=3, row_choice="fewest_heads"), *BASE])
    assert scope.players == (2, 3, 4) and scope.row_choices == ("player", "fewest_heads")
    assert scope.rules == make_rules(num_players=4)
    assert str(scope) == "base with 2, 3 or 4 players, row_choice=player or fewest_heads"
    assert str(scope_of([make_rules("plus", 2)])) == "plus with 2 players"
    with pytest.raises(ValueError, match=r"cannot play base .*'name'.* differ"):
        scope_of([make_rules("tactics", 3), make_rules("base", 3)])


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_all_numbers_of_players_are_one_scope(variant: str):
    scope = scope_of([make_rules(variant, n) for n in counts_of(variant)])
    assert Scope.from_dict(json.loads(json.dumps(scope.as_dict()))) == scope
    for players in counts_of(variant):
        assert scope.why_not(make_rules(variant, players)) is None
        assert scope.why_not(make_rules(variant, players, episode="match")) is None


@pytest.mark.parametrize(
    ("rules", "differs"),
    [
        (make_rules(num_players=5), "num_players"),
        (make_rules("tactics", 3), "name"),
        (make_rules("pro", 3), "draft"),
        (make_rules("plus", 3), "hand_size"),
        (replace(BASE[1], hand_size=9), "hand_size"),
        (replace(BASE[1], collect=True), "collect"),
    ],
)
def test_other_games_are_refused(rules: Any, differs: str):
    policy = random_network(*BASE)
    seen = observe(rules, sixnimmt_env.Engine(rules).reset(0, 2), 0)
    for decide in (policy.logits, policy.probabilities, lambda s: policy.act(s, None)):
        with pytest.raises(ValueError, match=rf"base with 2, 3 or 4 players.*'{differs}'"):
            decide(seen)


def test_one_who_chooses_rows_can_do_without_but_not_the_other_way_round():
    fewest = make_rules(num_players=3, row_choice="fewest_heads")
    assert scope_of(BASE).why_not(fewest) is None
    reason = scope_of([fewest]).why_not(BASE[1])
    assert reason is not None and "row_choice" in reason and "fewest_heads" in reason


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"players": []}, "players"),
        ({"players": [2, 3]}, r"players=\(2, 3\)"),
        ({"players": [1, 4]}, "players"),
        ({"row_choices": []}, "row_choices"),
        ({"row_choices": ["mine"]}, "mine"),
        ({"rules": {"num_players": 99}}, "99"),
    ],
)
def test_scopes_that_cannot_be(change: dict[str, Any], said: str):
    with pytest.raises(ValueError, match=said):
        Scope.from_dict(scope_of(BASE).as_dict() | change)


# Decisions


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_every_game_is_played_legally_by_one_network(variant: str):
    policy = random_network(*(make_rules(variant, n) for n in counts_of(variant)))
    for players in counts_of(variant):
        for greedy in (True, False):
            policy.greedy = greedy
            result = play([policy] * players, make_rules(variant, players), games=3)
            assert result.heads.shape == (3, players)  # an illegal action would be refused
    match = make_rules(variant, 2, episode="match", rounds=2)
    play([policy, "random"], match, games=2)


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_one_decision_equals_a_batch(variant: str):
    policy = random_network(make_rules(variant, 2), make_rules(variant, 3))
    for seen in views(make_rules(variant, 2), games=2):
        many = policy.probabilities(seen)
        assert many.dtype == np.float32 and (many[seen.action_mask == 0] == 0).all()
        np.testing.assert_allclose(many.sum(axis=1), 1, rtol=1e-5)
        for i in range(len(seen)):
            one = policy.probabilities(_some(seen, np.array([i])))
            np.testing.assert_allclose(one[0], many[i], atol=1e-5)


def test_more_decisions_than_a_block():
    rules = BASE[2]
    policy = random_network(*BASE)
    seen = observe(rules, sixnimmt_env.Engine(rules).reset(0, 700), 0)
    parts = [policy.logits(_some(seen, np.arange(at, at + 100))) for at in range(0, 700, 100)]
    np.testing.assert_allclose(policy.logits(seen), np.concatenate(parts), atol=1e-4)
    assert policy.act(_some(seen, np.arange(0)), np.random.default_rng(0)).shape == (0,)


def _some(seen: Observation, index: np.ndarray) -> Observation:
    values = {name: getattr(seen, name) for name in Observation.__slots__ if name != "rules"}
    return replace(seen, **{name: value[index] for name, value in values.items()})


def test_sampling_follows_the_probabilities():
    rules = BASE[0]
    policy = random_network(rules, greedy=False)
    seen = observe(rules, sixnimmt_env.Engine(rules).reset(3), 0)
    chances = policy.probabilities(seen)[0]
    assert 0.2 < chances.max() < 0.95
    many = _some(seen, np.zeros(8_000, np.intp))
    share = np.bincount(policy.act(many, np.random.default_rng(0)), minlength=109) / 8_000
    assert abs(share - chances).max() < 0.03
    policy.greedy = True
    assert (policy.act(many, np.random.default_rng(0)) == chances.argmax()).all()


# Files


def test_a_file_plays_as_what_was_saved(tmp_path: Path):
    path = tmp_path / "policy.npz"
    saved = write_network(path, *BASE)
    loaded = load_policy(path)
    assert loaded.scope == saved.scope and loaded.about == {"seed": 0} and loaded.greedy
    assert not load_policy(str(path), greedy=False).greedy
    assert loaded.weights.keys() == saved.weights.keys()
    for seen in views(BASE[1]):
        np.testing.assert_array_equal(loaded.logits(seen), saved.logits(seen))
    assert policy_bytes(loaded) == path.read_bytes()  # the same policy, the same file


def test_a_damaged_file_is_refused(tmp_path: Path):
    path = tmp_path / "policy.npz"
    saved = write_network(path, *BASE)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for at in rng.integers(0, len(data), 150):
        damaged = bytearray(data)
        damaged[at] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            same = load_policy(path)
        except ValueError as error:
            assert str(path) in str(error) and "training.export" in str(error)
            refused += 1
            continue
        for name, weights in same.weights.items():  # a bit that says nothing, such as a date
            np.testing.assert_array_equal(weights, saved.weights[name])
    assert refused > 75
    for size in (0, 1, 100, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(ValueError, match="is not an exported policy, or is damaged"):
            load_policy(path)


class Opened:
    """What a pickle in a file could run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("code of the file was run",)


def test_other_files_are_refused(tmp_path: Path):
    path = tmp_path / "policy.npz"
    with pytest.raises(FileNotFoundError, match=r"no policy file .*policy\.npz"):
        load_policy(path)
    code = np.empty(1, object)
    code[0] = Opened()
    for content in ({"a": np.zeros(3)}, {"about": np.zeros(3)}, {"about": code}):
        with path.open("wb") as file:
            np.savez(file, **content)
        with pytest.raises(ValueError, match="is not an exported policy"):
            load_policy(path)
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(ValueError, match="is not an exported policy"):
        load_policy(path)
    path.write_bytes(pickle.dumps(Opened()))
    with pytest.raises(ValueError, match="is not an exported policy"):
        load_policy(path)


def test_a_newer_file_is_named(tmp_path: Path):
    path = tmp_path / "policy.npz"
    write_file(path, {"format": 2, "scope": "told in another way"})
    with pytest.raises(ValueError, match=r"is of format 2, and this version .* reads format 1"):
        load_policy(path)


@pytest.mark.parametrize(
    ("change", "arrays", "said"),
    [
        ({"scope": {}}, {}, "rules"),
        ({"scope": None}, {}, "damaged"),
        ({"scope": scope_of(BASE).as_dict() | {"rules": {"odd": 1}}}, {}, "odd"),
        ({"scope": scope_of([make_rules("pro", 4)]).as_dict()}, {}, r"pro: \['trunk.0.weight'\]"),
        ({}, {"card.bias": None}, "card.bias"),
        ({}, {"trunk.2.bias": np.zeros(())}, "trunk.2.bias"),
        ({}, {"more": np.zeros(3)}, "more"),
        ({}, {"mix.weight": np.zeros((8, 9))}, "mix.weight"),
        ({}, {"mix.bias": np.full(8, np.nan)}, "mix.bias.*not finite"),
        ({}, {"mix.bias": np.full(8, "a")}, "mix.bias.* are <U1, not float32"),
    ],
)
def test_files_that_do_not_fit_themselves(
    change: dict[str, Any], arrays: dict[str, Any], said: str, tmp_path: Path
):
    path = tmp_path / "policy.npz"
    write_file(path, change, **arrays)
    with pytest.raises(ValueError, match=said) as refusal:
        load_policy(path)
    assert str(path) in str(refusal.value)


def test_weights_that_are_none_of_a_network():
    scope = scope_of(BASE)
    with pytest.raises(ValueError, match=r"card network for base: .*'card.bias'.* are missing"):
        NetworkPolicy({}, scope)


# The policy "trained"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in place of the package's."""
    where = tmp_path / "policies"
    where.mkdir()
    (where / "README.md").write_text("no policy")
    monkeypatch.setattr(shipped, "FOLDER", where)
    for cached in (shipped.fitting, shipped.shipped):
        cached.cache_clear()
    yield where
    for cached in (shipped.fitting, shipped.shipped):
        cached.cache_clear()


def test_the_specialist_is_taken(folder: Path):
    write_network(folder / "a.npz", *BASE, seed=1)
    special = write_network(folder / "b.npz", BASE[1], seed=2)
    write_network(folder / "c.npz", BASE[1], BASE[2], seed=3)
    write_network(folder / "d.npz", make_rules("plus", 3), seed=4)
    picked = [shipped.fitting(rules).about["seed"] for rules in BASE]
    assert picked == [1, 2, 3]
    trained = make_policy("trained")
    for seen in views(BASE[1]):
        actions = trained.act(seen, np.random.default_rng(0))
        np.testing.assert_array_equal(actions, special.act(seen, np.random.default_rng(0)))


def test_a_file_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch):
    write_network(folder / "a.npz", *BASE)
    read = []
    load = shipped.load_policy
    monkeypatch.setattr(shipped, "load_policy", lambda path: read.append(path) or load(path))
    for rules in (*BASE, *BASE):
        play(["trained"] * rules.num_players, rules, games=2)
    assert len(read) == 1


def test_where_none_fits_it_says_which_there_are(folder: Path):
    with pytest.raises(ValueError, match=r"base with 3 players.*has trained players for: no game"):
        play(["trained"] * 3, BASE[1], games=1)
    write_network(folder / "a.npz", *BASE)
    write_network(folder / "b.npz", make_rules("plus", 3))
    shipped.shipped.cache_clear()
    said = (
        r"no trained player for base with 5 players, row_choice=player\. .* for: base with 2, 3 "
        r"or 4 players, row_choice=player; plus with 3 players\. .*training\.ppo.*load_policy"
    )
    with pytest.raises(ValueError, match=said):
        play(["trained"] * 5, make_rules(num_players=5), games=1)
    with pytest.raises(ValueError, match=said):
        SixNimmtEnv("trained", num_players=5)


def test_it_is_an_opponent_everywhere(folder: Path):
    """The same rounds in each of the faces."""
    rules = BASE[1]
    write_network(folder / "a.npz", *BASE)
    expected = play(["lowest", "trained", "trained"], rules, games=2, seed=4).heads[0]
    other = play(["lowest", "random", "random"], rules, games=2, seed=4).heads[0]
    assert (expected != other).any()

    single = SixNimmtEnv("trained", num_players=3)
    observation, _ = single.reset(seed=4)
    over = False
    while not over:
        action = int(observation["action_mask"].argmax())
        observation, _, over, _, _ = single.step(action)
    np.testing.assert_array_equal(single.game.totals()[:, 0], expected)

    vector = SixNimmtVectorEnv(1, "trained", num_players=3)
    observation, info = vector.reset(seed=4)
    over = False
    while not over:
        action = observation["action_mask"].argmax(axis=1)
        observation, _, ended, _, info = vector.step(action)
        over = ended[0]
    assert info["heads"][0] == expected[0]

    parallel = sixnimmt_v0.parallel_env(num_players=3)
    parallel.reset(seed=4)
    policies = [make_policy("lowest"), *[make_policy("trained")] * 2]
    while parallel.agents:
        actions = {}
        for seat, policy in enumerate(policies):
            seen = observe(rules, parallel._state, seat)
            decides = bool(seen.decides[0])
            action = int(policy.act(seen, np.random.default_rng(0))[0])
            actions[f"player_{seat}"] = action if decides else 0
        parallel.step(actions)
    np.testing.assert_array_equal(parallel._state.totals()[:, 0], expected)


def test_it_can_be_copied_and_pickled(folder: Path):
    write_network(folder / "a.npz", *BASE)
    seen = views(BASE[1])[3]
    rng = np.random.default_rng(0)
    for policy in (make_policy("trained"), load_policy(folder / "a.npz")):
        wanted = policy.act(seen, rng)
        for again in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
            np.testing.assert_array_equal(again.act(seen, rng), wanted)
    played = make_policy("trained")
    played.act(seen, rng)
    assert len(pickle.dumps(played)) < 200  # checkpoints hold it, not the network


def test_players_by_name(folder: Path):
    write_network(folder / "a.npz", *BASE)
    path = str(folder / "a.npz")
    for spec in ("trained", path):
        assert load_player(spec).greedy and not load_player(f"{spec}:sampled").greedy
        for player in (load_player(spec), load_player(f"considerate_row:{spec}:sampled")):
            assert isinstance(player, Policy)
            play([player, "random"], BASE[0], games=3)
    for spec, said in (
        ("trained:5", "player 'trained:5': '5' is not known: give nothing, or 'sampled'"),
        (f"{path}:5", "'5' after .*a.npz is not known: give nothing, or 'sampled'"),
        (f"considerate_row:{path}:5", "'5' after .*a.npz is not known"),
    ):
        with pytest.raises(ValueError, match=said):
            load_player(spec)
    with pytest.raises(FileNotFoundError, match=r"b\.npz"):
        load_player(str(folder / "b.npz:sampled"))


def test_files_in_specs():
    assert file_of("runs/a:b/policy.zip") == Path("runs/a:b/policy.zip")
    assert file_of("a.npz:sampled") == Path("a.npz")
    for spec in ("random", "monte_carlo:200", "module:Class", "trained:sampled"):
        assert file_of(spec) is None and saved_file(spec) is None
    assert saved_file("considerate_row:a.npz:sampled") == Path("a.npz")
    assert saved_file("a.zip") == Path("a.zip")


def test_what_the_package_has_plays():
    """Each network of the package, in each of its games."""
    for policy in shipped.shipped():
        assert len(policy_bytes(policy)) <= 1_000_000
        for players in policy.scope.players:
            rules = make_rules(
                policy.scope.rules.name, players, row_choice=policy.scope.row_choices[0]
            )
            play(["trained"] * players, rules, games=5)


def test_the_speed_is_measured(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from benchmarks import inference

    for name, value in (("BATCHES", (16, 1)), ("REPEATS", 1), ("SECONDS", 0.001)):
        monkeypatch.setattr(inference, name, value)
    with pytest.raises(SystemExit, match="error: there is no trained player for base"):
        inference.main(["--policy", "trained"])
    write_network(folder / "a.npz", *BASE)
    shipped.shipped.cache_clear()
    for arguments in ([], ["--policy", "trained"], ["--policy", str(folder / "a.npz")]):
        inference.main(arguments)
        assert "\n| 16 | " in capsys.readouterr().out


def test_a_policy_is_written_as_one_archive(tmp_path: Path):
    with np.load(io.BytesIO(policy_bytes(random_network(*BASE)))) as archive:
        about = json.loads(archive["about"].tobytes())
    assert about["format"] == 1 and about["scope"]["players"] == [2, 3, 4]
