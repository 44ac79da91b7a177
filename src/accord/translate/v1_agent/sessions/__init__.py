"""The sessions of a v1 agent behind a v2 client: start, end, replay and state."""
