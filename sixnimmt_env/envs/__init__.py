"""Faces of the engine: PettingZoo, Gymnasium and Stable-Baselines3. They hold no rules."""
