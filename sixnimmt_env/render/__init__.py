"""Pictures of a game. They read a State and never change it."""
