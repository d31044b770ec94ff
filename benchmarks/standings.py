"""Tables of an arena from its chunks: means, paired differences, intervals, ratings.

Sums over a deal are whole numbers, wins counted in parts of `WIN`, so that every figure is exact
and the same whatever the order of the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.bootstrap import Bootstrap, Figure
from benchmarks.lineups import CHUNK, Chunk, Config, Lineup, lineups
from benchmarks.tournament import Result

# A win in parts that can be shared by up to ten.
WIN: Final = 2520

Deals = NDArray[np.intp]


@dataclass(frozen=True)
class Played:
    """What a lineup has played.

    Attributes
    ----------
    lineup : Lineup
        Who.
    deals : (D,) ints
        Ids of the deals that are complete.
    heads : (D, plays, slots) ints
        Bull heads.
    wins : (D, plays, slots) ints
        Shares of the win, in parts of `WIN`.
    places : (D, plays, slots, slots) ints
        Shares of each place; seats with equal heads share theirs. In parts of `WIN`.
    """

    lineup: Lineup
    deals: Deals
    heads: NDArray[np.int64]
    wins: NDArray[np.int64]
    places: NDArray[np.int64]

    def slots(self, player: str) -> list[int]:
        """Where a player sits before any rotation."""
        return [i for i, name in enumerate(self.lineup.seats) if name == player]

    def total(self, values: NDArray[np.int64], player: str, deals: Deals) -> NDArray[np.int64]:
        """Sum over the seats and rotations of a player, for each of some deals."""
        here = np.isin(self.deals, deals)
        summed: NDArray[np.int64] = values[here][:, :, self.slots(player)].sum(axis=(1, 2))
        return summed

    def count(self, player: str) -> int:
        """How many values such a sum has."""
        return len(self.slots(player)) * self.lineup.plays


def collected(config: Config, results: Iterable[Result]) -> dict[str, Played]:
    """Complete chunks of every lineup that has any, by its name."""
    heads: dict[tuple[str, int], Any] = {
        (result["lineup"], result["chunk"]): result["heads"]
        for result in results
        if "heads" in result
    }
    numbers = range(-(-config.rounds // CHUNK))
    played = {}
    for lineup in lineups(config):
        chunks = [Chunk(lineup, k, config.rounds) for k in numbers if (lineup.name, k) in heads]
        if chunks:
            deals = np.concatenate([np.array(chunk.deals) for chunk in chunks])
            taken = np.concatenate([np.array(heads[chunk.key], np.int64) for chunk in chunks])
            places = shared_places(taken if not config.rules.collect else -taken)
            played[lineup.name] = Played(lineup, deals, taken, places[..., 0], places)
    return played


def shared_places(cost: NDArray[np.int64]) -> NDArray[np.int64]:
    """Shares of the places, the lowest cost first, in parts of `WIN`; last axis: the places.

    Seats with equal cost share the places that they hold together, so that shares of the first
    place are the shares of the win.
    """
    size = cost.shape[-1]
    better = (cost[..., None, :] < cost[..., :, None]).sum(axis=-1)[..., None]
    equal = (cost[..., None, :] == cost[..., :, None]).sum(axis=-1)[..., None]
    place = np.arange(size)
    shares: NDArray[np.int64] = (place >= better) * (place < better + equal) * (WIN // equal)
    return shares


def make_tables(config: Config, results: Sequence[Result]) -> dict[str, Any]:
    """All tables of an arena; a function of the configuration and the chunks alone."""
    played = collected(config, results)
    boot = Bootstrap(config.seed)
    found: dict[str, Any] = {
        "players": _players(config, played, boot),
        "differences": _differences(config, played, boot),
        "cross": _cross(config, played, boot),
        "split": _split(played, boot),
        "lineups": _lineups(played, boot),
        "failed": failed(config, results),
    }
    boot.run()
    tables: dict[str, Any] = plain(found)
    return tables


def plain(value: Any) -> Any:
    """Figures as dictionaries, rounded so far that nobody misses anything."""
    if isinstance(value, Figure):
        ends = (value.mean, value.low, value.high)
        mean, low, high = (None if x is None else round(x, 6) + 0.0 for x in ends)
        return {"mean": mean, "low": low, "high": high}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def _common(parts: Iterable[Played]) -> Deals:
    return reduce(np.intersect1d, [part.deals for part in parts])


def _tables(played: dict[str, Played], *players: str) -> list[Played]:
    """Tables of different players at which all of these sit, with deals that all have."""
    return [
        part
        for part in played.values()
        if part.lineup.kind == "table" and all(player in part.lineup.seats for player in players)
    ]


def _players(config: Config, played: dict[str, Played], boot: Bootstrap) -> list[dict[str, Any]]:
    """Every player at the tables of different players; without tables nothing."""
    ratings = rate(config, played)
    rows = []
    for player in config.names:
        parts = _tables(played, player)
        deals = _common(parts) if parts else np.array([], np.intp)
        if deals.size:
            unit = sum(part.count(player) for part in parts)
            heads = sum(part.total(part.heads, player, deals) for part in parts)
            places = sum(part.total(part.places, player, deals) for part in parts)
            assert isinstance(heads, np.ndarray) and isinstance(places, np.ndarray)
            row = {
                "player": player,
                "deals": deals.size,
                "games": deals.size * unit,
                "heads": boot.add(heads, unit),
                "wins": boot.add(places[:, 0], unit * WIN),
                "places": [round(float(p), 6) for p in places.mean(axis=0) / (unit * WIN)],
                "rating": ratings.get(player),
            }
            rows.append(row)
    rows.sort(key=lambda row: row["heads"].mean, reverse=config.rules.collect)
    return rows


def _differences(
    config: Config, played: dict[str, Played], boot: Bootstrap
) -> list[dict[str, Any]]:
    """First player minus second, on the same deals at the tables where both sit."""
    rows = []
    for player in config.names:
        for other in config.names:
            parts = _tables(played, player, other) if player != other else []
            deals = _common(parts) if parts else np.array([], np.intp)
            if deals.size:
                row: dict[str, Any] = {"player": player, "other": other, "deals": deals.size}
                for what, scale in (("heads", 1), ("wins", WIN)):
                    sums = sum(
                        part.total(getattr(part, what), player, deals)
                        - part.total(getattr(part, what), other, deals)
                        for part in parts
                    )
                    unit = sum(part.count(player) for part in parts)
                    row[what] = boot.add(np.asarray(sums), unit * scale)
                rows.append(row)
    return rows


def _cross(config: Config, played: dict[str, Played], boot: Bootstrap) -> list[dict[str, Any]]:
    """One player against the others all of another, and how much that differs from the other."""
    rows = []
    for against in config.names:
        same = played.get(Lineup("same", (against,) * config.seats).name)
        for player in config.names:
            mixed = Lineup("one", (player, *(against,) * (config.seats - 1)))
            part = same if player == against else played.get(mixed.name)
            if part is None:
                continue
            deals = part.deals if same is None else _common([part, same])
            if not deals.size:
                continue
            row: dict[str, Any] = {"player": player, "against": against, "deals": deals.size}
            for what, scale in (("heads", 1), ("wins", WIN)):
                # All seats hold the same number of values: `seats` rotations or one play.
                sums = part.total(getattr(part, what), player, deals)
                row[what] = boot.add(sums, config.seats * scale)
                if same is not None and part is not same:
                    sums = sums - same.total(getattr(same, what), against, deals)
                    row[f"{what}_difference"] = boot.add(sums, config.seats * scale)
            rows.append(row)
    return rows


def _split(played: dict[str, Played], boot: Bootstrap) -> list[dict[str, Any]]:
    """Several of one player against several of another at the same tables."""
    rows = []
    for part in played.values():
        if part.lineup.kind == "split":
            player, other = part.lineup.players
            row: dict[str, Any] = {
                "player": player,
                "seats": len(part.slots(player)),
                "other": other,
                "other_seats": len(part.slots(other)),
                "deals": part.deals.size,
            }
            mine, theirs = part.count(player), part.count(other)
            for what, scale in (("heads", 1), ("wins", WIN)):
                values = getattr(part, what)
                a = part.total(values, player, part.deals)
                b = part.total(values, other, part.deals)
                row[what] = boot.add(a, mine * scale)
                row[f"other_{what}"] = boot.add(b, theirs * scale)
                row[f"{what}_difference"] = boot.add(theirs * a - mine * b, mine * theirs * scale)
            rows.append(row)
    return rows


def _lineups(played: dict[str, Played], boot: Bootstrap) -> list[dict[str, Any]]:
    """Every player in every lineup, for a file."""
    rows = []
    for part in played.values():
        for player in part.lineup.players:
            unit = part.count(player)
            places = part.total(part.places, player, part.deals)
            rows.append(
                {
                    "lineup": part.lineup.name,
                    "kind": part.lineup.kind,
                    "player": player,
                    "deals": part.deals.size,
                    "games": part.deals.size * part.lineup.plays,
                    "heads": boot.add(part.total(part.heads, player, part.deals), unit),
                    "wins": boot.add(places[:, 0], unit * WIN),
                    "places": [round(float(p), 6) for p in places.mean(axis=0) / (unit * WIN)],
                }
            )
    return rows


def failed(config: Config, results: Sequence[Result]) -> list[dict[str, Any]]:
    """Players that broke down: how many chunks each has cost, of how many it sat in, and how."""
    made = lineups(config)
    each = -(-config.rounds // CHUNK)
    rows = []
    for player in config.names:
        mine = [
            result
            for result in results
            if "failure" in result and result["failure"]["player"] == player
        ]
        if mine:
            order = {lineup.name: i for i, lineup in enumerate(made)}
            first = min(mine, key=lambda result: (result["chunk"], order[result["lineup"]]))
            seated = {lineup.name for lineup in made if player in lineup.seats}
            row = {
                "player": player,
                "failed": len(mine),
                "chunks": each * len(seated),
                "left_out": each * len(seated) - sum(r["lineup"] in seated for r in results),
                "lineup": first["lineup"],
            }
            rows.append(row | first["failure"])
    return rows


def rate(config: Config, played: dict[str, Played]) -> dict[str, dict[str, float]]:
    """Ratings of all players from the games at tables, in an order drawn from the seed.

    Plackett-Luce by openskill. Players do not change, so no uncertainty is added from game to game.
    """
    from openskill.models import PlackettLuce

    model = PlackettLuce(tau=0.0)
    sign = -1 if config.rules.collect else 1
    games: list[tuple[tuple[str, ...], list[float]]] = []
    for part in _tables(played):
        ranks = (sign * part.heads.reshape(-1, config.seats)).astype(float).tolist()
        games += [(part.lineup.seats, rank) for rank in ranks]
    rated = {player: model.rating(name=player) for player in config.names}
    for i in np.random.default_rng([config.seed, len(games)]).permutation(len(games)).tolist():
        players, rank = games[i]
        after = model.rate([[rated[player]] for player in players], ranks=rank)
        rated.update(zip(players, (team[0] for team in after), strict=True))
    sat = {player for players, _ in games for player in players}
    return {
        player: {"mu": round(rating.mu, 6), "sigma": round(rating.sigma, 6)}
        for player, rating in rated.items()
        if player in sat
    }
