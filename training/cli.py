"""Command line that all trainers share: presets, settings, run folders."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tyro

from training.config import CONFIG, C, presets, read_settings
from training.run import CHECKPOINT, Stopped, finish

Train = Callable[[C, Path, bool], Any]


def parse(trainer: str, kind: type[C], arguments: Sequence[str] | None) -> tuple[C, Path, bool]:
    """Settings, run folder and whether to resume."""
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
        if not (ours.resume / CONFIG).is_file():
            raise ValueError(f"{ours.resume} is no run folder: it has no {CONFIG}")
        return read_settings(ours.resume / CONFIG, kind), ours.resume, True
    preset = "quick" if ours.preset is None else ours.preset.removeprefix(f"{trainer}/")
    path = known.get(preset, Path(preset))
    if preset not in known and path.suffix not in (".yaml", ".yml"):
        parser.error(f"preset {preset!r} is not known: {sorted(known)}, or a file FILE.yaml")
    default = read_settings(path, kind)
    config = tyro.cli(
        kind,
        args=rest,
        default=default,
        prog=parser.prog,
        description=(
            f"--preset NAME: settings to start from, {sorted(known)} or a file FILE.yaml "
            "(default: quick). --run FOLDER: where to write (default: a new one in runs/). "
            "--resume FOLDER: continue that run. All settings can be changed:"
        ),
    )
    folder = ours.run or Path("runs") / f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    if (folder / CHECKPOINT).exists():
        parser.error(f"{folder} has a run already: continue it with --resume, or choose another")
    if (folder / CONFIG).exists():
        parser.error(
            f"{folder} has a run already, which has no checkpoint yet: choose another folder"
        )
    return config, folder, False


def main(
    trainer: str, kind: type[C], train: Train[C], arguments: Sequence[str] | None = None
) -> None:
    """Train, evaluate and say where everything is."""
    start = time.monotonic()
    folder = Path()
    try:
        config, folder, resume = parse(trainer, kind, arguments)
        print(f"{config.game}: {config.steps:,} decisions, seed {config.seed}")
        print(f"run folder: {folder}", flush=True)
        train(config, folder, resume)
        seconds = time.monotonic() - start
        print("evaluating", flush=True)
        print(f"\n{finish(config, folder)}\n")
    except (Stopped, KeyboardInterrupt):
        sys.exit(f"stopped; continue with: python -m training.{trainer} --resume {folder}")
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    print(f"trained in {seconds:.0f} s, all in {time.monotonic() - start:.0f} s; see {folder}")
