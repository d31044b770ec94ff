"""Self-play that learns what every action would have led to. `python -m training.lookahead --help`

    python -m training.lookahead --preset quick          # a few minutes on one core
    python -m training.lookahead --resume runs/FOLDER    # continue, exactly as if never stopped

PPO learns from the one action that was taken, whose outcome is mostly the luck of the deal. A game
simulator can do better: at a decision, with everybody else's hidden cards and choices as they are,
it plays every legal action until the seat decides again and takes the heads and the network's
value of where that leads. Differences between these outcomes share the luck, so they are far less
noisy. The network regresses on them, and the next policy is a softmax of its estimates:

    outcome(a) = reward until the next own decision + value there
    logits     -> (outcome - mean of outcomes) / temperature
    value      -> lambda-return of what was really played
    policy      = softmax(logits)

All seats change together, so this is a smoothed best response to itself; its fixed point is a
logit (quantal response) equilibrium at that temperature (McKelvey and Palfrey, 1995), with all
actions' values learned as in Q-learning and counterfactual baselines (Foerster et al., 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from training import cli
from training.config import MOST, MOST_EPOCHS, MOST_WEIGHT, Config

if TYPE_CHECKING:
    from training.lookahead_trainer import Learner

_POOL = "above 0 with players in the pool, 0 without"
# Of each kind of game in an update; so that there are always some.
_FEWEST = 20


@dataclass(frozen=True, kw_only=True)
class LookaheadConfig(Config):
    """Settings of training.lookahead. The same settings give the same weights on one machine."""

    trainer: ClassVar[str] = "lookahead"

    seats: int = 2048
    """Seats that play a round between two updates."""
    share: float = 0.5
    """Share of the decisions that are learned from."""
    batch_size: int = 1024
    """Decisions in a minibatch."""
    epochs: int = 2
    """How often a decision is learned from."""
    learning_rate: float = 2e-3
    """At the start; falls to 0 in a straight line."""
    temperature: float = 0.5
    """Bull heads by which an action has to be better to be e times as likely."""
    trace: float = 0.8
    """Lambda of the returns: 1 for what really happened, 0 for the value at the next decision."""
    value_weight: float = 0.1
    """Weight of the value's squared error beside that of the outcomes."""
    average: float = 0.99
    """Weight of the past in the average of the weights, which is what plays in the end."""
    pool: tuple[str, ...] = ()
    """Other players to learn among: players' names, or "past" for earlier versions."""
    pool_share: float = 0.0
    """Share of the games in which the pool holds seats."""
    alone: bool = False
    """In these games one learner sits among equals of one kind, never at a mixed table."""
    past_updates: int = 100
    """A new earlier version is kept after so many updates."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.need_within(1, MOST, "batch_size", "past_updates")
        self.need_within(1, MOST_EPOCHS, "epochs")
        self.need_within(0, MOST_WEIGHT, "value_weight")
        self.need_above_0(1, "learning_rate", "share")
        self.need_above_0(MOST_WEIGHT, "temperature")
        self.need_share("share", "trace", "pool_share")
        self.need("average", 0 <= self.average < 1, "a number from 0 to below 1 is needed")
        self.need("pool_share", bool(self.pool) == (self.pool_share > 0), _POOL)
        self.need_seats()
        few = self.update_decisions // len(self.games) < _FEWEST
        self.need("share", not few, f"with {self.seats} seats too little is learned from")

    @property
    def named(self) -> tuple[str, ...]:
        """Players that the run depends on."""
        return tuple(dict.fromkeys((*self.held, *self.pool)))

    @property
    def update_decisions(self) -> int:
        """Decisions learned from in an update, about."""
        return round(self.seats * self.rules.hand_size * self.share)


def train(config: LookaheadConfig, folder: Path, resume: bool = False) -> Learner:
    """Train until the run's end, or until Ctrl-C or SIGTERM.

    Parameters
    ----------
    config : LookaheadConfig
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
    from training import lookahead_trainer  # torch takes seconds to load

    return lookahead_trainer.train(config, folder, resume)


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    cli.main("lookahead", LookaheadConfig, train, arguments)


if __name__ == "__main__":
    main()
