"""Screens and panels that show an agent's files, changes, messages and permissions."""
