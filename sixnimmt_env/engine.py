"""The engine: rules applied to a State, which it plays on in place."""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sixnimmt_env import lanes, loops
from sixnimmt_env.cards import action_name
from sixnimmt_env.checks import game_mask, game_numbers, number_below, seeds, whole
from sixnimmt_env.dealing import start_round
from sixnimmt_env.phases import Phase, action_mask, in_phase, phases_of
from sixnimmt_env.rules import Rules, check_rules
from sixnimmt_env.state import DRAFT, OVER, PHASE_NAMES, PLAY, SECOND, U8, State, check_fits

Bool = NDArray[np.bool_]

# Large batches are worked on in pieces that stay in the processor's cache.
BLOCK: Final = 16384
# Dealing makes larger arrays for each game.
DEAL_BLOCK: Final = 2048


class IllegalActionError(ValueError):
    """An action that the rules do not allow; the state is as it was before."""


class Engine:
    """Plays B games at once by one set of rules.

    Parameters
    ----------
    rules : Rules
        What is played.

    Examples
    --------
    >>> from sixnimmt_env import Engine, make_rules
    >>> engine = Engine(make_rules("base", num_players=4, row_choice="fewest_heads"))
    >>> state = engine.reset(seed=1, games=1000)
    >>> engine.step(state, state.hand[:, 0])  # everybody plays the lowest card
    >>> state.totals().shape
    (4, 1000)
    """

    def __init__(self, rules: Rules) -> None:
        check_rules(rules)
        self.rules = rules
        self._phases = phases_of(rules)
        # Read at every step, where a call would cost a single game some of its time.
        self._hands = (rules.num_players, rules.hand_size)
        self._queue_size, self._one_by_one = rules.queue_size, rules.one_by_one
        self._two_cards = rules.cards_per_turn > 1
        # Seats may have nothing to decide while others play.
        self._uneven = self._two_cards or self._one_by_one
        self._together = {c: p for p in self._phases for c in p.codes if c in (PLAY, SECOND)}
        choose = loops.CHOOSE if rules.row_choice == "player" else loops.FEWEST
        self._low_card = loops.APPEND if rules.low_card == "append" else choose
        # Games that stop within a turn, for a choice of row or a second card.
        self._stops = self._low_card == loops.CHOOSE or self._two_cards

    def reset(self, seed: ArrayLike = 0, games: ArrayLike = 1) -> State:
        """Deal new games.

        Parameters
        ----------
        seed : int or (B,) integers
            0 to 2**64 - 1.
        games : int or (B,) integers
            How many games, with the ids 0 ... B - 1, or their ids. A game depends on its
            seed and id alone.

        Returns
        -------
        State
            B games at their first decision.

        Raises
        ------
        ValueError
            For seeds or games that cannot be.
        """
        ids = np.arange(_count(games)) if np.ndim(games) == 0 else seeds("games", games)
        seed = seeds("seed", seed, ids.size)
        state = State.empty(self.rules, ids.size)
        state.seed[...] = seed
        state.game_id[...] = ids
        for block in _blocks(state.num_games, DEAL_BLOCK):
            start_round(self.rules, state, block)
        return state

    def restart(self, state: State, games: ArrayLike, seed: ArrayLike, game_id: ArrayLike) -> None:
        """Begin new episodes in some lanes of a State.

        Parameters
        ----------
        state : State
            Changed in place.
        games : (n,) integers or (B,) bool
            Lanes to restart, or which they are.
        seed, game_id : int or (n,) integers
            What the new games are a function of, 0 to 2**64 - 1.

        Raises
        ------
        ValueError
            For lanes, seeds or ids that cannot be. No game has changed then.
        """
        check_fits(state, self.rules)
        lane = game_numbers(games, state.num_games)
        seed = seeds("seed", seed, lane.size)
        state.game_id[lane] = seeds("game_id", game_id, lane.size)
        state.seed[lane] = seed
        state.round[lane] = 0
        state.score[:, lane] = 0
        state.queue[:, lane] = 0
        state.placed_row[:, lane] = 0
        state.placed_heads[:, lane] = 0
        self._start_rounds(state, lane)

    def _start_rounds(self, state: State, lane: NDArray[np.intp]) -> None:
        for at in range(0, lane.size, DEAL_BLOCK):
            block = lane[at : at + DEAL_BLOCK]
            whole = block[-1] - block[0] == block.size - 1 and bool(np.all(np.diff(block) == 1))
            start_round(self.rules, state, slice(block[0], block[-1] + 1) if whole else block)

    def step(self, state: State, actions: ArrayLike, where: ArrayLike | None = None) -> None:
        """Carry out one decision of every seat in every game.

        Parameters
        ----------
        state : State
            Changed in place. In a match the next round is dealt within the step that ends one.
        actions : (P, B) integers
            0 (pass) for every seat that has nothing to decide.
        where : (B,) bool, optional
            Games to step; the others stay as they are, their actions are ignored.

        Raises
        ------
        IllegalActionError
            If any action is not legal, or a game is over. No game has changed then.
        ValueError, TypeError
            For actions of a wrong shape or type.
        """
        acts = self._checked(state, actions)
        active = None if where is None else game_mask("where", where, state.num_games)
        refused = self._refused(state, acts, active)
        if refused.any():
            self._complain(state, np.asarray(actions), refused)
        if state.num_games <= BLOCK:
            self._advance(state, acts, active)
            return
        for block in _blocks(state.num_games, BLOCK):
            here = None if active is None else active[block]
            self._advance(state.view(block), acts[:, block], here)

    def _advance(self, state: State, actions: U8, active: Bool | None) -> None:
        everywhere = self._same_phase(state, active)
        if everywhere is not None:
            everywhere.apply(state, actions, None)
            self._resolve(state, None)
            return
        # A game whose pick or row is decided in this step goes on to play in the next one.
        phase_before = state.phase.copy()
        for phase in self._phases:
            here = in_phase(phase, phase_before)
            if active is not None:
                here &= active
            if here.any():
                phase.apply(state, actions, here)
        moved = (phase_before != DRAFT) & (phase_before != OVER)
        self._resolve(state, moved if active is None else moved & active)

    def _same_phase(self, state: State, active: Bool | None) -> Phase | None:
        """Phase in which all games are, if all seats decide there and every game moves."""
        if active is not None:
            return None
        code = state.phase.item(0) if state.num_games else OVER
        if code not in self._together or not (state.phase == code).all():
            return None
        return self._together[code]

    def _resolve(self, state: State, moved: Bool | None) -> None:
        (loops if loops.suits(state) else lanes).resolve(state, self._low_card)
        done = state.cursor == self._queue_size
        if self._stops:
            done &= state.phase == PLAY
        if moved is not None:
            done &= moved
        if self._one_by_one:
            self._pass_on(state, done)
        else:
            state.turn += done.view(np.uint8)
        if self._two_cards:
            done &= ~state.hand[:, 0].any(axis=0)
        else:
            done &= state.turn == self.rules.hand_size
        if done.any():
            self._end_rounds(state, np.flatnonzero(done))

    def _pass_on(self, state: State, done: Bool) -> None:
        """Let the next seat play; a turn is over when all have."""
        following = (state.actor + np.uint8(1)) % np.uint8(self.rules.num_players)
        np.copyto(state.actor, following, where=done)
        state.turn += (done & (state.actor == state.first_seat)).view(np.uint8)

    def _end_rounds(self, state: State, ended: NDArray[np.intp]) -> None:
        over = self._is_over(state, ended)
        state.phase[ended[over]] = OVER
        more = ended[~over]
        if more.size:
            state.score[:, more] += state.pile_heads[:, more]
            state.round[more] += 1
            self._start_rounds(state, more)

    def _is_over(self, state: State, lane: NDArray[np.intp]) -> Bool:
        rules = self.rules
        if rules.episode == "round":
            return np.ones(lane.size, np.bool_)
        if rules.rounds is not None:
            ended: Bool = state.round[lane] + 1 >= rules.rounds
            return ended
        totals = state.score[:, lane] + state.pile_heads[:, lane]
        reached: Bool = totals.max(axis=0) >= rules.target
        return reached

    def refused(self, state: State, actions: ArrayLike, where: ArrayLike | None = None) -> Bool:
        """Which of the actions `step` would refuse, shape (P, B) bool."""
        active = None if where is None else game_mask("where", where, state.num_games)
        return self._refused(state, self._checked(state, actions), active)

    def _refused(self, state: State, actions: U8, active: Bool | None) -> Bool:
        everywhere = self._same_phase(state, active)
        if everywhere is not None and not self._uneven:
            return ~everywhere.accepts(state, actions)
        acting = state.acting()
        refused: Bool = actions != 0
        refused &= ~acting
        for phase in self._phases:
            here = in_phase(phase, state.phase)
            if here.any():
                wrong = ~phase.accepts(state, actions)
                wrong &= acting
                wrong &= here
                refused |= wrong
        refused |= state.phase == OVER
        if active is not None:
            refused &= active
        return refused

    def lowest_legal(self, state: State) -> U8:
        """Lowest legal action of every seat, 0 where it must pass; shape (P, B)."""
        lowest = np.zeros((state.num_players, state.num_games), np.uint8)
        acting = state.acting()
        for phase in self._phases:
            here = acting & in_phase(phase, state.phase)
            if here.any():
                np.copyto(lowest, phase.lowest(state), where=here)
        return lowest

    def legal(self, state: State, seat: int, game: int) -> list[int]:
        """Legal actions of one seat in one game; ValueError if there is no such seat or game."""
        check_fits(state, self.rules)
        seat = number_below("seat", seat, state.num_players)
        game = number_below("game", game, state.num_games)
        mask = action_mask(self.rules, state.take([game]), np.array([seat], np.uint8))[0]
        return [int(action) for action in np.flatnonzero(mask)]

    def _checked(self, state: State, actions: ArrayLike) -> U8:
        if not isinstance(state, State) or state.hand.shape[:2] != self._hands:
            check_fits(state, self.rules)
        if state.queue.shape[0] != self._queue_size:
            check_fits(state, self.rules)
        acts = np.asarray(actions)
        shape = (self._hands[0], state.num_games)
        if acts.shape != shape:
            raise ValueError(
                f"actions have shape {acts.shape}; (players, games) = {shape} is needed"
            )
        if acts.dtype == np.uint8:
            return acts
        if acts.dtype.kind not in "iu":
            raise TypeError(
                f"actions have dtype {acts.dtype}; action numbers are integers 0 to "
                f"{self.rules.num_actions - 1}"
            )
        small: U8 = acts.astype(np.uint8)
        if not bool((small == acts).all()):
            # 255 is no action: numbers out of range are refused, not wrapped into range.
            small[small != acts] = 255
        return small

    def _complain(self, state: State, actions: NDArray[Any], refused: Bool) -> None:
        seat, game = (int(i) for i in np.argwhere(refused)[0])
        if state.phase[game] == OVER:
            raise IllegalActionError(
                f"game {game} is over: nothing can be played until it is reset"
            )
        legal = self.legal(state, seat, game)
        raise IllegalActionError(
            f"player_{seat} in game {game} cannot {_verb(int(actions[seat, game]))} in phase "
            f"{PHASE_NAMES[state.phase[game]]!r}; legal actions are {legal}. Choose among the "
            "ones marked in the observation's action_mask (MaskablePPO of sb3-contrib does); "
            "environments can be made with illegal_action='lowest' or 'penalty'"
        )


def _verb(action: int) -> str:
    name = action_name(action)
    if name.startswith("card"):
        return f"play {name}"
    return f"do action {name}" if name.startswith(str(action)) else f"do action {action} ({name})"


def _blocks(num_games: int, size: int) -> list[slice]:
    return [slice(i, min(i + size, num_games)) for i in range(0, num_games, size)]


def _count(games: Any) -> int:
    return whole("games", games, 1, sys.maxsize, "at least 1 game is needed")
