"""Tables and pictures of throughput results."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.measure import Result
from sixnimmt_env.variants import DEFAULT


@dataclass(frozen=True)
class Target:
    """A promise and what was measured; `met` is None where nothing was."""

    what: str
    measured: float | None
    bound: float
    at_most: bool
    met: bool | None


def target(what: str, measured: float | None, bound: float, at_most: bool = False) -> Target:
    """Compare a figure with its bound."""
    met = None if measured is None else (measured <= bound if at_most else measured >= bound)
    return Target(what, measured, bound, at_most, met)


def number(value: float | None) -> str:
    """A figure as people read it: 21.3 M, 104 k, 0.71."""
    if value is None:
        return "-"
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def print_results(results: Sequence[Result]) -> None:
    """One line for each case, decisions per CPU-second."""
    for what in dict.fromkeys(r.what for r in results):
        unit = "" if "cards" in what else ", decisions"
        print(f"\n{what}{unit} per CPU-second")
        print(f"  {'variant':<16}{'row choice':<14}{'players':>8}{'games':>8}", end="")
        print(f"{'best':>10}{'median':>10}{'best without choosing':>24}")
        for r in results:
            if r.what == what:
                print(
                    f"  {r.variant:<16}{r.row_choice:<14}{r.players:>8}{r.games:>8}"
                    f"{number(r.best):>10}{number(r.median):>10}{number(r.without_choosing):>24}"
                )
    print(flush=True)


def print_targets(targets: Sequence[Target]) -> None:
    """Every target with its figure and the verdict."""
    print(f"\n{'target':<48}{'bound':>12}{'measured':>12}  verdict")
    for t in targets:
        bound = ("<= " if t.at_most else ">= ") + number(t.bound)
        verdict = "not measured" if t.met is None else "met" if t.met else "MISSED"
        print(f"{t.what:<48}{bound:>12}{number(t.measured):>12}  {verdict}")
    print()


def describe_machine() -> dict[str, str]:
    """Processor and versions that the figures depend on."""
    names = ("numpy", "gymnasium", "pettingzoo", "stable-baselines3", "numba", "sixnimmt-env")
    versions = {}
    for name in names:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {"cpu": _cpu(), "python": platform.python_version(), **versions}


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def draw(results: Sequence[Result], path: Path) -> None:
    """Batch sizes on the left, the four-player best of every face on the right."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    batches, faces = figure.subplots(1, 2)
    four = [r for r in results if r.players == 4 and r.variant == DEFAULT]
    for key in dict.fromkeys((r.what, r.row_choice) for r in four):
        line = sorted((r.games, r.best) for r in four if (r.what, r.row_choice) == key)
        if len(line) > 1:
            batches.plot(*zip(*line, strict=True), marker="o", label=", ".join(key))
    batches.set(xscale="log", yscale="log", xlabel="games in the batch")
    batches.set_ylabel("decisions per CPU-second")
    batches.set_title("four players, random legal play")
    batches.legend(fontsize=7)
    batches.grid(alpha=0.3)
    bars = bar_data(four)
    faces.barh(list(bars), list(bars.values()), color="#4c72b0")
    faces.set(xscale="log", xlabel="decisions per CPU-second")
    faces.set_title("best batch size, row_choice='fewest_heads'")
    faces.invert_yaxis()
    faces.bar_label(faces.containers[0], [number(v) for v in bars.values()], padding=3)
    faces.margins(x=0.2)
    figure.savefig(path, dpi=110)


def bar_data(results: Sequence[Result]) -> dict[str, float]:
    """Best rate of each face over its batch sizes, with the low card's simple rule."""
    simple = [r for r in results if r.row_choice == "fewest_heads"]
    return {
        what: max(r.best for r in simple if r.what == what)
        for what in dict.fromkeys(r.what for r in simple)
    }
