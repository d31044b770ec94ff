"""A network trained with Stable-Baselines3 as a `Policy`."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from sixnimmt_env.observe import Observation, encode, observation_size
from sixnimmt_env.rules import Rules


class SB3Policy:
    """Plays what a MaskablePPO model says.

    Parameters
    ----------
    model : MaskablePPO
        Trained on encoded observations of `rules`.
    rules : Rules
        What it was trained to play.
    deterministic : bool
        Play the most likely action; otherwise draw from the policy.
    """

    def __init__(self, model: MaskablePPO, rules: Rules, deterministic: bool = True) -> None:
        size = observation_size(rules)
        if model.observation_space.shape != (size,):
            raise ValueError(
                f"the model takes observations {model.observation_space.shape}, but those of "
                f"{rules.name} with {rules.num_players} players are ({size},): give the rules it "
                "was trained for"
            )
        self.model = model
        self.rules = rules
        self.deterministic = deterministic

    @classmethod
    def load(cls, path: str | Path, rules: Rules | None = None) -> SB3Policy:
        """Load a policy that `training.ppo` saved.

        Parameters
        ----------
        path : path
            `policy.zip` of a run, or the run folder.
        rules : Rules, optional
            Read from the `config.json` beside the file unless given.

        Raises
        ------
        FileNotFoundError, ValueError
            If there is no such file, it is no model, or the rules do not fit it.
        """
        path = Path(path)
        path = path / "policy.zip" if path.is_dir() else path
        if not path.exists():
            raise FileNotFoundError(f"no trained policy at {path}")
        if rules is None:
            from training.config import Config

            config = path.parent / "config.json"
            if not config.exists():
                raise FileNotFoundError(f"no {config} beside {path}: give the rules by hand")
            rules = Config(**json.loads(config.read_text())["config"]).rules()
        try:
            model = MaskablePPO.load(path, device="cpu")
        except (zipfile.BadZipFile, KeyError, EOFError, ValueError) as error:
            raise ValueError(f"{path} is not a saved model: {error}") from error
        return cls(model, rules)

    def act(self, observation: Observation, rng: np.random.Generator) -> NDArray[Any]:
        """See `sixnimmt_env.policy.Policy.act`."""
        if observation.rules != self.rules and (
            observation_size(observation.rules) != observation_size(self.rules)
            or observation.rules.name != self.rules.name
        ):
            raise ValueError(
                f"this policy was trained for {self.rules.name} with {self.rules.num_players} "
                f"players, not for {observation.rules.name} with {observation.rules.num_players}"
            )
        mask = observation.action_mask
        if self.deterministic:
            actions, _ = self.model.predict(
                encode(observation), action_masks=mask, deterministic=True
            )
            return np.asarray(actions)
        return self._draw(encode(observation), mask, rng)

    def _draw(
        self, vectors: NDArray[np.float32], mask: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[Any]:
        import torch

        with torch.no_grad():
            tensor, _ = self.model.policy.obs_to_tensor(vectors)
            logits = self.model.policy.get_distribution(tensor, mask).distribution.logits
        # Gumbel-max, so that chance comes from `rng` alone.
        noise = rng.gumbel(size=mask.shape)
        return np.where(mask == 1, logits.numpy() + noise, -np.inf).argmax(axis=1)
