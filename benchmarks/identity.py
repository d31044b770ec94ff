"""What makes an arena this arena and no other: options, versions, files of players."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from agents.players import PLAYERS, code_of, saved_file
from benchmarks.lineups import CHUNK, Config

_FORMAT: Final = 2


def identity(config: Config) -> dict[str, Any]:
    """What has to be equal for an arena to be continued."""
    files = {
        f"file of {spec}": _digest([path]) for spec in config.players for path in code_of(spec)
    }
    same = {"format": _FORMAT, "chunk": CHUNK, **asdict(config), **versions(), **files}
    plain: dict[str, Any] = json.loads(json.dumps(same))
    return plain


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


def foreign(spec: str) -> bool:
    """Whether a player is a class of the user's own, or has one within."""
    if saved_file(spec) is not None:
        return False
    name, _, rest = spec.partition(":")
    if name in PLAYERS or name.isdecimal():
        return bool(rest) and foreign(rest)
    return bool(rest)  # else it is a word that a player takes
