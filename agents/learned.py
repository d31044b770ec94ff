"""Saved networks as policies.

torch is imported only where a MaskablePPO model is used; files that `training.export` wrote do
without.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from sixnimmt_env.encoding import encode, observation_size
from sixnimmt_env.observe import Observation
from sixnimmt_env.policy import Policy, make_policy
from sixnimmt_env.rules import Rules
from sixnimmt_env.trained import network
from sixnimmt_env.trained.layout import widened
from sixnimmt_env.trained.scope import Scope, in_words

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO

FILES: Final = (".npz", ".zip")
SAMPLED: Final = "sampled"


class SB3Policy:
    """A MaskablePPO model as a policy.

    Parameters
    ----------
    model : MaskablePPO
        Trained on encoded observations. Its attribute `scope`, a `Scope`, if there, says on which
        games; without it only the length of the observation is checked.
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
        from sb3_contrib import MaskablePPO

        if not Path(path).is_file():
            raise FileNotFoundError(f"there is no policy file {path}")
        try:
            # A rollout buffer is made on loading; nothing is collected, so one step will do.
            model = MaskablePPO.load(path, device="cpu", n_steps=1, n_envs=1)
        except Exception as error:
            raise ValueError(f"{path} is not a saved MaskablePPO model: {error}") from error
        if _vector_space(model) is None:
            raise ValueError(
                f"{path} was trained on observations {model.observation_space}, not on those of "
                "this package: flat vectors, or dicts of 'observation' and 'action_mask'"
            )
        return cls(model, greedy)

    @property
    def scope(self) -> Scope | None:
        """Games that the model was trained for, where it says so."""
        return getattr(self.model, "scope", None)

    def act(self, observation: Observation, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `sixnimmt_env.policy.Policy.act`.

        Raises
        ------
        ValueError
            If the model was trained for other games.
        """
        logits = self.log_probabilities(observation)
        if not self.greedy:
            logits = logits + rng.gumbel(size=logits.shape)  # its argmax is a draw
        actions: NDArray[np.intp] = logits.argmax(axis=1)
        return actions

    def log_probabilities(self, observation: Observation) -> NDArray[np.float32]:
        """Log-probabilities of all actions, (n, A) float32; very low where illegal.

        Raises
        ------
        ValueError
            If the model was trained for other games.
        """
        import torch

        vectors = self._vectors(observation)
        policy = self.model.policy
        policy.set_training_mode(False)
        with torch.inference_mode():
            inputs: Any = torch.as_tensor(vectors, device=self.model.device)
            if isinstance(self.model.observation_space, spaces.Dict):
                mask = torch.as_tensor(observation.action_mask, device=self.model.device)
                inputs = {"observation": inputs, "action_mask": mask}
            chances = policy.get_distribution(inputs, observation.action_mask).distribution
            logits: NDArray[np.float32] = chances.logits.cpu().numpy()
        return logits

    def _vectors(self, observation: Observation) -> NDArray[np.float32]:
        """Encode observations, laid out as those that the model was trained on."""
        rules, scope = observation.rules, self.scope
        trained = rules
        if scope is not None:
            scope.check(rules)
            trained = scope.rules
        space = _vector_space(self.model)
        size, needed = space.shape[0] if space else 0, observation_size(trained)
        if size != needed:
            raise ValueError(
                f"this model was trained on observations of {size} numbers, but {_name(trained)} "
                f"has {needed}: use a model trained for the same rules"
            )
        return widened(encode(observation), rules, trained)


def _vector_space(model: MaskablePPO) -> spaces.Box | None:
    """Space of the encoded observation that a model sees, alone or in a dict beside the mask."""
    space = model.observation_space
    if isinstance(space, spaces.Dict) and set(space) == {"observation", "action_mask"}:
        space = space["observation"]
    return space if isinstance(space, spaces.Box) and len(space.shape) == 1 else None


def _name(rules: Rules) -> str:
    return f"{in_words(rules)}, episode={rules.episode}"


def file_of(spec: str) -> Path | None:
    """File of a saved network that a text names, "FILE.zip" or "FILE.npz:sampled"; else None.

    Raises
    ------
    ValueError
        If something else follows the file.
    """
    if spec.endswith(FILES):
        return Path(spec)
    name, _, argument = spec.rpartition(":")
    if not name.endswith(FILES):
        return None
    if argument != SAMPLED:
        raise ValueError(
            f"{argument!r} after {name} is not known: give nothing, or {SAMPLED!r} for a player "
            "that draws its actions from the network's distribution"
        )
    return Path(name)


def load_policy(name: str | Path) -> Policy:
    """Make a policy of a saved network, of a name or of "module:Class".

    Parameters
    ----------
    name : str or Path
        "FILE.npz" of `training.export` or "FILE.zip" of MaskablePPO; they play the most probable
        action, and with ":sampled" after the file draw one. Anything else is for
        `sixnimmt_env.policy.make_policy`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If there is no such policy, or the file holds none.
    """
    spec = str(name)
    file = file_of(spec)
    if file is None:
        return make_policy(spec)
    greedy = spec.endswith(FILES)
    if file.suffix == ".npz":
        return network.load_policy(file, greedy)
    return SB3Policy.load(file, greedy)
