"""What is said to a user about entries, permissions, sessions and times."""
