"""Accord: everything between a coding agent and the program a person sits in front of."""

__version__ = "0.1.0"
