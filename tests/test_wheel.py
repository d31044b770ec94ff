"""The wheel holds the environment package alone and works without the rest of the checkout."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Both tests in one worker, so that the wheel is built once.
pytestmark = pytest.mark.xdist_group("wheel")

PLAY_ONE_ROUND = """
import importlib
from dataclasses import replace

from sixnimmt_env import play, sixnimmt_v0
from sixnimmt_env.trained.shipped import shipped

env = sixnimmt_v0.parallel_env()
observations, infos = env.reset(seed=0)
steps = 0
while env.agents:
    actions = {}
    for agent in env.agents:
        mask = infos[agent].get("action_mask")
        if mask is None:
            mask = observations[agent]["action_mask"]
        actions[agent] = env.action_space(agent).sample(mask)
    observations, rewards, terminations, truncations, infos = env.step(actions)
    steps += 1
assert steps >= 10, steps

for policy in shipped():
    rules = replace(policy.scope.rules, row_choice=policy.scope.row_choices[0])
    play(["trained"] * rules.num_players, rules, games=2)

for name in ("agents", "training", "benchmarks", "torch", "stable_baselines3"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        continue
    raise AssertionError(f"{name} can be imported next to the installed wheel")
"""


def run(*args: object, cwd: Path) -> None:
    done = subprocess.run(list(map(str, args)), cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", out, ROOT, cwd=out)
    (path,) = out.glob("*.whl")
    return path


def test_contents(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    (dist_info,) = {name.split("/")[0] for name in names} - {"sixnimmt_env"}
    assert dist_info.endswith(".dist-info")
    assert "sixnimmt_env/__init__.py" in names
    assert "sixnimmt_env/py.typed" in names
    assert f"{dist_info}/licenses/LICENSE" in names
    folder = ROOT / "sixnimmt_env" / "trained" / "policies"
    trained = {path.relative_to(ROOT).as_posix() for path in folder.iterdir()}
    assert "sixnimmt_env/trained/policies/README.md" in trained
    assert trained <= set(names)


def test_runs_alone(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    cwd = tmp_path / "empty"
    cwd.mkdir()
    run(python, "-m", "pip", "install", "-q", wheel, cwd=cwd)
    run(python, "-I", "-c", PLAY_ONE_ROUND, cwd=cwd)
