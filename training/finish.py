"""How a run ends: with results that are measured once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.players import load_player
from agents.runfolder import claim
from training import checkpoint, report
from training.checkpoint import CHECKPOINT, must_write
from training.config import HELD_AT_END, Config
from training.evaluate import Line, as_dicts, compare, usual_opponents
from training.run import POLICY


def measured_once(folder: Path, measure: Callable[[], Any]) -> tuple[Any, dict[str, Any]]:
    """Results of a run that is done, which its checkpoint keeps, and the checkpoint.

    Parameters
    ----------
    folder : Path
        Of the run; the caller holds it.
    measure : callable
        Gives the results, which it takes time to measure; called if there are none yet.
    """
    content = checkpoint.load(folder / CHECKPOINT)
    if content["results"] is None:
        content["results"] = measure()
        with must_write(folder):
            checkpoint.save(folder / CHECKPOINT, content)
    return content["results"], content


def finish(config: Config, folder: Path) -> str:
    """Evaluate, write results and learning curve, and return the table.

    What was evaluated before is not evaluated again: its results are written from the checkpoint.

    Raises
    ------
    HeldError
        If another process writes into the folder.
    """
    with claim(folder):
        results, content = measured_once(folder, lambda: _measure_all(config, folder))
        lines = [Line(**line) for line in results]
        with must_write(folder):
            text = report.write_results(lines, config, content["seconds"], folder)
            report.draw_curve(content["metrics"], config, folder / "learning_curve.png")
    return text


def _measure_all(config: Config, folder: Path) -> list[dict[str, Any]]:
    print("evaluating", flush=True)
    rules = config.rules
    trained = load_player(str(folder / POLICY))
    usual = usual_opponents(rules)
    lines = compare(
        {"trained": trained, **{name: name for name in usual}}, usual, rules, config.table_rounds, 2
    )
    for name in config.held:
        if name not in usual:
            lines += compare(
                {"trained": trained}, [name], rules, HELD_AT_END * config.held_rounds, 2
            )
    return as_dicts(lines)
