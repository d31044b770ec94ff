"""Train a network of your own: here one that looks at nothing but the hand and the rows.

    python -m examples.own_network

It learns in one seat among three closest gap players. Observations are flat vectors; docs/variants
tells what lies where. A network that gives the logits of all actions, and then the value, goes with
`agents.network.CardPolicy` instead of "MlpPolicy".
"""

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from agents.learned import SB3Policy
from sixnimmt_env.encoding import field_table
from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from training.evaluate import evaluate

SEEN = ("hand", "row_end", "row_len", "row_heads")


class HandAndRows(BaseFeaturesExtractor):
    def __init__(self, observation_space, rules, width=128):
        super().__init__(observation_space, width)
        fields = [field for field in field_table(rules) if field.name in SEEN]
        self.columns = [at for field in fields for at in range(field.start, field.stop)]
        self.layer = torch.nn.Linear(len(self.columns), width)

    def forward(self, observations):
        return torch.relu(self.layer(observations[:, self.columns]))


def main(steps: int = 200_000, num_games: int = 64, rounds: int = 2000) -> None:
    torch.set_num_threads(1)  # more are little faster, and far slower on a busy machine
    env = SixNimmtVecEnv(num_games, learning_seats=[0], opponents="closest_gap", num_players=4)
    network = {
        "features_extractor_class": HandAndRows,
        "features_extractor_kwargs": {"rules": env.rules},
        "net_arch": [64],
    }
    ppo = {"n_steps": 20, "batch_size": 256, "learning_rate": 1e-3, "gamma": 1.0, "vf_coef": 0.005}
    model = MaskablePPO("MlpPolicy", env, policy_kwargs=network, seed=0, **ppo)
    model.learn(steps)
    result = evaluate(SB3Policy(model), "closest_gap", env.rules, rounds)
    print(f"{result['heads']:.1f} ± {result['heads_interval']:.1f} heads a round")


if __name__ == "__main__":
    main()
