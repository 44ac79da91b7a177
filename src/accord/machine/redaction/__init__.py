"""Secrets: what they look like, and how they are removed from text, streams and frames."""
