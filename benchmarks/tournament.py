"""One chunk of an arena: some deals of one lineup, played at once by players one need not trust.

What `play_chunk` gives is a function of the configuration and the chunk alone: not of what was
played before, nor of other processes.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.players import PLAYERS, load_player, saved_file
from benchmarks.clock import Clock, Stalled
from benchmarks.failures import CRASHED, ILLEGAL, STALLED, Failure, safe, stalled_text, told
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

Result = dict[str, Any]

# Players whose first call in this process is over. It is left out of their time: they may compile.
_STARTED: set[str] = set()


class _Broken(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.error)
        self.failure = failure


def examine(config: Config, spec: str, limit: float, clock: Clock) -> str | None:
    """Why there is no such player or it does not know this game, None if that does not stop it.

    A player that hangs or ends its process says nothing about that: its chunks will.
    """
    first = observe(config.rules, Engine(config.rules).reset(config.seed), 0)
    try:
        with clock.running(0, limit):
            player = _made(spec)
    except (OSError, ValueError) as error:
        return safe(str(error))
    except BaseException:
        return None
    if saved_file(spec) is not None or spec.split(":")[0] in PLAYERS:
        try:
            with clock.running(0, limit):  # which also compiles it
                player.act(first, np.random.default_rng(0))
        except ValueError as error:
            return safe(f"player {spec!r} cannot play this: {error}")
        except BaseException:  # code of the user's own in it
            pass
    return None


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
        for i in range(len(self.names)):
            with self.clock.running(i, self.limit):  # a player may do something when it goes
                del self.players[0]
        return heads.T.reshape(self.shape)

    def _load(self, i: int, spec: str) -> Policy:
        try:
            with self.clock.running(i, self.limit):
                return _made(spec)
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
            at = 0 if isinstance(error, Stalled) else self._culprit(i, seats, games)
            raise self._broken(i, error, seats, games, at) from error
        self._count(self.names[i], time.process_time() - start, seats.size)
        if chosen.shape != seats.shape or chosen.dtype.kind not in "iu":
            problem = safe(
                f"act returned dtype {chosen.dtype}, shape {chosen.shape}; integers of shape "
                f"{seats.shape}, one action for each decision, are needed"
            )
            raise _Broken(self._failure(i, ILLEGAL, problem, seats, games, 0))
        chosen = chosen.copy()  # the player may keep what it returned, and change it
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
        if isinstance(error, Stalled):
            return _Broken(self._failure(i, STALLED, stalled_text(self.limit), *where))
        return _Broken(self._failure(i, CRASHED, told(error), *where))

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


def _record(rules: Rules, state: State, game: int) -> str:
    try:
        return write(record_of(state, rules, game))
    except ValueError:  # rules that the notation has no name for
        return ""


def _made(spec: str) -> Policy:
    return _saved(spec) if saved_file(spec) is not None else load_player(spec)


@lru_cache(maxsize=32)
def _saved(spec: str) -> Policy:
    """A saved network: slow to load, and always the same."""
    player = load_player(spec)
    # One thread: processes do not get in each other's way, and sums are always the same.
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    return player
