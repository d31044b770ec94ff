"""Draw docs/images/table.png, the picture of the README, from a game in progress.

python -m docs.picture
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from sixnimmt_env.cards import BULL_HEADS, ROW_CAPACITY
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import make_policy
from sixnimmt_env.state import State
from sixnimmt_env.variants import make_rules

PATH = Path(__file__).parent / "images" / "table.png"
TURNS = 5
INK = "#26323f"
FACES = {1: "#ffffff", 2: "#d7ecff", 3: "#fff1b8", 5: "#ffd5b0", 7: "#f5b5c8"}


def game_in_progress(seed: int) -> State:
    """Four closest-gap players, some turns into a round."""
    rules = make_rules(row_choice="fewest_heads")
    engine = Engine(rules)
    state = engine.reset(seed=seed, games=1)
    policy, rng = make_policy("closest_gap"), np.random.default_rng(seed)
    for _ in range(TURNS):
        seats = range(rules.num_players)
        engine.step(state, np.array([policy.act(observe(rules, state, s), rng) for s in seats]))
    return state


def draw(state: State) -> Figure:
    """Rows on the left, the table's piles on the right, seat 0's hand below."""
    figure = Figure(figsize=(9, 5.2), facecolor="#2f6b4f")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 13.2), ylim=(-7.3, 0.4))
    axes.axis("off")
    for row in range(len(state.rows)):
        y = -1.3 * row - 0.65
        axes.text(0.55, y, f"row {row + 1}", color="white", ha="center", va="center")
        for slot in range(ROW_CAPACITY):
            number = int(state.rows[row, slot, 0])
            _card(axes, 1.6 + 1.15 * slot, y, number)
        heads = int(state.row_heads[row, 0])
        axes.text(
            7.0, y, f"{heads} head{'s' * (heads != 1)}", color="white", va="center", fontsize=9
        )
    axes.text(9.2, -0.45, "pile", color="white", va="center", weight="bold")
    for seat, heads in enumerate(state.pile_heads[:, 0].tolist()):
        line = f"player {seat}   {heads} heads"
        axes.text(9.2, -1.2 - 0.7 * seat, line, color="white", va="center")
    axes.text(0.55, -6.3, "hand", color="white", ha="center", va="center")
    for slot, number in enumerate(n for n in state.hand[0, :, 0].tolist() if n):
        _card(axes, 1.6 + 1.15 * slot, -6.3, number)
    return figure


def _card(axes, x: float, y: float, number: int) -> None:
    heads = int(BULL_HEADS[number])
    box = {"boxstyle": "round,pad=0,rounding_size=0.1", "linewidth": 1.2}
    if not number:
        empty = FancyBboxPatch((x - 0.46, y - 0.52), 0.92, 1.04, fc="none", ec="#5d9479", **box)
        axes.add_patch(empty)
        return
    axes.add_patch(FancyBboxPatch((x - 0.46, y - 0.52), 0.92, 1.04, fc=FACES[heads], ec=INK, **box))
    axes.text(x, y + 0.12, str(number), ha="center", va="center", fontsize=15, color=INK)
    axes.text(x, y - 0.32, "●" * heads, ha="center", va="center", fontsize=5, color="#b3243f")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the picture."""
    description = "Draw docs/images/table.png, the picture of the README."
    parser = argparse.ArgumentParser(prog="python -m docs.picture", description=description)
    parser.parse_args(arguments)
    PATH.parent.mkdir(exist_ok=True)
    draw(game_in_progress(seed=7)).savefig(PATH, dpi=110, metadata={"Software": None})
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
