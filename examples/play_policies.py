"""Let policies play each other."""

from sixnimmt_env import make_rules, play


def main(games: int = 10_000) -> None:
    names = ["random", "lowest", "highest", "closest_gap"]
    result = play(names, make_rules(num_players=4), games=games, seed=0)
    for seat, name in enumerate(names):
        heads, wins = result.heads[:, seat].mean(), result.wins[:, seat].mean()
        print(f"{name:<12} {heads:6.2f} heads a round, wins {100 * wins:4.1f} %")


if __name__ == "__main__":
    main()
