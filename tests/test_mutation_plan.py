"""The plan of `tests.mutation` names every module of the package, and tests that there are."""

from __future__ import annotations

from pathlib import Path

from tests.mutation_plan import PLAN

ROOT = Path(__file__).parents[1]
# Pages, tables of names and pictures; what needs numba or Stable-Baselines3; the network that is
# shipped.
LEFT_OUT = {
    "sixnimmt_env/__init__.py",
    "sixnimmt_env/compiling.py",
    "sixnimmt_env/sixnimmt_v0.py",
    "sixnimmt_env/envs/__init__.py",
    "sixnimmt_env/envs/sb3.py",
    "sixnimmt_env/render/__init__.py",
    "sixnimmt_env/render/ansi.py",
    "sixnimmt_env/trained/__init__.py",
    "sixnimmt_env/trained/layout.py",
    "sixnimmt_env/trained/shipped.py",
}


def test_every_module_is_in_the_plan():
    modules = {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "sixnimmt_env").glob("**/*.py")
    }
    assert set(PLAN) <= modules
    assert modules - set(PLAN) == LEFT_OUT


def test_tests_of_the_plan_exist():
    for stages in PLAN.values():
        assert all(stages)
        for name in [name for stage in stages for name in stage]:
            assert (ROOT / "tests" / f"test_{name}.py").exists(), name
