"""Train sb3-contrib's MaskablePPO by self-play, with the network of the trained players.

python -m examples.train_with_sb3
"""

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecMonitor

from agents.network import CardPolicy, network
from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from sixnimmt_env.trained.scope import scope_of


def main(steps: int = 200_000, num_games: int = 64, path: str = "policy.zip") -> None:
    torch.set_num_threads(1)  # more are little faster, and far slower on a busy machine
    # VecMonitor adds up the rewards of every episode, for ep_rew_mean.
    env = VecMonitor(SixNimmtVecEnv(num_games, learning_seats="all", num_players=4))
    ppo = {"n_steps": 20, "batch_size": 1024, "n_epochs": 3, "learning_rate": 1e-3, "gamma": 1.0}
    ppo |= {"ent_coef": 0.1, "vf_coef": 0.005}  # squared heads are large beside the policy's loss
    model = MaskablePPO(CardPolicy, env, policy_kwargs=network(env.rules), seed=0, verbose=1, **ppo)
    model.scope = scope_of([env.rules])  # saved with the model: it will refuse to play others
    model.learn(steps)
    model.save(path)


if __name__ == "__main__":
    main()
