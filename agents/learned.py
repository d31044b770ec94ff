"""Saved networks as policies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from sixnimmt_env.encoding import encode, observation_size
from sixnimmt_env.observe import Observation
from sixnimmt_env.policy import Policy, make_policy
from sixnimmt_env.rules import Rules


class SB3Policy:
    """A MaskablePPO model as a policy.

    Parameters
    ----------
    model : MaskablePPO
        Trained on encoded observations. Its attribute `rules`, if there, says on which game;
        without it only the length of the observation is checked.
    greedy : bool
        Choose the most probable action, or draw one from the model's distribution.
    """

    def __init__(self, model: MaskablePPO, greedy: bool = True) -> None:
        self.model = model
        self.greedy = greedy

    @classmethod
    def load(cls, path: str | Path, greedy: bool = True) -> SB3Policy:
        """Load a file that `MaskablePPO.save` wrote. Only load files that you trust.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is no such model.
        """
        if not Path(path).is_file():
            raise FileNotFoundError(f"there is no policy file {path}")
        try:
            # A rollout buffer is made on loading; nothing is collected, so one step will do.
            model = MaskablePPO.load(path, device="cpu", n_steps=1, n_envs=1)
        except Exception as error:
            raise ValueError(f"{path} is not a saved MaskablePPO model: {error}") from error
        return cls(model, greedy)

    def act(self, observation: Observation, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `sixnimmt_env.policy.Policy.act`.

        Raises
        ------
        ValueError
            If the model was trained for other rules.
        """
        self._check(observation.rules)
        policy = self.model.policy
        policy.set_training_mode(False)
        with torch.inference_mode():
            vectors = torch.as_tensor(encode(observation), device=self.model.device)
            chances = policy.get_distribution(vectors, observation.action_mask).distribution
            logits = chances.logits.cpu().numpy()
        if not self.greedy:
            logits = logits + rng.gumbel(size=logits.shape)  # its argmax is a draw
        actions: NDArray[np.intp] = logits.argmax(axis=1)
        return actions

    def _check(self, rules: Rules) -> None:
        size, needed = self.model.observation_space.shape[0], observation_size(rules)
        trained: Rules | None = getattr(self.model, "rules", None)
        if size != needed:
            raise ValueError(
                f"this model was trained on observations of {size} numbers{_of(trained)}, but "
                f"{_name(rules)} has {needed}: use a model trained for the same rules"
            )
        if trained is not None and rules != trained and not _only_chooses_less(rules, trained):
            raise ValueError(
                f"this model was trained for {_name(trained)} and cannot play {_name(rules)}: "
                "use a model trained for the same rules"
            )


def _only_chooses_less(rules: Rules, trained: Rules) -> bool:
    """Whether the one difference is that a low card's row is not chosen: one can go without."""
    chosen = rules.row_choice == "fewest_heads"
    return chosen and replace(rules, row_choice=trained.row_choice) == trained


def _of(rules: Rules | None) -> str:
    return "" if rules is None else f" of {_name(rules)}"


def _name(rules: Any) -> str:
    choice = f", row_choice={rules.row_choice!r}" if rules.low_card == "take" else ""
    return f"{rules.name} with {rules.num_players} players{choice}, episode={rules.episode!r}"


def load_policy(name: str | Path) -> Policy:
    """Make a policy of a file "….zip", of a name or of "module:Class"."""
    return SB3Policy.load(name) if str(name).endswith(".zip") else make_policy(str(name))
