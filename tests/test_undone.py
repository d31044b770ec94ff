"""Whatever is refused, wherever it is noticed: all games are as they were before."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from sixnimmt_env.engine import IllegalActionError
from sixnimmt_env.envs.single import SixNimmtEnv
from sixnimmt_env.envs.vector import SixNimmtVectorEnv
from sixnimmt_env.policy import RandomPolicy
from sixnimmt_env.state import FIELDS, PLAY, State


class Sometimes(RandomPolicy):
    """Plays at random; goes wrong in phases other than play, or always, while `wrong` is set."""

    def __init__(self, wrong: Any = None, always: bool = False) -> None:
        self.wrong, self.always, self.went_wrong = wrong, always, 0

    def act(self, observation: Any, rng: np.random.Generator) -> Any:
        actions = super().act(observation, rng)
        if self.wrong is None or not (self.always or (observation.phase != PLAY).any()):
            return actions
        self.went_wrong += 1
        if isinstance(self.wrong, Exception):
            raise self.wrong
        return actions * 0 + self.wrong


def everything(env: Any) -> list[Any]:
    """All that may not change: games, seats, counts and chance."""
    batch = env._batch
    games = [] if batch._state is None else [getattr(batch.state, f).copy() for f in FIELDS]
    counts = [batch.seat.copy(), batch._owner.copy(), batch.illegal.copy(), batch._rewarded.copy()]
    return [*games, *counts, batch.rng.bit_generator.state]


def same(one: list[Any], two: list[Any]) -> bool:
    return len(one) == len(two) and all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def lowest(env: Any) -> Any:
    return env.action_masks().argmax(axis=-1)


WRONG = [
    (0, r"opponent Sometimes, player_[0-3] in game \d+, chose action 0, .*legal actions are \[1"),
    (1.5, "Sometimes.act returned dtype float64"),
    (ZeroDivisionError("oh"), "oh"),
]
wrong_ways = pytest.mark.parametrize(("wrong", "message"), WRONG, ids=str)


@wrong_ways
@pytest.mark.parametrize("games", [1, 40])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_an_opponent_goes_wrong_when_the_games_have_moved(
    wrong: Any, message: str, games: int, mode: str
) -> None:
    """As it takes a row: the cards of the learners have been placed by then."""
    policy = Sometimes()
    env = SixNimmtVectorEnv(games, opponents=policy, seat="random", autoreset_mode=mode)
    fine = SixNimmtVectorEnv(games, opponents=Sometimes(), seat="random", autoreset_mode=mode)
    failures = 0
    for seed in range(8 if games == 1 else 1):
        for each in (env, fine):
            each.reset(seed=seed)
        for _ in range(12):
            if mode == "Disabled" and env._batch.over.all():
                break
            before = everything(env)
            policy.wrong, policy.went_wrong = wrong, 0
            try:
                env.step(lowest(env))
            except (IllegalActionError, ValueError, ZeroDivisionError) as error:
                failures += 1
                assert error.args and re.search(message, str(error))
                assert same(everything(env), before)
                policy.wrong = None
                env.step(lowest(env))
            # What follows is as if nothing had been wrong.
            fine.step(lowest(fine))
            assert same(everything(env), everything(fine))
    assert failures > 2


@wrong_ways
@pytest.mark.parametrize("variant", ["pro", "simplified"])
def test_an_opponent_goes_wrong_in_a_reset(wrong: Any, message: str, variant: str) -> None:
    """Opponents pick, or play, before the learner does."""
    policy = Sometimes(wrong, always=True)
    env = SixNimmtVectorEnv(6, opponents=policy, variant=variant, num_players=4)
    error = (ValueError, ZeroDivisionError)
    with pytest.raises(error, match=message):
        env.reset(seed=1)
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        env.step(np.zeros(6, int))
    policy.wrong = None
    env.reset(seed=1)
    env.step(lowest(env))
    for call in (
        {"seed": 5},
        {},
        {"seed": [5, None, 7, 8, None, 9]},
        {"seed": [5, 6, 7, 8, 9, 10]},
        {"options": {"reset_mask": np.array([True, False] * 3)}},
    ):
        before = everything(env)
        policy.wrong = wrong
        with pytest.raises(error, match=message):
            env.reset(**call)
        assert same(everything(env), before)
        policy.wrong = None
        env.step(lowest(env))


@pytest.mark.parametrize("face", ["SameStep", "NextStep", "sb3"])
def test_an_opponent_goes_wrong_as_the_next_game_begins(face: str) -> None:
    """The step that ends an episode has been made by then."""
    policy = Sometimes()
    options: dict[str, Any] = {"variant": "pro", "num_players": 2, "opponents": policy}
    if face == "sb3":
        pytest.importorskip("stable_baselines3")
        from sixnimmt_env.envs.sb3 import SixNimmtVecEnv

        env: Any = SixNimmtVecEnv(3, learning_seats=[1], **options)
    else:
        env = SixNimmtVectorEnv(3, autoreset_mode=face, **options)
    env.reset()
    failures = 0
    for _ in range(28):
        before = everything(env)
        policy.wrong = 0
        try:
            env.step(lowest(env))
        except IllegalActionError:
            failures += bool((env._batch.state.turn == 9).any() or env._batch.over.any())
            assert same(everything(env), before)
            policy.wrong = None
            env.step(lowest(env))
    assert failures


def test_a_refused_action_of_the_learner_gives_back_what_opponents_drew() -> None:
    env, fine = SixNimmtEnv("random"), SixNimmtEnv("random")
    env.reset(seed=3)
    fine.reset(seed=3)
    for _ in range(5):
        with pytest.raises(IllegalActionError, match="player_0"):
            env.step(0)
        action = int(lowest(env))
        assert np.array_equal(
            env.step(action)[0]["observation"], fine.step(action)[0]["observation"]
        )


@pytest.mark.parametrize(
    "seed",
    [[1.9, 2.9, 3.0], [None, -1, 3], [1, 2, 2**64], ["1", 2, 3], [True, 2, 3], [1, 2], "abc"],
)
def test_seeds_are_checked_before_any_game_moves(seed: Any) -> None:
    env = SixNimmtVectorEnv(3, "random")
    env.reset(seed=1)
    before, drawn = everything(env), env.np_random.bit_generator.state
    for options in (None, {"reset_mask": np.array([True, False, True])}):
        with pytest.raises(ValueError, match="seed"):
            env.reset(seed=seed, options=options)
        assert same(everything(env), before) and env.np_random.bit_generator.state == drawn
    for call in ({"seed": 7, "options": {"reset_mask": [True] * 3}}, {"seed": 7, "options": "x"}):
        with pytest.raises(TypeError, match="options"):
            env.reset(**call)
        assert same(everything(env), before) and env.np_random.bit_generator.state == drawn


@pytest.mark.parametrize(
    "seed", [[1, None, 3], (1, None, 3), np.array([1, 2, 3]), [np.uint8(1), 2, 3]]
)
def test_seeds_that_are_fine(seed: Any) -> None:
    env = SixNimmtVectorEnv(3, "random")
    env.reset(seed=9)
    env.reset(seed=seed)
    state: State = env._batch.state
    given = [9 + i if word is None else int(word) for i, word in enumerate(seed)]
    assert state.seed.tolist() == given
    assert state.game_id.tolist() == [int(word is None) for word in seed]


def test_infos_mark_what_was_reset() -> None:
    env = SixNimmtVectorEnv(6, self_play=True, num_players=3, observation="flat")
    mask = np.array([True, False] * 3)
    _, infos = env.reset(options={"reset_mask": mask})
    assert infos["_heads"].all()  # the first reset begins all games
    for _ in range(6):
        env.step(lowest(env))
    _, infos = env.reset(options={"reset_mask": mask})
    marks = [name for name in infos if name.startswith("_")]
    assert len(marks) == 5
    for name in marks:
        assert (infos[name] == mask).all() and not infos[name[1:]][~mask].any()
    assert (infos["action_mask"][mask] == env.action_masks()[mask]).all()
    assert env.reset()[1]["_turn"].all()
