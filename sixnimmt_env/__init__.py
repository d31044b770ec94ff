"""6 nimmt! as a fast environment for research: one vectorised engine, faces for the common APIs."""

from sixnimmt_env import sixnimmt_v0
from sixnimmt_env.encoding import encode
from sixnimmt_env.engine import Engine
from sixnimmt_env.envs.registration import register as _register
from sixnimmt_env.observe import observe
from sixnimmt_env.policy import make_policy, play
from sixnimmt_env.rules import Rules
from sixnimmt_env.state import State
from sixnimmt_env.trained.network import load_policy
from sixnimmt_env.variants import make_rules

__version__ = "0.1.0"

__all__ = [
    "Engine",
    "Rules",
    "State",
    "__version__",
    "encode",
    "load_policy",
    "make_policy",
    "make_rules",
    "observe",
    "play",
    "sixnimmt_v0",
]

_register()
