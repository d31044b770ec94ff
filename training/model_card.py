"""Write what a trained player is and how well it plays. `python -m training.model_card --help`

    python -m training.model_card FILE.npz --run runs/FOLDER --measure 4/random,closest_gap/20000

Every table of a card comes with the command that prints it again.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agents.runfolder import write_text
from agents.terminal import write_anywhere
from sixnimmt_env.rules import ROW_CHOICES
from sixnimmt_env.trained.network import NetworkPolicy, load_policy
from sixnimmt_env.variants import make_rules
from training import checkpoint
from training.checkpoint import CHECKPOINT
from training.config import CONFIG
from training.evaluate import compare, table
from training.players import load_players

ROOT = Path(__file__).resolve().parent.parent
POLICIES = ROOT / "sixnimmt_env" / "trained" / "policies"
SEED = 7  # of the measured games; no run and no choice of weights has met them


@dataclass(frozen=True)
class Measure:
    """Games that are measured: PLAYERS[/ROW_CHOICE]/OPPONENTS/ROUNDS."""

    players: int
    row_choice: str
    against: tuple[str, ...]
    rounds: int

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Read it from the command line.

        Raises
        ------
        ValueError
            If it is not of that form.
        """
        try:
            players, *middle, rounds = text.split("/")
            choice = middle[0] if len(middle) == 2 else "player"
            return cls(int(players), choice, tuple(middle[-1].split(",")), int(rounds))
        except (ValueError, IndexError) as error:
            raise ValueError(
                f"{text!r} is no measurement: give PLAYERS/OPPONENTS/ROUNDS or "
                "PLAYERS/ROW_CHOICE/OPPONENTS/ROUNDS, for example "
                "4/fewest_heads/random,closest_gap/20000"
            ) from error


def card(path: Path, run: Path, measures: Sequence[Measure]) -> str:
    """Text of the card of an exported policy that a training run has written.

    Raises
    ------
    ValueError
        If the file or the run cannot be read, or a measurement does not fit.
    """
    policy = load_policy(path)
    load_players(name for measure in measures for name in measure.against)
    sections = [_head(path, policy, run)]
    sections += [_section(policy, measure, path) for measure in measures]
    return "\n".join(sections)


def _head(path: Path, policy: NetworkPolicy, run: Path) -> str:
    settings = yaml.safe_load((run / CONFIG).read_text(encoding="utf-8"))
    versions = yaml.safe_load((run / "versions.yaml").read_text(encoding="utf-8"))
    seconds = checkpoint.load(run / CHECKPOINT)["seconds"]
    return f"""# {path.stem}

A network that plays {policy.scope}, its most probable action.

- Training: `python -m training.{policy.about["trainer"]} --preset {settings["preset"]}`, seed
  {settings["seed"]}, {policy.about["decisions"]:,} decisions in {seconds / 60:.0f} minutes of wall
  time on one core of a busy machine, then `policy.npz` of the run folder.{_pool(settings)}
- Versions: {", ".join(f"{name} {number}" for name, number in versions.items())}. Other versions
  or processors give other weights from the same command, of about the same strength.
- Format: weights as a NumPy archive, {path.stat().st_size / 1024:.0f} KiB; load it with
  `sixnimmt_env.load_policy`{_shipped(path)}.

Mean bull heads and win rate (ties split) of one seat among equal opponents, ± 95 % intervals; the
seat rotates over the same deals. The intervals leave out the chance of training.
"""


def _shown(path: Path) -> str:
    """Path as a command in the checkout takes it."""
    inside = path.resolve().is_relative_to(ROOT)
    return (path.resolve().relative_to(ROOT) if inside else path).as_posix()


def _shipped(path: Path) -> str:
    return ', or play it as `opponents="trained"`' if path.resolve().parent == POLICIES else ""


def _pool(settings: dict[str, Any]) -> str:
    if not settings.get("pool"):
        return ""
    return (
        f" In {settings['pool_share']:.0%} of the games other\n  seats were held by "
        f"{', '.join(f'`{name}`' for name in settings['pool'])} (the preset's file says how to "
        "train\n  those that are files)."
    )


def _section(policy: NetworkPolicy, measure: Measure, path: Path) -> str:
    name = policy.scope.rules.name
    option = f" --row-choice {measure.row_choice}"
    appends = policy.scope.rules.low_card == "append"
    choice = {} if appends else {"row_choice": measure.row_choice}
    rules = make_rules(name, measure.players, **choice)
    lines = compare({"trained": policy}, measure.against, rules, measure.rounds, SEED)
    against = shlex.quote(",".join(measure.against))
    command = (
        f"python -m training.evaluate --policy {shlex.quote(_shown(path))} "
        f"--variant {name} --players {measure.players}{'' if appends else option} "
        f"--against {against} --rounds {measure.rounds} --seed {SEED}"
    )
    return f"```sh\n{command}\n```\n\n{table(lines, rules)}\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m training.model_card",
        description="Measure an exported policy and write its card beside it.",
    )
    parser.add_argument("policy", type=Path, metavar="FILE.npz")
    parser.add_argument("--run", type=Path, required=True, help="folder of the run it comes from")
    parser.add_argument(
        "--measure",
        nargs="+",
        required=True,
        help=f"PLAYERS[/ROW_CHOICE]/OPPONENTS/ROUNDS, row choice {' or '.join(ROW_CHOICES)}",
    )
    options = parser.parse_args(arguments)
    write_anywhere()
    try:
        measures = [Measure.parse(text) for text in options.measure]
        text = card(options.policy, options.run, measures)
        target = options.policy.with_suffix(".md")
        write_text(target, text)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(text)


if __name__ == "__main__":
    main()
