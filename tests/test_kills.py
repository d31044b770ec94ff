"""Runs that are killed, terminated or interrupted at any moment end as if never stopped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("matplotlib")

from .runs import TRAINERS

ROOT = Path(__file__).parent.parent


def _check(name: str, folder: Path, step: int) -> None:
    command = [sys.executable, "-m", "tests.kills", name, str(folder), str(step)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[-2]) >= 10


@pytest.mark.parametrize("name", TRAINERS)
def test_a_stopped_run_continues_exactly(name: str, tmp_path: Path):
    _check(name, tmp_path, step=14)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINERS)
def test_a_run_stopped_at_any_file_continues_exactly(name: str, tmp_path: Path):
    _check(name, tmp_path, step=1)
