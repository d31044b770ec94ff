"""An arena whose verdicts can be repeated: players against each other on duplicate deals.

    python -m benchmarks.arena --players closest_gap,lowest,random --rounds 500

Every deal is played in all rotations of the seats. Results are the same for any number of
processes and after an interruption. `docs/arena.md` tells how to use it.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import numpy as np
from tqdm import tqdm

from agents.players import PLAYERS, saved_file
from benchmarks.arena_report import draw, markdown, write_csv
from benchmarks.lineups import CHUNK, PARTS, Chunk, Config, chunks, lineups
from benchmarks.pool import play_all
from benchmarks.standings import make_tables
from benchmarks.tournament import STALLED, Result
from sixnimmt_env.rules import EPISODES, ROW_CHOICES
from sixnimmt_env.variants import VARIANTS

LIMIT: Final = 60.0
# A player that has stalled so often sits out the rest: every time costs the whole limit.
MOST_STALLS: Final = 3
LONGEST: Final = 86_400  # seconds that a call may be allowed
_FORMAT: Final = 1


def run_arena(
    config: Config,
    out: Path,
    processes: int = 2,
    limit: float = LIMIT,
    resume: bool = False,
    command: str = "",
    quiet: bool = False,
) -> dict[str, Any]:
    """Play everything that is not played yet and write all results.

    Parameters
    ----------
    config : Config
        What is played; results are a function of it alone.
    out : Path
        Folder of the arena, made if need be.
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
    """
    if processes < 1:
        raise ValueError(f"processes={processes} is not possible: at least 1 is needed")
    if not 0 < limit <= LONGEST:
        raise ValueError(f"limit={limit:g} is not possible: more than 0, at most {LONGEST} seconds")
    config.check()
    every = chunks(config, lineups(config))
    store = _Store(out, config, resume, {chunk.key for chunk in every})
    todo = [chunk for chunk in every if chunk.key not in store.results]
    progress = _Progress(config, every, store.results.values(), quiet)
    try:
        for result in play_all(config, todo, processes, limit, progress.wanted):
            store.add(result)
            progress.add(result)
    finally:
        progress.close()
        store.close()
    results = {
        "command": command,
        "config": asdict(config),
        "chunk": CHUNK,
        "commit": _commit(),
        "versions": versions(),
        "tables": make_tables(config, progress.counted(store.results.values())),
        "cpu": _cpu(store.results.values()),
    }
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (out / "results.md").write_text(markdown(config, results), encoding="utf-8")
    write_csv(config, results["tables"], out / "results.csv")
    draw(config, results["tables"], out)
    return results


class _Store:
    """Folder of an arena: what is played, and a line for every chunk that is done.

    A line is written at once and counts when it is complete, so that nothing but the chunks being
    played is lost when the power goes.
    """

    def __init__(
        self, folder: Path, config: Config, resume: bool, keys: Collection[tuple[str, int]]
    ) -> None:
        path, lines = folder / "config.json", folder / "chunks.jsonl"
        mine = _identity(config)
        self._keys = keys
        if path.exists():
            if not resume:
                raise ValueError(f"{folder} holds an arena: add --resume, or use another folder")
            theirs = _read_config(path)
            differ = [key for key in {**theirs, **mine} if mine.get(key) != theirs.get(key)]
            if differ:
                found = "; ".join(f"{k}: {theirs.get(k)!r}, not {mine.get(k)!r}" for k in differ)
                raise ValueError(
                    f"{folder} holds another arena and cannot be continued: {found}. Use another "
                    "folder"
                )
        elif resume and not folder.exists():
            raise ValueError(f"{folder} does not exist: there is nothing to resume")
        elif lines.exists():
            raise ValueError(f"{folder} has results but no {path.name}: use another folder")
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            part = path.with_suffix(".part")
            part.write_text(json.dumps(mine, indent=1) + "\n", encoding="utf-8")
            part.replace(path)
        self.results: dict[tuple[str, int], Result] = {}
        if lines.exists():
            self._read(lines)
        self._file = lines.open("ab", buffering=0)

    def _read(self, path: Path) -> None:
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                self._keep(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}, line {number} is damaged: {error}") from error
        if whole < len(data):  # cut off in the middle of a line
            os.truncate(path, whole)

    def add(self, result: Result) -> None:
        self._keep(result)
        self._file.write(json.dumps(result, separators=(",", ":")).encode() + b"\n")
        os.fsync(self._file.fileno())

    def _keep(self, result: Result) -> None:
        key = result["lineup"], result["chunk"]
        if key not in self._keys:
            raise ValueError(f"there is no chunk {key} in this arena")
        self.results[key] = result

    def close(self) -> None:
        self._file.close()


def _read_config(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} is damaged: it is no configuration of an arena")
    return content


class _Progress:
    """A bar with the standing so far, and who has stalled too often."""

    def __init__(
        self, config: Config, every: Sequence[Chunk], done: Collection[Result], quiet: bool
    ) -> None:
        self._config = config
        self._chunks = {chunk.key: chunk for chunk in every}
        self._at = {chunk.key: number for number, chunk in enumerate(every)}
        kinds = {chunk.lineup.kind for chunk in every}
        # Mean heads at tables of different players, or else of one against the others.
        self._kind = next(kind for kind in ("table", "one", "same") if kind in kinds)
        self._sums: dict[str, list[int]] = {}
        self._stalls: dict[str, list[int]] = {}
        played = sum(_games(self._note(result)) for result in done)
        total = sum(map(_games, every))
        self._bar = tqdm(
            total=total, initial=played, unit=" games", disable=quiet, dynamic_ncols=True
        )

    def add(self, result: Result) -> None:
        """Take note of a chunk that has just been played."""
        chunk = self._note(result)
        means = [(heads / games, player) for player, (heads, games) in self._sums.items()]
        means.sort(reverse=self._config.rules.collect)
        text = ", ".join(f"{player} {mean:.2f}" for mean, player in means[:3])
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(_games(chunk))

    def _note(self, result: Result) -> Chunk:
        chunk = self._chunks[result["lineup"], result["chunk"]]
        if "failure" in result:
            if result["failure"]["what"] == STALLED:
                at = self._stalls.setdefault(result["failure"]["player"], [])
                at.append(self._at[chunk.key])
        elif chunk.lineup.kind == self._kind:
            heads = np.array(result["heads"]).reshape(-1, self._config.seats)
            slots = 1 if self._kind == "one" else self._config.seats
            for slot, player in enumerate(chunk.lineup.seats[:slots]):
                sums = self._sums.setdefault(player, [0, 0])
                sums[0] += int(heads[:, slot].sum())
                sums[1] += len(heads)
        return chunk

    def wanted(self, chunk: Chunk) -> bool:
        """Whether a chunk has no player that has stalled too often before it."""
        if self._counts(chunk):
            return True
        self._bar.update(_games(chunk))
        return False

    def _counts(self, chunk: Chunk) -> bool:
        # "Before" in the order of the arena, not of time: the same on any number of processes.
        here = self._at[chunk.key]
        before = [sum(at < here for at in self._stalls.get(p, [])) for p in chunk.lineup.players]
        return max(before) < MOST_STALLS

    def counted(self, results: Iterable[Result]) -> list[Result]:
        """Leave out chunks that would not have been played one after the other."""
        return [r for r in results if self._counts(self._chunks[r["lineup"], r["chunk"]])]

    def close(self) -> None:
        self._bar.close()


def _games(chunk: Chunk) -> int:
    return len(chunk.deals) * chunk.lineup.plays


def _cpu(results: Iterable[Result]) -> dict[str, dict[str, float]]:
    cpu: dict[str, dict[str, float]] = {}
    for result in results:
        for player, (seconds, decisions) in result["cpu"].items():
            spent = cpu.setdefault(player, {"seconds": 0.0, "decisions": 0})
            spent["seconds"] += seconds
            spent["decisions"] += decisions
    return dict(sorted(cpu.items()))


def _identity(config: Config) -> dict[str, Any]:
    """What has to be equal for an arena to be continued."""
    files = {f"file of {spec}": _digest([path]) for spec in config.players for path in _code(spec)}
    same = {"format": _FORMAT, "chunk": CHUNK, **asdict(config), **versions(), **files}
    plain: dict[str, Any] = json.loads(json.dumps(same))
    return plain


def _code(spec: str) -> list[Path]:
    """File of a saved network, or of the module of a player of one's own."""
    file = saved_file(spec)
    if file is not None:
        return [file]
    name = spec.split(":")[0]
    module = None if name in PLAYERS else importlib.util.find_spec(name)
    return [Path(module.origin)] if module is not None and module.origin else []


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def versions() -> dict[str, str]:
    """What the results depend on besides the configuration; source: of game and players."""
    found = {"python": platform.python_version()}
    for name in ("sixnimmt-env", "numpy", "numba", "openskill", "torch", "sb3-contrib"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    root = Path(__file__).parent.parent
    folders = [root / "sixnimmt_env", root / "agents"]
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    kept = [file for file in files if file.suffix in (".py", ".json", ".npz")]
    return found | {"source": _digest(sorted(kept))}


def _commit() -> str:
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


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
    out = options.pop("out") or Path("results/arena") / time.strftime("%Y%m%d-%H%M%S")
    options["players"] = tuple(name.strip() for name in options["players"].split(","))
    try:
        results = run_arena(Config(**options), out, **run, command=command)
    except KeyboardInterrupt:
        print(f"stopped; to continue, add: --out {out} --resume", file=sys.stderr)
        sys.exit(130)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(markdown(Config(**options), results))
    print(f"wrote {out}")


if __name__ == "__main__":
    main()
