"""Which modules are mutated, and which tests see to each: first those likely to kill a mutant."""

from __future__ import annotations

_ENGINE = (
    ("golden", "engine", "where"),
    (
        "any_rules",
        "chance",
        "plus",
        "plain_view",
        "inputs",
        "memory",
        "kernels",
        "single",
        "position",
    ),
)
_VIEWS = (
    ("plain_view",),
    ("kernels", "inputs", "memory", "state_vector", "golden", "observe", "policies_plain"),
)
_RULES = (
    ("golden", "rules_bounds", "engine", "plus", "inputs"),
    ("any_rules", "where", "plain_view", "position", "notation", "parallel", "faces_plus"),
)
_TEXT = (("notation",), ("golden", "inputs", "position", "render"))
_ENVS = (
    "doors",
    "options",
    "undone",
    "aec_together",
    "parallel",
    "aec",
    "single",
    "vector",
    "state_vector",
    "chance",
    "faces_plus",
)


def _face(*first: str) -> tuple[tuple[str, ...], ...]:
    return first, tuple(name for name in _ENVS if name not in first)


PLAN: dict[str, tuple[tuple[str, ...], ...]] = {
    "sixnimmt_env/cards.py": _RULES,
    "sixnimmt_env/checks.py": (
        ("rules_bounds", "inputs", "engine"),
        ("memory", "policies", "position", "parallel"),
    ),
    "sixnimmt_env/rules.py": _RULES,
    "sixnimmt_env/state.py": _ENGINE,
    "sixnimmt_env/dealing.py": (
        ("golden", "chance"),
        ("any_rules", "engine", "where", "memory", "single"),
    ),
    "sixnimmt_env/engine.py": _ENGINE,
    "sixnimmt_env/lanes.py": (("where", "kernels"), ("plus", "engine", "any_rules", "plain_view")),
    "sixnimmt_env/loops.py": (("golden", "kernels", "where"), ("plus", "engine", "any_rules")),
    "sixnimmt_env/phases.py": _ENGINE,
    "sixnimmt_env/observe.py": _VIEWS,
    "sixnimmt_env/encoding.py": _VIEWS,
    "sixnimmt_env/encoding_loops.py": _VIEWS,
    "sixnimmt_env/policy.py": (
        ("policies_plain", "policies", "engine"),
        ("inputs", "memory", "single", "players", "vector", "heuristics"),
    ),
    "sixnimmt_env/position.py": (("position",), ("inputs", "policies_plain", "notation", "plus")),
    "sixnimmt_env/record.py": _TEXT,
    "sixnimmt_env/replay.py": _TEXT,
    "sixnimmt_env/notation.py": _TEXT,
    "sixnimmt_env/variants/__init__.py": _RULES,
    "sixnimmt_env/variants/base.py": _RULES,
    "sixnimmt_env/variants/original_zeros.py": _RULES,
    "sixnimmt_env/variants/plus.py": _RULES,
    "sixnimmt_env/variants/plus_equal.py": _RULES,
    "sixnimmt_env/variants/pro.py": _RULES,
    "sixnimmt_env/variants/simplified.py": _RULES,
    "sixnimmt_env/variants/tactics.py": _RULES,
    "sixnimmt_env/trained/archive.py": (("policy_files",), ("trained", "network")),
    "sixnimmt_env/trained/features.py": (("trained",), ("network",)),
    "sixnimmt_env/trained/network.py": (("network",), ("trained",)),
    "sixnimmt_env/trained/scope.py": (("trained",), ("network", "policy_files")),
    "sixnimmt_env/envs/aec.py": _face("aec"),
    "sixnimmt_env/envs/agents.py": _face("state_vector", "parallel", "aec"),
    "sixnimmt_env/envs/batch.py": _face("single", "undone", "vector"),
    "sixnimmt_env/envs/each.py": _face("doors", "vector"),
    "sixnimmt_env/envs/options.py": _face("options", "doors", "parallel", "single"),
    "sixnimmt_env/envs/parallel.py": _face("parallel"),
    "sixnimmt_env/envs/registration.py": _face("single", "vector"),
    "sixnimmt_env/envs/seating.py": _face("single", "doors"),
    "sixnimmt_env/envs/single.py": _face("single"),
    "sixnimmt_env/envs/spaces.py": _face("parallel", "single"),
    "sixnimmt_env/envs/vector.py": _face("vector"),
    "sixnimmt_env/envs/views.py": _face("single", "vector"),
}

DESELECTED = "not stable_baselines"
