"""Processes that play chunks, watched from outside: `Pool`.

A player may crash its process, hang where no alarm reaches it, cut its process off, or answer in
its place. The process is then replaced and the chunk comes back as failed by the player in charge.
A process in which code of the user's own has run is not used again: who knows what is left there.
"""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any, Final

from agents.players import saved_file
from benchmarks.answers import LONGEST_ANSWER, ForgedError, checked, decode, is_text
from benchmarks.clock import Clock
from benchmarks.failures import CRASHED, STALLED, Failure, safe, stalled_text
from benchmarks.identity import foreign
from benchmarks.lineups import Chunk, Config
from benchmarks.tournament import Result
from benchmarks.worker import BROKEN, CUT_OFF, PROBLEM, READY, kill_group, work

# Seconds between looks at the processes, and most seconds that the alarm is waited for.
_LOOK: Final = 0.5
_GRACE: Final = 2.0
# Seconds beyond the limit that a process may be busy without any player acting: it compiles, or a
# player has left something behind that holds it up.
_IDLE: Final = 60.0
# So often in a row a process is begun that does not start, or dies before any player could have
# done it; and seconds between tries to start one.
_TRIES: Final = 3
_PAUSE: Final = 0.2


class Pool:
    """Processes for one arena, begun when they are needed; all end when the block is left.

    Parameters
    ----------
    config : Config
        Of the arena.
    processes : int
        How many play at once.
    limit : float
        Seconds that a call of a player may take.
    """

    def __init__(self, config: Config, processes: int, limit: float) -> None:
        self._config, self._processes, self._limit = config, processes, limit
        self._workers: list[_Worker] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self._workers:  # all at once, should it be interrupted
            worker.kill()
        for worker in self._workers:
            worker.end()

    def check(self) -> None:
        """Make every player once, in a process of the pool, and let those of ours decide once.

        One that breaks down in a way of its own (it hangs or dies) passes: it is reported
        for the chunks that it costs.

        Raises
        ------
        ValueError
            If there is no such player, it cannot be made, or it does not know this game.
        RuntimeError
            If no process can be started.
        """
        specs = dict.fromkeys(self._config.players)
        for spec in sorted(specs, key=lambda spec: saved_file(spec) is not None):  # slow ones last
            worker = self._begin(spec)
            answer = None
            while answer is None and not worker.ended:
                wait([worker.connection], timeout=_LOOK)
                answer = worker.answer()
            self._drop_ended()
            if answer is not None and answer[PROBLEM]:
                raise ValueError(answer[PROBLEM])

    def play(
        self, chunks: Iterable[Chunk], wanted: Callable[[Chunk], bool] = lambda chunk: True
    ) -> Iterator[Result]:
        """Play chunks.

        Parameters
        ----------
        chunks : iterable of Chunk
            In the order in which they are begun.
        wanted : callable
            Asked before a chunk is begun; left out if it says no.

        Yields
        ------
        dict
            Results of `play_chunk`, in the order in which they are done.

        Raises
        ------
        RuntimeError
            If processes die before a player's turn, or cannot be started.
        """
        waiting = deque(chunks)
        lost = 0
        while True:
            busy = [worker for worker in self._workers if worker.task is not None]
            while waiting and len(busy) < self._processes:
                chunk = waiting.popleft()
                if wanted(chunk):
                    busy.append(self._begin(chunk))
            if not busy:
                return
            wait([worker.connection for worker in busy], timeout=_LOOK)
            for worker in busy:
                chunk, result = worker.task, worker.answer()
                if result is not None:
                    lost = 0
                    self._drop_ended()
                    yield result
                elif worker.ended:
                    lost += 1
                    if lost == _TRIES:
                        raise RuntimeError(
                            f"a process of the arena broke down {lost} times before any player's "
                            f"turn ({worker.why}): is there enough memory?"
                        )
                    waiting.appendleft(chunk)
            self._drop_ended()

    def _begin(self, task: Chunk | str) -> _Worker:
        """Give a task to a process that has none, or to a new one."""
        for worker in self._workers:
            if worker.task is None:
                try:
                    worker.begin(task)
                    return worker
                except OSError:  # it died meanwhile: something of a former player lived on in it
                    worker.end()
        self._drop_ended()
        worker = self._started()
        self._workers.append(worker)
        with suppress(OSError):  # it is dead already: its answer will tell
            worker.begin(task)
        return worker

    def _started(self) -> _Worker:
        """Start a process; a player may have ended the server that forks them, which comes back."""
        for attempt in range(1, _TRIES + 1):
            try:
                return _Worker(self._config, self._limit)
            except (EOFError, OSError) as error:
                if attempt == _TRIES:
                    why = str(error) or type(error).__name__
                    raise RuntimeError(
                        f"no process of the arena could be started, {_TRIES} times ({why}): are "
                        "there enough memory, processes and open files?"
                    ) from error
                time.sleep(_PAUSE)
        raise AssertionError

    def _drop_ended(self) -> None:
        self._workers = [worker for worker in self._workers if not worker.ended]


