"""Players of tests/test_arena_mishaps.py: what one need not trust may do."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import Observation
from sixnimmt_env.policy import LowestPolicy, RandomPolicy

Actions = Any


class SlowToMake(LowestPolicy):
    def __init__(self) -> None:
        time.sleep(3600)


class ExitsWhenMade(LowestPolicy):
    def __init__(self) -> None:
        sys.exit(3)


class DiesWhenMade(LowestPolicy):
    def __init__(self) -> None:
        os._exit(9)


class Exits(LowestPolicy):
    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        sys.exit("I have had enough")


class ClosesFiles(LowestPolicy):
    """All of them, and plays on."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        os.closerange(0, 4096)
        return super().act(observation, rng)


class ClosesFilesAndWaits(ClosesFiles):
    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        super().act(observation, rng)
        time.sleep(3600)


class Forks(LowestPolicy):
    """And plays on, in both processes."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        os.fork()
        return super().act(observation, rng)


class ForksBelow(LowestPolicy):
    """Where Python does not notice; only the child goes on."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        if ctypes.CDLL(None).fork():
            time.sleep(3600)
        return super().act(observation, rng)


class OddText(LowestPolicy):
    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        raise RuntimeError("lone \ud800 surrogate, \x1b[31mred\x1b[0m and ```fence")


class Untellable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class RaisesUntellable(LowestPolicy):
    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        raise Untellable


class DiesLater(LowestPolicy):
    """Between two calls."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        threading.Thread(target=lambda: os._exit(5)).start()
        return super().act(observation, rng)


class DiesMuchLater(LowestPolicy):
    """When others play."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        threading.Timer(0.3, lambda: os._exit(6)).start()
        return super().act(observation, rng)


class SlowToGo(LowestPolicy):
    def __del__(self) -> None:
        time.sleep(3600)


class StopsTheEngine(LowestPolicy):
    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        Engine.step = lambda *arguments: time.sleep(3600)  # type: ignore[method-assign,assignment]
        return super().act(observation, rng)


class BreaksTheEngine(LowestPolicy):
    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        Engine.step = None  # type: ignore[method-assign,assignment]
        return super().act(observation, rng)


def _connections() -> list[Connection]:
    found = [thing for thing in gc.get_objects() if isinstance(thing, Connection)]
    return [connection for connection in found if not connection.closed]


class _Bomb:
    """Whoever unpickles it makes a folder."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("gone off",)


class AnswersByPickle(LowestPolicy):
    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        for connection in _connections():
            connection.send(_Bomb())
        time.sleep(3600)


class AnswersItself(LowestPolicy):
    """For a chunk that there is not."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        for connection in _connections():
            connection.send_bytes(b'{"lineup": "mine", "chunk": 7, "heads": [], "cpu": {}}')
        time.sleep(3600)


class LeavesTraces(LowestPolicy):
    """In its process, where others might play later."""

    def __init__(self) -> None:
        os.chdir("/")

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        RandomPolicy.act = LowestPolicy.act  # type: ignore[method-assign,assignment]
        return super().act(observation, rng)


class KillsTheServer(LowestPolicy):
    """That forks the processes of the arena."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        os.kill(os.getppid(), signal.SIGKILL)
        return super().act(observation, rng)


class RemovesTheFolder(LowestPolicy):
    """Of the arena, "arena"."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        shutil.rmtree("arena", ignore_errors=True)
        return super().act(observation, rng)


class Keeps(LowestPolicy):
    """What it has returned, and might change it later."""

    kept: list[Actions] = []

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        self.kept.append(super().act(observation, rng))
        return self.kept[-1]


class BlocksSignals(LowestPolicy):
    """Tells its process and one that it has started, and cannot be told to end."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        import subprocess

        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        part = Path(os.environ["ARENA_PIDS"] + ".part")
        part.write_text(f"{os.getpid()} {child.pid}")
        part.replace(os.environ["ARENA_PIDS"])
        while True:
            time.sleep(3600)


class Spies(LowestPolicy):
    """Looks for more than its own in the memory behind what it is given."""

    def act(self, observation: Observation, rng: np.random.Generator) -> Actions:
        for name in observation.__dataclass_fields__:
            behind = value = getattr(observation, name)
            while isinstance(getattr(behind, "base", None), np.ndarray):
                behind = behind.base
            if isinstance(value, np.ndarray) and behind.size > value.size:
                raise RuntimeError(f"behind {name} there is more: {behind.shape}")
        return super().act(observation, rng)
