"""Folders that one process holds, and files that are never half there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("filelock")

from agents.runfolder import (
    HOLDER,
    LOCK,
    PART,
    HeldError,
    claim,
    new_folder,
    write_atomically,
    write_text,
)

ROOT = Path(__file__).parent.parent

HOLD = """
import sys
from pathlib import Path
from agents.runfolder import claim

with claim(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def _other_process(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLD, str(folder)]
    pipe = subprocess.PIPE
    other = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
    assert other.stdout is not None and other.stdout.readline() == "held\n"
    return other


@pytest.mark.parametrize("end", ["end", "kill"])
def test_a_folder_is_held_until_its_process_ends(tmp_path: Path, end: str):
    with _other_process(tmp_path) as other:
        named = rf"in use by process {other.pid} on .*, since \d{{4}}-.*another folder"
        with pytest.raises(HeldError, match=named), claim(tmp_path):
            pass
        if end == "kill":
            other.send_signal(signal.SIGKILL)
        else:
            other.communicate("")
        other.wait()
    with claim(tmp_path):
        assert str(os.getpid()) in (tmp_path / HOLDER).read_text("utf-8")
    assert {path.name for path in tmp_path.iterdir()} <= {LOCK}


def test_threads_exclude_each_other_too(tmp_path: Path):
    found: list[Any] = []

    def other() -> None:
        try:
            with claim(tmp_path):
                found.append("claimed")
        except HeldError as error:
            found.append(error)

    for _ in range(2):
        with claim(tmp_path):
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
    other()
    assert [type(each) for each in found] == [HeldError, HeldError, str]


def test_a_full_disk_lets_a_folder_be_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agents.runfolder.write_atomically", fail)
    with (
        claim(tmp_path),
        pytest.raises(HeldError, match="in use by another process"),
        claim(tmp_path),
    ):
        pass


def test_what_a_killed_process_left_is_removed(tmp_path: Path):
    mine, half = tmp_path / "film.part", tmp_path / f"checkpoint.bin.1{PART}"
    for path in (mine, half):
        path.write_bytes(b"half")
    with claim(tmp_path):
        assert mine.exists() and not half.exists()


def test_new_folders_are_never_shared(tmp_path: Path):
    path, made = tmp_path / "deep" / "run", []
    start = threading.Barrier(8)

    def make() -> None:
        start.wait()
        with new_folder(path) as folder:
            (folder / "file").touch(exist_ok=False)
            made.append(folder.name)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == ["run", *(f"run-{n}" for n in range(2, 9))]


def test_a_new_folder_that_stays_empty_is_removed(tmp_path: Path):
    with pytest.raises(ValueError, match="refused"), new_folder(tmp_path / "run"):
        raise ValueError("refused")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file_and_takes_no_room(tmp_path: Path, error: BaseException):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(file: Any) -> None:
        file.write(b"new")
        raise error

    with pytest.raises(type(error)):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
    write_text(path, "newer \ud800 中")
    assert path.read_bytes() == "newer \\ud800 中".encode() and list(tmp_path.iterdir()) == [path]


def test_readers_never_see_half_a_file(tmp_path: Path):
    path, contents = tmp_path / "file", [bytes([n]) * 300_000 for n in range(2)]
    write_atomically(path, lambda file: file.write(contents[0]))
    stop = threading.Event()

    def rewrite() -> None:
        while not stop.is_set():
            for content in contents:
                write_atomically(path, lambda file, content=content: file.write(content))

    thread = threading.Thread(target=rewrite)
    thread.start()
    try:
        assert all(path.read_bytes() in contents for _ in range(300))
    finally:
        stop.set()
        thread.join()
