"""Imported by the server that forks the arena's processes: what each would load is loaded once.

Compiled code takes a third of a second, and players of one's own get a new process for each chunk.
"""

from __future__ import annotations

from contextlib import suppress

from benchmarks import worker as worker
from sixnimmt_env.policy import play
from sixnimmt_env.variants import make_rules

with suppress(Exception):  # the processes will say what is wrong
    play(["lowest", "lowest"], games=2, rules=make_rules("base", 2))
