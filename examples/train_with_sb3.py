"""Train MaskablePPO by self-play: every seat of 64 games learns."""

from sb3_contrib import MaskablePPO

from sixnimmt_env.envs.sb3 import SixNimmtVecEnv


def main(steps: int = 200_000) -> MaskablePPO:
    env = SixNimmtVecEnv(num_games=64, num_players=4)
    model = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=2048, gamma=1.0, ent_coef=0.01)
    model.learn(steps)
    return model


if __name__ == "__main__":
    main().save("my_policy")
