"""Decisions per second of the trainers, and where their time goes.

    python -m benchmarks.training_speed [--seconds 5]

Each trainer runs with the settings of its quick preset and without evaluations: alone, then as two
processes side by side, which is how to use two cores. By CPU time is what they would do if each had
a core to itself: on a busy machine it says more than the wall clock. A decision of training.ppo is
one of a seat, forced passes included; one of training.lookahead is one that is learned from.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from multiprocessing.synchronize import Barrier
from time import perf_counter, process_time
from typing import Any, TypeVar
from unittest.mock import patch

import torch

from agents import network
from agents.network import CardNetwork
from sixnimmt_env.engine import Engine
from sixnimmt_env.state import State
from training import samples
from training.config import presets, read_settings
from training.lookahead import LookaheadConfig
from training.lookahead_trainer import Learner
from training.ppo import PPOConfig
from training.ppo_trainer import make_model
from training.tables import Tables

PROCESSES = 2
SB3_TARGET = 12_000  # decisions per second of two processes
ENVIRONMENT_TARGET = 0.10  # of the CPU time of training.ppo
WARM_UP_SEATS = 64
PATIENCE = 300.0  # seconds that a process waits for the other one

ENVIRONMENT, FEATURES, FORWARD = "environment", "features", "network forward"
BACKWARD, REST = "backward and optimiser", "the trainer's rest"
PARTS = (ENVIRONMENT, FEATURES, FORWARD, BACKWARD, REST)

Update = Callable[[], int]
Settings = TypeVar("Settings", PPOConfig, LookaheadConfig)


@dataclass(frozen=True)
class Speed:
    """What one process did: decisions learned from, seconds, and CPU-seconds by part."""

    decisions: int
    wall: float
    cpu: dict[str, float]


class Clock:
    """Divides CPU time into parts; time in a part within another one counts for the inner one."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._part, self._since = REST, process_time()

    def enter(self, part: str) -> str:
        """Begin a part and return the former one."""
        now = process_time()
        self.spent[self._part] += now - self._since
        former, self._part, self._since = self._part, part, now
        return former

    def timed(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        """Make a function whose time counts for a part."""

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            former = self.enter(part)
            try:
                return function(*args, **kwargs)
            finally:
                self.enter(former)

        return wrapped


# Where each part happens; PPO's environments include masks and the stacking of several games.
LEARNING = (
    (CardNetwork, "judge", FORWARD),
    (torch.Tensor, "backward", BACKWARD),
    (torch.optim.Adam, "step", BACKWARD),
    (torch.nn.utils, "clip_grad_norm_", BACKWARD),
)
PLACES: dict[str, tuple[tuple[Any, str, str], ...]] = {
    "ppo": (
        *((Tables, name, ENVIRONMENT) for name in ("reset", "step_wait", "action_masks")),
        (network, "describe", FEATURES),
        *LEARNING,
    ),
    "lookahead": (
        *((Engine, name, ENVIRONMENT) for name in ("reset", "step")),
        (State, "take", ENVIRONMENT),
        (samples, "observe_encoded", ENVIRONMENT),
        (samples, "describe", FEATURES),
        (CardNetwork, "values", FORWARD),
        *LEARNING,
    ),
}


@contextmanager
def clocked(trainer: str) -> Iterator[Clock]:
    """Clock of all that a trainer does meanwhile."""
    clock = Clock()
    with ExitStack() as stack:
        for owner, name, part in PLACES[trainer]:
            wrapped = clock.timed(getattr(owner, name), part)
            stack.enter_context(patch.object(owner, name, wrapped))
        yield clock
        clock.enter(REST)


def settings(kind: type[Settings], seats: int | None) -> Settings:
    """Those of a trainer's quick preset; ValueError for a number of seats that cannot learn."""
    found = read_settings(presets(kind.trainer)["quick"], kind)
    return found if seats is None else replace(found, seats=seats)


def ppo_update(seats: int | None) -> Update:
    """Make a function that collects decisions and learns from them; returns how many."""
    config = settings(PPOConfig, seats)
    model = make_model(config)

    def update() -> int:
        model.learn(config.rollout_steps, reset_num_timesteps=False)
        return config.rollout_steps

    return update


def lookahead_update(seats: int | None) -> Update:
    """Make such a function of training.lookahead."""
    learner = Learner(settings(LookaheadConfig, seats))

    def update() -> int:
        before = learner.decisions
        learner.update(learner.play())
        return learner.decisions - before

    return update


UPDATES = {"ppo": ppo_update, "lookahead": lookahead_update}


def measure(trainer: str, seconds: float, seats: int | None) -> Speed:
    """Let a trainer run, in whole updates, for at least so many seconds.

    Parameters
    ----------
    trainer : {"ppo", "lookahead"}
        Which.
    seconds : float
        How long.
    seats : int, optional
        Other than in the preset.
    """
    UPDATES[trainer](WARM_UP_SEATS)()
    update = UPDATES[trainer](seats)
    if _together is not None:
        _together.wait(PATIENCE)
    with clocked(trainer) as clock:
        start, decisions = perf_counter(), 0
        while (wall := perf_counter() - start) < seconds:
            decisions += update()
    return Speed(decisions, wall, dict(clock.spent))


_together: Barrier | None = None


def _begin(barrier: Barrier) -> None:
    global _together
    _together = barrier


def side_by_side(trainer: str, processes: int, seconds: float, seats: int | None) -> list[Speed]:
    """Measure a trainer in fresh processes that begin at the same moment."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(processes)
    with ProcessPoolExecutor(processes, context, _begin, (barrier,)) as pool:
        runs = [pool.submit(measure, trainer, seconds, seats) for _ in range(processes)]
        return [run.result() for run in runs]


def speed_line(trainer: str, speeds: Sequence[Speed]) -> str:
    """Decisions per second of all processes together, of the wall clock and of the CPU."""
    decisions = sum(speed.decisions for speed in speeds)
    wall = sum(speed.decisions / speed.wall for speed in speeds)
    cpu = sum(sum(speed.cpu.values()) for speed in speeds) / len(speeds)
    return f"| {trainer} | {len(speeds)} | {wall:,.0f} | {decisions / cpu:,.0f} |"


def parts_line(trainer: str, speed: Speed) -> str:
    """Shares of the CPU time."""
    whole = sum(speed.cpu.values())
    shares = [f"{speed.cpu.get(part, 0.0) / whole:.1%}" for part in PARTS]
    return f"| {trainer} | {' | '.join(shares)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.training_speed",
        description="Decisions per second of the trainers, and where their time goes.",
    )
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement (4)")
    parser.add_argument("--seats", type=int, help="that learn, other than in the preset")
    options = parser.parse_args(arguments)
    if not 0 < options.seconds < math.inf:
        parser.error("--seconds: more than 0 is needed")
    try:
        for kind in (PPOConfig, LookaheadConfig):
            settings(kind, options.seats)
    except ValueError as error:
        parser.error(f"--seats: {error}")
    alone: dict[str, Speed] = {}
    print("| trainer | processes | decisions/s by the clock | decisions/s by CPU time |")
    print("|---|---:|---:|---:|")
    for trainer in UPDATES:
        for processes in (1, PROCESSES):
            speeds = side_by_side(trainer, processes, options.seconds, options.seats)
            alone.setdefault(trainer, speeds[0])
            print(speed_line(trainer, speeds), flush=True)
    print(f"\nTarget: {SB3_TARGET:,} decisions/s of ppo in {PROCESSES} processes.\n")
    print(f"| share of CPU time | {' | '.join(PARTS)} |")
    print(f"|---|{'---:|' * len(PARTS)}")
    for trainer, speed in alone.items():
        print(parts_line(trainer, speed))
    print(f"\nTarget: less than {ENVIRONMENT_TARGET:.0%} in ppo's environment.")


if __name__ == "__main__":
    main()
