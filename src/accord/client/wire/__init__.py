"""Session messages in the form of each version."""
