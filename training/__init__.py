"""Training and evaluation of agents."""
