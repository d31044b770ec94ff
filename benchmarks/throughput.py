"""Decisions per CPU-second of the engine and of every face, against the project's targets.

    python -m benchmarks.throughput [--quick] [--out results/throughput]

Everything runs in one thread and is timed by `time.process_time`: best and median of several
repeats of random legal play. The engine's time includes dealing and, unless said otherwise,
choosing the actions; for the faces only `step`, the action masks and `reset` are timed, and only
the learners' decisions count. Results go to `throughput.json` and `throughput.png` in the output
folder.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks import measure as m
from benchmarks.report import Target, describe_machine, draw, print_results, print_targets
from benchmarks.report import target as make_target
from sixnimmt_env.engine import Engine
from sixnimmt_env.variants import VARIANTS, make_rules

BATCHES = (1024, 4096, 16384, 65536)
PLAYERS = (2, 4, 6, 10)
HAVE_NUMBA = importlib.util.find_spec("numba") is not None
HAVE_SB3 = importlib.util.find_spec("stable_baselines3") is not None

ENGINE = "engine with dealing"
SCALAR = "scalar Python player"
VECTOR_SELF = "vector env, self-play"
VECTOR_RANDOM = "vector env, random opponents"
SB3 = "SB3 VecEnv, self-play"
PARALLEL = "PettingZoo parallel env"
CARDS = "engine with dealing, cards played"


def engine_results(effort: m.Effort) -> Iterator[m.Result]:
    """Batch sizes and player counts, with both ways to choose a row."""
    for row_choice in ("fewest_heads", "player"):
        cases = [(4, games) for games in BATCHES] + [(n, 16384) for n in PLAYERS if n != 4]
        for players, games in cases:
            yield m.measure(
                ENGINE,
                m.engine_alone,
                effort,
                row_choice=row_choice,
                players=players,
                games=games,
            )


def card_results(effort: m.Effort) -> Iterator[m.Result]:
    """Every variant without a draft by what is common to all: cards played."""
    for variant in VARIANTS:
        rules = make_rules(variant)
        if not rules.draft:
            # Without a step for the choice of row, where there is one.
            choice = "fewest_heads" if rules.low_card == "take" else rules.row_choice
            case = m.engine_cards
            yield m.measure(CARDS, case, effort, row_choice=choice, games=16384, variant=variant)


def face_results(effort: m.Effort) -> Iterator[m.Result]:
    """Vector env and SB3 VecEnv."""
    faces = [
        (VECTOR_SELF, m.vector_env, 4096, {"self_play": True}),
        (VECTOR_RANDOM, m.vector_env, 4096, {"self_play": False}),
    ]
    if HAVE_SB3:
        faces.append((SB3, m.sb3_env, 1024, {}))
    for what, case, games, options in faces:
        cases = [("fewest_heads", 4, b) for b in (64, 1024, 4096)]
        cases += [("fewest_heads", n, games) for n in PLAYERS if n != 4] + [("player", 4, games)]
        for row_choice, players, batch in cases:
            yield m.measure(
                what,
                case,
                effort,
                row_choice=row_choice,
                players=players,
                games=batch,
                **options,
            )


def parallel_results(effort: m.Effort) -> Iterator[m.Result]:
    """One game in PettingZoo, with and without the compiled kernel, each in a fresh process."""
    code = (
        "import json; from benchmarks.measure import Effort, parallel_results; "
        f"print(json.dumps(parallel_results({effort!r}, {PLAYERS!r})))"
    )
    for compiled in (True, False) if HAVE_NUMBA else (False,):
        env = os.environ | {"SIXNIMMT_COMPILED": str(int(compiled))}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True, check=True
        )
        what = f"{PARALLEL}, {'compiled' if compiled else 'plain NumPy'}"
        for result in json.loads(done.stdout):
            yield m.Result(**result | {"what": what})


def scalar_results(effort: m.Effort) -> Iterator[m.Result]:
    """The yardstick: a plain Python player of the same game."""
    for players in PLAYERS:
        yield m.measure(SCALAR, m.scalar_player, effort, players=players)


def memory_per_game() -> dict[str, float]:
    """Bytes of State per game by variant and players."""
    cases = [("base", n) for n in PLAYERS] + [(name, 4) for name in VARIANTS if name != "base"]
    return {
        f"{variant}, {n} players": Engine(make_rules(variant=variant, num_players=n))
        .reset(seed=0, games=1024)
        .nbytes_per_game
        for variant, n in cases
    }


def targets(results: list[m.Result], memory: dict[str, float]) -> list[Target]:
    """What the project promises, next to what was measured."""
    best = {(r.what, r.row_choice, r.players, r.games): r.best for r in results}
    cards = {r.variant: r.best for r in results if r.what == CARDS}

    def rate(what: str, games: int, row_choice: str = "fewest_heads") -> float | None:
        return best.get((what, row_choice, 4, games))

    def ratio(a: float | None, b: float | None) -> float | None:
        return a / b if a and b else None

    engine = rate(ENGINE, 16384)
    compiled = rate(f"{PARALLEL}, compiled", 1)
    return [
        make_target("engine with dealing, 16 384 games", engine, 20e6),
        make_target(
            "  row_choice='player' as a share of it",
            ratio(rate(ENGINE, 16384, "player"), engine),
            0.60,
        ),
        make_target(
            "cards played in plus as a share of base",
            ratio(cards.get("plus"), cards.get("base")),
            0.40,
        ),
        make_target("vector env, flat float32, 4 096 games", rate(VECTOR_SELF, 4096), 4e6),
        make_target("SB3 VecEnv step, 1 024 games", rate(SB3, 1024), 2e6),
        make_target("PettingZoo parallel env, one game, compiled", compiled, 100e3),
        make_target(
            "bytes of State per game, 4 players", memory["base, 4 players"], 600, at_most=True
        ),
        make_target(
            "cost of 65 536 games / (64 x cost of 1 024)",
            ratio(rate(ENGINE, 1024), rate(ENGINE, 65536)),
            1.0,
            at_most=True,
        ),
    ]


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.throughput",
        description="Decisions per CPU-second of the engine and of every face.",
    )
    parser.add_argument("--quick", action="store_true", help="rough figures in about a minute")
    parser.add_argument("--out", type=Path, default=Path("results/throughput"), metavar="DIR")
    args = parser.parse_args()
    try:
        args.out.mkdir(parents=True, exist_ok=True)  # before the work, should it not be possible
    except OSError as error:
        sys.exit(f"error: {error}")
    effort = m.Effort(seconds=0.08, repeats=2) if args.quick else m.Effort()

    results: list[m.Result] = []
    for part in (scalar_results, engine_results, card_results, face_results, parallel_results):
        new = list(part(effort))
        print_results(new)
        results += new
    memory = memory_per_game()
    print("bytes of State per game: " + "; ".join(f"{k} {v:.0f}" for k, v in memory.items()))
    verdicts = targets(results, memory)
    print_targets(verdicts)

    record = {
        "command": "python -m benchmarks.throughput " + " ".join(sys.argv[1:]),
        "effort": asdict(effort),
        "machine": describe_machine(),
        "results": [asdict(r) for r in results],
        "memory_per_game": memory,
        "targets": [asdict(t) for t in verdicts],
    }
    (args.out / "throughput.json").write_text(json.dumps(record, indent=2) + "\n")
    print(f"wrote {args.out / 'throughput.json'}")
    if importlib.util.find_spec("matplotlib") is not None:
        draw(results, args.out / "throughput.png")
        print(f"wrote {args.out / 'throughput.png'}")


if __name__ == "__main__":
    main()
