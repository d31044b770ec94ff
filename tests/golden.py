"""Golden rounds: `python -m tests.golden` writes them again, `--check` compares.

One random round for every variant, several numbers of players and every choice of row, as text
in `tests/golden/`. A change of the rules, the deals or the notation shows as a difference there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sixnimmt_env.notation import write
from sixnimmt_env.rules import Rules
from sixnimmt_env.variants import make_rules
from tests.rounds import name_of, random_record, row_choices

FOLDER = Path(__file__).parent / "golden"
# Seeds are counted through, so new rounds go to the end.
PLAYERS = {
    "base": (2, 4, 6, 10),
    "tactics": (2, 4, 6),
    "pro": (2, 4, 6),
    "plus": (2, 4, 7),
    "plus_equal": (3, 4),
    "original_zeros": (2, 7),
    "simplified": (2, 4, 7),
}


def golden_rules() -> list[Rules]:
    """Rules of all golden rounds."""
    return [
        make_rules(variant, players, row_choice=row_choice)
        for variant, numbers in PLAYERS.items()
        for players in numbers
        for row_choice in row_choices(variant)
    ]


def golden_texts() -> dict[Path, str]:
    """Path and text of every golden round, made anew."""
    return {
        FOLDER / f"{name_of(rules)}.txt": write(random_record(rules, seed)[0])
        for seed, rules in enumerate(golden_rules(), 1)
    }


def differences(texts: dict[Path, str]) -> list[str]:
    """What does not agree between these texts and the files, one line each."""
    found = []
    for path in sorted({*texts, *FOLDER.glob("*.txt")}):
        if path not in texts:
            found.append(f"{path.name}: no such golden round")
        elif not path.exists():
            found.append(f"{path.name}: missing")
        elif path.read_text(encoding="utf-8") != texts[path]:
            found.append(f"{path.name}: differs")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    check = parser.parse_args().check
    texts = golden_texts()
    if check:
        found = differences(texts)
        sys.exit("\n".join([*found, "run: python -m tests.golden"]) if found else 0)
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(texts)} rounds in {FOLDER}")


if __name__ == "__main__":
    main()
