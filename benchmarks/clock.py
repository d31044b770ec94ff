"""Time of the players' turns: `Clock`, and the alarm that ends a turn."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator, MutableSequence
from contextlib import contextmanager


class Stalled(BaseException):
    """Raised by the alarm; no Exception, so that players rarely catch it."""


class Clock:
    """Whose turn it is since when, in memory that another process may watch.

    Parameters
    ----------
    shared : sequence of 3 floats
        When the last turn began or ended, whose it was (-1: there was none yet), and whether it
        goes on.
    after : callable
        Called at the end of every turn.
    """

    def __init__(
        self,
        shared: MutableSequence[float] | None = None,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        self.shared = shared if shared is not None else [0.0, 0.0, 0.0]
        self._after = after
        self.reset()

    def reset(self) -> None:
        """Nobody has had a turn."""
        self.shared[:] = [time.monotonic(), -1.0, 0.0]

    @contextmanager
    def running(self, player: int, limit: float) -> Iterator[None]:
        """Time a turn; an alarm interrupts it after `limit` seconds where there is one."""
        alarm = hasattr(signal, "setitimer")
        self.shared[:] = [time.monotonic(), float(player), 1.0]
        try:
            if alarm:
                signal.setitimer(signal.ITIMER_REAL, limit)
            yield
        finally:
            if alarm:
                signal.setitimer(signal.ITIMER_REAL, 0)
            self._after()
            self.shared[0], self.shared[2] = time.monotonic(), 0.0

    def read(self) -> tuple[int | None, bool, float]:
        """Who had the last turn, whether it goes on, and seconds since that began or ended."""
        since, player, acting = self.shared
        # A player may have written anything there.
        known = int(player) if 0 <= player < math.inf else None
        return known, bool(acting), time.monotonic() - since


def set_alarm() -> None:
    """Let the alarm interrupt a player; only possible in the main thread of a process."""

    def ring(signum: int, frame: object) -> None:
        raise Stalled

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, signal.SIG_IGN)  # forget one that was held back
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
        signal.signal(signal.SIGALRM, ring)
