"""Sessions of a client: prompts, turns and the state that updates are folded into."""
