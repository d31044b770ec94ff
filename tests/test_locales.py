"""Trainers where the locale lacks the letters of a folder or a file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("tyro")
pytest.importorskip("yaml")

from sixnimmt_env import make_rules

from .networks import write_network
from .runs import LOOKAHEAD, arguments_for

ROOT = Path(__file__).parent.parent


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are UTF-8 always")
def test_a_run_in_an_ascii_locale_ends_with_its_results(tmp_path: Path):
    write_network(tmp_path / "中.npz", make_rules())
    begin = arguments_for(LOOKAHEAD, tmp_path / "file")
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "training.lookahead",
            *begin,
            "--run",
            "中文",
            "--held",
            "random",
            "中.npz",
        ],
        cwd=tmp_path,
        env={**os.environ, **locale},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no files for TensorBoard") == 1
    for name in ("results.md", "learning_curve.png", "best.npz"):
        assert (tmp_path / "中文" / name).stat().st_size
