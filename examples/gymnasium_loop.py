"""One learner against three closest-gap players, as a Gymnasium environment."""

import gymnasium


def main(seed: int = 1) -> float:
    env = gymnasium.make("sixnimmt_env:SixNimmt-v0", opponents="closest_gap", num_players=4)
    observation, _ = env.reset(seed=seed)
    score, over = 0.0, False
    while not over:
        action = env.action_space.sample(observation["action_mask"])
        observation, reward, terminated, truncated, _ = env.step(action)
        score, over = score + reward, terminated or truncated
    return score


if __name__ == "__main__":
    print(main())
