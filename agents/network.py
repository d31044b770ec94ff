"""The network of the learned players: one scorer that all cards in hand share.

`CardPolicy` is a drop-in `policy=` for sb3-contrib's MaskablePPO on any of the flat observations:

    MaskablePPO(CardPolicy, env, policy_kwargs=network(env.rules))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from sixnimmt_env.cards import NUM_ROWS, PASS, TAKE_ROW, ZERO
from sixnimmt_env.rules import Rules
from sixnimmt_env.trained.features import (
    CARD_FEATURES,
    ROW_FEATURES,
    Described,
    describe,
    whole_size,
)
from sixnimmt_env.trained.network import NetworkPolicy
from sixnimmt_env.trained.scope import Scope

VALUE_SCALE = 10.0  # heads; so that the value's weights are about as large as the others


class CardNetwork(BaseFeaturesExtractor):
    """Logit of every action, followed by the value of the state.

    A trunk looks at the table, the hand and the hidden cards. One scorer, the same for all cards,
    judges each card in hand by what `sixnimmt_env.trained.features` tells of it, by the trunk and
    by the mean of all cards in the hand; another one each row that can be taken. Pass and 0 cards
    are scored from the trunk.

    Parameters
    ----------
    observation_space : Box
        Vectors of `sixnimmt_env.encoding.encode`.
    rules : Rules
        What the vectors were encoded for.
    width, card_width : int
        Units in each layer of the trunk and of the scorers.
    """

    def __init__(
        self, observation_space: spaces.Box, rules: Rules, width: int = 128, card_width: int = 64
    ) -> None:
        super().__init__(observation_space, rules.num_actions + 1)
        self.rules = rules
        self.num_actions = rules.num_actions
        self.trunk = nn.Sequential(
            nn.Linear(whole_size(rules), width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.card = nn.Linear(CARD_FEATURES, card_width)
        self.card_context = nn.Linear(width, card_width)
        self.mix = nn.Linear(card_width, card_width)
        self.mix_context = nn.Linear(width + card_width, card_width)
        self.card_score = nn.Linear(card_width, 1, bias=False)
        self.row = nn.Linear(ROW_FEATURES, card_width // 2)
        self.row_context = nn.Linear(width, card_width // 2)
        self.row_score = nn.Linear(card_width // 2, 1, bias=False)
        self.plain = nn.Linear(width, 2)
        self.value = nn.Sequential(
            nn.Linear(width + card_width, card_width), nn.ReLU(), nn.Linear(card_width, 1)
        )

    def forward(self, observations: Tensor) -> Tensor:
        """Logits and value (n, A + 1) of encoded observations (n, F)."""
        return self.judge(describe(self.rules, observations.detach().cpu().numpy()))

    def judge(self, seen: Described) -> Tensor:
        """Logits and value (n, A + 1) of described observations."""
        whole, who, card, cards, taking, rows = self._tensors(seen)
        trunk, first, both = self._read(whole, who, cards)
        second = torch.relu(self.mix(first) + self.mix_context(both)[who])
        out = trunk.new_zeros(len(trunk), self.num_actions + 1)
        plain = self.plain(trunk)
        out[:, PASS] = plain[:, 0]
        if self.rules.zeros:
            out[:, ZERO] = plain[:, 1]
        out[who, card] = self.card_score(second)[:, 0]
        if len(taking):
            judged = torch.relu(self.row(rows) + self.row_context(trunk[taking])[:, None])
            out[taking, TAKE_ROW : TAKE_ROW + NUM_ROWS] = self.row_score(judged)[:, :, 0]
        out[:, -1] = VALUE_SCALE * self.value(both)[:, 0]
        return out

    def values(self, seen: Described) -> Tensor:
        """Values (n,) of described observations, without scoring any action."""
        whole, who, _, cards, _, _ = self._tensors(seen)
        return VALUE_SCALE * self.value(self._read(whole, who, cards)[2])[:, 0]

    def _tensors(self, seen: Described) -> list[Tensor]:
        device = self.plain.weight.device
        return [torch.as_tensor(array, device=device) for array in seen]

    def _read(self, whole: Tensor, who: Tensor, cards: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        trunk = self.trunk(whole)
        first = torch.relu(self.card(cards) + self.card_context(trunk)[who])
        mean = first.new_zeros(len(whole), first.shape[1]).index_add(0, who, first)
        mean = mean / torch.bincount(who, minlength=len(whole)).clamp(min=1)[:, None]
        return trunk, first, torch.cat([trunk, mean], dim=1)


class Columns(nn.Module):
    """Some columns of a matrix."""

    def __init__(self, start: int, stop: int) -> None:
        super().__init__()
        self.start, self.stop = start, stop

    def forward(self, matrix: Tensor) -> Tensor:
        """Return the columns."""
        return matrix[:, self.start : self.stop]


class CardPolicy(MaskableActorCriticPolicy):
    """Actor-critic whose logits and value are those of `CardNetwork`.

    Use it with `policy_kwargs=network(rules)`. A network of one's own has to give the same: all
    logits, then the value.
    """

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        actions = int(self.action_space.n)  # type: ignore[attr-defined]
        self.action_net = Columns(0, actions)  # type: ignore[assignment]
        self.value_net = Columns(actions, actions + 1)  # type: ignore[assignment]
        for layer in (module for module in self.modules() if isinstance(module, nn.Linear)):
            if layer.out_features <= 2:  # last ones: begin with equal chances
                layer.weight.data.mul_(0.01)
        self.optimizer = self.optimizer_class(
            self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )


def network(rules: Rules, **widths: int) -> dict[str, object]:
    """Arguments that make MaskablePPO use this network, but for the policy class."""
    return {
        "features_extractor_class": CardNetwork,
        "features_extractor_kwargs": {"rules": rules, **widths},
        "net_arch": [],
    }


def network_policy(
    weights: Mapping[str, Tensor], scope: Scope, about: dict[str, Any], greedy: bool = True
) -> NetworkPolicy:
    """Weights of a `CardNetwork` as a policy that needs NumPy alone."""
    arrays = {
        name: tensor.detach().cpu().numpy().copy()
        for name, tensor in weights.items()
        if not name.startswith("value")
    }
    return NetworkPolicy(arrays, scope, greedy, about)
