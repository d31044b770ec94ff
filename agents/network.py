"""The network of the learned players: a plain trunk and a scorer that all cards in hand share."""

from __future__ import annotations

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from sixnimmt_env.cards import BULL_HEADS, NUM_CARDS, ROW_CAPACITY
from sixnimmt_env.encoding import field_table
from sixnimmt_env.rules import Rules

NO_ROW = 2 * NUM_CARDS  # a gap larger than all others


class CardFeatures(BaseFeaturesExtractor):
    """Trunk output, followed by one score per action: the scorer's for held cards, else 0.

    A plain network has to learn for each of 104 cards anew what it means to fit a row. Here every
    held card is described by the row it would go to as things stand, and one small network, the
    same for all cards, scores that description. Actions that are no numbered card (pass, the
    rows, a 0 card) are left to the layer after this one, which sees the trunk.

    Parameters
    ----------
    observation_space : Box
        Vectors of `sixnimmt_env.encoding.encode`.
    rules : Rules
        What the vectors were encoded for.
    width, card_width : int
        Units in each layer of the trunk and of the scorer.
    """

    def __init__(
        self, observation_space: spaces.Box, rules: Rules, width: int = 256, card_width: int = 64
    ) -> None:
        super().__init__(observation_space, width + rules.num_actions)
        self.slices = {f.name: slice(f.start, f.stop) for f in field_table(rules)}
        self.slots = rules.hand_size
        self.num_actions = rules.num_actions
        self.appends = rules.low_card == "append"
        self.two_cards = rules.cards_per_turn > 1
        per_card = 8 + 2 * self.appends + 3 * self.two_cards
        size = observation_space.shape[0] + self.slots * per_card
        self.trunk = nn.Sequential(
            nn.Linear(size, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.card = nn.Linear(per_card, card_width)
        self.context = nn.Linear(width, card_width)
        self.score = nn.Sequential(
            nn.ReLU(), nn.Linear(card_width, card_width), nn.ReLU(), nn.Linear(card_width, 1)
        )
        self.register_buffer("numbers", torch.arange(1.0, NUM_CARDS + 1), persistent=False)
        self.register_buffer("heads", torch.tensor(BULL_HEADS / 7.0).float(), persistent=False)

    def forward(self, observations: Tensor) -> Tensor:
        """Features (n, width + actions) of encoded observations (n, F)."""
        cards = (observations[:, self.slices["hand"]] * self.numbers).topk(self.slots).values
        described = self.describe(observations, cards)
        trunk = self.trunk(torch.cat([observations, described.flatten(1)], dim=1))
        score = self.score(self.card(described) + self.context(trunk)[:, None])[:, :, 0]
        scores = torch.zeros(len(cards), self.num_actions, device=cards.device)
        scores = scores.scatter(1, cards.long(), score * (cards > 0))
        return torch.cat([trunk, scores], dim=1)

    def describe(self, observations: Tensor, cards: Tensor) -> Tensor:
        """What is known of each numbered card of a hand (n, H), shape (n, H, features)."""
        end = (observations[:, self.slices["row_end"]] * NUM_CARDS).round()
        gaps = cards[:, :, None] - end[:, None]
        gap, row = torch.where(gaps > 0, gaps, NO_ROW).min(dim=2)
        fits = (gap < NO_ROW).float()
        goes = fits  # to a row that is known beforehand
        if self.appends:
            goes = torch.ones_like(fits)
            row = torch.where(fits > 0, row, end.argmax(dim=1, keepdim=True))
            gap = cards - end.gather(1, row)  # negative for a low card
        unseen = nn.functional.pad(observations[:, self.slices["unseen"]].cumsum(1), (1, 0))
        below = unseen.gather(1, (cards - 1).clamp(min=0).long())
        below = below - unseen.gather(1, end.gather(1, row).long()) * fits
        length = observations[:, self.slices["row_len"]].gather(1, row) * goes
        row_heads = observations[:, self.slices["row_heads"]].gather(1, row) * goes
        features = [
            torch.ones_like(cards),
            cards / NUM_CARDS,
            fits,
            gap * goes / NUM_CARDS,
            below / 20,  # hidden cards that would come between: how likely the row grows first
            length,
            row_heads,
            self.heads[cards.long()],
        ]
        if self.appends:
            sixth = (length * ROW_CAPACITY > ROW_CAPACITY - 0.5).float()
            features += [sixth, sixth * row_heads]
        if self.two_cards:
            own = observations[:, self.slices["committed"]]  # number, whether a 0, whether second
            features += own[:, :, None].expand(-1, -1, self.slots).unbind(1)
        return torch.stack(features, dim=2) * (cards > 0)[:, :, None]


class CardPolicy(MaskableActorCriticPolicy):
    """Actor-critic on `CardFeatures`: the shared scorer's values are added to the logits.

    Use it with `features_extractor_class=CardFeatures` and `net_arch=[]`.
    """

    def _get_action_dist_from_latent(self, latent_pi: Tensor) -> MaskableDistribution:
        logits = self.action_net(latent_pi)
        scores = latent_pi[:, -logits.shape[1] :]
        return self.action_dist.proba_distribution(action_logits=logits + scores)


def network(rules: Rules) -> dict[str, object]:
    """Arguments that make MaskablePPO use this network, but for the policy class."""
    return {
        "features_extractor_class": CardFeatures,
        "features_extractor_kwargs": {"rules": rules},
        "net_arch": [],
    }
