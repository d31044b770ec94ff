"""Settings of a training run, and the presets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Final

from sixnimmt_env.rules import Rules
from sixnimmt_env.variants import make_rules


@dataclass(frozen=True)
class Config:
    """What to train and how. Every field is a command-line option."""

    variant: str = "base"
    num_players: int = 4
    row_choice: str = "player"
    reward: str = "heads"
    seed: int = 0
    steps: int = 10_000_000
    """Decisions to train on, waiting turns (passes) included."""
    games: int = 256
    """Games at once; every seat of each learns."""
    rollout: int = 32
    """Steps of all games between two updates."""
    batch: int = 8192
    epochs: int = 3
    learning_rate: float = 1e-3
    """At the start; it falls linearly to 0."""
    entropy: float = 0.01
    gae_lambda: float = 0.95
    clip: float = 0.2
    value_weight: float = 0.05
    width: int = 256
    """Units in each of the two hidden layers of policy and value."""
    threads: int = 2
    checkpoint_seconds: float = 30.0
    curve_points: int = 12
    """Evaluations against random during training, for the learning curve."""
    curve_rounds: int = 400
    final_rounds: int = 2000
    """Rounds per seat for the final table."""

    def rules(self) -> Rules:
        """Rules that are played."""
        return make_rules(self.variant, self.num_players, row_choice=self.row_choice)

    def env_options(self) -> dict[str, object]:
        """Options of the environment."""
        return {
            "variant": self.variant,
            "num_players": self.num_players,
            "row_choice": self.row_choice,
            "reward": self.reward,
        }

    def as_dict(self) -> dict[str, object]:
        """All settings as plain values."""
        return asdict(self)

    @property
    def steps_per_update(self) -> int:
        """Decisions between two updates."""
        return self.games * self.num_players * self.rollout


PRESETS: Final = {
    "quick": Config(),
    "standard": replace(Config(), steps=100_000_000, curve_points=40),
    "test": Config(
        steps=4096, games=16, rollout=16, batch=256, epochs=1, width=16, threads=1,
        checkpoint_seconds=0.0, curve_points=2, curve_rounds=10, final_rounds=20,
    ),
}  # fmt: skip
