"""Training, evaluation and reports; run from the checkout, not installed."""
