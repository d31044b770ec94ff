"""How the programs of the arena meet terminals and signals."""

from __future__ import annotations

import io
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


def write_anywhere() -> None:
    """Let what is printed be escaped where the encoding of the terminal lacks it, not raise."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Let SIGTERM end a block as Ctrl-C does: with a KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():  # signals are not for it
        yield
        return

    def interrupt(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
