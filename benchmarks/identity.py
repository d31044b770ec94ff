"""What makes an arena this arena and no other: options, versions, files of players."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from agents.players import PLAYERS, saved_file
from benchmarks.lineups import CHUNK, Config

_FORMAT: Final = 2


def identity(config: Config) -> dict[str, Any]:
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
    name, _, rest = spec.partition(":")
    if name in PLAYERS:
        return _code(rest) if rest else []  # perhaps there is one within
    origin = _module_file(name)
    return [Path(origin)] if origin and Path(origin).is_file() else []


def _module_file(name: str) -> str | None:
    """Where a module would be imported from; nothing of the player's is run to know it."""
    path, found, full = None, None, ""
    for part in name.split("."):
        full = f"{full}.{part}" if full else part
        specs = (finder.find_spec(full, path) for finder in sys.meta_path)
        found = next((spec for spec in specs if spec is not None), None)
        if found is None:
            return None
        path = found.submodule_search_locations
    return found.origin if found is not None else None


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


def commit() -> str:
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
