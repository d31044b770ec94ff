"""Processes that play chunks, watched from outside: `play_all`.

A player may crash its process, or hang where no alarm reaches it. Its process is then replaced and
the chunk comes back as failed.
"""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from multiprocessing.connection import Connection, wait
from typing import Any, Final

from benchmarks.lineups import Chunk, Config
from benchmarks.tournament import (
    CRASHED,
    STALLED,
    Clock,
    Failure,
    Result,
    play_chunk,
    set_alarm,
    stalled_text,
)

# Seconds between looks at the processes, and most seconds that the alarm is waited for.
_LOOK: Final = 0.5
_GRACE: Final = 2.0


def play_all(
    config: Config,
    chunks: Iterable[Chunk],
    processes: int,
    limit: float,
    wanted: Callable[[Chunk], bool] = lambda chunk: True,
) -> Iterator[Result]:
    """Play chunks in several processes.

    Parameters
    ----------
    config : Config
        Of the arena.
    chunks : iterable of Chunk
        In the order in which they are begun.
    processes : int
        How many at once.
    limit : float
        Seconds that a call of a player may take.
    wanted : callable
        Asked before a chunk is begun; left out if it says no.

    Yields
    ------
    dict
        Results of `play_chunk`, in the order in which they are done.
    """
    waiting = deque(chunks)
    workers: list[_Worker] = []
    try:
        while True:
            busy = [worker for worker in workers if worker.chunk is not None]
            while waiting and len(busy) < processes:
                chunk = waiting.popleft()
                if wanted(chunk):
                    idle = [worker for worker in workers if worker.chunk is None]
                    if not idle:
                        idle = [_Worker(config, limit)]
                        workers += idle
                    idle[0].begin(chunk)
                    busy.append(idle[0])
            if not busy:
                return
            wait([worker.connection for worker in busy], timeout=_LOOK)
            for worker in busy:
                result = worker.result()
                if result is not None:
                    if worker.ended:
                        workers.remove(worker)
                    yield result
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    def __init__(self, config: Config, limit: float) -> None:
        context = _context()
        self._limit = limit
        self._shared = context.RawArray("d", 2)
        self.connection, other = context.Pipe()
        self._process = context.Process(
            target=_work, args=(other, config, limit, self._shared), daemon=True
        )
        self._process.start()
        other.close()
        self.chunk: Chunk | None = None
        self.ended = False

    def begin(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.connection.send(chunk)

    def result(self) -> Result | None:
        """Result of the chunk if there is one, also if the process is dead or has to be ended."""
        acting = Clock(self._shared).read()
        try:
            done: Result | str | None = self.connection.recv() if self.connection.poll() else None
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode
            if acting is None:
                raise RuntimeError(f"a process of the arena died, exit code {code}") from None
            return self._failed(acting[0], CRASHED, f"its process died, exit code {code}")
        if isinstance(done, str):
            raise RuntimeError(f"a process of the arena failed:\n{done}")
        if done is not None:
            self.chunk = None
        elif acting is not None and acting[1] > self._limit + min(self._limit, _GRACE):
            return self._failed(acting[0], STALLED, stalled_text(self._limit))
        return done

    def _failed(self, player: int, what: str, error: str) -> Result:
        self.end()
        assert self.chunk is not None
        name = self.chunk.lineup.players[player]
        failure = asdict(Failure(name, what, error))
        lineup, number = self.chunk.key
        return {"lineup": lineup, "chunk": number, "failure": failure, "cpu": {}}

    def end(self) -> None:
        self.ended = True
        self._process.kill()
        self._process.join()
        self.connection.close()


def _work(connection: Connection, config: Config, limit: float, shared: Any) -> None:
    """Life of a process: it ends when the connection does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who started it
    set_alarm()
    clock = Clock(shared)
    while True:
        try:
            chunk = connection.recv()
        except EOFError:
            return
        try:
            result: Result | str = play_chunk(config, chunk, limit, clock)
        except Exception:
            result = traceback.format_exc()
        try:
            connection.send(result)
        except OSError:  # nobody waits for it any more
            return


def _context() -> Any:
    """Processes that share nothing with this one, not even half-held locks of its threads."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.tournament"])
    return context
