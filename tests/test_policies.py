"""How policies are made of names, told apart, and refused before anything is loaded."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sixnimmt_env.engine import Engine, IllegalActionError
from sixnimmt_env.observe import Observation
from sixnimmt_env.policy import (
    CHECKOUT,
    POLICIES,
    LowestPolicy,
    RandomPolicy,
    choose_actions,
    make_policies,
    make_policy,
    play,
)
from sixnimmt_env.variants import make_rules

RULES = make_rules("base", 4)


@dataclass(frozen=True)
class Equal(LowestPolicy):
    """All of them are equal, and have one hash."""

    asked: list[int] = field(default_factory=list, compare=False)

    def act(self, observation: Observation, rng: np.random.Generator) -> Any:
        self.asked.append(len(observation))
        return super().act(observation, rng)


@dataclass
class Unhashable(LowestPolicy):
    """As dataclasses are unless they are frozen."""

    worth: float = 1.0


def test_equal_policies_are_two():
    one, other = Equal(), Equal()
    assert one == other and hash(one) == hash(other)
    result = play([one, other, "lowest", "lowest"], RULES, games=3, seed=1)
    assert len(one.asked) == len(other.asked) > 0
    lowest = play(["lowest"] * 4, RULES, games=3, seed=1)
    np.testing.assert_array_equal(result.heads, lowest.heads)
    state = Engine(RULES).reset(1, 3)
    seats = [one, None, other, None]
    actions = choose_actions(seats, RULES, state, np.random.default_rng(0))
    np.testing.assert_array_equal(actions, state.hand[:, 0] * np.array([[1], [0], [1], [0]]))


def test_policies_need_not_be_hashable():
    one = Unhashable()
    with pytest.raises(TypeError):
        hash(one)
    result = play([one, one, Unhashable(), Unhashable(2.0)], RULES, games=3, seed=1)
    lowest = play(["lowest"] * 4, RULES, games=3, seed=1)
    np.testing.assert_array_equal(result.heads, lowest.heads)


def test_equal_opponents_are_two():
    pytest.importorskip("gymnasium")
    from sixnimmt_env.envs.single import SixNimmtEnv

    opponents = [Equal(), Equal(), Unhashable()]
    env = SixNimmtEnv(opponents=opponents, illegal_action="lowest")
    env.reset(seed=1)
    env.step(0)
    assert opponents[0].asked and opponents[1].asked


def test_one_policy_for_each_name_and_object():
    policy = RandomPolicy()
    made = make_policies(["random", policy, "random", "lowest", policy])
    assert made[0] is made[2] and made[1] is made[4] is policy and made[0] is not policy
    assert isinstance(made[3], LowestPolicy)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("radnom", "policy 'radnom' is not known: did you mean 'random'? Choose one of"),
        ("closest-gap", "did you mean 'closest_gap'?"),
        ("nobody", "policy 'nobody' is not known: choose one of"),
        ("", "policy '' is not known: choose one of"),
        ("random:3", "'random' takes nothing after it"),
        ("trained:greedy", "'trained' or 'trained:sampled'"),
        ("no_such_module:Player", "there is no module 'no_such_module'"),
        (":Player", "there is no module ''"),
        ("sixnimmt_env.policy:Nobody", "cannot be made"),
        ("sixnimmt_env.policy:Policy", "cannot be made"),
        ("sixnimmt_env.engine:IllegalActionError", "has no act"),
        ("monte_carlo:100", "is a player of the repository, which is not in the package: run from"),
        ("cautious", "agents.players.load_player('cautious')"),
        (5, "policy 5 has no act(observation, rng)"),
        (None, "policy None has no act"),
        (RandomPolicy, "policy RandomPolicy is a class: give an object, RandomPolicy()"),
    ],
    ids=str,
)
def test_refusals(policy, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        make_policy(policy)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ("radnom", ValueError),
        ("nothing.npz", FileNotFoundError),
        (RandomPolicy, ValueError),
        ("cautious", ValueError),
        ("no_such_module:Player", ValueError),
    ],
    ids=str,
)
def test_a_wrong_one_is_refused_before_another_one_is_loaded(
    wrong: Any, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "slow_to_load.py").write_text("raise AssertionError('loaded')", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(error):
        play(["slow_to_load:Player", "random", "random", wrong], RULES)
    assert "slow_to_load" not in sys.modules


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rules": "base"}, "rules='base': Rules are needed"),
        ({"policies": "random"}, "policies='random': a list is needed"),
        ({"policies": 4}, "policies=4: a list is needed"),
        ({"policies": ["random"] * 3}, "3 policies for 4 players"),
        ({"games": 0}, "games=0 is not possible: at least 1 game is needed"),
        ({"games": 2.5}, "games=2.5 is not possible"),
        ({"games": [1, 2]}, "games=[1, 2] is not possible"),
        ({"seed": 2**64}, "seed=18446744073709551616 is not possible"),
        ({"seed": -1}, "seed=-1 is not possible"),
        ({"seed": None}, "seed=None is not possible"),
        ({"seed": [1, 2]}, "seed=[1, 2] is not possible"),
    ],
    ids=str,
)
def test_play_is_given_what_cannot_be(given, said):
    """It says so before a policy is made."""
    options = {"policies": ["nobody"] * 4, "rules": RULES, "games": 2, "seed": 0}
    with pytest.raises((ValueError, TypeError), match=re.escape(said)):
        play(**options | given)


def test_an_illegal_choice_is_put_down_to_its_policy():
    class Passes:
        def act(self, observation, rng):
            return np.zeros(len(observation), int)

    said = r"policy Passes, player_2 in game 0, chose action 0, .* legal actions are \[.*act\(\)"
    with pytest.raises(IllegalActionError, match=said):
        play(["random", "random", Passes(), "random"], make_rules(), games=5)


def test_a_class_that_exits_is_refused():
    with pytest.raises(ValueError, match="'sys:exit' cannot be made: SystemExit"):
        make_policy("sys:exit")


def test_play_takes_numbers_of_any_kind():
    left = play(["random"] * 4, RULES, np.uint8(3), np.uint8(200))
    right = play(["random"] * 4, RULES, 3, 200)
    np.testing.assert_array_equal(left.heads, right.heads)


def test_players_of_the_repository():
    pytest.importorskip("numba")
    from agents.players import PLAYERS

    assert set(CHECKOUT) == set(PLAYERS) - set(POLICIES)