class _Worker:
    """A process and its task: a chunk, or the name of a player to look at."""

    def __init__(self, config: Config, limit: float) -> None:
        context = _context()
        self._config, self._limit = config, limit
        self._clock = Clock(context.RawArray("d", 3))
        self.connection, other = context.Pipe()
        self._process = context.Process(
            target=work, args=(other, config, limit, self._clock.shared), daemon=True
        )
        self._process.start()
        other.close()
        self._ready = False
        self.task: Any = None
        self.ended = False
        self.why = ""

    def begin(self, task: Chunk | str) -> None:
        self._clock.reset()
        self.task = task
        self.connection.send(task)

    def answer(self) -> Result | None:
        """What came of the task, also if the process is dead or has to be ended.

        None if it is not done yet or, where the process has `ended`, if no player can have done it.
        """
        try:
            data = self.connection.recv_bytes(LONGEST_ANSWER) if self.connection.poll() else None
        except (EOFError, OSError):  # its end is closed, or a player has written there
            return self._dead()
        if data is not None:
            try:
                return self._heard(decode(data))
            except ForgedError as error:
                return self._failed(CRASHED, f"its process gave an answer that is none: {error}")
        player, acting, seconds = self._clock.read()
        allowed = self._limit + (min(self._limit, _GRACE) if acting else _IDLE)
        if player is not None and seconds > allowed:
            return self._failed(STALLED, stalled_text(self._limit))
        return None

    def _heard(self, found: Any) -> Result | None:
        """Take what the process says; raises ForgedError if it is not for it to say."""
        if found == READY and not self._ready:
            self._ready = True
            return None
        if not self._ready or not isinstance(found, dict):
            raise ForgedError("nothing that was asked for")
        if set(found) == {BROKEN}:
            return self._failed(CRASHED, f"play could not go on after it: {found[BROKEN]}")
        task, answer = self.task, found
        if isinstance(task, Chunk):
            specs = [self._config.specs[name] for name in task.lineup.players]
            answer = checked(self._config, task, found)
        else:
            specs = [task]
            if set(found) != {PROBLEM} or not (found[PROBLEM] is None or is_text(found[PROBLEM])):
                raise ForgedError("nothing about the player")
        self.task = None
        if any(map(foreign, specs)):
            self.end()
        return answer

    def _dead(self) -> Result | None:
        self._process.join(_GRACE)
        code = self._process.exitcode
        if not self._ready:
            self.end()
            raise RuntimeError(
                f"a process of the arena did not start, exit code {code}. A script that calls "
                'run_arena needs `if __name__ == "__main__":` around it, since every process '
                "imports the script"
            )
        cut_off = code in (None, CUT_OFF)
        text = "the connection of its process was closed" if cut_off else "its process died"
        return self._failed(CRASHED, text + f", exit code {code}" * (not cut_off))

    def _failed(self, what: str, error: str) -> Result | None:
        """End the process; the chunk is lost by the player that acts or was the last to act."""
        self.end()
        self.why = error
        player = self._clock.read()[0]
        if isinstance(self.task, str):
            return {PROBLEM: None}
        if player is None:
            return None
        names = self.task.lineup.players
        failure = Failure(names[min(player, len(names) - 1)], what, safe(error))
        lineup, number = self.task.key
        return {"lineup": lineup, "chunk": number, "failure": asdict(failure), "cpu": {}}

    def kill(self) -> None:
        """End the process and all that it has started, without waiting."""
        if self._process.pid is not None:
            kill_group(self._process.pid)
        self._process.kill()

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self.kill()
            self._process.join()
            self.connection.close()


def _context() -> Any:
    """Processes that share nothing with this one, not even half-held locks of its threads."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.warm"])
    return context
