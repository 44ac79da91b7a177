"""Version 1 on the client's side."""
