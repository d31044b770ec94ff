"""The learning curve of a run and the table it ends with."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from agents.runfolder import write_atomically, write_text
from training.config import Config
from training.evaluate import Line, as_dicts, heads_title, table

Metrics = list[dict[str, float]]


def write_metrics(metrics: Metrics, path: Path) -> None:
    """One CSV line per update, if there is any."""
    if not metrics:
        return
    names = list(dict.fromkeys(name for row in metrics for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(metrics)
    write_text(path, text.getvalue())


def write_results(lines: list[Line], config: Config, seconds: float, folder: Path) -> str:
    """Write results.json and results.md; return the table."""
    content = {"seconds": round(seconds, 1), "table": as_dicts(lines)}
    write_text(folder / "results.json", json.dumps(content, indent=2) + "\n")
    text = table(lines, config.rules)
    title = f"# {config.preset}: {config.game}, seed {config.seed}, {seconds:.0f} s"
    notes = (
        f"Measured with {config.measured}. Win rate: ties split. ±: 95 % intervals. The seat "
        "rotates over the same deals."
    )
    write_text(folder / "results.md", f"{title}\n\n{text}\n\n{notes}\n")
    return text


def as_text(name: str) -> str:
    """A name for those who need true text: in a locale that lacks its letters, it is none."""
    return name.encode("utf-8", "backslashreplace").decode()


def draw_curve(metrics: Metrics, config: Config, path: Path) -> None:
    """Heads among each of the players that the run was measured against."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots()
    for name in config.held:
        points = [row for row in metrics if f"heads {name}" in row]
        axes.errorbar(
            [row["steps"] for row in points],
            [row[f"heads {name}"] for row in points],
            [row[f"heads_interval {name}"] for row in points],
            marker="o",
            markersize=3,
            capsize=2,
            label=f"among {config.rules.num_players - 1} × {as_text(name)}",
        )
    axes.set(
        xlabel="decisions learned from",
        ylabel=f"bull {heads_title(config.rules)}",
        title=config.game,
    )
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    write_atomically(path, lambda file: figure.savefig(file, dpi=110, format="png"))
