"""Train sb3-contrib's MaskablePPO by self-play and save it as a policy."""

from sb3_contrib import MaskablePPO

from sixnimmt_env.envs.sb3 import SixNimmtVecEnv
from sixnimmt_env.trained.scope import scope_of


def main(steps: int = 200_000, num_games: int = 64, path: str = "policy.zip") -> None:
    env = SixNimmtVecEnv(num_games, learning_seats="all", num_players=4)
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=20, batch_size=1024, n_epochs=2, gamma=1.0, verbose=1, seed=0
    )
    model.scope = scope_of([env.rules])  # saved with the model: it will refuse to play others
    model.learn(steps)
    model.save(path)


if __name__ == "__main__":
    main()
