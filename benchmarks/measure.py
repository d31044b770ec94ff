"""What is measured: decisions per CPU-second of each face of the engine.

A decision is one seat choosing among its legal actions; a forced pass is none. Each case is a
generator that plays random legal games without end and yields, after every step, the decisions
made in it, the CPU-seconds it took and those of them that went into choosing the actions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from sixnimmt_env.cards import NUM_ROWS, TAKE_ROW
from sixnimmt_env.engine import Engine
from sixnimmt_env.state import OVER, PLAY, TAKE, State
from sixnimmt_env.variants import make_rules
from tests.reference import random_round

Steps = Iterator[tuple[int, float, float]]
TURNS = 10  # in a round


@dataclass(frozen=True)
class Result:
    """Decisions per CPU-second of one case, best and median of the repeats.

    `without_choosing` is the best when the time to choose the actions is left out. Only the
    engine and the scalar player have it in `best` and `median`: the faces time their step alone.
    """

    what: str
    row_choice: str
    players: int
    games: int
    best: float
    median: float
    without_choosing: float | None = None


@dataclass(frozen=True)
class Effort:
    """How long to measure: CPU-seconds of each repeat, and repeats."""

    seconds: float = 0.5
    repeats: int = 5


def measure(
    what: str,
    case: Callable[..., Steps],
    effort: Effort,
    *,
    row_choice: str = "fewest_heads",
    players: int = 4,
    games: int = 1,
    **options: Any,
) -> Result:
    """Run a case; the first round of it only warms up."""
    steps = case(games=games, players=players, row_choice=row_choice, **options)
    _run(steps, 0.0)
    runs = [_run(steps, effort.seconds) for _ in range(effort.repeats)]
    rates = [count / seconds for count, seconds, _ in runs]
    engine_only = [count / (seconds - choosing) for count, seconds, choosing in runs if choosing]
    return Result(
        what=what,
        row_choice=row_choice,
        players=players,
        games=games,
        best=max(rates),
        median=median(rates),
        without_choosing=max(engine_only, default=None),
    )


def _run(steps: Steps, seconds: float) -> tuple[int, float, float]:
    """Step until `seconds` are spent: at least two rounds, and whole ones, each with its deal."""
    decisions, spent, choosing, made_steps = 0, 0.0, 0.0, 0
    while spent < seconds or made_steps < 2 * TURNS or made_steps % TURNS:
        made, time, chose = next(steps)
        decisions, spent, choosing = decisions + made, spent + time, choosing + chose
        made_steps += 1
    return decisions, spent, choosing


class Chooser:
    """Random legal actions straight from the arrays of a State."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.SFC64(seed)

    def __call__(self, state: State) -> tuple[np.ndarray, int]:
        """Actions (P, B) uint8, and how many of them are decisions."""
        players, size, games = state.hand.shape
        left = (size - state.turn.astype(np.int64)).astype(np.uint32)
        words = self._bits.random_raw(-(-players * games // 4)).view(np.uint16)
        slot = words[: players * games].reshape(players, games) * left >> np.uint32(16)
        slot = slot.astype(np.uint8)
        actions = np.zeros((players, games), np.uint8)
        for i in range(int(left.max(initial=0))):
            actions += state.hand[:, i] * (slot == i)
        playing = state.phase == PLAY
        actions *= playing
        takers = np.flatnonzero(state.phase == TAKE)
        rows = words[: takers.size] % NUM_ROWS
        actions[state.actor[takers], takers] = TAKE_ROW + rows.astype(np.uint8)
        return actions, players * int(np.count_nonzero(playing)) + takers.size


def engine_alone(games: int, players: int, row_choice: str) -> Steps:
    """The engine with dealing; finished games start anew at once."""
    engine = Engine(make_rules(num_players=players, row_choice=row_choice))
    choose = Chooser(seed=1)
    state = engine.reset(seed=1, games=games)
    if row_choice == "player":
        _spread(engine, state, choose)
    next_id = games
    while True:
        start = process_time()
        over = np.flatnonzero(state.phase == OVER)
        if over.size == games:
            state = engine.reset(seed=1, games=np.arange(next_id, next_id + games))
        elif over.size:
            engine.restart(state, over, 1, np.arange(next_id, next_id + over.size))
        next_id += over.size
        chosen_from = process_time()
        actions, decisions = choose(state)
        chosen = process_time()
        engine.step(state, actions)
        yield decisions, process_time() - start, chosen - chosen_from


def _spread(engine: Engine, state: State, choose: Chooser) -> None:
    """Bring the games out of step, as continuous play does in the long run."""
    for turn in range(TURNS):
        engine.step(state, choose(state)[0])
        lanes = np.arange(turn, state.num_games, TURNS)
        engine.restart(state, lanes, 1, lanes)


def scalar_player(games: int, players: int, row_choice: str) -> Steps:
    """The plain Python reference of the tests, one round at a time."""
    rng = random.Random(1)
    while True:
        start = process_time()
        for _ in range(games):
            random_round(players, rng, row_choice)
        yield TURNS * players * games, process_time() - start, 0.0


def random_legal(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One random legal action for each row of an action mask."""
    ranks = mask.cumsum(axis=1, dtype=np.int16)
    wanted = rng.integers(1, ranks[:, -1] + 1)
    return (ranks >= wanted[:, None]).argmax(axis=1)


def vector_env(games: int, players: int, row_choice: str, self_play: bool) -> Steps:
    """Gymnasium vector env: flat float32 vectors with masks, rewards and autoreset."""
    from sixnimmt_env.envs.vector import SixNimmtVectorEnv

    rng = np.random.default_rng(1)
    env = SixNimmtVectorEnv(
        num_envs=games * players if self_play else games,
        self_play=self_play,
        opponents="random",
        autoreset_mode="SameStep",
        num_players=players,
        row_choice=row_choice,
    )
    observations, _ = env.reset(seed=1)
    while True:
        masks = observations["action_mask"]
        actions = random_legal(masks, rng)
        start = process_time()
        observations, _, _, _, _ = env.step(actions)
        yield int(np.count_nonzero(masks[:, 0] == 0)), process_time() - start, 0.0


def sb3_env(games: int, players: int, row_choice: str) -> Steps:
    """Stable-Baselines3 VecEnv in self-play: every seat of every game is one of its envs."""
    from sixnimmt_env.envs.sb3 import SixNimmtVecEnv

    rng = np.random.default_rng(1)
    env = SixNimmtVecEnv(
        num_games=games, num_players=players, row_choice=row_choice, learning_seats="all"
    )
    env.seed(1)
    env.reset()
    masks = env.action_masks()
    while True:
        decisions = int(np.count_nonzero(~masks[:, 0]))
        actions = random_legal(masks, rng)
        start = process_time()
        env.step(actions)
        masks = env.action_masks()
        yield decisions, process_time() - start, 0.0


def parallel_env(games: int, players: int, row_choice: str) -> Steps:
    """PettingZoo parallel env, one game; `reset` counts as part of the round."""
    from sixnimmt_env import sixnimmt_v0

    rng = random.Random(1)
    env = sixnimmt_v0.parallel_env(num_players=players, row_choice=row_choice)
    env.reset(seed=1)
    while True:
        start = process_time()
        observations, _ = env.reset()
        spent = process_time() - start
        while env.agents:
            actions = {
                agent: rng.choice(np.flatnonzero(observation["action_mask"]).tolist())
                for agent, observation in observations.items()
            }
            start = process_time()
            observations, _, _, _, _ = env.step(actions)
            spent += process_time() - start
            yield sum(action != 0 for action in actions.values()), spent, 0.0
            spent = 0.0


def parallel_results(effort: Effort, player_counts: tuple[int, ...]) -> list[dict[str, Any]]:
    """PettingZoo figures as plain dicts, so that another process can print them."""
    cases = [(n, "fewest_heads") for n in player_counts] + [(4, "player")]
    return [
        asdict(measure("PettingZoo", parallel_env, effort, players=n, row_choice=choice))
        for n, choice in cases
    ]
