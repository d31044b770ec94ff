"""A run's numbers for TensorBoard."""

from __future__ import annotations

import sys
from pathlib import Path

from stable_baselines3.common.logger import Logger, configure
from tqdm import tqdm

from training.report import as_text


def tensorboard(folder: Path) -> Logger:
    """Logger of a run's numbers; of none where the folder's name is no text to TensorBoard."""
    try:
        return configure(str(folder), ["tensorboard"])
    except UnicodeError as error:  # in a locale that lacks its letters
        tqdm.write(f"no files for TensorBoard ({error}): use a locale of UTF-8", sys.stderr)
        return Logger(None, [])


def log(logger: Logger, row: dict[str, float], done: int) -> None:
    """Log the numbers after an update, with names that are texts."""
    for name, value in row.items():
        logger.record(as_text(name).replace(" ", "/", 1), value)
    logger.dump(done)
