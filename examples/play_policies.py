"""Let the simple policies play each other, and one of your own."""

import numpy as np

from sixnimmt_env import make_rules, play


class SecondLowest:
    """Plays the second lowest card, takes the first row."""

    def act(self, observation, rng):
        lowest = observation.action_mask.argmax(axis=1)
        second = observation.hand[:, 1]
        playing = (observation.action_mask[np.arange(len(lowest)), second] == 1) & (second > 0)
        return np.where(playing, second, lowest)


def main(games: int = 10_000) -> None:
    players = ["closest_gap", "lowest", "random", SecondLowest()]
    result = play(players, make_rules("base", 4), games=games, seed=0)
    for name, heads, wins in zip(players, result.heads.mean(0), result.wins.mean(0), strict=True):
        print(f"{name!s:20.20} {heads:6.2f} bull heads a round, wins {wins:.1%}")


if __name__ == "__main__":
    main()
