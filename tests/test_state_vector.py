"""`state()` of the PettingZoo faces, every part of it against a plain statement."""

from __future__ import annotations

import numpy as np
import pytest

from sixnimmt_env import sixnimmt_v0
from sixnimmt_env.cards import ZERO
from sixnimmt_env.state import SECOND
from tests.plain_view import facts, fields
from tests.rounds import PLAYERS, random_actions

GAMES = [
    {"variant": variant, "num_players": players, "episode": "match", "rounds": 2}
    for variant, numbers in PLAYERS.items()
    for players in (numbers[1], numbers[-1])
]


def plain_state(rules, state):
    """What `state()` documents, from the cards that everybody holds."""
    known = [facts(rules, state, seat, 0) for seat in range(rules.num_players)]
    hands = [[card for card in one["hand"] if card] for one in known]
    parts = [[x for _, part in fields(rules, known[0]) for x in part]]
    parts += [[float(card in hand) for card in range(1, 105)] for hand in hands]
    parts.append([float(one["decides"]) for one in known])
    if rules.zeros:
        parts.append([hand.count(ZERO) / rules.zeros for hand in hands])
    if rules.cards_per_turn == 2:
        first = [one["committed"] for one in known]
        parts.append([0 if card == ZERO else card / 104 for card in first])
        parts.append([float(card == ZERO) for card in first])
    return [x for part in parts for x in part]


def check(env, rules, state):
    vector = env.state()
    assert vector.dtype == np.float32
    assert vector.shape == env.unwrapped.state_space.shape
    assert env.unwrapped.state_space.contains(vector)
    np.testing.assert_allclose(vector, plain_state(rules, state), rtol=1e-6)


@pytest.mark.parametrize("options", GAMES, ids=str)
def test_state_of_the_parallel_env(options):
    env = sixnimmt_v0.parallel_env(**options)
    env.reset(seed=3)
    rng, seconds, idle = np.random.default_rng(4), 0, 0
    while env.agents:
        state = env._state
        check(env, env.rules, state)
        seconds += int(state.phase[0] == SECOND)
        idle += int(not state.acting().all())
        actions = random_actions(state, rng)[:, 0].tolist()
        env.step(dict(zip(env.agents, actions, strict=True)))
    check(env, env.rules, env._state)
    assert (seconds > 10) == (env.rules.cards_per_turn == 2)
    assert idle


@pytest.mark.parametrize("variant", ["base", "plus", "simplified"])
def test_state_of_the_aec_env(variant):
    env = sixnimmt_v0.env(variant=variant, num_players=3)
    env.reset(seed=1)
    game, rng = env.unwrapped, np.random.default_rng(2)
    for _ in env.agent_iter():
        check(env, game.rules, game._state)
        seen, _, over, _, _ = env.last()
        env.step(None if over else int(rng.choice(np.flatnonzero(seen["action_mask"]))))
