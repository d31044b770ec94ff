"""The network of the learned players: a plain trunk and a scorer that all cards in hand share."""

from __future__ import annotations

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from sixnimmt_env.cards import BULL_HEADS, NUM_ACTIONS, NUM_CARDS
from sixnimmt_env.encoding import field_table
from sixnimmt_env.rules import Rules

NO_ROW = 2 * NUM_CARDS  # a gap larger than all others


class CardFeatures(BaseFeaturesExtractor):
    """Trunk output, followed by one score per action: the scorer's for held cards, else 0.

    A plain network has to learn for each of 104 cards anew what it means to fit a row. Here every
    held card is described by the row it would go to as things stand, and one small network, the
    same for all cards, scores that description.

    Parameters
    ----------
    observation_space : Box
        Vectors of `sixnimmt_env.encoding.encode`.
    rules : Rules
        What the vectors were encoded for.
    width, card_width : int
        Units in each layer of the trunk and of the scorer.
    """

    CARD_FEATURES = 8

    def __init__(
        self, observation_space: spaces.Box, rules: Rules, width: int = 256, card_width: int = 64
    ) -> None:
        super().__init__(observation_space, width + NUM_ACTIONS)
        self.slices = {f.name: slice(f.start, f.stop) for f in field_table(rules)}
        self.slots = rules.hand_size
        size = observation_space.shape[0] + self.slots * self.CARD_FEATURES
        self.trunk = nn.Sequential(
            nn.Linear(size, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.card = nn.Linear(self.CARD_FEATURES, card_width)
        self.context = nn.Linear(width, card_width)
        self.score = nn.Sequential(
            nn.ReLU(), nn.Linear(card_width, card_width), nn.ReLU(), nn.Linear(card_width, 1)
        )
        self.register_buffer("numbers", torch.arange(1.0, NUM_CARDS + 1), persistent=False)
        self.register_buffer("heads", torch.tensor(BULL_HEADS / 7.0).float(), persistent=False)

    def forward(self, observations: Tensor) -> Tensor:
        """Features (n, width + actions) of encoded observations (n, F)."""
        cards = (observations[:, self.slices["hand"]] * self.numbers).topk(self.slots).values
        described = self._describe(observations, cards)
        trunk = self.trunk(torch.cat([observations, described.flatten(1)], dim=1))
        score = self.score(self.card(described) + self.context(trunk)[:, None])[:, :, 0]
        scores = torch.zeros(len(cards), NUM_ACTIONS, device=cards.device)
        scores = scores.scatter(1, cards.long(), score * (cards > 0))
        return torch.cat([trunk, scores], dim=1)

    def _describe(self, observations: Tensor, cards: Tensor) -> Tensor:
        """What is known of each card of a hand (n, H), shape (n, H, CARD_FEATURES)."""
        end = (observations[:, self.slices["row_end"]] * NUM_CARDS).round()
        gaps = cards[:, :, None] - end[:, None]
        gap, row = torch.where(gaps > 0, gaps, NO_ROW).min(dim=2)
        fits = (gap < NO_ROW).float()
        unseen = nn.functional.pad(observations[:, self.slices["unseen"]].cumsum(1), (1, 0))
        below = unseen.gather(1, (cards - 1).clamp(min=0).long())
        below = below - unseen.gather(1, end.gather(1, row).long()) * fits
        features = [
            torch.ones_like(cards),
            cards / NUM_CARDS,
            fits,
            gap * fits / NUM_CARDS,
            below / 20,  # hidden cards that would come between: how likely the row grows first
            observations[:, self.slices["row_len"]].gather(1, row) * fits,
            observations[:, self.slices["row_heads"]].gather(1, row) * fits,
            self.heads[cards.long()],
        ]
        return torch.stack(features, dim=2) * (cards > 0)[:, :, None]


class CardPolicy(MaskableActorCriticPolicy):
    """Actor-critic on `CardFeatures`: the shared scorer's values are added to the logits.

    Use it with `features_extractor_class=CardFeatures` and `net_arch=[]`.
    """

    def _get_action_dist_from_latent(self, latent_pi: Tensor) -> MaskableDistribution:
        logits = self.action_net(latent_pi) + latent_pi[:, -NUM_ACTIONS:]
        return self.action_dist.proba_distribution(action_logits=logits)


def network(rules: Rules) -> dict[str, object]:
    """Arguments that make MaskablePPO use this network, but for the policy class."""
    return {
        "features_extractor_class": CardFeatures,
        "features_extractor_kwargs": {"rules": rules},
        "net_arch": [],
    }
