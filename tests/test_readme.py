"""The README's Python examples run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sixnimmt_env.loops import COMPILED

README = Path(__file__).parent.parent / "README.md"


def _examples() -> list[tuple[str, str]]:
    """(heading, code) of each python block."""
    found, heading = [], "top"
    for part in re.split(r"(^#+ .*$)", README.read_text(encoding="utf-8"), flags=re.MULTILINE):
        if part.startswith("#"):
            heading = part.strip("# ")
        blocks = re.findall(r"^```python\n(.*?)^```", part, flags=re.MULTILINE | re.DOTALL)
        found += [(heading, code) for code in blocks]
    return found


EXAMPLES = _examples()


def test_every_main_use_has_an_example():
    assert len(EXAMPLES) >= 7


@pytest.mark.parametrize(("heading", "code"), EXAMPLES, ids=[heading for heading, _ in EXAMPLES])
def test_example_runs(heading: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if "stable_baselines3" in code or "sb3" in code:
        pytest.importorskip("sb3_contrib")
    if not COMPILED:
        code = code.replace("games=100", "games=2")  # plain Python searches 500 times as slowly
    monkeypatch.chdir(tmp_path)
    exec(compile(code, f"README.md, {heading}", "exec"), {"__name__": "readme"})
