"""Slash commands of the line mode."""
