"""All players by name: `load_player("cautious")`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agents.cautious import Cautious
from agents.coldest_row import ColdestRow
from agents.considerate_row import ConsiderateRow
from agents.heuristics import CardPlayer
from agents.learned import SAMPLED, file_of, load_policy
from sixnimmt_env.checks import did_you_mean
from sixnimmt_env.policy import POLICIES, Policy, cheapest_row, make_policy
from sixnimmt_env.trained.shipped import TrainedPolicy

Make = Callable[[list[str]], Policy]


@dataclass(frozen=True, slots=True)
class Entry:
    """A player that has a name.

    Attributes
    ----------
    arguments : str
        What may follow the name, as written in a table; "" for nothing.
    idea : str
        One line on how it plays.
    make : callable
        Makes it of the words after the name; raises ValueError for wrong ones.
    """

    arguments: str
    idea: str
    make: Make


def load_player(spec: str) -> Policy:
    """Make a player of a text.

    Parameters
    ----------
    spec : str
        A name in `PLAYERS`, with arguments after colons where it takes any
        ("monte_carlo:200"); a saved network ("FILE.npz" or "FILE.zip"), which draws its actions
        from its distribution if ":sampled" follows; or a class of one's own ("module:Class"),
        which is called without arguments.

    Returns
    -------
    Policy

    Raises
    ------
    ValueError
        If there is no such player, or its arguments are wrong.
    FileNotFoundError
        If there is no such file.
    """
    if not isinstance(spec, str) or not spec:
        raise ValueError(f"player {spec!r}: a name is needed, {_help(spec)}")
    name, *arguments = spec.split(":")
    try:
        if name in PLAYERS:
            return PLAYERS[name].make(arguments)
        file = file_of(spec)
    except ValueError as error:
        raise ValueError(f"player {spec!r}: {error}") from error
    if file is not None:
        return _saved_network(spec, file)
    if not arguments:
        raise ValueError(f"player {spec!r} is not known: {_help(name)}")
    try:
        return make_policy(spec)
    except ValueError as error:
        raise ValueError(f"{error}. If no class is meant, {_help(name)}") from error


def saved_file(spec: str) -> Path | None:
    """File of the saved network that a player is made of, None if there is none.

    Raises
    ------
    ValueError
        If something that is not known follows the file.
    """
    name, _, rest = spec.partition(":")
    within = rest and (name in PLAYERS or name.isdecimal())
    return saved_file(rest) if within else file_of(spec)


def code_of(spec: str) -> list[Path]:
    """File of a saved network, or of the module of a player of one's own."""
    file = saved_file(spec)
    if file is not None:
        return [file]
    name, _, rest = spec.partition(":")
    if name in PLAYERS:
        return code_of(rest) if rest else []  # perhaps there is one within
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


def player_table() -> str:
    """Markdown table of all players that have a name."""
    lines = ["| player | how it plays |", "|---|---|"]
    for name, entry in PLAYERS.items():
        lines.append(f"| `{name}{entry.arguments}` | {entry.idea} |")
    return "\n".join(lines) + "\n"


def _help(name: object) -> str:
    return (
        f"{did_you_mean(name, PLAYERS)} one of {', '.join(PLAYERS)}; 'FILE.npz' or 'FILE.zip' is "
        "a saved network and 'module:Class' a class of your own"
    )


def _core(name: str) -> Make:
    def make(arguments: list[str]) -> Policy:
        if arguments:
            raise ValueError(f"{name} takes no arguments, found {':'.join(arguments)!r}")
        return POLICIES[name]()

    return make


def _heuristic(kind: type[CardPlayer]) -> Make:
    def make(arguments: list[str]) -> Policy:
        if not arguments:
            return kind()
        if arguments != ["cheapest_row"]:
            raise ValueError(
                f"{':'.join(arguments)!r} is not known: give nothing, or 'cheapest_row' for a "
                "player that always takes the row with fewest heads"
            )
        return kind(row=cheapest_row)

    return make


def _considerate(arguments: list[str]) -> Policy:
    if not arguments:
        raise ValueError("a player of cards is needed, for example considerate_row:closest_gap")
    return ConsiderateRow(load_player(":".join(arguments)))


def _search(module: str, name: str) -> Make:
    def make(arguments: list[str]) -> Policy:
        made: Policy = _imported(module, name).from_spec(arguments)
        return made

    return make


def _trained(arguments: list[str]) -> Policy:
    if arguments not in ([], [SAMPLED]):
        raise ValueError(
            f"{':'.join(arguments)!r} is not known: give nothing, or {SAMPLED!r} for a player that "
            "draws its actions from the network's distribution"
        )
    return TrainedPolicy(greedy=not arguments)


def _saved_network(spec: str, file: Path) -> Policy:
    if file.suffix == ".zip":
        _imported("sb3_contrib", "MaskablePPO")
    return load_policy(spec)


def _imported(module: str, name: str) -> Any:
    """Import only when needed: networks and search need packages that the others do not."""
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"{name} of {module} cannot be imported ({error}): run from the checkout, with what "
            "the player needs installed; `make setup` installs everything"
        ) from error


PLAYERS: Final[dict[str, Entry]] = {
    "random": Entry("", "any legal action, all equally likely", _core("random")),
    "lowest": Entry("", "the lowest card in hand", _core("lowest")),
    "highest": Entry("", "the highest card in hand", _core("highest")),
    "closest_gap": Entry(
        "", "the card closest above the end of a row that is not full", _core("closest_gap")
    ),
    "sixth_card": Entry(
        "", "the sixth card of the row with most heads; for collecting heads", _core("sixth_card")
    ),
    "trained": Entry(
        "[:sampled]",
        "the trained network of the package for the game, or draws from its distribution",
        _trained,
    ),
    "coldest_row": Entry(
        "[:cheapest_row]",
        "into the row with the fewest cards, then heads, then the closest end",
        _heuristic(ColdestRow),
    ),
    "cautious": Entry(
        "[:cheapest_row]",
        "the card with the fewest expected heads, by counting cards, less what keeping it costs",
        _heuristic(Cautious),
    ),
    "considerate_row": Entry(
        ":PLAYER",
        "as PLAYER does, but chooses rows by who is hurt: own heads less what the others then take",
        _considerate,
    ),
    "monte_carlo": Entry(
        "[:DETERMINISATIONS[:OPTION…]]",
        "the action with the best mean outcome over sampled deals, played to the end of the round",
        _search("agents.monte_carlo", "MonteCarlo"),
    ),
    "belief": Entry(
        "[:DETERMINISATIONS[:OPTION…]]",
        "the same over deals that fit what the others have played so far",
        _search("agents.belief", "Belief"),
    ),
    "guided": Entry(
        "[:DETERMINISATIONS][:FILE.npz]",
        "the best few actions of a trained network, played on by it over deals that fit the past",
        _search("agents.guided", "Guided"),
    ),
}
"""Players by name."""
