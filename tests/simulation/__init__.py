"""Whole worlds of agents and clients in one process, decided by a seed: see README.md."""
