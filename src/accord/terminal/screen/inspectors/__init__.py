"""Screens and panels to look at what agents do: files, changes, messages."""
