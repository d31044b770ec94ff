"""A cheap model of how good players choose a card, for rollouts and beliefs.

A card of a hand is played with a chance in proportion to exp(value), a value linear in what is seen
at a glance: the row it would join, the gap, the cards and heads of that row, the chance that others
play into the gap first. The weights in `model.json` are fitted to the choices of Monte Carlo search
by `python -m training.fit_model`, which says how well they explain them.
"""

from __future__ import annotations

import json
from functools import lru_cache
from math import comb
from pathlib import Path
from typing import Final

import numpy as np

from agents.rollouts import HEADS, Floats
from sixnimmt_env.cards import NUM_CARDS, ROW_CAPACITY, ZERO
from sixnimmt_env.rules import MAX_SEATS, Rules

PATH: Final = Path(__file__).with_name("model.json")

WEIGHTS: Final = (
    "height",
    "height squared",
    "low card",
    "low card: heads it costs",
    "sixth card",
    "sixth card: heads it costs",
    "gap",
    "risk of being sixth: heads at stake",
    "risk of being sixth",
    "1 / room in the row",
    "own heads",
    "0 card",
)
"""Names of the weights in their order; heights and gaps are shares of 104."""


def kind_of(rules: Rules) -> str:
    """Which family of fitted models suits these rules; it has one for some numbers of players."""
    aim = "collect" if rules.collect else "avoid"
    turn = "one by one" if rules.one_by_one else f"{rules.cards_per_turn} a turn"
    return f"{aim}, low cards {rules.low_card}, {turn}"


@lru_cache(maxsize=64)
def tables(rules: Rules) -> tuple[Floats, Floats, Floats]:
    """Model of these rules as the compiled loops want it.

    Returns
    -------
    weights : (12,) float64
        In the order of `WEIGHTS`; gaps count in numbers.
    base : (110,) float64
        What a card is worth wherever it goes.
    chance : (n, r, g) float64
        Chance that at least r of n others play into a gap of g numbers; for r = 0 that none does.

    Raises
    ------
    ValueError
        If there is no model for such games.
    """
    models, kind = json.loads(PATH.read_text(encoding="utf-8"))["models"], kind_of(rules)
    if kind not in models:
        raise ValueError(
            f"there is no model of good players for {rules.name} ({kind}), only for "
            f"{'; '.join(models)}: play monte_carlo with rollout 'random', which needs none"
        )
    fitted = models[kind]
    nearest = min(fitted, key=lambda players: abs(int(players) - rules.num_players))
    return prepared(np.array(fitted[nearest], np.float64))


def prepared(weights: Floats) -> tuple[Floats, Floats, Floats]:
    """See `tables`; `weights` are in the order of `WEIGHTS`."""
    height = np.arange(ZERO + 1) / NUM_CARDS
    base = weights[0] * height + weights[1] * height**2 + weights[10] * HEADS
    base[ZERO] = weights[11]
    scaled = weights.copy()
    scaled[6] /= NUM_CARDS
    return scaled, base, CHANCES


def _chances() -> Floats:
    table = np.zeros((MAX_SEATS, ROW_CAPACITY, NUM_CARDS + 1))
    p = np.arange(NUM_CARDS + 1) / NUM_CARDS
    for n in range(MAX_SEATS):
        table[n, 0] = (1 - p) ** n
        for r in range(1, ROW_CAPACITY):
            table[n, r] = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(r, n + 1))
    return table


CHANCES: Final = _chances()

NO_MODEL: Final = prepared(np.zeros(len(WEIGHTS)))
"""Tables by which every card is as likely as every other."""
