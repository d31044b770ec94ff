"""Players built on the environment: heuristics, search and learned policies."""
