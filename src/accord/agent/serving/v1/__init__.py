"""Version 1 on the agent's side."""
