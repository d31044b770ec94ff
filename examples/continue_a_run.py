"""A run that can be stopped at any time: press Ctrl-C, start it again, and it goes on.

    python -m examples.continue_a_run

However often it was stopped, it ends with the same weights. The command line does the same:

    python -m training.lookahead --preset quick --run runs/mine
    python -m training.lookahead --resume runs/mine
"""

from pathlib import Path
from typing import Any

from training.checkpoint import Stopped
from training.config import CONFIG, read_settings
from training.finish import finish
from training.lookahead import LookaheadConfig, train


def main(folder: str = "runs/continued", steps: int = 500_000, **settings: Any) -> None:
    run = Path(folder)
    begun = (run / CONFIG).exists()
    if begun:
        config = read_settings(run / CONFIG, LookaheadConfig)
    else:
        config = LookaheadConfig(held=("random", "closest_gap"), steps=steps, **settings)
    try:
        train(config, run, resume=begun)
    except Stopped:
        print("stopped: start it again to continue")
    else:
        print(finish(config, run))


if __name__ == "__main__":
    main()
