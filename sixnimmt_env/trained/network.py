"""Trained networks without torch: the forward pass, and files that hold one.

policy = load_policy("policy.npz")
play([policy, "random", "random", "random"], make_rules())
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sixnimmt_env.cards import NUM_ROWS, PASS, TAKE_ROW, ZERO
from sixnimmt_env.encoding import encode
from sixnimmt_env.observe import Observation
from sixnimmt_env.rules import Rules
from sixnimmt_env.trained.archive import ABOUT, Archive, Shape, checked
from sixnimmt_env.trained.features import (
    CARD_FEATURES,
    F32,
    ROW_FEATURES,
    Index,
    describe,
    whole_size,
)
from sixnimmt_env.trained.scope import Scope

FORMAT: Final = 1
# Decisions at once: their arrays stay in the processor's cache.
BLOCK: Final = 256
# Multiplications in a product of matrices that OpenBLAS leaves to one thread. More of them wait for
# each other on a busy machine, which took up to ten times as long.
SMALL: Final = 2**18

Weights = dict[str, F32]


def logits(weights: Weights, rules: Rules, observations: F32) -> F32:
    """Logits of all actions, legal or not.

    Parameters
    ----------
    weights : dict of arrays
        Named and shaped as `weight_shapes` says.
    rules : Rules
        What the observations were encoded for.
    observations : (n, F) float32

    Returns
    -------
    (n, A) float32
    """
    seen = describe(rules, observations)
    n, w = observations.shape[0], weights
    trunk = _relu(_linear(w, "trunk.0", seen.whole))
    trunk = _relu(_linear(w, "trunk.2", trunk))
    first = _linear(w, "card", seen.cards)
    first += _linear(w, "card_context", trunk)[seen.who]
    _relu(first)
    both = np.concatenate((trunk, _means(first, seen.who, n)), axis=1)
    second = _linear(w, "mix", first)
    second += _linear(w, "mix_context", both)[seen.who]
    out = np.zeros((n, rules.num_actions), np.float32)
    plain = _linear(w, "plain", trunk)
    out[:, PASS] = plain[:, 0]
    if rules.zeros:
        out[:, ZERO] = plain[:, 1]
    out[seen.who, seen.card] = np.vecdot(_relu(second), w["card_score.weight"][0])
    if seen.taking.size:
        context = _linear(w, "row_context", trunk[seen.taking])
        judged = _linear(w, "row", seen.rows.reshape(-1, ROW_FEATURES))
        judged = judged.reshape(-1, NUM_ROWS, context.shape[1]) + context[:, None]
        rows = slice(TAKE_ROW, TAKE_ROW + NUM_ROWS)
        out[seen.taking, rows] = np.vecdot(_relu(judged), w["row_score.weight"][0])
    return out


def _linear(weights: Weights, name: str, inputs: F32) -> F32:
    out = _product(inputs, weights[f"{name}.weight"])
    out += weights[f"{name}.bias"]
    return out


def _product(inputs: F32, matrix: F32) -> F32:
    """Multiply (n, k) by the transposed of (m, k), in slices of as many rows as are small."""
    rows = max(1, SMALL // matrix.size)
    whole = inputs.shape[0] // rows * rows
    out = np.empty((inputs.shape[0], matrix.shape[0]), np.float32)
    slices = inputs[:whole].reshape(-1, rows, inputs.shape[1])
    np.matmul(slices, matrix.T, out=out[:whole].reshape(-1, rows, matrix.shape[0]))
    np.matmul(inputs[whole:], matrix.T, out=out[whole:])
    return out


def _means(cards: F32, who: Index, n: int) -> F32:
    """Mean over the cards of each decision, (n, width); 0 for those without any."""
    means = np.zeros((n, cards.shape[1]), np.float32)
    count = np.bincount(who, minlength=n)
    some = count > 0
    if who.size:
        starts = (np.cumsum(count) - count)[some]
        means[some] = np.add.reduceat(cards, starts, axis=0) / count[some, None]
    return means


def _relu(array: F32) -> F32:
    return np.maximum(array, 0, out=array)


class NetworkPolicy:
    """A trained network as a policy, with NumPy alone.

    Parameters
    ----------
    weights : dict of arrays
        See `weight_shapes`.
    scope : Scope
        What it can play.
    greedy : bool
        Play the most probable action, or draw one from the network's distribution.
    about : dict, optional
        How it came to be, kept in files.

    Raises
    ------
    ValueError
        If the weights are not those of such a network.
    """

    def __init__(
        self,
        weights: Weights,
        scope: Scope,
        greedy: bool = True,
        about: dict[str, Any] | None = None,
    ) -> None:
        _check_shapes({name: np.shape(w) for name, w in weights.items()}, scope.rules)
        self.weights = {name: checked(name, w) for name, w in weights.items()}
        self.scope = scope
        self.greedy = greedy
        self.about = about or {}

    def logits(self, observation: Observation) -> F32:
        """Log-probabilities of the actions but for a constant, (n, A) float32; -inf if illegal.

        Raises
        ------
        ValueError
            If the network was trained for other games.
        """
        self.scope.check(observation.rules)
        rules = observation.rules
        vectors = encode(observation)
        out = np.empty((len(observation), rules.num_actions), np.float32)
        for at in range(0, len(observation), BLOCK):
            block = slice(at, at + BLOCK)
            out[block] = logits(self.weights, rules, vectors[block])
        out[observation.action_mask == 0] = -np.inf
        return out

    def probabilities(self, observation: Observation) -> F32:
        """Probabilities of the actions, (n, A) float32.

        Raises
        ------
        ValueError
            If the network was trained for other games.
        """
        scores = self.logits(observation)
        chances: F32 = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        return chances

    def act(self, observation: Observation, rng: np.random.Generator) -> NDArray[np.intp]:
        """See `sixnimmt_env.policy.Policy.act`.

        Raises
        ------
        ValueError
            If the network was trained for other games.
        """
        scores = self.logits(observation)
        if not self.greedy:
            scores += rng.gumbel(size=scores.shape).astype(np.float32)  # its argmax is a draw
        actions: NDArray[np.intp] = scores.argmax(axis=1)
        return actions


def weight_shapes(rules: Rules, width: int, card_width: int) -> dict[str, Shape]:
    """Names and shapes of the weights, (outputs, inputs) for matrices.

    Parameters
    ----------
    rules : Rules
        What is played.
    width, card_width : int
        Units in each layer of the trunk and of the scorers, at least 1 and 2.
    """
    half = card_width // 2
    layers = {
        "trunk.0": (width, whole_size(rules)),
        "trunk.2": (width, width),
        "card": (card_width, CARD_FEATURES),
        "card_context": (card_width, width),
        "mix": (card_width, card_width),
        "mix_context": (card_width, width + card_width),
        "row": (half, ROW_FEATURES),
        "row_context": (half, width),
        "plain": (2, width),
    }
    shapes: dict[str, Shape] = {}
    for name, shape in layers.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    return shapes | {"card_score.weight": (1, card_width), "row_score.weight": (1, half)}


def _check_shapes(found: dict[str, Shape], rules: Rules) -> None:
    # The two widths are free, as long as all other shapes fit them.
    width, card_width = (sum(found.get(f"{name}.bias", ())) for name in ("trunk.2", "card"))
    needed = weight_shapes(rules, width, card_width)
    if found != needed:
        odd = sorted(n for n in needed | found if needed.get(n) != found.get(n))
        raise ValueError(
            f"the weights are not those of a card network for {rules.name}: {odd} are missing, "
            "of another shape or not part of it"
        )
    if width < 1 or card_width < 2:
        raise ValueError(
            f"the weights 'trunk.2.bias' and 'card.bias' have {width} and {card_width} units, and "
            "a network has at least 1 and 2"
        )


def policy_bytes(policy: NetworkPolicy) -> bytes:
    """Content of a policy file: a NumPy archive of the weights and a text about them."""
    about = {"format": FORMAT, "scope": policy.scope.as_dict(), "about": policy.about}
    text = np.frombuffer(json.dumps(about, sort_keys=True).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, about=text, **policy.weights)  # type: ignore[arg-type]
    return buffer.getvalue()


def load_policy(path: str | Path, greedy: bool = True) -> NetworkPolicy:
    """Load a trained policy from a file. The file holds numbers only; no code in it is run.

    Parameters
    ----------
    path : str or Path
        As `python -m training.export` writes it.
    greedy : bool
        Play the most probable action, or draw one from the network's distribution.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no such file, or damaged, or of a newer version; it says what is wrong with which
        array. A file that unpacks to much more than a policy is refused before it is unpacked.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no policy file {path}")
    with Path(path).open("rb") as file:
        try:
            archive = Archive(file)
            content = archive.about()
            version = content["format"]
            if version == FORMAT:
                return _policy(archive, content, greedy)
        except Exception as error:  # a damaged text fails in many ways
            known = isinstance(error, ValueError)
            reason = error if known else f"the array {ABOUT!r} is damaged ({error!r})"
            raise ValueError(
                f"{path} is not an exported policy, or is damaged: {reason}. `python -m "
                "training.export` makes one of a training run"
            ) from error
    raise ValueError(
        f"{path} is of format {version!r}, and this version of sixnimmt-env reads format "
        f"{FORMAT}: use the version that wrote it, or export the training run anew"
    )


def _policy(archive: Archive, content: dict[str, Any], greedy: bool) -> NetworkPolicy:
    scope, about = Scope.from_dict(content["scope"]), content["about"]
    if not isinstance(about, dict):
        raise ValueError(f"what it says about itself is {about!r}")
    _check_shapes(archive.shapes(), scope.rules)
    return NetworkPolicy(archive.weights(), scope, greedy, about)
