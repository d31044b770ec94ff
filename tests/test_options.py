"""Options of all faces: what there is, what they may be, and how wrong ones are named."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest

from sixnimmt_env import Rules, make_rules, sixnimmt_v0
from sixnimmt_env.envs.registration import GYMNASIUM_ID
from sixnimmt_env.envs.single import SixNimmtEnv
from sixnimmt_env.envs.vector import SixNimmtVectorEnv

Make = Callable[..., Any]


def sb3(**options: Any) -> Any:
    pytest.importorskip("stable_baselines3")
    from sixnimmt_env.envs.sb3 import SixNimmtVecEnv

    return SixNimmtVecEnv(**{"num_games": 2, **options})


FACES: dict[str, Make] = {
    "parallel": sixnimmt_v0.parallel_env,
    "aec": sixnimmt_v0.env,
    "single": SixNimmtEnv,
    "vector": partial(SixNimmtVectorEnv, num_envs=2),
    "sb3": sb3,
}
every = pytest.mark.parametrize("make", FACES.values(), ids=FACES)
resettable = pytest.mark.parametrize("make", [*FACES.values()][:4], ids=[*FACES][:4])


@pytest.mark.parametrize(
    ("option", "suggested"),
    [("player", "num_players"), ("varient", "variant"), ("illegal", "illegal_action"), ("x", None)],
)
@every
def test_an_unknown_option_is_named(make: Make, option: str, suggested: str | None) -> None:
    begin = rf"^\w+(\.__init__)?\(\) got an unexpected keyword argument '{option}': "
    like = f"did you mean '{suggested}'[?] Choose" if suggested else "choose"
    with pytest.raises(TypeError, match=f"{begin}{like} among .*'num_players', 'variant'"):
        make(**{option: 1})


def test_libraries_find_the_words_that_they_look_for() -> None:
    """TorchRL drops `frameskip` if this is said, and raises what it does not know."""
    with pytest.raises(TypeError, match=r"__init__\(\) got an unexpected keyword argument 'frame"):
        gymnasium.make(f"sixnimmt_env:{GYMNASIUM_ID}", frameskip=1)
    env = gymnasium.make(f"sixnimmt_env:{GYMNASIUM_ID}", disable_env_checker=True)
    assert env.reset(seed=0)[0].keys() == {"observation", "action_mask"}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"num_players": "4"}, "num_players='4'"),
    ({"num_players": 4.0}, "num_players=4.0"),
    ({"num_players": True}, "num_players=True"),
    ({"variant": []}, r"variant=\[\]"),
    ({"variant": "bse"}, "variant='bse' is not known: did you mean 'base'"),
    ({"row_choice": 1}, "row_choice=1"),
    ({"episode": {}}, r"episode=\{\}"),
    ({"episode": "match", "target": "66"}, "target='66'"),
    ({"episode": "match", "rounds": 1.5}, "rounds=1.5"),
    ({"reward": []}, r"reward=\[\]"),
    ({"reward": "head"}, "reward='head' is not known: did you mean 'heads'"),
    ({"illegal_action": None}, "illegal_action=None"),
    ({"illegal_action": "rais"}, "did you mean 'raise'"),
    ({"illegal_penalty": "1"}, "illegal_penalty='1'"),
    ({"illegal_penalty": True}, "illegal_penalty=True"),
    ({"illegal_penalty": None}, "illegal_penalty=None"),
    ({"illegal_penalty": 1j}, "illegal_penalty=1j"),
    ({"illegal_penalty": float("nan")}, "illegal_penalty=nan"),
    ({"illegal_penalty": float("inf")}, "illegal_penalty=inf"),
    ({"illegal_penalty": 10**400}, "illegal_penalty=1000"),
    ({"observation": []}, r"observation=\[\]"),
    ({"observation": "flt"}, "observation='flt' is not known: did you mean 'flat'"),
    ({"rules": Rules(2), "num_players": 2}, "rules and num_players exclude each other"),
    ({"rules": Rules(2), "variant": "base", "episode": "round"}, "rules and variant and episode"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[str(o) for o, _ in WRONG])
@every
def test_wrong_values_are_named(make: Make, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**options)


OWN: list[tuple[str, dict[str, Any], str]] = [
    (face, {"seat": seat}, r"seat=\S+ is not possible: .*with 4 players .* 0 to 3, or 'random'")
    for face in ("single", "vector")
    for seat in (1.0, -1, 4, True, None, [0], 2**70)
]
OWN += [
    (face, {"seat": "randm"}, "'randm' is not known: did you mean")
    for face in FACES
    if face in ("single", "vector")
]
OWN += [
    ("sb3", {"learning_seats": seats}, "learning_seats=.* is not possible: .*'all' or 'random'")
    for seats in (0, [], [0, 0], [4], [-1], ["1"], [1.0], [True], None, {0: 1}, [[0]])
]
OWN += [
    ("sb3", {"learning_seats": "alll"}, "learning_seats='alll' is not known: did you mean 'all'"),
    ("vector", {"self_play": "yes"}, "self_play='yes'"),
    ("vector", {"autoreset_mode": []}, r"autoreset_mode=\[\]"),
    ("vector", {"autoreset_mode": "SameStp"}, "did you mean 'SameStep'"),
]
OWN += [
    (face, {name: count}, f"{name}=.* is not possible")
    for face, name in (("vector", "num_envs"), ("sb3", "num_games"))
    for count in ("2", 2.0, True, 0, None)
]
OWN += [
    (face, {name: steps}, f"{name}=.* is not possible: .*cut off")
    for face, name in (
        ("parallel", "max_cycles"),
        ("aec", "max_cycles"),
        ("vector", "max_episode_steps"),
    )
    for steps in (0, -2, 1.0, "5", True)
]
OWN += [
    (face, {"render_seat": seat}, "render_seat")
    for face in ("parallel", "aec", "single", "vector")
    for seat in (4, -1, 1.0, "0", True)
]


@pytest.mark.parametrize(("face", "options", "message"), OWN, ids=[f"{f}-{o}" for f, o, _ in OWN])
def test_wrong_values_of_a_face_are_named(face: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FACES[face](**options)


@pytest.mark.parametrize("mode", ["rgb_array", "video", "Human", [], 1])
@resettable
def test_other_render_modes_are_type_errors(make: Make, mode: Any) -> None:
    with pytest.raises(TypeError, match=r"render_mode=.* is not possible: choose None or one of"):
        make(render_mode=mode)


def test_the_vector_env_has_one_render_mode() -> None:
    with pytest.raises(TypeError, match=r"render_mode='human' .*\['ansi'\]"):
        SixNimmtVectorEnv(2, render_mode="human")
    env = SixNimmtVectorEnv(2, render_mode="ansi")
    env.reset(seed=0)
    assert len(env.render()) == 2
    with pytest.raises(RuntimeError, match="render_mode='ansi'"):
        SixNimmtVectorEnv(2).render()


@every
def test_rules_that_are_none(make: Make) -> None:
    with pytest.raises(TypeError, match="rules='base': Rules are needed"):
        make(rules="base")


@every
def test_numbers_of_numpy_are_numbers(make: Make) -> None:
    env = make(num_players=np.uint8(3), episode="match", target=np.uint8(100))
    assert env.rules == make_rules("base", 3, episode="match", target=100)
    make(illegal_action="penalty", illegal_penalty=np.float32(2))
    make(illegal_penalty=np.uint8(1))


def test_numbers_of_numpy_at_single_faces() -> None:
    assert SixNimmtEnv(seat=np.int8(2)).seat == 2
    env = SixNimmtVectorEnv(np.int64(3), seat=np.uint8(1), max_episode_steps=np.int16(3))
    assert env.num_envs == 3 and type(env.num_envs) is int
    assert sb3(num_games=np.int8(3), learning_seats=np.array([0, 2])).num_envs == 6
    sixnimmt_v0.parallel_env(max_cycles=np.uint8(3), render_seat=np.int8(0))


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, 1.0, "1", True, float("nan"), [[1, 2]]])
@resettable
def test_wrong_seeds_are_named_and_change_nothing(make: Make, seed: Any) -> None:
    env, other = make(), make()
    for each in (env, other):
        each.reset(seed=3)
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=seed)
    for each in (env, other):
        each.reset()
    games = [getattr(e.unwrapped, "_batch", e.unwrapped)._state for e in (env, other)]
    assert (games[0].hand == games[1].hand).all() and (games[0].game_id == 1).all()


@pytest.mark.parametrize("seed", [5, np.int64(5), np.uint64(5), np.uint8(5)])
@resettable
def test_seeds_of_numpy_are_seeds(make: Make, seed: Any) -> None:
    env = make()
    env.reset(seed=seed)
    state = getattr(env.unwrapped, "_batch", env.unwrapped)._state
    assert state.seed.tolist() == [5, 6][: state.num_games]


@pytest.mark.parametrize("options", ["x", ["reset_mask"], 1])
@resettable
def test_options_of_reset_are_a_dict(make: Make, options: Any) -> None:
    env = make()
    with pytest.raises(TypeError, match=r"options=.* is not possible: a dict"):
        env.reset(options=options)
    env.reset(seed=1, options={})


@pytest.mark.parametrize("seed", [-1, "1", 1.5, True, 2**64 - 1, 2**64])
def test_a_wrong_seed_of_sb3_is_forgotten(seed: Any) -> None:
    env = sb3()
    env.seed(4)
    first = env.reset()
    env.seed(4)
    with pytest.raises(ValueError, match=f"seed={seed!r}"):
        env.seed(seed)
    assert (env.reset() == first).all()
    env.reset()


def test_options_without_effect_are_refused() -> None:
    with pytest.raises(ValueError, match="opponents='closest_gap' is not possible: every seat"):
        SixNimmtVectorEnv(8, self_play=True, opponents="closest_gap")
    with pytest.raises(ValueError, match="seat=2 is not possible: in self-play every seat"):
        SixNimmtVectorEnv(8, self_play=True, seat=2)
    with pytest.raises(ValueError, match="opponents='closest_gap' is not possible: every seat"):
        sb3(learning_seats="all", opponents="closest_gap")


def test_agents_that_are_not_there_and_huge_actions() -> None:
    env = sixnimmt_v0.parallel_env()
    env.reset(seed=1)
    actions: dict[Any, Any] = dict.fromkeys(env.agents, 0)
    with pytest.raises(ValueError, match="unknown agents"):
        env.step(actions | {1: 0, "x": 0})
    for huge in (2**63, 2**70, -(2**70)):
        with pytest.raises(TypeError, match=f"the action of player_1 is {huge}"):
            env.step(actions | {"player_1": huge})


def test_a_wrong_player_is_refused_before_one_is_made() -> None:
    class Never:
        def act(self, observation: Any, rng: Any) -> Any:
            raise AssertionError

    for make in (SixNimmtEnv, partial(SixNimmtVectorEnv, 2), partial(sb3, learning_seats=[0])):
        for wrong, message in (
            ("closest_gp", "did you mean 'closest_gap'"),
            ("monte_carlo:100", "monte_carlo:100"),
            (None, "has no act"),
        ):
            with pytest.raises(ValueError, match=message):
                make(opponents=[Never(), "trained", wrong])
        # A network that does not know the game is refused now, not in the first step.
        with pytest.raises(ValueError, match="there is no trained player for"):
            make(opponents="trained", variant="tactics")
