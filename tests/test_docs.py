"""Generated pages are up to date, and links inside the project lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import generate
from docs.generate import FOLDER, pages

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def test_generated_pages_are_up_to_date():
    texts = pages()
    for path, text in texts.items():
        assert path.read_text(encoding="utf-8") == text, "run: python -m docs.generate"
    assert sorted((FOLDER / "variants").iterdir()) == sorted(p for p in texts if p.parent != FOLDER)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_local_links_lead_to_files(path: Path):
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if not link.startswith("http"):
            assert (path.parent / link).exists(), f"{path.name} links to {link}"


def test_asking_for_help_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(generate, "pages", lambda: pytest.fail("pages were made"))
    for arguments, code in ((["--help"], 0), (["--nonsense"], 2)):
        with pytest.raises(SystemExit) as stop:
            generate.main(arguments)
        assert stop.value.code == code and "python -m docs.generate" in "".join(capsys.readouterr())
