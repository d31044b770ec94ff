"""The learner of `training.lookahead`, which tells what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from agents.network import CardNetwork, network_policy
from sixnimmt_env.encoding import observation_size
from sixnimmt_env.envs.spaces import flat_space
from sixnimmt_env.policy import Policy
from sixnimmt_env.trained.network import NetworkPolicy
from sixnimmt_env.trained.scope import scope_of
from training.lookahead import LookaheadConfig
from training.players import PAST, load_players
from training.run import Run
from training.samples import Samples, Table, join


class Learner:
    """Network, optimiser, average and random states: all that a run goes on from."""

    def __init__(self, config: LookaheadConfig) -> None:
        torch.set_num_threads(config.threads)
        torch.manual_seed(config.seed)
        self.config = config
        self.scope = scope_of(list(config.games))
        rules = self.scope.rules
        space = flat_space(observation_size(rules))
        self.net = CardNetwork(space, rules, config.width, config.card_width)
        for layer in self.net.modules():
            if isinstance(layer, nn.Linear) and layer.out_features <= 2:
                layer.weight.data.mul_(0.1)  # begin with nearly equal chances
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=config.learning_rate, eps=1e-6)
        self.average = {name: w.clone() for name, w in self.net.state_dict().items()}
        self.rng = np.random.default_rng(config.seed)
        self.updates = 0
        self.decisions = 0
        self.games = 0
        self.past: list[NetworkPolicy] = []
        known = load_players((name for name in config.pool if name != PAST), config.games)
        self.pool: list[Policy | None] = [known.get(name) for name in config.pool]
        seats = config.seats // len(config.games)
        self.tables = [Table(rules, seats // rules.num_players) for rules in config.games]

    def policy(self, greedy: bool = True) -> NetworkPolicy:
        """The average of the weights as a player."""
        return network_policy(self.average, self.scope, {}, greedy)

    def play(self) -> Samples:
        """Play a round at every table."""
        samples = []
        for table in self.tables:
            owners = self._owners(table)
            seeds = np.arange(self.games, self.games + table.games)
            self.games += table.games
            samples.append(
                table.play(self.net, self.config, self._others(), owners, seeds, self.rng)
            )
        return join(samples)

    def _others(self) -> list[Policy]:
        return [
            self.past[self.rng.integers(len(self.past))] if player is None else player
            for player in self.pool
        ]

    def _owners(self, table: Table) -> NDArray[np.intp]:
        """Who holds each seat (P, G): 0 the learner, k player k - 1 of the pool."""
        players, games, kinds = table.rules.num_players, table.games, len(self.pool)
        owners = np.zeros((players, games), np.intp)
        if not kinds:
            return owners
        # Three of one kind can punish a player that beats everybody else: half of these games
        # have one learner among equals, half a mixed table (none if the learner is to be alone).
        alike = self.rng.integers(1, kinds + 1, games)
        mixed = self.rng.integers(0, kinds + 1, (players, games))
        share = 1.0 if self.config.alone else 0.5
        drawn = np.where(self.rng.random(games) < share, alike, mixed)
        drawn[self.rng.integers(players, size=games), np.arange(games)] = 0
        return np.where(self.rng.random(games) < self.config.pool_share, drawn, owners)

    def update(self, samples: Samples) -> dict[str, float]:
        """Learn from the samples of one round at every table."""
        config = self.config
        left = 1 - self.decisions / config.steps
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * left
        size, errors = len(samples), []
        for _ in range(config.epochs):
            order = self.rng.permutation(size)
            for at in range(0, size, config.batch_size):
                part = np.sort(order[at : at + config.batch_size])
                errors.append(self._step(samples.take(part)))
        self.updates += 1
        self.decisions += size
        past = min(config.average, 1 - 1 / (self.updates + 1))
        for name, weight in self.net.state_dict().items():
            self.average[name].lerp_(weight, 1 - past)
        outcomes, values = np.mean(errors, axis=0)
        variance = float(samples.returns.var()) + 1e-8
        return {"outcome_error": outcomes, "value_explained": 1 - values / variance}

    def remember(self) -> None:
        """Keep an earlier version for the pool, where one is due."""
        if PAST in self.config.pool and self.updates % self.config.past_updates == 0:
            self.past = [*self.past[-9:], self.policy(greedy=False)]

    def _step(self, samples: Samples) -> tuple[float, float]:
        config, n = self.config, len(samples)
        out = self.net.judge(samples.seen)
        decision = torch.as_tensor(samples.decision)
        number = torch.bincount(decision, minlength=n).clamp(min=1)

        def centred(values: torch.Tensor) -> torch.Tensor:
            mean = values.new_zeros(n).index_add(0, decision, values) / number
            return values - mean[decision]

        logits = out[decision, torch.as_tensor(samples.action)]
        wanted = centred(torch.as_tensor(samples.outcome))
        outcomes = (config.temperature * centred(logits) - wanted).square().sum() / n
        values = (out[:, -1] - torch.as_tensor(samples.returns)).square().mean()
        self.optimizer.zero_grad()
        (outcomes + config.value_weight * values).backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 20.0)
        self.optimizer.step()
        return outcomes.item(), values.item()

    def content(self) -> dict[str, Any]:
        """What a checkpoint holds."""
        return {
            "network": self.net.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "average": self.average,
            "rng": self.rng.bit_generator.state,
            "torch_rng": torch.get_rng_state(),
            "counts": (self.updates, self.decisions, self.games),
            "past": self.past,
        }

    def restore(self, content: dict[str, Any]) -> None:
        """Go on where the checkpoint was written."""
        self.net.load_state_dict(content["network"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.average = content["average"]
        self.rng.bit_generator.state = content["rng"]
        torch.set_rng_state(content["torch_rng"])
        self.updates, self.decisions, self.games = content["counts"]
        self.past = content["past"]


def train(config: LookaheadConfig, folder: Path, resume: bool) -> Learner:
    """See `training.lookahead.train`."""
    learner = Learner(config)
    with Run(config, folder, resume) as run:
        if run.content is not None:
            learner.restore(run.content)
        run.begin(learner.decisions, learner.policy, learner.content)
        if not learner.updates:
            learner.remember()
        while learner.decisions < config.steps:
            numbers = learner.update(learner.play())
            run.check_finite(learner.average.values())
            learner.remember()
            run.after_update(learner.decisions, numbers, learner.policy, learner.content)
        run.save(learner.policy(), learner.content())
    return learner
