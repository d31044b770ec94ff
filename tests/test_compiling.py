"""Compiled code never outlives its sources, and what is kept of it is never a requirement."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="nothing is compiled without it")

from sixnimmt_env import compiling, loops

ROOT = Path(__file__).parent.parent
CALLER = """
from sixnimmt_env.loops import compiled
from toy.callee import FACTOR, times

@compiled
def f(x):
    return times(x) + FACTOR
"""
CALLEE = """
from sixnimmt_env.loops import compiled

FACTOR = {}

@compiled
def times(x):
    return x * FACTOR
"""


class Toy:
    """A package of two files, one of which calls the other; imported anew each time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "toy"
        self.folder.mkdir()
        (self.folder / "__init__.py").touch()
        (self.folder / "caller.py").write_text(CALLER)
        self.write(2)

    def write(self, factor: int) -> None:
        """Change the other file. Its size stays, as do the size and time of the caller's."""
        (self.folder / "callee.py").write_text(CALLEE.format(factor))
        os.utime(self.folder / "callee.py", (1e9, 1e9 + factor / 4))

    def load(self):
        """Give the function as a new process would have it."""
        for name in [name for name in sys.modules if name.partition(".")[0] == "toy"]:
            del sys.modules[name]
        compiling._sources.cache_clear()
        importlib.invalidate_caches()
        return importlib.import_module("toy.caller").f

    def run(self) -> tuple[int, int]:
        """What f(10) is, and how often it was compiled for that."""
        f = self.load()
        result = f(10)
        return result, sum(f.stats.cache_misses.values())

    def kept(self) -> list[Path]:
        return sorted(self.folder.rglob("*.nb*"))


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", "")
    yield Toy(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "toy"]:
        del sys.modules[name]
    compiling._sources.cache_clear()


def test_it_is_compiled_once(toy: Toy):
    assert toy.run() == (22, 1)
    files = toy.kept()
    assert len(files) == 2
    assert toy.run() == (22, 0)
    assert toy.kept() == files


def test_a_callee_changed_in_another_file(toy: Toy):
    assert toy.run() == (22, 1)
    toy.write(3)
    assert toy.run() == (33, 1)
    assert toy.run() == (33, 0)
    assert len(toy.kept()) == 2  # those of the old sources are gone


def test_a_change_while_a_process_runs(toy: Toy):
    """What it has in memory is not what is in the files: it may neither keep nor load."""
    toy.run()
    toy.write(3)
    kept = toy.run()
    late = toy.load()
    toy.write(2)
    assert late(10) == 33
    assert sum(late.stats.cache_misses.values()) == 1
    assert toy.run() == (22, 1)
    assert kept == (33, 1)


def test_another_kind_of_argument(toy: Toy):
    """Another process keeps another signature of the same function at the same time."""
    one, other = toy.load(), toy.load()
    assert (one(10), other(0.5)) == (22, 3.0)
    f = toy.load()
    assert (f(10), f(0.5)) == (22, 3.0)
    assert not f.stats.cache_misses


DAMAGES = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "last byte": lambda content: content[:-1],
    "garbled": lambda content: content[:-500] + bytes(500),
    "text": lambda content: b"not machine code\n",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_compiled_anew(toy: Toy, damage: str):
    toy.run()
    for path in toy.kept():
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert toy.run() == (22, 1)
    assert toy.run() == (22, 0)


def test_a_file_that_holds_another_functions_code(toy: Toy):
    toy.run()
    times, f = sorted(toy.kept(), key=lambda path: "caller" in path.name)
    f.write_bytes(times.read_bytes())
    assert toy.run() == (22, 1)


def test_a_folder_in_place_of_a_file(toy: Toy):
    toy.run()
    for path in toy.kept():
        path.unlink()
        path.mkdir()
    assert toy.run() == (22, 1)


def test_a_full_disk(toy: Toy):
    resource = pytest.importorskip("resource", reason="limits of Unix")
    f = toy.load()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        assert f(10) == 22
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not toy.kept()
    assert not list(toy.folder.rglob("*.tmp*"))


def test_a_folder_that_is_gone(toy: Toy):
    f = toy.load()
    shutil.rmtree(toy.folder)
    assert f(10) == 22


def test_nowhere_to_write(tmp_path: Path):
    """As in a read-only installation of somebody without a home, and its caches are files."""
    shutil.copytree(
        ROOT / "sixnimmt_env",
        tmp_path / "sixnimmt_env",
        ignore=shutil.ignore_patterns("__pycache__", "*.npz"),
    )
    for folder in [tmp_path, *(path.parent for path in tmp_path.rglob("*.py"))]:
        (folder / "__pycache__").touch()
    nowhere = str(tmp_path / "sixnimmt_env" / "rules.py" / "no folder")
    homes = ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")
    code = (
        "from sixnimmt_env import Engine, loops, make_rules; Engine(make_rules()).reset(0); "
        "assert loops.swap.signatures, 'nothing was compiled'; print(loops.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env=os.environ | dict.fromkeys(homes, nowhere) | {"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "sixnimmt_env" / "loops.py")
    assert not list(tmp_path.rglob("*.nb*"))


def test_without_sources(toy: Toy, monkeypatch: pytest.MonkeyPatch):
    """Nothing is kept where there is nothing to key it by."""
    monkeypatch.setattr(Path, "rglob", lambda *args: iter(()))
    assert toy.run() == (22, 1)
    monkeypatch.undo()
    assert not toy.kept()


def test_the_kernel_is_kept():
    """Otherwise all of this would hold of nothing that is played with."""
    assert isinstance(loops._resolve._cache, compiling._Kept)  # type: ignore[attr-defined]
