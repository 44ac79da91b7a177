"""A sandbox for an agent's process: bubblewrap where it works, Landlock otherwise."""
