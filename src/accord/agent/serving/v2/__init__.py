"""Version 2 on the agent's side."""
