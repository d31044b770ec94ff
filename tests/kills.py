"""Train, and get killed or stopped at many moments.

    python -m tests.kills TRAINER FOLDER STEP

Run by tests/test_kills.py: one process that imports torch once, and forks for each run.
"""

from __future__ import annotations

import io
import itertools
import os
import pickle
import signal
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from agents.learned import load_policy
from agents.runfolder import LOCK, write_text
from training import report, run
from training.checkpoint import Stopped
from training.config import CONFIG
from training.finish import finish

from .runs import TRAINERS, Trainer

Meet = Callable[[], None]


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def terminate() -> None:
    signal.raise_signal(signal.SIGTERM)


def interrupt_twice() -> None:
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)


def train(trainer: Trainer, folder: Path, at: int | None = None, meet: Meet = kill) -> int:
    """Begin or continue a run and finish it; in the end, how often a file was put in place.

    Before number `at` of these something happens.
    """
    replace, calls = os.replace, itertools.count()

    def put(source: Any, target: Any) -> None:
        if next(calls) == at:
            meet()
        replace(source, target)

    os.replace = put  # type: ignore[assignment]
    try:
        few = {"steps": trainer.tiny["steps"] // 2, "evaluations": 1, "table_rounds": 8}
        config = trainer.config(**few, held_rounds=4)
        trainer.module.train(config, folder, resume=(folder / CONFIG).exists())
        finish(config, folder)
    finally:
        os.replace = replace
    return next(calls)


def content(folder: Path) -> dict[str, Any]:
    """All that a run leaves, without its times."""
    found: dict[str, Any] = {"files": {path.name for path in folder.iterdir()} - {LOCK}}
    for name in (run.POLICY, run.BEST):
        policy = load_policy(folder / name)
        weights = {key: weight.tobytes() for key, weight in policy.weights.items()}
        found[name] = policy.about, weights
    found[run.METRICS] = (folder / run.METRICS).read_text("utf-8")
    found["results.json"] = (folder / "results.json").read_text("utf-8").partition('"table"')[2]
    found["results.md"] = (folder / "results.md").read_text("utf-8").partition("\n")[2]
    if (folder / "policy.zip").exists():
        with zipfile.ZipFile(folder / "policy.zip") as file:
            model = torch.load(io.BytesIO(file.read("policy.pth")))
        found["policy.zip"] = {key: weight.numpy().tobytes() for key, weight in model.items()}
    return found


def forked(work: Callable[[], Any], answer: Path) -> int:
    """Do something in another process, which puts what it gives into a file: its status."""
    child = os.fork()
    if not child:
        try:
            data = pickle.dumps(work())
            answer.write_bytes(data)
        except (Stopped, KeyboardInterrupt):
            os._exit(3)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def points(count: int, step: int) -> list[int]:
    """Some moments of a run, and all near its end."""
    return [*range(0, count - 6, step), *range(count - 6, count)]


def main(name: str, base: Path, step: int) -> None:
    trainer, answer = TRAINERS[name], base / "answer"
    run.CHECKPOINT_SECONDS = -1.0  # one after each update
    torch.set_num_threads(1)
    # Takes longer than all the rest.
    report.draw_curve = lambda _, __, path: write_text(path, "curve")  # type: ignore[assignment]

    def whole(folder: Path) -> tuple[int, dict[str, Any]]:
        return train(trainer, folder), content(folder)

    count, wanted = whole(base / "whole")  # in this process: others begin with all imported
    cases = [(kill, at) for at in points(count, step)]
    cases += [(terminate, at) for at in range(4, count, 2 * step)]
    cases += [(interrupt_twice, at) for at in range(1, count, 2 * step)]
    for number, (meet, at) in enumerate(cases):
        folder = base / str(number)
        status = forked(lambda f=folder, a=at, m=meet: train(trainer, f, a, m), answer)
        ends = [-signal.SIGKILL] if meet is kill else [3, -signal.SIGTERM]  # in `finish`
        assert status in ends, (at, status)
        assert forked(lambda f=folder: whole(f), answer) == 0, (meet, at)
        got = pickle.loads(answer.read_bytes())[1]
        odd = [key for key in wanted if got.get(key) != wanted[key]]
        assert got == wanted, (meet, at, odd, got["files"] ^ wanted["files"])
    print(f"{len(cases)} times", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
