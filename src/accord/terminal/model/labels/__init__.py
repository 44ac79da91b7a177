"""Labels for entries, sessions and times."""
