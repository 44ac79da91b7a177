"""What is said to a person about entries, permissions, sessions and times."""
