"""Players built on the environment: learned policies; later heuristics and search."""
