"""Which modules are mutated, and which tests are likely to kill a mutant of each."""

from __future__ import annotations

_ENGINE = ("golden", "engine", "plus", "kernels")
_DOORS = ("parallel", "aec", "single")
_VIEWS = ("golden", "observe", "kernels")
_ENVS = (*_DOORS, "vector", "faces_plus")

MODULES: dict[str, tuple[str, ...]] = {
    "sixnimmt_env/cards.py": ("engine", "golden", "plus"),
    "sixnimmt_env/rules.py": ("engine", "plus", "golden"),
    "sixnimmt_env/state.py": _ENGINE,
    "sixnimmt_env/dealing.py": _ENGINE,
    "sixnimmt_env/engine.py": _ENGINE,
    "sixnimmt_env/lanes.py": _ENGINE,
    "sixnimmt_env/loops.py": _ENGINE,
    "sixnimmt_env/phases.py": _ENGINE,
    "sixnimmt_env/observe.py": _VIEWS,
    "sixnimmt_env/encoding.py": _VIEWS,
    "sixnimmt_env/encoding_loops.py": _VIEWS,
    "sixnimmt_env/policy.py": ("heuristics", "engine", "single"),
    "sixnimmt_env/position.py": ("position",),
    "sixnimmt_env/record.py": ("notation",),
    "sixnimmt_env/replay.py": ("notation",),
    "sixnimmt_env/notation.py": ("notation",),
    "sixnimmt_env/variants/__init__.py": ("engine", "plus"),
    "sixnimmt_env/variants/base.py": ("engine", "golden"),
    "sixnimmt_env/variants/original_zeros.py": ("plus", "golden"),
    "sixnimmt_env/variants/plus.py": ("plus", "golden"),
    "sixnimmt_env/variants/plus_equal.py": ("plus", "golden"),
    "sixnimmt_env/variants/pro.py": ("engine", "golden"),
    "sixnimmt_env/variants/simplified.py": ("plus", "golden"),
    "sixnimmt_env/variants/tactics.py": ("engine", "golden"),
    "sixnimmt_env/envs/aec.py": ("aec",),
    "sixnimmt_env/envs/agents.py": ("parallel", "aec"),
    "sixnimmt_env/envs/batch.py": ("single", "vector"),
    "sixnimmt_env/envs/options.py": _DOORS,
    "sixnimmt_env/envs/parallel.py": ("parallel",),
    "sixnimmt_env/envs/registration.py": ("single", "vector"),
    "sixnimmt_env/envs/single.py": ("single",),
    "sixnimmt_env/envs/spaces.py": _DOORS,
    "sixnimmt_env/envs/vector.py": ("vector",),
}

CORE: tuple[str, ...] = (*_ENGINE, "observe", *_ENVS, "notation", "position", "heuristics")

DESELECTED = "not stable_baselines"
