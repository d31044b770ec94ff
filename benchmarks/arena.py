"""An arena whose verdicts can be repeated: players against each other on duplicate deals.

    python -m benchmarks.arena --players closest_gap,lowest,random --rounds 500

Every deal is played in all rotations of the seats. Results are the same for any number of
processes and after an interruption. `docs/arena.md` tells how to use it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import secrets
import shlex
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from agents.runfolder import claim, write_text
from agents.terminal import ended_by_signal, write_anywhere
from benchmarks.arena_report import draw, markdown, write_csv
from benchmarks.identity import commit, versions
from benchmarks.lineups import CHUNK, PARTS, Config, chunks, lineups
from benchmarks.pool import Pool
from benchmarks.progress import Progress
from benchmarks.standings import make_tables
from benchmarks.store import CONFIG, Store, check_folder
from benchmarks.tournament import Result
from sixnimmt_env.checks import whole
from sixnimmt_env.rules import EPISODES, ROW_CHOICES
from sixnimmt_env.variants import VARIANTS

LIMIT: Final = 60.0
# Seconds that a call may be allowed; less than the least is no time to any clock.
SHORTEST: Final = 0.001
LONGEST: Final = 86_400
MOST_PROCESSES: Final = 1024


def run_arena(
    config: Config,
    out: Path | str,
    processes: int = 2,
    limit: float = LIMIT,
    resume: bool = False,
    command: str = "",
    quiet: bool = False,
) -> dict[str, Any]:
    """Play everything that is not played yet and write all results.

    A script that calls it needs `if __name__ == "__main__":` around the call, since the processes
    that play import the script.

    Parameters
    ----------
    config : Config
        What is played; results are a function of it alone.
    out : Path or str
        Folder of the arena, made if need be. No other arena may use it at the same time.
    processes : int
        How many play at the same time.
    limit : float
        Seconds that a call of a player may take.
    resume : bool
        Continue in a folder that holds the same arena already.
    command : str
        Repeated in the results.
    quiet : bool
        Without a progress bar.

    Returns
    -------
    dict
        What `results.json` holds.

    Raises
    ------
    ValueError
        For what cannot be played, or a folder that holds something else.
    OSError
        If another arena uses the folder, a file of a player is not there, or there is no room.
    RuntimeError
        If processes cannot be started.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise RuntimeError(
            "run_arena is called while a process of an arena imports the script: put the call "
            'under `if __name__ == "__main__":`'
        )
    out = Path(out)
    check_run(processes, limit)
    config.check()
    check_folder(out, resume)
    every = chunks(config, lineups(config))
    with Pool(config, processes, limit) as pool:
        pool.check()
        with claim(out), Store(out, config, resume, {chunk.key for chunk in every}) as store:
            progress = Progress(config, every, store.results.values(), quiet)
            todo = [chunk for chunk in every if chunk.key not in store.results]
            try:
                for result in pool.play(todo, progress.wanted):
                    store.add(result)
                    progress.add(result)
            finally:
                progress.close()
            results: dict[str, Any] = {
                "command": command,
                "config": asdict(config),
                "chunk": CHUNK,
                "commit": commit(),
                "versions": versions(),
                "tables": make_tables(config, progress.counted(store.results.values())),
                "cpu": _cpu(store.results.values()),
            }
            write_text(out / "results.json", json.dumps(results, indent=1) + "\n")
            write_text(out / "results.md", markdown(config, results))
            write_csv(config, results["tables"], out / "results.csv")
            draw(config, results["tables"], out)
    return results


def check_run(processes: int, limit: float) -> None:
    """Refuse what is no number of processes or no limit of time, with a ValueError."""
    why = f"a whole number from 1 to {MOST_PROCESSES} is needed"
    whole("processes", processes, 1, MOST_PROCESSES, why)
    if not isinstance(limit, (int, float)) or not SHORTEST <= limit <= LONGEST:
        raise ValueError(
            f"limit={limit!r} is not possible: {SHORTEST} to {LONGEST} seconds are needed"
        )


def _cpu(results: Iterable[Result]) -> dict[str, dict[str, float]]:
    cpu: dict[str, dict[str, float]] = {}
    for result in results:
        for player, (seconds, decisions) in result["cpu"].items():
            spent = cpu.setdefault(player, {"seconds": 0.0, "decisions": 0})
            spent["seconds"] += seconds
            spent["decisions"] += decisions
    return dict(sorted(cpu.items()))


def new_folder() -> Path:
    """Name of a folder that no other arena has, not even one begun in the same second."""
    return Path("results/arena") / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"


def how_to_continue(folder: Path) -> str:
    """What is said of an arena that has ended early."""
    if not (folder / CONFIG).exists():
        return "there is nothing to continue"
    return f"to continue, add: --out {shlex.quote(str(folder))} --resume"


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.arena",
        description="Players against each other on duplicate deals. docs/arena.md explains it.",
    )
    add = parser.add_argument
    add("--players", required=True, help="by commas: names, FILE.npz, FILE.zip, module:Class")
    add("--seats", type=int, default=4, help="players at a table (4)")
    add("--rounds", type=int, default=2000, help="deals of every lineup (2000)")
    add("--variant", choices=sorted(VARIANTS), default="base")
    add("--row-choice", choices=ROW_CHOICES)
    add("--episode", choices=EPISODES, default="round", help="what is played on a deal")
    add("--target", type=int, help="heads that end a match (66)")
    add("--seed", type=int, default=0)
    add("--lineups", choices=PARTS, default="all", dest="parts", help="what is played (all)")
    add("--split", type=int, default=0, metavar="K", help="also K of one against the rest")
    add("--processes", type=int, default=2)
    add("--limit", type=float, default=LIMIT, help="seconds for one call of a player (60)")
    add("--out", type=Path, help="folder (results/arena/ and the time)")
    add("--resume", action="store_true", help="continue in the folder of --out")
    options = vars(parser.parse_args(arguments))
    given = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["python", "-m", "benchmarks.arena", *given])
    run = {name: options.pop(name) for name in ("processes", "limit", "resume")}
    out = options.pop("out") or new_folder()
    options["players"] = tuple(name.strip() for name in options["players"].split(","))
    write_anywhere()
    try:
        with ended_by_signal():
            results = run_arena(Config(**options), out, **run, command=command)
    except KeyboardInterrupt:
        print(f"stopped; {how_to_continue(out)}", file=sys.stderr)
        sys.exit(130)
    except ValueError as error:
        sys.exit(f"error: {error}")
    except (OSError, RuntimeError) as error:
        sys.exit(f"error: {error}; {how_to_continue(out)}")
    print(markdown(Config(**options), results))
    print(f"wrote {out}")


if __name__ == "__main__":
    main()
