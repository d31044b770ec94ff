"""The model of `training.ppo` and its training."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from agents.network import CardPolicy, network, network_policy
from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from sixnimmt_env.trained.network import NetworkPolicy
from sixnimmt_env.trained.scope import scope_of
from training.ppo import PPOConfig
from training.run import Run
from training.tables import Tables

MODEL = "policy.zip"
LOGGED = ("entropy_loss", "value_loss", "approx_kl", "explained_variance")


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
        self.run.begin(self.num_timesteps, self.policy, self.content)
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
        self.run.write(MODEL, self.model.save)
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


def train(config: PPOConfig, folder: Path, resume: bool) -> MaskablePPO:
    """See `training.ppo.train`."""
    with Run(config, folder, resume) as run:
        model = make_model(config)
        average = {name: weight.clone() for name, weight in model.policy.state_dict().items()}
        if run.content is not None:
            _restore(model, run.content)
            average = run.content["average"]
        model.set_logger(run.logger)
        watch = Watch(config, run, average)
        left = config.steps - model.num_timesteps
        if left > 0:
            model.learn(left, callback=watch, reset_num_timesteps=run.content is None)
        else:  # interrupted after its last update: what it leaves may not all be written
            watch.init_callback(model)
            run.begin(model.num_timesteps, watch.policy, watch.content)
        watch.save_model()
    return model
