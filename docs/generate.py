"""Write docs/observations.md from the code. `python -m docs.generate`"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from sixnimmt_env.encoding import field_table, observation_size
from sixnimmt_env.observe import Observation
from sixnimmt_env.rules import Rules
from sixnimmt_env.variants import VARIANTS, make_rules

PATH = Path(__file__).with_name("observations.md")
PLAYERS = 4

HEAD = """\
<!-- Written by `python -m docs.generate`; change the code instead. -->

# What a seat observes

An `Observation` is a record of arrays whose first axis counts decisions. It holds what the deciding
seat may lawfully know, with a perfect memory of public facts, and nothing else: no other hand
(except in Pro, where hands are public) and no card out of play. Everything is from that seat's
view: players are itself first, then clockwise.

`encode(observation)` turns it into one `float32` vector in [0, 1] per decision, which the vector
and Stable-Baselines3 environments hand out. The vector leaves out who played what in which turn;
the record has it, for policies that want more.

n decisions, P players, R = 4 rows of at most C = 5 cards, H = 10 cards in a full hand.
"""


def page() -> str:
    """The whole page as text."""
    parts = [HEAD, "## The record\n", _record(), "## Length of the vector\n", _sizes()]
    for variant in VARIANTS:
        rules = make_rules(variant, num_players=PLAYERS)
        parts += [f"## {variant.capitalize()}, {PLAYERS} players\n", _fields(rules)]
    return "\n".join(part.rstrip() + "\n" for part in parts)


def _record() -> str:
    """Attributes of Observation, from its docstring."""
    attributes = inspect.getdoc(Observation).partition("Attributes\n----------\n")[2]
    found = re.findall(r"^(\w.*?) : (.*)\n((?: +.*\n?)+)", attributes, flags=re.MULTILINE)
    lines = ["| attribute | type | meaning |", "|---|---|---|"]
    lines += [f"| `{name}` | {kind} | {' '.join(text.split())} |" for name, kind, text in found]
    return "\n".join(lines)


def _sizes() -> str:
    lines = ["| players | " + " | ".join(VARIANTS) + " |", "|---" * (len(VARIANTS) + 1) + "|"]
    for players in range(2, 11):
        sizes = [_size(variant, players) for variant in VARIANTS]
        lines.append(f"| {players} | " + " | ".join(sizes) + " |")
    return "\n".join(lines)


def _size(variant: str, players: int) -> str:
    try:
        return str(observation_size(make_rules(variant, num_players=players)))
    except ValueError:
        return "–"


def _fields(rules: Rules) -> str:
    lines = ["| from | size | field | meaning |", "|---:|---:|---|---|"]
    lines += [f"| {f.start} | {f.size} | `{f.name}` | {f.meaning} |" for f in field_table(rules)]
    return "\n".join(lines)


def main() -> None:
    """Write the page."""
    PATH.write_text(page(), encoding="utf-8")
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
