"""One player among three policies, Gymnasium API."""

import gymnasium


def main(rounds: int = 100) -> None:
    env = gymnasium.make("sixnimmt_env:SixNimmt-v0", num_players=4, opponents="closest_gap")
    env.action_space.seed(0)
    heads = 0
    for i in range(rounds):
        observation, info = env.reset(seed=i)
        over = False
        while not over:
            action = env.action_space.sample(observation["action_mask"])
            observation, _, over, _, info = env.step(action)
        heads += info["heads"]
    print(f"a random player among three closest gap players: {heads / rounds:.1f} heads a round")


if __name__ == "__main__":
    main()
