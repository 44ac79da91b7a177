"""Accord: everything between a coding agent and the program a person sits in front of."""
