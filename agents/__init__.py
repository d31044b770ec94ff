"""Players built on `sixnimmt_env`; run from the checkout, not installed."""
