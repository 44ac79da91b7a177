"""Session messages in the words of each version."""
