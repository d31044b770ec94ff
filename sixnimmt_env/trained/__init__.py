"""Trained players that play with NumPy alone."""
