"""Self-play PPO: every seat of many games learns. `python -m training.ppo --help`

python -m training.ppo --preset quick              # at most five minutes on two cores
python -m training.ppo --resume runs/FOLDER        # continue, exactly as if never stopped
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from training import cli
from training.config import MOST, MOST_EPOCHS, MOST_WEIGHT, Config

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO

# Decisions, with all that was observed, between two updates: some ten gigabytes.
_MOST_KEPT = 4_000_000


@dataclass(frozen=True, kw_only=True)
class PPOConfig(Config):
    """Settings of training.ppo. The same settings give the same weights on one machine.

    A step is one decision of one seat, forced passes included.
    """

    trainer: ClassVar[str] = "ppo"

    seats: int = 1024
    """Seats that learn, of all games together."""
    n_steps: int = 20
    """Decisions of each seat between two updates."""
    batch_size: int = 2048
    """Decisions in a minibatch."""
    n_epochs: int = 3
    """How often a decision is learned from."""
    learning_rate: float = 1e-3
    """At the start; falls to 0 in a straight line."""
    gamma: float = 1.0
    """Discount."""
    gae_lambda: float = 0.95
    """Lambda of generalised advantage estimation."""
    ent_coef: float = 0.1
    """Weight of the entropy; with less, self-play forgets how to play against others."""
    vf_coef: float = 0.005
    """Weight of the value's error: squared heads are large numbers beside the policy's loss."""
    average: float = 0.98
    """Weight of the past in the average of the weights, which is what plays in the end."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_within(1, MOST_EPOCHS, "n_epochs")
        self.need_within(2, MOST, "batch_size")  # its advantages are normalised
        self.need_within(0, MOST_WEIGHT, "ent_coef", "vf_coef")
        self.need_above_0(1, "learning_rate")
        self.need_share("gamma", "gae_lambda")
        self.need("average", 0 <= self.average < 1, "a number from 0 to below 1 is needed")
        self.need_seats()
        most = _MOST_KEPT // self.seats
        self.need(
            "n_steps",
            1 <= self.n_steps <= most,
            f"at least 1, at most {most} is needed with {self.seats} seats",
        )

    @property
    def env_games(self) -> list[int]:
        """How many games of each kind."""
        share = self.seats // len(self.games)
        return [share // rules.num_players for rules in self.games]

    @property
    def rollout_steps(self) -> int:
        """Steps between two updates."""
        seats = zip(self.games, self.env_games, strict=True)
        return self.n_steps * sum(rules.num_players * games for rules, games in seats)


def train(config: PPOConfig, folder: Path, resume: bool = False) -> MaskablePPO:
    """Train until the run's end, or until Ctrl-C or SIGTERM.

    Parameters
    ----------
    config : PPOConfig
        All settings.
    folder : Path
        Where everything is written.
    resume : bool
        Continue from the folder's checkpoint.

    Raises
    ------
    Stopped
        After Ctrl-C or SIGTERM, when the checkpoint is written.
    HeldError
        If another process writes into the folder.
    CheckpointError
        If it cannot be continued from.
    ValueError, OSError
        If the folder has a run already, a player cannot be used, or nothing can be written.
    """
    from training import ppo_trainer  # torch takes seconds to load

    return ppo_trainer.train(config, folder, resume)


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    cli.main("ppo", PPOConfig, train, arguments)


if __name__ == "__main__":
    main()
