"""Results of an arena for people: Markdown, CSV and pictures."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agents.runfolder import write_atomically, write_text
from benchmarks.lineups import Config
from sixnimmt_env.rules import Rules

Row = dict[str, Any]
Tables = dict[str, Any]


def heads_title(rules: Rules) -> str:
    """What the heads of a table are."""
    better = " (more is better)" if rules.collect else ""
    return f"heads {'collected ' if rules.collect else ''}per {rules.episode}{better}"


def markdown(config: Config, results: Tables) -> str:
    """All tables of an arena."""
    tables, rules = results["tables"], config.rules
    parts = [f"# Arena: {describe(config)}", f"`{results['command']}`"]
    if tables["players"]:
        parts += ["## Tables of different players", standing(config, results)]
    if tables["differences"]:
        parts += [
            "## Differences at common tables",
            "Row minus column, on the same deals, with 95 % intervals.",
            *_both(config, tables["differences"], "other", "heads", "wins"),
        ]
    if tables["cross"]:
        others = config.seats - 1
        parts += [
            f"## One against {others}",
            f"The row's player in one seat, the column's in the other {others}.",
            *_both(config, tables["cross"], "against", "heads", "wins"),
            "What the row's player has more than the column's has in that seat, at a table of its "
            "own kind, on the same deals.",
            *_both(config, tables["cross"], "against", "heads_difference", "wins_difference"),
        ]
    if tables["split"]:
        parts += ["## Several against several", _split(tables["split"], rules)]
    if not tables["players"]:
        parts += ["## CPU time", _cpu(results["cpu"])]
    if tables["failed"]:
        parts += ["## Failed", _failed(tables["failed"])]
    return "\n\n".join(parts) + "\n"


def describe(config: Config) -> str:
    """What is played, in a line."""
    rules = config.rules
    choice = f", row_choice={rules.row_choice}" if rules.low_card == "take" else ""
    target = f" to {rules.target}" if rules.target else ""
    return (
        f"{rules.name} with {rules.num_players} players{choice}, {rules.episode}{target}, "
        f"{config.rounds} deals in every lineup, seed {config.seed}"
    )


def standing(config: Config, results: Tables) -> str:
    """Players at the tables of different players, the best first."""
    tables, cpu = results["tables"], results["cpu"]
    lost = {row["player"]: f"{row['failed']} of {row['chunks']}" for row in tables["failed"]}
    title = ["player", heads_title(config.rules), "win rate %"]
    title += [f"{place}. %" for place in range(1, config.seats + 1)]
    title += ["rating", "CPU ms per decision"] + ["failed chunks"] * bool(lost)
    rows = []
    for row in tables["players"]:
        rating = row["rating"]
        cells = [row["player"], spread(row["heads"]), spread(row["wins"], 100, 1)]
        cells += [f"{100 * place:.1f}" for place in row["places"]]
        cells += [f"{rating['mu']:.1f} ± {rating['sigma']:.1f}", cpu_ms(cpu, row["player"])]
        rows.append(cells + [lost.get(row["player"], "0")] * bool(lost))
    there = {row["player"] for row in tables["players"]}
    for player in lost.keys() - there:
        rows.append([player, "failed", *[""] * (len(title) - 3), lost[player]])
    return table(title, rows)


def spread(figure: Row, scale: float = 1, digits: int = 2, sign: str = "") -> str:
    """A mean and its interval: 3.21 [3.00, 3.40]."""
    mean, *ends = (
        None if figure[key] is None else f"{scale * figure[key]:{sign}.{digits}f}"
        for key in ("mean", "low", "high")
    )
    return f"{mean} [{ends[0]}, {ends[1]}]" if None not in ends else f"{mean}"


def table(title: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown table that also reads well in a terminal; names on the left, the rest right."""
    widths = [max(len(row[i]) for row in (title, *rows)) for i in range(len(title))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "| " + " | ".join(padded) + " |"

    rule = "|".join("-" * (width + 1) + (":" if i else "-") for i, width in enumerate(widths))
    return "\n".join([line(title), f"|{rule}|", *map(line, rows)])


def _both(config: Config, rows: Sequence[Row], column: str, heads: str, wins: str) -> list[str]:
    """The same matrix of heads and of win rates."""
    sign = "+" if "difference" in heads or column == "other" else ""
    return [
        _matrix(config, heads_title(config.rules), rows, column, heads, 1, 2, sign),
        _matrix(config, "win rate %", rows, column, wins, 100, 1, sign),
    ]


def _matrix(
    config: Config,
    what: str,
    rows: Sequence[Row],
    column: str,
    key: str,
    scale: float,
    digits: int,
    sign: str,
) -> str:
    cells = {
        (row["player"], row[column]): spread(row[key], scale, digits, sign)
        for row in rows
        if key in row
    }
    shown = [name for name in config.names if any(name in pair for pair in cells)]
    lines = [[a, *(cells.get((a, b), "-") for b in shown)] for a in shown]
    return table([what, *shown], lines)


def _split(rows: Sequence[Row], rules: Rules) -> str:
    title = ["table", "", heads_title(rules), "difference", "win rate % a seat", "difference "]
    lines = []
    for row in rows:
        for prefix, player, seats in (
            ("", row["player"], row["seats"]),
            ("other_", row["other"], row["other_seats"]),
        ):
            lines.append(
                [
                    f"{seats} × {player}",
                    "" if prefix else f"against {row['other_seats']} × {row['other']}",
                    spread(row[f"{prefix}heads"]),
                    "" if prefix else spread(row["heads_difference"], sign="+"),
                    spread(row[f"{prefix}wins"], 100, 1),
                    "" if prefix else spread(row["wins_difference"], 100, 1, "+"),
                ]
            )
    return table(title, lines)


def _cpu(cpu: dict[str, Row]) -> str:
    return table(["player", "CPU ms per decision"], [[p, cpu_ms(cpu, p)] for p in cpu])


def cpu_ms(cpu: dict[str, Row], player: str) -> str:
    """CPU milliseconds for a decision."""
    spent = cpu.get(player)
    if spent is None or not spent["decisions"]:
        return "-"
    return f"{1000 * spent['seconds'] / spent['decisions']:.3g}"


def _failed(rows: Sequence[Row]) -> str:
    parts = []
    for row in rows:
        text = (
            f"**{row['player']}** {row['what']} in {row['failed']} of its {row['chunks']} chunks"
            + f", {row['left_out']} were not played" * (row["left_out"] > 0)
            + f". The first: {row['lineup']}"
        )
        if row["deal"] is not None:
            text += f", deal {row['deal']}, seat {row['seat']}"
            text += f", in a call of {row['decisions']} decisions" * (row["decisions"] > 1)
        parts.append(f"{text}:\n\n{_fenced(row['error'])}")
        if row["record"]:
            parts.append(_fenced(row["record"].rstrip("\n")))
    return "\n\n".join(parts)


def _fenced(text: str) -> str:
    """Text as it is; its fence is longer than any within it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"


def write_csv(config: Config, tables: Tables, path: Path) -> None:
    """One line for each player in each lineup."""
    places = [f"place_{i}" for i in range(1, config.seats + 1)]
    ends = [f"{what}{end}" for what in ("heads", "wins") for end in ("", "_low", "_high")]
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["lineup", "kind", "player", "deals", "games", *ends, *places])
    for row in tables["lineups"]:
        figures = [row[what][key] for what in ("heads", "wins") for key in row[what]]
        named = [row[key] for key in ("lineup", "kind", "player", "deals", "games")]
        writer.writerow([*named, *figures, *row["places"]])
    write_text(path, text.getvalue())


def draw(config: Config, tables: Tables, folder: Path) -> list[Path]:
    """Pictures of the standing and of the cross table, as far as there are any."""
    made = []
    if tables["players"]:
        for what, scale, label in (
            ("heads", 1, heads_title(config.rules)),
            ("wins", 100, "win rate %"),
        ):
            made.append(_draw_means(tables["players"], what, scale, label, folder))
    if len(config.names) > 1 and tables["cross"]:
        made.append(_draw_cross(config, tables["cross"], folder / "cross.png"))
    return made


def _figure(width: float, height: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _draw_means(rows: Sequence[Row], what: str, scale: float, label: str, folder: Path) -> Path:
    figure = _figure(7, 1.2 + 0.4 * len(rows))
    axes = figure.subplots()
    for y, row in enumerate(rows):
        mean, *ends = (row[what][key] for key in ("mean", "low", "high"))
        widths = [[0 if end is None else scale * abs(end - mean)] for end in ends]
        axes.errorbar(scale * mean, y, xerr=widths, fmt="o", color="#4c72b0")
    axes.set_yticks(range(len(rows)), [row["player"] for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel(f"{label}, 95 % intervals")
    axes.grid(axis="x", alpha=0.3)
    path = folder / f"{what}.png"
    write_atomically(path, partial(figure.savefig, format="png", dpi=110))
    return path


def _draw_cross(config: Config, rows: Sequence[Row], path: Path) -> Path:
    """Heat maps; red is good for the row's player."""
    import numpy as np

    names, size = config.names, len(config.names)
    figure = _figure(4 + 1.2 * size, 2 + 0.5 * size)
    better = 1 if config.rules.collect else -1
    panels: list[tuple[str, float, int, str, Callable[[float], str]]] = [
        ("heads_difference", 1, better, heads_title(config.rules), "{:+.2f}".format),
        ("wins_difference", 100, 1, "win rate, points of %", "{:+.1f}".format),
    ]
    for axes, (key, scale, good, label, text) in zip(
        figure.subplots(1, 2, sharey=True), panels, strict=True
    ):
        values = np.full((size, size), np.nan)
        for row in rows:
            if key in row:
                at = names.index(row["player"]), names.index(row["against"])
                values[at] = scale * row[key]["mean"]
        limit = np.nanmax(np.abs(values), initial=0) or 1
        axes.imshow(good * values, cmap="coolwarm", vmin=-limit, vmax=limit, aspect="auto")
        for (y, x), value in np.ndenumerate(values):
            if not np.isnan(value):
                axes.text(x, y, text(value), ha="center", va="center", fontsize=8)
        axes.set_xticks(range(size), names, rotation=40, ha="right")
        axes.set_yticks(range(size), names)
        axes.set_title(label, fontsize=9)
        axes.set_xlabel(f"in the other {config.seats - 1} seats")
    figure.suptitle("one in a seat, minus what the others' kind has there", fontsize=10)
    write_atomically(path, partial(figure.savefig, format="png", dpi=110))
    return path
