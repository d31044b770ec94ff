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
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.players import load_player
from agents.runfolder import claim, write_text
from sixnimmt_env.policy import Policy, play
from sixnimmt_env.rules import ROW_CHOICES, Rules
from sixnimmt_env.variants import DEFAULT, VARIANTS
from training import cli, report
from training.checkpoint import must_write
from training.config import read_settings
from training.evaluate import Line, check_rounds, half_width, table
from training.lookahead import LookaheadConfig, train

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
    check_rounds(rounds)
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
        After Ctrl-C or SIGTERM, when the checkpoint is written.
    HeldError
        If another process writes into the folder.
    ValueError, OSError
        If it cannot be continued, or the player that stays as it is cannot be used.
    """
    learner = train(config, folder, resume)
    from training.finish import measured_once  # with torch, as `train` does

    (against,) = config.pool
    copy = load_player(against)

    def measured() -> dict[str, Any]:
        print("evaluating", flush=True)
        rounds = config.table_rounds
        return asdict(measure(learner.policy(), copy, config.rules, rounds, against))

    with claim(folder):
        results, run = measured_once(folder, measured)
        lines = {name: Line(**results[name]) for name in ("response", "copy")}
        gain = Gain(**{**results, **lines})
        with must_write(folder):
            _write(gain, config, run, folder)
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
    check_rounds(rounds)
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


def _write(gain: Gain, config: LookaheadConfig, run: dict[str, Any], folder: Path) -> None:
    """Write results.json, results.md and the learning curve of what a checkpoint holds."""
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
    write_text(folder / "results.json", data)
    write_text(folder / "results.md", text)
    report.draw_curve(run["metrics"], config, folder / "learning_curve.png")


def parse(arguments: Sequence[str] | None) -> cli.Job[LookaheadConfig]:
    """Read the command line."""
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
        return cli.Job(_begun(folder), folder, resume=True)
    if "against" not in given:
        parser.error("--against PLAYER is needed: whom to respond to")
    folder = given.pop("run", None)
    return cli.Job(make_config(**given), folder or cli.new_name(NAME), named=folder is not None)


def _begun(folder: Path) -> LookaheadConfig:
    """Settings of a run that was begun."""
    config = read_settings(cli.settings_of(folder), LookaheadConfig)
    if config.preset != NAME:
        raise ValueError(f"{folder} is no run of training.{NAME}: continue it with its own trainer")
    return config


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    with cli.program(NAME) as folders:
        job = parse(arguments)
        config = job.config
        with cli.folder_of(job) as folder:
            folders.append(folder)
            print(f"a response to {config.pool[0]}: {config.measured}, {config.steps:,} decisions")
            print(f"run folder: {folder}", flush=True)
            gain = respond(config, folder, job.resume)
    print(f"\n{in_words(gain, config.rules)}\n\nsee {folder}")


if __name__ == "__main__":
    main()
