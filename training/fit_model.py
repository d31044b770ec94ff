"""Fit `agents/model.json` to the choices of Monte Carlo search. `python -m training.fit_model`

Four Monte Carlo players (or two, six, ...) play one another; the weights make their choices most
likely (multinomial logit), for each number of players apart. Prints how well each model explains
choices that it was not fitted to.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from agents import model
from agents.monte_carlo import MAX_DEALS, MonteCarlo
from agents.rollouts import NUM_ROWS, Floats, prepare, value_of
from agents.runfolder import write_text
from sixnimmt_env.cards import NUM_CARDS, ZERO
from sixnimmt_env.checks import HIGHEST_SEED, whole
from sixnimmt_env.engine import Engine
from sixnimmt_env.observe import Observation
from sixnimmt_env.policy import choose_actions
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import OVER, PLAY
from sixnimmt_env.variants import VARIANTS, make_rules


class Recorder:
    """Plays as a policy does and notes the cards it chose from."""

    def __init__(self, policy: MonteCarlo) -> None:
        self.policy = policy
        self.seen: list[tuple[Observation, np.ndarray]] = []

    def act(self, observation: Observation, rng: np.random.Generator) -> np.ndarray:
        """See `sixnimmt_env.policy.Policy.act`."""
        actions = self.policy.act(observation, rng)
        self.seen.append((observation, actions))
        return actions


def features(observation: Observation) -> Floats:
    """What the model sees of each card in hand, (n, H, weights).

    The value of a card is linear in the weights, so each feature is the value by one weight alone.
    """
    rules, (n, size) = observation.rules, observation.hand.shape
    units = [model.prepared(unit) for unit in np.eye(len(model.WEIGHTS))]
    out = np.zeros((n, size, len(units)))
    lines = np.zeros((NUM_ROWS + 1, 5))
    append = int(rules.low_card == "append")
    for i in range(n):
        parts = (observation.row_end[i], observation.row_len[i], observation.row_heads[i])
        table = np.stack(parts).astype(np.int64)
        rivals = 0 if rules.one_by_one else int((observation.cards_left[i, 1:] > 0).sum())
        for k, (weights, base, chance) in enumerate(units):
            prepare(table, rivals, weights, append, lines)
            for h, card in enumerate(observation.hand[i].tolist()):
                if 0 < card <= NUM_CARDS:
                    out[i, h, k] = value_of(card, rivals, lines, base, chance)
                elif card == ZERO:
                    out[i, h, k] = base[ZERO]
    return out


def collect(rules: Rules, determinisations: int, games: int, seed: int) -> tuple[Floats, ...]:
    """Features (n, H, K), which are cards (n, H), and the slot chosen (n,)."""
    recorder = Recorder(MonteCarlo(determinisations))
    engine, rng = Engine(rules), np.random.default_rng(seed)
    state = engine.reset(seed, games)
    seats = [recorder] * rules.num_players
    while (active := state.phase != OVER).any():
        engine.step(state, choose_actions(seats, rules, state, rng), active)
    found: list[tuple[Floats, ...]] = []
    for seen, actions in recorder.seen:
        kept = (seen.phase == PLAY) & (seen.cards_left[:, 0] > 1)
        slot = (seen.hand == actions[:, None]).argmax(axis=1)
        found.append((features(seen)[kept], (seen.hand != 0)[kept], slot[kept]))
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))


def fit(data: tuple[Floats, ...]) -> tuple[list[float], dict[str, float]]:
    """Most likely weights, and what they explain of a fifth of the choices, left out of the fit."""
    x, mask, slot = data
    order = np.random.default_rng(0).permutation(len(x))
    xs, masks, slots = (torch.as_tensor(part[order]) for part in (x, mask, slot))
    held_out = len(x) // 5
    weights = torch.zeros(x.shape[2], dtype=torch.float64, requires_grad=True)

    def loss(part: slice) -> torch.Tensor:
        logits = (xs[part] @ weights).masked_fill(~masks[part], -torch.inf)
        return torch.nn.functional.cross_entropy(logits, slots[part])

    optimiser = torch.optim.LBFGS([weights], max_iter=500, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        value = loss(slice(held_out, None)) + 1e-4 * weights.square().sum()
        value.backward()
        return value

    optimiser.step(closure)
    with torch.no_grad():
        test = slice(0, held_out)
        logits = (xs[test] @ weights).masked_fill(~masks[test], -torch.inf)
        quality = {
            "choices": float(len(x)),
            "nats": float(loss(test)),
            "nats of a uniform choice": float(masks[test].sum(1).log().mean()),
            "most likely card chosen": float((logits.argmax(1) == slots[test]).double().mean()),
        }
    return [round(float(w), 4) for w in weights.detach()], quality


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m training.fit_model", description=__doc__)
    parser.add_argument("--determinisations", type=int, default=400)
    parser.add_argument("--games", type=int, default=150, help="of each number of players")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--players", type=int, nargs="+", default=[2, 3, 4, 5, 7, 10])
    options = parser.parse_args(arguments)
    try:
        _fit_all(options)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")


def _fit_all(options: argparse.Namespace) -> None:
    """Check all options, then fit and write the models."""
    for name, most in ("games", 100_000), ("determinisations", MAX_DEALS):
        whole(name, getattr(options, name), 1, most, f"at least 1, at most {most} is needed")
    whole("seed", options.seed, 0, HIGHEST_SEED, f"0 to {HIGHEST_SEED} is needed")
    for players in options.players:
        make_rules(num_players=players)
    content: dict[str, Any] = {"command": "python -m training.fit_model", **vars(options)}
    content |= {"weights": model.WEIGHTS, "models": {}, "quality": {}}
    for variant in VARIANTS:
        for players in options.players:
            try:
                rules = make_rules(variant, players)
            except ValueError:
                continue
            kind, key = model.kind_of(rules), str(players)
            if key in content["models"].get(kind, {}):
                continue  # the first variant of a kind stands for the others
            data = collect(rules, options.determinisations, options.games, options.seed)
            weights, quality = fit(data)
            content["models"].setdefault(kind, {})[key] = weights
            content["quality"].setdefault(kind, {})[key] = quality
            print(f"{variant}, {players} players: {quality}", flush=True)
    text = json.dumps(content, indent=2) + "\n"
    write_text(model.PATH, text)


if __name__ == "__main__":
    main()
