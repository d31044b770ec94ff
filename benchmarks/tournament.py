"""One chunk of an arena: some deals of one lineup, played at once by players one need not trust.

What `play_chunk` gives is a function of the configuration and the chunk alone: not of what was
played before, nor of other processes.
"""

from __future__ import annotations

import signal
import sys
import time
import traceback
from collections.abc import Iterator, MutableSequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.players import load_player, saved_file
from benchmarks.lineups import Chunk, Config
from sixnimmt_env.cards import action_name
from sixnimmt_env.engine import Engine
from sixnimmt_env.notation import record_of, write
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import Actions, Policy
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER, State

# Most decisions in one call of a player, so that a limit on its time means something.
CALL: Final = 512
# After a crash so many decisions of the call are tried alone, to find the position.
TRIED: Final = 64

# Part of `Failure.what`.
CRASHED: Final = "crashed"
STALLED: Final = "stalled"
ILLEGAL: Final = "played illegally"

Result = dict[str, Any]

# Players whose first call in this process is over. It is left out of their time: they may compile.
_STARTED: set[str] = set()


@dataclass(frozen=True)
class Failure:
    """A player that broke down, and with it the chunk.

    Attributes
    ----------
    player : str
        Name of the player.
    what : str
        `CRASHED`, `STALLED` or `ILLEGAL`.
    error : str
        What happened, in a line.
    deal, seat : int, optional
        Where; None if it is not known.
    record : str
        The round so far in the notation, "" if it is not known.
    decisions : int
        Size of the call. Of more than one the position is the first that fails alone or, if none
        does, simply the first.
    """

    player: str
    what: str
    error: str
    deal: int | None = None
    seat: int | None = None
    record: str = ""
    decisions: int = 0


class _Broken(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.error)
        self.failure = failure


class _Stalled(BaseException):
    """Raised by the alarm; no Exception, so that players rarely catch it."""


class Clock:
    """Whose turn it is since when, in memory that another process may watch."""

    def __init__(self, shared: MutableSequence[float] | None = None) -> None:
        self._shared = shared if shared is not None else [0.0, 0.0]

    @contextmanager
    def running(self, player: int, limit: float) -> Iterator[None]:
        """Time a call; an alarm interrupts it after `limit` seconds where there is one."""
        alarm = hasattr(signal, "setitimer")
        self._shared[1] = player
        self._shared[0] = time.monotonic()
        try:
            if alarm:
                signal.setitimer(signal.ITIMER_REAL, limit)
            yield
        finally:
            if alarm:
                signal.setitimer(signal.ITIMER_REAL, 0)
            self.stop()

    def stop(self) -> None:
        """Nobody is acting."""
        self._shared[0] = 0.0

    def read(self) -> tuple[int, float] | None:
        """Index of the player that is acting and for how long, or None."""
        since, player = self._shared[0], self._shared[1]
        return (int(player), time.monotonic() - since) if since else None


def set_alarm() -> None:
    """Let the alarm interrupt a player; only possible in the main thread of a process."""

    def ring(signum: int, frame: object) -> None:
        raise _Stalled

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, ring)


def play_chunk(config: Config, chunk: Chunk, limit: float, clock: Clock) -> Result:
    """Play a chunk.

    Returns
    -------
    dict
        "lineup" and "chunk"; "heads", bull heads as lists (deals, plays, slots), or "failure"; and
        "cpu", the seconds and decisions of each player.
    """
    cpu = {player: [0.0, 0] for player in chunk.lineup.players}
    result: Result = {"lineup": chunk.lineup.name, "chunk": chunk.number}
    try:
        result["heads"] = _Table(config, chunk, limit, clock, cpu).play().tolist()
    except _Broken as broken:
        result["failure"] = asdict(broken.failure)
    finally:
        clock.stop()
    return result | {"cpu": cpu}


