"""How exploitable is a player? `python -m training.best_response --help`

    python -m training.best_response --against FILE.npz
    python -m training.best_response --resume runs/FOLDER    # continue, exactly as if never stopped

A fresh player is trained among copies of a player that stays as it is, then measured there: how
many heads fewer than a copy does it take, and how much more often does it win? Against a player in
equilibrium nothing can be gained. What is gained here is gained for certain; a perfect response
would gain more.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.policy import Policy, play
from sixnimmt_env.rules import ROW_CHOICES, Rules
from sixnimmt_env.variants import DEFAULT, VARIANTS
from training import checkpoint, report
from training.config import CONFIG, read_settings
from training.evaluate import Line, half_width, table
from training.lookahead import LookaheadConfig, train
from training.run import CHECKPOINT, Stopped

NAME = "best_response"
SEED = 3
"""Of the deals of the measurement, which neither training nor its measurements use."""
GAMES = 1024
"""Games between two updates, with one learner in each."""


@dataclass(frozen=True)
class Gain:
    """What a response has among copies of a player, and how much more than a copy has there.

    Attributes
    ----------
    deals : int
        The observations: in each, the response sat in every seat.
    response, copy : Line
        Heads and wins of either.
    heads, wins : float
        What the response gains: heads per episode (fewer, or more where they are collected) and
        share of wins.
    heads_interval, wins_interval : float
        Half-widths of their 95 % intervals.
    """

    deals: int
    response: Line
    copy: Line
    heads: float
    heads_interval: float
    wins: float
    wins_interval: float


def make_config(
    against: str,
    players: int = 4,
    variant: str = DEFAULT,
    row_choice: str = "fewest_heads",
    steps: int = 3_000_000,
    seed: int = 0,
    rounds: int = 40_000,
) -> LookaheadConfig:
    """Settings of `training.lookahead` that train a response.

    Parameters
    ----------
    against : str
        The player that stays as it is, as `agents.players.load_player` knows it.
    players, variant, row_choice
        The game.
    steps : int
        Decisions to learn from.
    seed : int
        Of the training.
    rounds : int
        Rounds of the measurement.

    Raises
    ------
    ValueError
        If there is no such game, or a setting does not make sense.
    """
    return LookaheadConfig(
        preset=NAME,
        variant=variant,
        players=(players,),
        row_choice=row_choice,  # type: ignore[arg-type]
        steps=steps,
        seed=seed,
        seats=GAMES * players,
        share=1.0,
        # Bolder than self-play: the others do not answer to what is learned.
        temperature=0.2,
        learning_rate=4e-3,
        pool=(against,),
        pool_share=1.0,
        alone=True,
        held=(against,),
        table_rounds=rounds,
    )


def respond(config: LookaheadConfig, folder: Path, resume: bool = False) -> Gain:
    """Train a response, measure it as it is at the end, and write the results.

    Raises
    ------
    Stopped
        After Ctrl-C, when the checkpoint is written.
    ValueError, OSError
        If it cannot be continued, or the player that stays as it is cannot be used.
    """
    learner = train(config, folder, resume)
    (copy,) = learner.pool
    assert copy is not None
    print("evaluating", flush=True)
    gain = measure(learner.policy(), copy, config.rules, config.table_rounds, config.pool[0])
    _write(gain, config, folder)
    return gain


def measure(
    response: Policy, copy: Policy, rules: Rules, rounds: int, name: str = "copies"
) -> Gain:
    """Compare a response among copies of a player with one more copy, on the same deals.

    Parameters
    ----------
    response, copy : Policy
        Who is compared.
    rules : Rules
        What is played.
    rounds : int
        Episodes of the response, as many in each seat.
    name : str
        What the copies are called.
    """
    players = rules.num_players
    deals = max(2, -(-rounds // players))
    heads, wins = np.zeros(deals), np.zeros(deals)
    for seat in range(players):
        seats = [copy] * players
        seats[seat] = response
        result = play(seats, rules, deals, SEED)
        heads += result.heads[:, seat]
        wins += result.wins[:, seat]
    copies = play([copy] * players, rules, deals, SEED)
    # Seat by seat as above, so that two equal players differ by nothing at all.
    more_heads, more_wins = heads - sum(copies.heads.T), wins - sum(copies.wins.T)
    better = (more_heads if rules.collect else -more_heads) / players
    return Gain(
        deals,
        _line(name, "best response", heads / players, wins / players),
        _line(name, "a copy", copies.heads.mean(axis=1), copies.wins.mean(axis=1)),
        float(better.mean()),
        half_width(better),
        float(more_wins.mean() / players),
        half_width(more_wins / players),
    )


def _line(
    opponents: str, player: str, heads: NDArray[np.float64], wins: NDArray[np.float64]
) -> Line:
    numbers = (float(heads.mean()), half_width(heads), float(wins.mean()), half_width(wins))
    return Line(opponents, player, len(heads), *numbers)


def in_words(gain: Gain, rules: Rules) -> str:
    """Table of both players, and what is gained."""
    fewer = "more" if rules.collect else "fewer"
    return (
        f"{table([gain.response, gain.copy], rules)}\n\n"
        f"Gain over a copy: {gain.heads:.2f} ± {gain.heads_interval:.2f} heads {fewer} per "
        f"{rules.episode}, {100 * gain.wins:.1f} ± {100 * gain.wins_interval:.1f} % more wins."
    )


def _write(gain: Gain, config: LookaheadConfig, folder: Path) -> None:
    """Write results.json, results.md and the learning curve."""
    run = checkpoint.load(folder / CHECKPOINT)
    facts = {"against": config.pool[0], "game": config.measured, "seed": config.seed}
    facts |= {"decisions": run["metrics"][-1]["steps"], "seconds": round(run["seconds"], 1)}
    text = (
        f"# Best response to {config.pool[0]}: {config.measured}, seed {config.seed}, "
        f"{config.steps:,} decisions, {run['seconds']:.0f} s\n\n{in_words(gain, config.rules)}\n\n"
        f"{gain.deals:,} deals that training never used, the same for both; the response as it was "
        "at the end, in every seat. Win rate: ties split. ±: 95 % intervals, which leave out the "
        "chance of training. A perfect response would gain more.\n"
    )
    data = json.dumps(facts | asdict(gain), indent=2) + "\n"
    for name, content in (("results.json", data), ("results.md", text)):
        checkpoint.write_atomically(
            folder / name, lambda file, content=content: file.write(content.encode())
        )
    report.draw_curve(run["metrics"], config, folder / "learning_curve.png")


def parse(arguments: Sequence[str] | None) -> tuple[LookaheadConfig, Path, bool]:
    """Settings, run folder and whether to resume."""
    parser = argparse.ArgumentParser(
        prog=f"python -m training.{NAME}",
        description="Trains a player against copies of another one and measures what it gains.",
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--against", metavar="PLAYER", help="FILE.npz, FILE.zip, FILE.npz:sampled, or a name")
    add("--players", type=int, help="at the table (4)")
    add("--variant", choices=sorted(VARIANTS), help=f"({DEFAULT})")
    add("--row-choice", choices=ROW_CHOICES, help="(fewest_heads)")
    add("--steps", type=int, help="decisions to learn from (3 000 000)")
    add("--seed", type=int, help="of the training (0)")
    add("--rounds", type=int, help="of the measurement (40 000)")
    add("--run", type=Path, help="where to write (a new folder in runs/)")
    add("--resume", type=Path, metavar="FOLDER", help="continue a run; leave all else out")
    given = vars(parser.parse_args(arguments))
    folder = given.pop("resume", None)
    if folder is not None:
        if given:
            parser.error("--resume FOLDER continues a run as it was begun: leave all else out")
        return _begun(folder), folder, True
    if "against" not in given:
        parser.error("--against PLAYER is needed: whom to respond to")
    folder = given.pop("run", None) or Path("runs") / f"{NAME}-{time.strftime('%Y%m%d-%H%M%S')}"
    if (folder / CONFIG).exists():
        parser.error(f"{folder} has a run already: continue it with --resume, or choose another")
    return make_config(**given), folder, False


def _begun(folder: Path) -> LookaheadConfig:
    """Settings of a run that was begun."""
    if not (folder / CONFIG).is_file():
        raise ValueError(f"{folder} is no run folder: it has no {CONFIG}")
    config = read_settings(folder / CONFIG, LookaheadConfig)
    if config.preset != NAME:
        raise ValueError(f"{folder} is no run of training.{NAME}: continue it with its own trainer")
    return config


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    folder = Path()
    try:
        config, folder, resume = parse(arguments)
        print(f"a response to {config.pool[0]}: {config.measured}, {config.steps:,} decisions")
        print(f"run folder: {folder}", flush=True)
        gain = respond(config, folder, resume)
    except (Stopped, KeyboardInterrupt):
        sys.exit(f"stopped; continue with: python -m training.{NAME} --resume {folder}")
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    print(f"\n{in_words(gain, config.rules)}\n\nsee {folder}")


if __name__ == "__main__":
    main()
