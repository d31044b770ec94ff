"""Progress of an arena: a bar, and who has stalled too often to go on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import numpy as np
from tqdm import tqdm

from benchmarks.failures import STALLED
from benchmarks.lineups import Chunk, Config
from benchmarks.tournament import Result

# A player that has stalled so often sits out the rest: every time costs the whole limit.
MOST_STALLS: Final = 3


class Progress:
    """A bar with the standing so far, and who has stalled too often."""

    def __init__(
        self, config: Config, every: Sequence[Chunk], done: Collection[Result], quiet: bool
    ) -> None:
        self._config = config
        self._chunks = {chunk.key: chunk for chunk in every}
        self._at = {chunk.key: number for number, chunk in enumerate(every)}
        kinds = {chunk.lineup.kind for chunk in every}
        # Mean heads at tables of different players, or else of one against the others.
        self._kind = next(kind for kind in ("table", "one", "same") if kind in kinds)
        self._sums: dict[str, list[int]] = {}
        self._stalls: dict[str, list[int]] = {}
        played = sum(_games(self._note(result)) for result in done)
        total = sum(map(_games, every))
        self._bar = tqdm(
            total=total, initial=played, unit=" games", disable=quiet, dynamic_ncols=True
        )

    def add(self, result: Result) -> None:
        """Take note of a chunk that has just been played."""
        chunk = self._note(result)
        means = [(heads / games, player) for player, (heads, games) in self._sums.items()]
        means.sort(reverse=self._config.rules.collect)
        text = ", ".join(f"{player} {mean:.2f}" for mean, player in means[:3])
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(_games(chunk))

    def _note(self, result: Result) -> Chunk:
        chunk = self._chunks[result["lineup"], result["chunk"]]
        if "failure" in result:
            if result["failure"]["what"] == STALLED:
                at = self._stalls.setdefault(result["failure"]["player"], [])
                at.append(self._at[chunk.key])
        elif chunk.lineup.kind == self._kind:
            heads = np.array(result["heads"]).reshape(-1, self._config.seats)
            slots = 1 if self._kind == "one" else self._config.seats
            for slot, player in enumerate(chunk.lineup.seats[:slots]):
                sums = self._sums.setdefault(player, [0, 0])
                sums[0] += int(heads[:, slot].sum())
                sums[1] += len(heads)
        return chunk

    def wanted(self, chunk: Chunk) -> bool:
        """Whether a chunk has no player that has stalled too often before it."""
        if self._counts(chunk):
            return True
        self._bar.update(_games(chunk))
        return False

    def _counts(self, chunk: Chunk) -> bool:
        # "Before" in the order of the arena, not of time: the same on any number of processes.
        here = self._at[chunk.key]
        before = [sum(at < here for at in self._stalls.get(p, [])) for p in chunk.lineup.players]
        return max(before) < MOST_STALLS

    def counted(self, results: Iterable[Result]) -> list[Result]:
        """Leave out chunks that would not have been played one after the other."""
        return [r for r in results if self._counts(self._chunks[r["lineup"], r["chunk"]])]

    def close(self) -> None:
        self._bar.close()


def _games(chunk: Chunk) -> int:
    return len(chunk.deals) * chunk.lineup.plays
