"""Generated pages are up to date, and links inside the project lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import PATH, page

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_field_table_is_up_to_date():
    assert PATH.read_text(encoding="utf-8") == page(), "run: python -m docs.generate"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_local_links_lead_to_files(path: Path):
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if not link.startswith("http"):
            assert (path.parent / link).exists(), f"{path.name} links to {link}"
