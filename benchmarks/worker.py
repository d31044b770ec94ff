"""Life of a process of the arena: `work`. It outlives neither its parent nor what a player does."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, Final

from benchmarks.clock import Clock, set_alarm
from benchmarks.lineups import Config
from benchmarks.tournament import Result, examine, play_chunk

# The first thing that a process says, and keys of answers that are no result of a chunk.
READY: Final = "ready"
PROBLEM: Final = "problem"
BROKEN: Final = "broken"
# Exit code of a process that can say nothing more.
CUT_OFF: Final = 86


def work(connection: Connection, config: Config, limit: float, shared: Any) -> None:
    """Do one task after the other until the connection ends."""
    _stand_alone()
    sys.addaudithook(_refuse_forks)
    clock = Clock(shared, _guard(connection))
    _say(connection, READY)
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        set_alarm()  # for every task: a player may have changed it
        try:
            if isinstance(task, str):
                answer: Result = {PROBLEM: examine(config, task, limit, clock)}
            else:
                answer = play_chunk(config, task, limit, clock)
        except Exception:
            answer = {BROKEN: traceback.format_exc()}
        try:
            _say(connection, answer)
        except OSError:
            os._exit(CUT_OFF)


def _say(connection: Connection, what: Any) -> None:
    connection.send_bytes(json.dumps(what).encode())


def _stand_alone() -> None:
    """Be a group of one's own, which is ended as a whole, at the latest with the parent."""
    for number in (signal.SIGINT, signal.SIGTERM):  # they are for the parent, which ends this one
        signal.signal(number, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        with suppress(OSError):
            os.setsid()
    parent = multiprocessing.parent_process()
    assert parent is not None
    own = os.getpid()

    def watch() -> None:
        wait([parent.sentinel])
        kill_group(own)
        os._exit(CUT_OFF)

    threading.Thread(target=watch, daemon=True).start()


def kill_group(pid: int) -> None:
    """Kill a process and all that it has started, where there are groups of processes."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def _refuse_forks(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise in whoever forks: both processes would go on to play the chunk, and fork again."""
    if event in ("os.fork", "os.forkpty"):
        raise RuntimeError("a player must not fork: use threads, or subprocess to run a program")


def _guard(connection: Connection) -> Callable[[], None]:
    """Make a check that ends a process in which the last call has closed the connection."""
    own = os.getpid()
    if os.name != "posix":  # the connection is no file there
        return lambda: None

    def same_file() -> tuple[int, int] | None:
        try:
            found = os.fstat(connection.fileno())
        except OSError:
            return None
        return found.st_dev, found.st_ino

    before = same_file()

    def check() -> None:
        if os.getpid() != own or same_file() != before:
            os._exit(CUT_OFF)

    return check
