"""What is measured: decisions per CPU-second of each face of the engine.

A decision is one seat choosing among its legal actions; a forced pass is none. Each case is a
generator that plays random legal games without end and yields, after every block of whole rounds,
the decisions made in it, the CPU-seconds it took and those of them that went into choosing the
actions. Reading the CPU clock takes time itself, so it is read once per block: the faces first play
a block to find random legal actions, then play the same games again against the clock.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

from sixnimmt_env.cards import NUM_ROWS, TAKE_ROW, ZERO
from sixnimmt_env.engine import Engine
from sixnimmt_env.state import OVER, PLAY, SECOND, TAKE, State
from sixnimmt_env.variants import DEFAULT, make_rules
from tests.reference import random_round

Blocks = Iterator[tuple[int, float, float]]
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
    variant: str = DEFAULT


@dataclass(frozen=True)
class Effort:
    """How long to measure: CPU-seconds of each repeat, and repeats."""

    seconds: float = 0.5
    repeats: int = 5


def measure(
    what: str,
    case: Callable[..., Blocks],
    effort: Effort,
    *,
    row_choice: str = "fewest_heads",
    players: int = 4,
    games: int = 1,
    **options: Any,
) -> Result:
    """Run a case; the first round of it only warms up."""
    blocks = case(games=games, players=players, row_choice=row_choice, **options)
    _run(blocks, 0.0)
    runs = [_run(blocks, effort.seconds) for _ in range(effort.repeats)]
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
        variant=options.get("variant", DEFAULT),
    )


def _run(blocks: Blocks, seconds: float) -> tuple[int, float, float]:
    """Blocks until `seconds` are spent, at least one."""
    decisions, spent, choosing = 0, 0.0, 0.0
    while spent <= seconds:
        made, time, chose = next(blocks)
        decisions, spent, choosing = decisions + made, spent + time, choosing + chose
    return decisions, spent, choosing


class Chooser:
    """Random legal actions straight from the arrays of a State."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.SFC64(seed)

    def cards(self, state: State) -> tuple[np.ndarray, int]:
        """Actions (P, B) uint8 in any game without a choice of row; how many cards they play."""
        players, size, games = state.hand.shape
        held, zeros = np.zeros((2, players, games), np.uint8)
        for i in range(size):
            held += state.hand[:, i] != 0
            zeros += state.hand[:, i] == ZERO
        held -= zeros - (zeros != 0)  # all 0 cards are one action
        second = state.phase == SECOND
        words = self._bits.random_raw(-(-players * games // 4)).view(np.uint16)
        words = words[: players * games].reshape(players, games)
        slot = (words * (held + second).astype(np.uint32) >> np.uint32(16)).astype(np.uint8)
        slot += (slot == held).view(np.uint8) * np.uint8(size)  # pass
        actions = np.zeros((players, games), np.uint8)
        for i in range(size):
            actions += state.hand[:, i] * (slot == i)
        if state.one_by_one:
            actions *= np.arange(players, dtype=np.uint8)[:, None] == state.actor
        return actions, int(np.count_nonzero(actions))

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


def engine_alone(games: int, players: int, row_choice: str) -> Blocks:
    """The engine with dealing; finished games start anew at once."""
    engine = Engine(make_rules(num_players=players, row_choice=row_choice))
    choose = Chooser(seed=1)
    state = engine.reset(seed=1, games=games)
    if row_choice == "player":
        _spread(engine, state, choose)
    next_id = games
    while True:
        decisions, choosing = 0, 0.0
        begun, start = perf_counter(), process_time()
        for _ in range(_block(games)):
            over = np.flatnonzero(state.phase == OVER)
            if over.size == games:
                state = engine.reset(seed=1, games=np.arange(next_id, next_id + games))
            elif over.size:
                engine.restart(state, over, 1, np.arange(next_id, next_id + over.size))
            next_id += over.size
            before = perf_counter()
            actions, made = choose(state)
            choosing += perf_counter() - before
            decisions += made
            engine.step(state, actions)
        spent = process_time() - start
        yield decisions, spent, spent * choosing / (perf_counter() - begun)


def engine_cards(games: int, players: int, row_choice: str, variant: str) -> Blocks:
    """The engine with dealing in any variant; what counts is a card played, not a decision."""
    engine = Engine(make_rules(variant, players, row_choice=row_choice))
    choose = Chooser(seed=1)
    state = engine.reset(seed=1, games=games)
    next_id = games
    while True:
        cards, choosing = 0, 0.0
        begun, start = perf_counter(), process_time()
        for _ in range(6 * TURNS):
            over = np.flatnonzero(state.phase == OVER)
            if over.size:
                engine.restart(state, over, 1, np.arange(next_id, next_id + over.size))
                next_id += over.size
            before = perf_counter()
            actions, made = choose.cards(state)
            choosing += perf_counter() - before
            cards += made
            engine.step(state, actions)
        spent = process_time() - start
        yield cards, spent, spent * choosing / (perf_counter() - begun)


def _block(games: int) -> int:
    """Steps in a block: at least two rounds, and long enough for the clock."""
    return TURNS * max(2, 16384 // games)


def _spread(engine: Engine, state: State, choose: Chooser) -> None:
    """Bring the games out of step, as continuous play does in the long run."""
    for turn in range(TURNS):
        engine.step(state, choose(state)[0])
        lanes = np.arange(turn, state.num_games, TURNS)
        engine.restart(state, lanes, 1, lanes)


def scalar_player(games: int, players: int, row_choice: str) -> Blocks:
    """The plain Python reference of the tests, one round at a time."""
    rng = random.Random(1)
    while True:
        start = process_time()
        for _ in range(100 * games):
            random_round(players, rng, row_choice)
        yield 100 * TURNS * players * games, process_time() - start, 0.0


def random_legal(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One random legal action for each row of an action mask."""
    ranks = mask.cumsum(axis=1, dtype=np.int16)
    wanted = rng.integers(1, ranks[:, -1] + 1)
    return (ranks >= wanted[:, None]).argmax(axis=1)


def vector_env(games: int, players: int, row_choice: str, self_play: bool) -> Blocks:
    """Gymnasium vector env: flat float32 vectors with masks, rewards and autoreset."""
    from sixnimmt_env.envs.vector import SixNimmtVectorEnv

    env = SixNimmtVectorEnv(
        num_envs=games * players if self_play else games,
        self_play=self_play,
        opponents=None if self_play else "random",
        autoreset_mode="SameStep",
        num_players=players,
        row_choice=row_choice,
    )
    return _replay(
        lambda: env.reset(seed=1)[0]["action_mask"],
        lambda actions: env.step(actions)[0]["action_mask"],
        _block(games),
    )


def _replay(
    reset: Callable[[], np.ndarray], step: Callable[[np.ndarray], np.ndarray], steps: int
) -> Blocks:
    """Find random legal actions for a block, then play it again and again against the clock."""
    rng = np.random.default_rng(1)
    masks = reset()
    tape, decisions = [], 0
    for _ in range(steps):
        tape.append(random_legal(masks, rng))
        decisions += int(np.count_nonzero(masks[:, 0] == 0))
        masks = step(tape[-1])
    while True:
        reset()
        start = process_time()
        for actions in tape:
            step(actions)
        yield decisions, process_time() - start, 0.0


def sb3_env(games: int, players: int, row_choice: str) -> Blocks:
    """Stable-Baselines3 VecEnv in self-play: every seat of every game is one of its envs."""
    from sixnimmt_env.envs.sb3 import SixNimmtVecEnv

    env = SixNimmtVecEnv(
        num_games=games, num_players=players, row_choice=row_choice, learning_seats="all"
    )

    def reset() -> np.ndarray:
        env.seed(1)
        env.reset()
        return env.action_masks()

    def step(actions: np.ndarray) -> np.ndarray:
        env.step(actions)
        return env.action_masks()

    return _replay(reset, step, _block(games))


def parallel_env(games: int, players: int, row_choice: str) -> Blocks:
    """PettingZoo parallel env, one game; `reset` counts as part of the round."""
    from sixnimmt_env import sixnimmt_v0

    rng = random.Random(1)
    env = sixnimmt_v0.parallel_env(num_players=players, row_choice=row_choice)
    tapes, decisions = [], 0
    for game in range(100):
        observations, _ = env.reset(seed=1) if game == 0 else env.reset()
        tapes.append([])
        while env.agents:
            actions = {
                agent: rng.choice(np.flatnonzero(observation["action_mask"]).tolist())
                for agent, observation in observations.items()
            }
            tapes[-1].append(actions)
            decisions += sum(action != 0 for action in actions.values())
            observations, _, _, _, _ = env.step(actions)
    while True:
        start = process_time()
        for game, tape in enumerate(tapes):
            env.reset(seed=1) if game == 0 else env.reset()
            for actions in tape:
                env.step(actions)
        yield decisions, process_time() - start, 0.0


def parallel_results(effort: Effort, player_counts: tuple[int, ...]) -> list[dict[str, Any]]:
    """PettingZoo figures as plain dicts, so that another process can print them."""
    cases = [(n, "fewest_heads") for n in player_counts] + [(4, "player")]
    return [
        asdict(measure("PettingZoo", parallel_env, effort, players=n, row_choice=choice))
        for n, choice in cases
    ]
