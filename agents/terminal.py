"""How programs meet terminals and signals."""

from __future__ import annotations

import io
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def write_anywhere() -> None:
    """Let what is printed be escaped where the encoding of the terminal lacks it, not raise."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def on_signals(handler: Callable[..., object], *signals: signal.Signals) -> Iterator[None]:
    """Call a function on signals while a block runs; nothing, outside the main thread."""
    if threading.current_thread() is not threading.main_thread():  # signals are not for it
        yield
        return
    former = [(number, signal.signal(number, handler)) for number in signals]
    try:
        yield
    finally:
        for number, before in former:
            # None: whoever embeds Python has set it, and Python cannot give it back.
            signal.signal(number, signal.SIG_DFL if before is None else before)


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Let SIGTERM end a block as Ctrl-C does: with a KeyboardInterrupt."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    with on_signals(interrupt, signal.SIGTERM):
        yield
