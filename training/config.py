"""What a training run is made of."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sixnimmt_env import __version__
from sixnimmt_env.rules import Rules
from sixnimmt_env.variants import make_rules

PACKAGES = ("numpy", "torch", "stable-baselines3", "sb3-contrib", "gymnasium")


@dataclass(frozen=True)
class Config:
    """All settings of a run. The same settings give the same weights on the same machine.

    A step is one decision of one seat, forced passes included.
    """

    preset: str = "quick"
    num_players: int = 4
    variant: str = "base"
    row_choice: str = "player"
    seed: int = 0
    total_steps: int = 2_000_000
    num_games: int = 256
    n_steps: int = 20
    batch_size: int = 2048
    n_epochs: int = 2
    learning_rate: float = 1e-3  # falls to 0 in a straight line
    gamma: float = 1.0
    gae_lambda: float = 0.95
    ent_coef: float = 0.01
    vf_coef: float = 0.02  # squared heads are large numbers beside the policy's loss
    threads: int = 1  # more is little faster alone and far slower on a busy machine
    curve_points: int = 20
    curve_rounds: int = 2000
    table_rounds: int = 20_000

    @property
    def rules(self) -> Rules:
        """What is played."""
        return make_rules(self.variant, self.num_players, row_choice=self.row_choice)  # type: ignore[arg-type]

    @property
    def game(self) -> str:
        """What is played, in words."""
        rules = self.rules
        choice = f", row_choice={rules.row_choice}" if rules.low_card == "take" else ""
        return f"{rules.name}, {rules.num_players} players{choice}"

    @property
    def rollout_steps(self) -> int:
        """Steps between two updates."""
        return self.num_players * self.num_games * self.n_steps

    @property
    def num_rollouts(self) -> int:
        """Rollouts in the run."""
        return -(-self.total_steps // self.rollout_steps)


PRESETS = {
    "quick": Config(),
    "standard": replace(
        Config(preset="standard"),
        total_steps=40_000_000,
        num_games=512,
        batch_size=4096,
        n_epochs=3,
        curve_points=40,
        table_rounds=100_000,
    ),
}


def write_config(config: Config, folder: Path) -> None:
    """Write the settings and the versions they were used with."""
    content = {"config": asdict(config), "versions": versions()}
    (folder / "config.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_config(folder: Path) -> Config:
    """Read the settings of a run folder.

    Raises
    ------
    ValueError
        If there are none, or they are not those of this trainer.
    """
    path = folder / "config.json"
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["config"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{folder} is no run folder, {path.name} cannot be read: {error}"
        ) from error
    known = {f.name for f in fields(Config)}
    if set(content) != known:
        odd = sorted(set(content) ^ known)
        raise ValueError(f"{path} is of another version of this trainer: it differs in {odd}")
    return Config(**content)


def versions() -> dict[str, str]:
    """Versions of Python and the packages that the numbers depend on."""
    packages = {name: version(name) for name in PACKAGES}
    return {"python": platform.python_version(), "sixnimmt-env": __version__, **packages}
