"""Models that were trained on dicts of observation and mask play from their file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO

from agents.players import load_player
from sixnimmt_env import make_rules
from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from sixnimmt_env.policy import play
from training import evaluate, export

TINY: dict[str, Any] = {"n_steps": 2, "batch_size": 4, "seed": 0, "device": "cpu"}
TINY |= {"policy_kwargs": {"net_arch": [8]}}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dict") / "m.zip"
    env = SixNimmtVecEnv(2, num_players=3, observation="dict")
    MaskablePPO("MultiInputPolicy", env, **TINY).save(path)
    return path


@pytest.mark.parametrize("suffix", ["", ":sampled"])
def test_it_plays(saved: Path, suffix: str):
    player = load_player(f"{saved}{suffix}")
    first, again = (
        play([player, "random", "lowest"], make_rules(num_players=3), 8, 1).heads for _ in range(2)
    )
    assert first.shape == (8, 3) and np.array_equal(first, again)


def test_it_is_evaluated(saved: Path, capsys: pytest.CaptureFixture[str]):
    evaluate.main(["--policy", str(saved), "--players", "3", "--rounds", "12"])
    assert "2 × closest_gap" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"^error: .*was trained on observations of"):
        evaluate.main(["--policy", str(saved), "--players", "4", "--rounds", "12"])


def test_it_is_not_exported(saved: Path, tmp_path: Path):
    said = r"cannot be exported: .*other models play from their \.zip"
    with pytest.raises(SystemExit, match=f"^error: .*{said}"):
        export.main([str(saved), str(tmp_path / "m.npz")])


class Other(gym.Env[Any, Any]):
    """An environment that is none of this package."""

    action_space = gym.spaces.Discrete(109)

    def __init__(self, space: gym.Space[Any]) -> None:
        self.observation_space = space


BOX = gym.spaces.Box(0, 1, (4,))


@pytest.mark.parametrize(
    ("policy", "space"),
    [
        ("MlpPolicy", gym.spaces.Discrete(5)),
        ("MlpPolicy", gym.spaces.Box(0, 1, (2, 3))),
        ("MultiInputPolicy", gym.spaces.Dict({"cards": BOX, "action_mask": BOX})),
        (
            "MultiInputPolicy",
            gym.spaces.Dict({"observation": gym.spaces.Discrete(3), "action_mask": BOX}),
        ),
    ],
)
def test_other_observations_are_refused_on_loading(policy: str, space: Any, tmp_path: Path):
    path = tmp_path / "other.zip"
    MaskablePPO(policy, Other(space), **TINY).save(path)
    with pytest.raises(ValueError, match=r"other\.zip was trained on observations .*, not on th"):
        load_player(str(path))
