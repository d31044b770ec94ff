"""The standing table of the players that come with the project.

    python -m benchmarks.leaderboard [--rounds 200] [--processes 2]

Plays an arena for each board in a folder of its own and writes `leaderboard.md` and
`leaderboard.json`. The same command continues after an interruption.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from agents.runfolder import write_text
from agents.terminal import ended_by_signal, write_anywhere
from benchmarks.arena import LIMIT, check_run, run_arena
from benchmarks.arena_report import cpu_ms, heads_title, spread, table
from benchmarks.lineups import Config
from benchmarks.pool import Pool
from benchmarks.store import CONFIG
from sixnimmt_env.variants import make_rules

# Players of the boards; those that want few heads, and those for games that collect them.
HEURISTICS: Final = ("random", "lowest", "highest", "closest_gap", "coldest_row", "cautious")
SEARCH: Final = ("monte_carlo:10", "monte_carlo:100", "monte_carlo:400", "belief:80")
AVOIDING: Final = (*HEURISTICS, *SEARCH, "trained")
COLLECTING: Final = ("random", "lowest", "highest", "sixth_card", "cautious", *SEARCH, "trained")
# (variant, seats): at ten seats each table leaves one player out.
BOARDS: Final = (("base", 2), ("base", 4), ("base", 6), ("base", 10), ("plus", 4))
ROUNDS: Final = 200


def boards(rounds: int, seed: int) -> dict[str, Config]:
    """Configuration of every board, by the name of its folder."""
    made = {}
    for variant, seats in BOARDS:
        players = COLLECTING if make_rules(variant, seats).collect else AVOIDING
        config = Config(players, seats, rounds, variant=variant, seed=seed, parts="tables")
        made[f"{variant}-{seats}"] = config
    return made


def board_table(config: Config, results: dict[str, Any]) -> str:
    """Markdown for the README: heads and wins, each with its interval, rating and time."""
    cpu = results["cpu"]
    rows = []
    for row in results["tables"]["players"]:
        rating = row["rating"]
        rows.append(
            [
                f"`{row['player']}`",
                spread(row["heads"]),
                spread(row["wins"], 100, 1),
                f"{rating['mu']:.1f} ± {rating['sigma']:.1f}",
                cpu_ms(cpu, row["player"]),
            ]
        )
    title = ["player", heads_title(config.rules), f"wins % (fair: {100 / config.seats:.3g})"]
    return table([*title, "rating", "CPU ms per decision"], rows)


def markdown(found: dict[str, tuple[Config, dict[str, Any]]], command: str) -> str:
    """All boards."""
    parts = [
        f"Written by `{command}`: players at tables of different players, every deal played in all "
        "rotations of the seats; means with 95 % bootstrap intervals over deals; Plackett-Luce "
        "ratings within a board. [How](docs/arena.md)"
    ]
    for config, results in found.values():
        deals = {row["deals"] for row in results["tables"]["players"]}
        count = " or ".join(map(str, sorted(deals))) or "no"
        parts.append(
            f"**{config.variant.capitalize()}, {config.seats} players** ({count} deals at each "
            f"table, seed {config.seed})"
        )
        parts.append(board_table(config, results))
        for row in results["tables"]["failed"]:
            parts.append(f"`{row['player']}` {row['what']}: {row['error']}")
    return "\n\n".join(parts) + "\n"


def play_boards(
    made: dict[str, Config], options: argparse.Namespace, command: str
) -> dict[str, tuple[Config, dict[str, Any]]]:
    """Play or continue the arena of every board; all of them are checked before."""
    check_run(options.processes, options.limit)
    for config in made.values():
        config.check()
        with Pool(config, 1, options.limit) as pool:
            pool.check()
    found = {}
    for name, config in made.items():
        print(f"{name}:", file=sys.stderr)
        folder = options.out / name
        resume = (folder / CONFIG).exists()
        results = run_arena(config, folder, options.processes, options.limit, resume, command)
        found[name] = (config, results)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.leaderboard", description="The standing table of all players."
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"deals of a table ({ROUNDS})")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one call (60)")
    parser.add_argument("--out", type=Path, default=Path("results/leaderboard"))
    args = parser.parse_args(arguments)
    given = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["python", "-m", "benchmarks.leaderboard", *given])
    write_anywhere()
    try:
        with ended_by_signal():
            found = play_boards(boards(args.rounds, args.seed), args, command)
            text = markdown(found, command)
            write_text(args.out / "leaderboard.md", text)
            boards_found = {name: results for name, (_, results) in found.items()}
            write_text(args.out / "leaderboard.json", json.dumps(boards_found, indent=1) + "\n")
    except KeyboardInterrupt:
        print("stopped; the same command continues", file=sys.stderr)
        sys.exit(130)
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(text)
    print(f"wrote {args.out / 'leaderboard.md'}")


if __name__ == "__main__":
    main()
