"""6 nimmt! as a PettingZoo environment.

====================  =====================================================
Import                ``from sixnimmt_env import sixnimmt_v0``
Actions               Discrete
Parallel API          Yes
Manual control        No
Agents                ``["player_0", ..., "player_9"]`` (as many as play)
Agents                2 to 10, 4 by default
Action shape          Discrete(109), or Discrete(110) in games with 0 cards
Action values         0 pass, 1 ... 104 that card, 105 ... 108 take row 1 ... 4,
                      109 a 0 card
Observation shape     dict: ``observation`` float32 (F,), ``action_mask`` int8
                      (109,) or (110,)
Observation values    [0, 1]
====================  =====================================================

Everybody secretly chooses a card of ten, all are revealed at once and placed in ascending order,
each behind the nearest lower end of the four rows. Whoever places the sixth card of a row takes
the five before it; whoever plays a card lower than all row ends takes a row of their choice.
Cards taken count bull heads, and fewest heads win. Variants change the deck, the deal, how many
cards are played at a time, and whether heads are good or bad: `sixnimmt_env.variants` has the
modules that describe them.

Observation
    ``observation`` holds what the player may know and nothing else, as a fixed vector; its fields
    are listed by `sixnimmt_env.encoding.field_table`. ``action_mask`` is 1 for every legal action.
    With ``observation="flat"`` the vector is the observation, and the mask is in the infos.
    `state()` holds all hands besides, for centralised critics.

Steps
    All agents act in every step of the parallel environment and live until the end. While the
    owner of a low card chooses a row (and while one drafts a card, or plays one by one), all the
    others can only pass, action 0.

    Where two cards may be played in a turn, that is two steps: the first card, which nobody else
    sees, then the second one, or pass to play only one. Players whose hands are empty pass until
    the round ends.

    `env` is the environment for one agent after the other (AEC). It asks nobody but those who
    have something to decide, in the order of the seats, and gathers the actions of all who decide
    at once: none sees what the others have chosen.

    With ``max_cycles`` an episode is cut off after that many steps of the parallel environment.

Rewards
    ``reward="heads"`` (default): minus the bull heads taken in the step. ``"relative"``: the mean
    of the others' heads minus the own. ``"win"``: at the end, 1 shared by those with fewest heads.
    ``"rank"``: at the end, +1 for the first ... -1 for the last. Their sums over an episode are
    the score they are named after. Where heads are collected, all is the other way round: plus
    the heads taken, the own minus the mean of the others', and most heads win.

Infos
    ``heads`` taken in the episode, ``turn`` of the round, ``round`` of the match and
    ``illegal_actions`` of this agent that were replaced in the episode.

Arguments
    >>> from sixnimmt_env import sixnimmt_v0
    >>> env = sixnimmt_v0.parallel_env(
    ...     num_players=4,
    ...     variant="base",            # or another of sixnimmt_env.variants.VARIANTS
    ...     row_choice="player",       # or "fewest_heads": low cards never ask
    ...     episode="round",           # or "match"
    ...     target=None,               # a match ends when a total reaches it
    ...     rounds=None,               # or after a fixed number of rounds
    ...     rules=None,                # or Rules(...) instead of all the above
    ...     reward="heads",            # "heads", "relative", "win", "rank"
    ...     illegal_action="raise",    # or "lowest", "penalty": play the lowest legal action
    ...     illegal_penalty=1.0,       # taken off the reward with "penalty"
    ...     observation="dict",        # or "flat"
    ...     render_mode=None,          # "ansi" (a string) or "human" (printed)
    ...     render_seat=None,          # or a seat: what it may see; else all hands
    ...     max_cycles=None,           # or a number of steps
    ... )

Usage
    >>> observations, infos = env.reset(seed=42)
    >>> while env.agents:
    ...     actions = {
    ...         agent: env.action_space(agent).sample(observations[agent]["action_mask"])
    ...         for agent in env.agents
    ...     }
    ...     observations, rewards, terminations, truncations, infos = env.step(actions)

One agent after the other:

    >>> env = sixnimmt_v0.env(num_players=4)
    >>> env.reset(seed=42)
    >>> for agent in env.agent_iter():
    ...     observation, reward, termination, truncation, info = env.last()
    ...     action = None
    ...     if not (termination or truncation):
    ...         action = env.action_space(agent).sample(observation["action_mask"])
    ...     env.step(action)

`reset(seed)` begins game 0 of that seed, each further `reset()` its next game.

Version history
    v0: first version.
"""

from sixnimmt_env.envs.aec import env
from sixnimmt_env.envs.parallel import parallel_env

__all__ = ["env", "parallel_env"]
