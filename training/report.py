"""Tables and pictures of a run."""

from __future__ import annotations

from pathlib import Path

from sixnimmt_env.rules import Rules
from training.evaluate import Strength

Results = dict[tuple[str, str], Strength]


def table(results: Results, rules: Rules) -> str:
    """Markdown table: who sits against whom, mean heads and wins with 95 % intervals."""
    fair = 100 / rules.num_players
    lines = [
        f"One seat against {rules.num_players - 1} of another, {rules.name} game, "
        f"row_choice={rules.row_choice!r}; mean ± 95 % interval; a fair share of wins is "
        f"{fair:.0f} %.",
        "",
        "| player | against | bull heads a round | the others' | wins % | rounds |",
        "|---|---|---|---|---|---|",
    ]
    for (player, opponent), s in results.items():
        lines.append(
            f"| {player} | {opponent} | {s.heads.text()} | {s.others.text()} "
            f"| {s.wins.text(100, 1)} | {s.rounds} |"
        )
    return "\n".join(lines)


def learning_curve(rows: list[dict[str, float]], baseline: float, path: Path) -> None:
    """Draw heads a round against random opponents over training, as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    steps = [row["steps"] for row in rows]
    heads = [row["heads"] for row in rows]
    axes.errorbar(steps, heads, [row["half"] for row in rows], marker="o", capsize=3, label="agent")
    axes.axhline(baseline, color="grey", linestyle="--", label="random in the same seat")
    axes.set_xlabel("decisions trained on")
    axes.set_ylabel("bull heads a round against random\n(mean, 95 % interval)")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    part = path.with_name(path.name + ".part")
    figure.savefig(part, format="png", dpi=120)
    plt.close(figure)
    part.replace(path)
