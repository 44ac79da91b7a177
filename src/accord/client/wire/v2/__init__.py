"""Version 2 on the client's side."""