class _Table:
    """The games of one chunk and the players in them."""

    def __init__(
        self, config: Config, chunk: Chunk, limit: float, clock: Clock, cpu: dict[str, list[Any]]
    ) -> None:
        self.rules = config.rules
        self.limit, self.clock, self.cpu = limit, clock, cpu
        self.names = chunk.lineup.players
        self.rngs = [chunk.rng(config.seed, 1 + i) for i in range(len(self.names))]
        self.players = [self._load(i, config.specs[name]) for i, name in enumerate(self.names)]
        deals, plays = len(chunk.deals), chunk.lineup.plays
        slots = chunk.lineup.seating(deals, chunk.rng(config.seed, 0))
        self.shape = deals, plays, self.rules.num_players
        self.slots = slots.reshape(deals * plays, -1).T  # (seats, games)
        owner = np.array([self.names.index(name) for name in chunk.lineup.seats])
        self.who = owner[self.slots]
        self.engine = Engine(self.rules)
        self.state = self.engine.reset(config.seed, np.repeat(np.array(chunk.deals), plays))

    def play(self) -> NDArray[np.int32]:
        """Heads of each slot, shape (deals, plays, slots)."""
        state = self.state
        while (active := state.phase != OVER).any():
            actions = np.zeros(self.who.shape, np.intp)
            acting = state.acting()
            for i in range(len(self.names)):
                seats, games = np.nonzero(acting & (self.who == i))
                for at in range(0, seats.size, CALL):
                    part = seats[at : at + CALL], games[at : at + CALL]
                    actions[part] = self._choose(i, *part)
            self.engine.step(state, actions, active)
        heads = np.empty_like(state.totals())
        np.put_along_axis(heads, self.slots, state.totals(), axis=0)
        return heads.T.reshape(self.shape)

    def _load(self, i: int, spec: str) -> Policy:
        try:
            with self.clock.running(i, self.limit):
                return _saved(spec) if saved_file(spec) is not None else load_player(spec)
        except BaseException as error:
            raise self._broken(i, error) from error

    def _choose(self, i: int, seats: NDArray[np.intp], games: NDArray[np.intp]) -> Actions:
        """What a player does in some seats, checked."""
        seen = observe(self.rules, self.state, seats, games)
        legal = seen.action_mask.copy()  # the player may change what it sees
        start = time.process_time()
        try:
            with self.clock.running(i, self.limit):
                chosen = np.asarray(self.players[i].act(seen, self.rngs[i]))
        except BaseException as error:
            at = 0 if isinstance(error, _Stalled) else self._culprit(i, seats, games)
            raise self._broken(i, error, seats, games, at) from error
        self._count(self.names[i], time.process_time() - start, seats.size)
        if chosen.shape != seats.shape or chosen.dtype.kind not in "iu":
            problem = (
                f"act returned dtype {chosen.dtype}, shape {chosen.shape}; integers of shape "
                f"{seats.shape}, one action for each decision, are needed"
            )
            raise _Broken(self._failure(i, ILLEGAL, problem, seats, games, 0))
        inside = (chosen >= 0) & (chosen < legal.shape[1])
        wrong = ~inside | (legal[np.arange(seats.size), np.where(inside, chosen, 0)] == 0)
        if wrong.any():
            at = int(wrong.argmax())
            options = np.flatnonzero(legal[at]).tolist()
            problem = f"chose {action_name(int(chosen[at]))}; legal actions were {options}"
            raise _Broken(self._failure(i, ILLEGAL, problem, seats, games, at))
        return chosen

    def _count(self, name: str, seconds: float, decisions: int) -> None:
        if name in _STARTED:
            self.cpu[name][0] += seconds
            self.cpu[name][1] += decisions
        _STARTED.add(name)

    def _culprit(self, i: int, seats: NDArray[np.intp], games: NDArray[np.intp]) -> int:
        """First decision of a call that breaks the player by itself."""
        for at in range(min(seats.size, TRIED) if seats.size > 1 else 0):
            one = observe(self.rules, self.state, seats[[at]], games[[at]])
            try:
                with self.clock.running(i, self.limit):
                    self.players[i].act(one, np.random.default_rng(0))
            except BaseException:
                return at
        return 0

    def _broken(self, i: int, error: BaseException, *where: Any) -> _Broken:
        if isinstance(error, _Stalled):
            return _Broken(self._failure(i, STALLED, stalled_text(self.limit), *where))
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
        text = "".join(traceback.format_exception_only(error)).strip()
        return _Broken(self._failure(i, CRASHED, text + place, *where))

    def _failure(
        self,
        i: int,
        what: str,
        error: str,
        seats: NDArray[np.intp] | None = None,
        games: NDArray[np.intp] | None = None,
        at: int = 0,
    ) -> Failure:
        if seats is None or games is None:
            return Failure(self.names[i], what, error)
        game, seat = int(games[at]), int(seats[at])
        deal = int(self.state.game_id[game])
        record = _record(self.rules, self.state, game)
        return Failure(self.names[i], what, error, deal, seat, record, seats.size)


def stalled_text(limit: float) -> str:
    """What is said of a player that took too long."""
    return f"no answer within {limit:g} seconds"


def _record(rules: Rules, state: State, game: int) -> str:
    try:
        return write(record_of(state, rules, game))
    except ValueError:  # rules that the notation has no name for
        return ""


@lru_cache(maxsize=32)
def _saved(spec: str) -> Policy:
    """A saved network: slow to load, and always the same."""
    player = load_player(spec)
    # One thread: processes do not get in each other's way, and sums are always the same.
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    return player
