"""6 nimmt! as a PettingZoo environment.

====================  =====================================================
Import                ``from sixnimmt_env import sixnimmt_v0``
Actions               Discrete
Parallel API          Yes
Manual control        No
Agents                ``["player_0", ..., "player_9"]`` (as many as play)
Agents                2 to 10, 4 by default
Action shape          Discrete(109)
Action values         0 pass, 1 ... 104 that card, 105 ... 108 take row 1 ... 4
Observation shape     dict: ``observation`` float32 (F,), ``action_mask`` int8 (109,)
Observation values    [0, 1]
====================  =====================================================

Everybody secretly chooses a card of ten, all are revealed at once and placed in ascending order,
each behind the nearest lower end of the four rows. Whoever places the sixth card of a row takes
the five before it; whoever plays a card lower than all row ends takes a row of their choice.
Cards taken count bull heads, and fewest heads win.

Observation
    ``observation`` holds what the player may know and nothing else, as a fixed vector; its fields
    are listed by `sixnimmt_env.encoding.field_table`. ``action_mask`` is 1 for every legal action.
    `state()` holds all hands besides, for centralised critics.

Steps
    All agents act in every step and live until the end. While the owner of a low card chooses a
    row (and while one drafts a card), all the others can only pass, action 0.

Rewards
    ``reward="heads"`` (default): minus the bull heads taken in the step. ``"relative"``: the mean
    of the others' heads minus the own. ``"win"``: at the end, 1 shared by those with fewest heads.
    ``"rank"``: at the end, +1 for the first ... -1 for the last. Their sums over an episode are
    the score they are named after.

Infos
    ``heads`` taken in the episode, ``turn`` of the round, ``round`` of the match and
    ``illegal_actions`` of this agent that were replaced in the episode.

Arguments
    >>> from sixnimmt_env import sixnimmt_v0
    >>> env = sixnimmt_v0.parallel_env(
    ...     num_players=4,
    ...     variant="base",            # "base", "tactics", "pro"
    ...     row_choice="player",       # or "fewest_heads": low cards never ask
    ...     episode="round",           # or "match"
    ...     target=None,               # a match ends when a total reaches it, 66 by default
    ...     rounds=None,               # or after a fixed number of rounds
    ...     reward="heads",            # "heads", "relative", "win", "rank"
    ...     illegal_action="raise",    # or "lowest", "penalty": play the lowest legal action
    ...     illegal_penalty=1.0,       # taken off the reward with "penalty"
    ...     render_mode=None,          # "ansi" (a string) or "human" (printed)
    ... )

Usage
    >>> observations, infos = env.reset(seed=42)
    >>> while env.agents:
    ...     actions = {
    ...         agent: env.action_space(agent).sample(observations[agent]["action_mask"])
    ...         for agent in env.agents
    ...     }
    ...     observations, rewards, terminations, truncations, infos = env.step(actions)

`reset(seed)` begins game 0 of that seed, each further `reset()` its next game.

Version history
    v0: first version.
"""

from sixnimmt_env.envs.parallel import env, parallel_env

__all__ = ["env", "parallel_env"]
