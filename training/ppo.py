"""Self-play PPO: every seat of many games learns. `python -m training.ppo --help`

python -m training.ppo --preset quick              # at most five minutes on two cores
python -m training.ppo --resume runs/FOLDER        # continue, exactly as if never stopped
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from agents.network import CardPolicy, network, network_policy
from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from sixnimmt_env.trained.network import NetworkPolicy
from sixnimmt_env.trained.scope import scope_of
from training import checkpoint, cli
from training.config import Config
from training.run import Run
from training.tables import Tables

MODEL = "policy.zip"
LOGGED = ("entropy_loss", "value_loss", "approx_kl", "explained_variance")


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
        self.need_least(1, "n_steps", "n_epochs")
        self.need_least(2, "batch_size")  # its advantages are normalised
        self.need_least(0, "ent_coef", "vf_coef")
        self.need_above_0("learning_rate")
        self.need_share("gamma", "gae_lambda")
        self.need("average", 0 <= self.average < 1, "a number from 0 to below 1 is needed")
        fewest = self.fewest_seats
        self.need("seats", self.seats >= fewest, f"{fewest} are needed, one game of each kind")

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


def make_model(config: PPOConfig) -> MaskablePPO:
    """Make a model at its first step, with its environment."""
    torch.set_num_threads(config.threads)
    # Checks every distribution in every step otherwise, for nothing.
    torch.distributions.Distribution.set_default_validate_args(False)
    env = Tables(
        [
            SixNimmtVecEnv(
                num_games=games,
                num_players=rules.num_players,
                variant=config.variant,
                row_choice=rules.row_choice,
            )
            for rules, games in zip(config.games, config.env_games, strict=True)
        ]
    )
    model = MaskablePPO(
        CardPolicy,
        env,
        learning_rate=Falling(config.learning_rate),
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.n_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        ent_coef=config.ent_coef,
        vf_coef=config.vf_coef,
        policy_kwargs=network(env.rules, width=config.width, card_width=config.card_width),
        seed=config.seed,
        device="cpu",
    )
    # Game i has this seed + i: neither other runs nor evaluations shall share games with it.
    env.seed((config.seed + 1) << 32)
    model.scope = scope_of(list(config.games))  # saved with it, so that it knows its games
    return model


class Falling:
    """Learning rate that falls to 0 in a straight line."""

    def __init__(self, start: float) -> None:
        self.start = start

    def __call__(self, remaining: float) -> float:
        return self.start * remaining


class Watch(BaseCallback):
    """Between rollouts: averages the weights, and lets the run note, measure and save."""

    def __init__(self, config: PPOConfig, run: Run, average: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self.config, self.run, self.average = config, run, average
        self.finished: list[int] = []

    def _on_training_start(self) -> None:
        self.run.begin(self.num_timesteps)
        self.begun_at = self.num_timesteps

    def _on_step(self) -> bool:
        self.finished += [info["heads"] for info in self.locals["infos"] if "heads" in info]
        return True

    def _on_rollout_start(self) -> None:
        if self.num_timesteps > self.begun_at:  # a rollout is done and learned from
            self._after_update()

    def _on_training_end(self) -> None:
        if self.num_timesteps > self.begun_at:
            self._after_update()
        self.run.save(self.policy(), self.content())
        self.save_model()

    def policy(self) -> NetworkPolicy:
        """The average of the weights as a player."""
        prefix = "features_extractor."
        weights = {
            name.removeprefix(prefix): weight
            for name, weight in self.average.items()
            if name.startswith(prefix)
        }
        return network_policy(weights, self.model.scope, {})  # type: ignore[attr-defined]

    def content(self) -> dict[str, Any]:
        """The trainer's part of a checkpoint; taken between two rollouts."""
        model: Any = self.model
        return {
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "average": self.average,
            "steps": model.num_timesteps,
            "updates": model._n_updates,
            "env": model.env,
            "last_obs": model._last_obs,
            "last_starts": model._last_episode_starts,
            "python_rng": random.getstate(),
            "numpy_rng": np.random.get_state(),
            "torch_rng": torch.get_rng_state(),
        }

    def save_model(self) -> None:
        """Write the average of the weights as a MaskablePPO model."""
        now = {name: weight.clone() for name, weight in self.model.policy.state_dict().items()}
        self.model.policy.load_state_dict(self.average)
        checkpoint.write_atomically(self.run.folder / MODEL, self.model.save)
        self.model.policy.load_state_dict(now)

    def _after_update(self) -> None:
        weights = self.model.policy.state_dict()
        self.run.check_finite(weights.values())
        updates = self.num_timesteps // self.config.rollout_steps
        past = min(self.config.average, 1 - 1 / (updates + 1))
        for name, weight in weights.items():
            self.average[name].lerp_(weight, 1 - past)
        numbers = {name: float(self.logger.name_to_value[f"train/{name}"]) for name in LOGGED}
        if self.finished:  # rounds of one length all end in the same rollout, or in none
            numbers["heads_self_play"] = sum(self.finished) / len(self.finished)
        self.finished = []
        self.run.after_update(self.num_timesteps, numbers, self.policy, self.content)


def _restore(model: MaskablePPO, content: dict[str, Any]) -> None:
    """Put a freshly made model where the checkpoint was written."""
    model.policy.load_state_dict(content["policy"])
    model.policy.optimizer.load_state_dict(content["optimizer"])
    model.set_env(content["env"], force_reset=False)
    model.num_timesteps = content["steps"]
    model._n_updates = content["updates"]
    model._last_obs = content["last_obs"]
    model._last_episode_starts = content["last_starts"]
    random.setstate(content["python_rng"])
    np.random.set_state(content["numpy_rng"])
    torch.set_rng_state(content["torch_rng"])


def train(config: PPOConfig, folder: Path, resume: bool = False) -> MaskablePPO:
    """Train until the run's end, or until Ctrl-C.

    Parameters
    ----------
    config : PPOConfig
        All settings.
    folder : Path
        Where everything is written; it has a checkpoint if `resume`.
    resume : bool
        Continue from the checkpoint.

    Raises
    ------
    Stopped
        After Ctrl-C, when the checkpoint is written.
    CheckpointError
        If it cannot be continued from.
    """
    with Run(config, folder, resume) as run:
        model = make_model(config)
        average = {name: weight.clone() for name, weight in model.policy.state_dict().items()}
        if run.content is not None:
            _restore(model, run.content)
            average = run.content["average"]
        model.set_logger(run.logger)
        left = config.steps - model.num_timesteps
        if left > 0:
            watch = Watch(config, run, average)
            model.learn(left, callback=watch, reset_num_timesteps=not resume)
    return model


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    cli.main("ppo", PPOConfig, train, arguments)


if __name__ == "__main__":
    main()
