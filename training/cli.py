"""Command line that all trainers share: presets, settings, run folders."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

import tyro

from agents.runfolder import new_folder
from agents.terminal import ended_by_signal, write_anywhere
from sixnimmt_env.checks import did_you_mean
from training.checkpoint import Stopped
from training.config import CONFIG, C, presets, read_settings, refuse_begun
from training.players import PAST, load_players

Train = Callable[[C, Path, bool], Any]


@dataclass(frozen=True)
class Job(Generic[C]):
    """What a command line asks for.

    Attributes
    ----------
    config : Config
        The settings.
    folder : Path
        Of the run.
    resume : bool
        Whether the folder's run is continued.
    named : bool
        Whether the user named the folder; otherwise it may be another one of a like name.
    """

    config: C
    folder: Path
    resume: bool = False
    named: bool = True


def parse(trainer: str, kind: type[C], arguments: Sequence[str] | None) -> Job[C]:
    """Read the command line of a trainer that has presets."""
    known = presets(trainer)
    parser = argparse.ArgumentParser(
        prog=f"python -m training.{trainer}", add_help=False, allow_abbrev=False
    )
    parser.add_argument("--preset")
    parser.add_argument("--run", type=Path)
    parser.add_argument("--resume", type=Path)
    ours, rest = parser.parse_known_args(arguments)
    if ours.resume is not None:
        if rest or ours.run is not None or ours.preset is not None:
            parser.error("--resume FOLDER continues a run as it was begun: leave all else out")
        return Job(read_settings(settings_of(ours.resume), kind), ours.resume, resume=True)
    preset = "quick" if ours.preset is None else ours.preset.removeprefix(f"{trainer}/")
    path = known.get(preset, Path(preset))
    if preset not in known and path.suffix not in (".yaml", ".yml"):
        hint = did_you_mean(preset, known)
        parser.error(f"preset {preset!r} is not known: {hint} one of {sorted(known)}, or FILE.yaml")
    config = tyro.cli(
        kind,
        args=rest,
        default=read_settings(path, kind),
        prog=parser.prog,
        description=(
            f"--preset NAME: settings to start from, {sorted(known)} or a file FILE.yaml "
            "(default: quick). --run FOLDER: where to write (default: a new one in runs/). "
            "--resume FOLDER: continue that run. All settings can be changed:"
        ),
    )
    return Job(config, ours.run or new_name(path.stem), named=ours.run is not None)


def new_name(kind: str) -> Path:
    """Folder of a run that the user has not named."""
    return Path("runs") / f"{kind}-{time.strftime('%Y%m%d-%H%M%S')}"


def settings_of(folder: Path) -> Path:
    """File of a run's settings; ValueError if it is no run folder."""
    if not (folder / CONFIG).is_file():
        raise ValueError(f"{folder} is no run folder: it has no {CONFIG}")
    return folder / CONFIG


@contextmanager
def folder_of(job: Job[Any]) -> Iterator[Path]:
    """Give the folder of a run, once it is certain that its players can be used.

    One that the user has not named is made here, and is nobody else's.
    """
    config = job.config
    if job.named and not job.resume:
        refuse_begun(job.folder)
    load_players(config.held, [config.rules])
    load_players((each for each in config.named if each not in {PAST, *config.held}), config.games)
    if job.named:
        yield job.folder
        return
    with new_folder(job.folder) as folder:
        yield folder


@contextmanager
def program(trainer: str) -> Iterator[list[Path]]:
    """What every trainer's program does: end on signals and errors, and say how to go on.

    The block adds the run's folder to the list it is given, as soon as it knows it.
    """
    folders: list[Path] = []
    write_anywhere()
    try:
        with ended_by_signal():
            yield folders
    except (Stopped, KeyboardInterrupt):
        begun = [str(folder) for folder in folders if (folder / CONFIG).is_file()]
        if not begun:
            sys.exit("stopped before anything was written")
        sys.exit(
            f"stopped; continue with: python -m training.{trainer} --resume {shlex.join(begun)}"
        )
    except MemoryError as error:
        begun = [str(folder) for folder in folders if (folder / CONFIG).is_file()]
        free = f"free some, then --resume {shlex.join(begun)}, or b" if begun else "b"
        sys.exit(
            f"error: the memory does not suffice ({error}): {free}egin a run with fewer seats, a "
            "smaller network or fewer rounds"
        )
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")


def main(
    trainer: str, kind: type[C], train: Train[C], arguments: Sequence[str] | None = None
) -> None:
    """Train, evaluate and say where everything is."""
    start = time.monotonic()
    with program(trainer) as folders:
        job = parse(trainer, kind, arguments)
        config = job.config
        with folder_of(job) as folder:
            folders.append(folder)
            print(f"{config.game}: {config.steps:,} decisions, seed {config.seed}")
            print(f"run folder: {folder}", flush=True)
            train(config, folder, job.resume)
            seconds = time.monotonic() - start
            from training.finish import finish  # with torch, as `train` does

            print(f"\n{finish(config, folder)}\n")
    print(f"trained in {seconds:.0f} s, all in {time.monotonic() - start:.0f} s; see {folder}")
