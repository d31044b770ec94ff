"""One game for all players, PettingZoo parallel API."""

from sixnimmt_env import sixnimmt_v0


def main(seed: int = 0) -> None:
    env = sixnimmt_v0.parallel_env(num_players=4, render_mode="ansi")
    for i, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(seed + i)
    observations, _ = env.reset(seed=seed)
    while env.agents:
        actions = {
            a: env.action_space(a).sample(observations[a]["action_mask"]) for a in env.agents
        }
        observations, _, _, _, _ = env.step(actions)
    print(env.render())


if __name__ == "__main__":
    main()
