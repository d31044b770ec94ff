"""Write docs/observations.md and docs/variants/ from the code. `python -m docs.generate`"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

from sixnimmt_env.encoding import field_table, observation_size
from sixnimmt_env.observe import Observation
from sixnimmt_env.rules import Rules
from sixnimmt_env.variants import VARIANTS, make_rules

FOLDER = Path(__file__).parent
PLAYERS = 4

NOTE = "<!-- Written by `python -m docs.generate`; change the code instead. -->\n"

OBSERVATIONS = """\
# What a seat observes

An `Observation` is a record of arrays whose first axis counts decisions. It holds what the deciding
seat may lawfully know and nothing else: no other hand (except where hands are public), no card out
of play, no card that others have committed and not revealed. Everything is from that seat's view:
players are itself first, then clockwise.

It remembers the round: how the rows began, what everybody has played and which rows were chosen.
What else was public in it follows from these, except the order in which the cards of a draft were
picked. Of earlier rounds it has the scores.

Its arrays share no memory with the State or with what other seats get, so that nothing can be
reached from them that they do not show.

`encode(observation)` turns it into one `float32` vector in [0, 1] per decision, which the
environments hand out; in a match it has P numbers more, the scores. It leaves out who played
what in which turn; the record has it, for
policies that want more. The fields of the vector are on the page of each variant.

n decisions, P players, R = 4 rows of at most C = 5 cards, H cards in a full hand, K cards in a turn
at most, A actions.
"""

VARIANT = """\
## Spaces

Actions: `Discrete({actions})`. {kinds}

Observations: `{{"observation": float32 ({size},), "action_mask": int8 ({actions},)}}` with
{players} players; [observations.md](../observations.md) has the record and the length for other
numbers. In a match the players' scores follow `decides` ({players} numbers more).

## The vector, {players} players

{fields}
"""


def pages() -> dict[Path, str]:
    """Path and text of every page."""
    parts = [OBSERVATIONS, "## The record\n", _record(), "## Length of the vector\n", _sizes()]
    found = {FOLDER / "observations.md": _joined(parts)}
    for name in VARIANTS:
        found[FOLDER / "variants" / f"{name}.md"] = _variant(name)
    return found


def _joined(parts: list[str]) -> str:
    return NOTE + "\n" + "\n".join(part.rstrip() + "\n" for part in parts)


def _variant(name: str) -> str:
    """Page of one variant: what its module says, its spaces and its vector."""
    rules = make_rules(name, num_players=PLAYERS)
    title, _, text = (inspect.getdoc(sys.modules[VARIANTS[name].__module__]) or "").partition("\n")
    spaces = VARIANT.format(
        actions=rules.num_actions,
        kinds=_kinds(rules),
        size=observation_size(rules),
        players=PLAYERS,
        fields=_fields(rules),
    )
    use = f'`variant="{name}"` in every environment, `make_rules("{name}", num_players)`.\n'
    return _joined([f"# {title.rstrip('.')}\n", use, text.strip("\n"), spaces])


def _kinds(rules: Rules) -> str:
    """Which actions there are, in words."""
    parts = ["0 passes", f"1 … {rules.num_cards} are that card"]
    if rules.draft:
        parts[1] += ", to pick or to play"
    if rules.low_card == "take":
        parts.append('105 … 108 take row 1 … 4, for a low card (`row_choice="player"`)')
    if rules.zeros:
        parts.append("109 is a 0 card")
    text = "; ".join(parts) + "."
    if rules.cards_per_turn > 1:
        text += (
            " A turn is two decisions: everybody who holds cards plays a first card, then a second "
            "one or 0 for none. Nobody sees the others' cards before all have decided. Once out of "
            "cards, one can only pass."
        )
    if rules.one_by_one:
        text += (
            " Only the player at turn has a choice, all others pass; the AEC environment leaves "
            "them out."
        )
    return text


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
    """Write the pages."""
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
