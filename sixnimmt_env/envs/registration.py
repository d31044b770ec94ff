"""Names under which PettingZoo's and Gymnasium's `make` know the environments."""

from __future__ import annotations

from typing import Final

import gymnasium
import pettingzoo

GYMNASIUM_ID: Final = "SixNimmt-v0"
PETTINGZOO_ID: Final = "sixnimmt-v0"


def register() -> None:
    """Register the environments once; a second call does nothing."""
    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(
            GYMNASIUM_ID,
            entry_point="sixnimmt_env.envs.single:SixNimmtEnv",
            vector_entry_point="sixnimmt_env.envs.vector:SixNimmtVectorEnv",
        )
    # PettingZoo has a registry from 1.26 on.
    if hasattr(pettingzoo, "register") and PETTINGZOO_ID not in pettingzoo.parallel_registry:
        pettingzoo.register("aec", PETTINGZOO_ID, "sixnimmt_env.sixnimmt_v0:env")
        pettingzoo.register("parallel", PETTINGZOO_ID, "sixnimmt_env.sixnimmt_v0:parallel_env")
