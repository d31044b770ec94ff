"""The learning curve of a run and the table it ends with."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from sixnimmt_env.rules import Rules
from training.checkpoint import write_atomically
from training.config import Config
from training.evaluate import Line, as_dicts, heads_title, table

Metrics = list[dict[str, float]]


def write_metrics(metrics: Metrics, path: Path) -> None:
    """One CSV line per rollout."""
    names = list(dict.fromkeys(name for row in metrics for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(metrics)
    write_atomically(path, lambda file: file.write(text.getvalue().encode()))


def write_results(lines: list[Line], config: Config, seconds: float, folder: Path) -> str:
    """Write results.json and results.md; return the table."""
    content = {"seconds": round(seconds, 1), "table": as_dicts(lines)}
    (folder / "results.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    text = table(lines, config.rules)
    title = f"# {config.preset} preset: {config.game}, seed {config.seed}"
    notes = "Win rate: ties split. ±: 95 % intervals. The seat rotates over the same deals."
    (folder / "results.md").write_text(f"{title}\n\n{text}\n\n{notes}\n", encoding="utf-8")
    return text


def draw_curve(metrics: Metrics, lines: list[Line], rules: Rules, path: Path) -> None:
    """Heads against random players over the run, and in self-play."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots()
    played = [m for m in metrics if "heads_self_play" in m]
    axes.plot(
        [m["steps"] for m in played],
        [m["heads_self_play"] for m in played],
        color="0.7",
        label="self-play (exploring)",
    )
    tested = [m for m in metrics if "heads_vs_random" in m]
    axes.errorbar(
        [m["steps"] for m in tested],
        [m["heads_vs_random"] for m in tested],
        [m["heads_vs_random_interval"] for m in tested],
        marker="o",
        markersize=3,
        capsize=2,
        label="trained agent among random players",
    )
    for line, style in zip(
        (x for x in lines if x.opponents == "random" and x.player != "trained"),
        ("--", ":"),
        strict=False,
    ):
        axes.axhline(line.heads, color="0.3", linestyle=style, label=f"{line.player} in that seat")
    axes.set(xlabel="decisions", ylabel=f"bull {heads_title(rules)}", title="Learning by self-play")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=110)
