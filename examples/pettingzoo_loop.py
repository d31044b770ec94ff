"""The PettingZoo parallel loop, with masked random actions."""

from sixnimmt_env import sixnimmt_v0


def main(seed: int = 1) -> dict[str, float]:
    env = sixnimmt_v0.parallel_env(num_players=4, render_mode="ansi")
    observations, infos = env.reset(seed=seed)
    score = dict.fromkeys(env.agents, 0.0)
    while env.agents:
        actions = {
            agent: env.action_space(agent).sample(observations[agent]["action_mask"])
            for agent in env.agents
        }
        observations, rewards, terminations, truncations, infos = env.step(actions)
        score = {agent: score[agent] + reward for agent, reward in rewards.items()}
    print(env.render())
    return score


if __name__ == "__main__":
    print(main())
