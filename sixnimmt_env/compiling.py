"""Compiling with numba, and keeping the machine code for the next process.

numba itself keys what it keeps by the one file that a function is written in, so that it goes on
running callees as they were before another file changed, and it stops where it cannot read or write
its files. Here the key is a digest of all sources, and the files are never a requirement: what
cannot be loaded is compiled, what cannot be kept is not kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import sys
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, cast

import llvmlite
import numba
import numpy as np
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE: Final = "sixnimmt_env"
_CHECK: Final = hashlib.sha256().digest_size


def compiled(function: F) -> F:
    """Compile a function of arrays and numbers at its first call, or load what was kept of it.

    It may call compiled functions of its own package and of this one, whose sources are the key.
    """
    dispatcher = numba.njit(function)
    # Without sources, or a place to write, or in a numba made otherwise: compiled by each process.
    with contextlib.suppress(Exception):
        dispatcher._cache = _Kept(function)
    return cast(F, dispatcher)


class _Kept(FunctionCache):  # type: ignore[misc] # numba is not typed
    """What a function's dispatcher asks before it compiles, and tells after it.

    numba chooses the folder: NUMBA_CACHE_DIR, `__pycache__` or the user's own cache.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        sources = [_sources(name) for name in sorted({_PACKAGE, _package(function)})]
        self._cache_file = _Files(Path(self.cache_path), self._impl.filename_base, sources)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file fails in many ways
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(Exception):  # a full disk, a folder that is gone
            super().save_overload(sig, data)


class _Sources(NamedTuple):
    digest: str
    stamps: dict[Path, tuple[int, int]]

    def unchanged(self) -> bool:
        """Whether the files are still those that this process was started with."""
        return all(_stamp(path) == stamp for path, stamp in self.stamps.items())


class _Files:
    """A function's files, one for each signature and kind of processor. See IndexDataCacheFile.

    numba numbers its files and lists them in another one, so that processes that compile at the
    same time can end up with each other's code. Here names and contents say what they are for.
    """

    def __init__(self, folder: Path, base: str, sources: list[_Sources]) -> None:
        self._folder, self._sources = folder, sources
        name, _, rest = base.rpartition("-")  # module.function-line.py311
        self._name, self._python = f"{name}-", rest.rpartition(".")[2]
        made_with = (numba.__version__, llvmlite.__version__, np.__version__, sys.flags.optimize)
        self._digest = _digest(repr((made_with, [each.digest for each in sources])).encode())

    def load(self, key: Any) -> Any:
        content = self._path(key).read_bytes()
        check, content = content[:_CHECK], content[_CHECK:]
        # A process that outlives a change of its sources no longer knows what it has in memory.
        if hashlib.sha256(content).digest() != check or not self._unchanged():
            return None
        found, data = pickle.loads(content)
        return data if found == key else None

    def save(self, key: Any, data: Any) -> None:
        if not self._unchanged():
            return
        content = dumps((key, data))
        path = self._path(key)
        part = path.with_suffix(f".{uuid.uuid4().hex}")
        try:
            part.write_bytes(hashlib.sha256(content).digest() + content)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        self._drop(lambda name: self._digest not in name)

    def flush(self) -> None:
        self._drop(lambda name: True)

    def _path(self, key: Any) -> Path:
        return self._folder / (
            f"{self._name}{self._python}-{self._digest}-{_digest(repr(key).encode())}.nbc"
        )

    def _unchanged(self) -> bool:
        return all(each.unchanged() for each in self._sources)

    def _drop(self, condition: Callable[[str], bool]) -> None:
        """Remove files of this function and Python, so that old ones do not pile up."""
        for path in self._folder.iterdir():
            mine = path.name.startswith(self._name) and self._python in path.name
            if mine and condition(path.name):
                with contextlib.suppress(OSError):
                    path.unlink()


def _package(function: Callable[..., Any]) -> str:
    package = function.__globals__.get("__package__") or function.__module__
    return str(package).partition(".")[0]


@cache
def _sources(package: str) -> _Sources:
    """Look at all sources of a package, once: they are what the process has in memory."""
    folders = sys.modules[package].__path__
    paths = {
        path.relative_to(folder).as_posix(): path
        for folder in folders
        for path in sorted(Path(folder).rglob("*.py"))
    }
    if not paths:
        raise FileNotFoundError(f"there are no sources of {package}")
    stamps = {path: _stamp(path) for path in paths.values()}
    texts = [(name, _digest(path.read_bytes())) for name, path in paths.items()]
    return _Sources(_digest(repr(texts).encode()), stamps)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
