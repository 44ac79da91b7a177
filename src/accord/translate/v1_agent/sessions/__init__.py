"""How sessions of a v1 agent behind a v2 client start and end."""
