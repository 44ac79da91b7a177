"""Folds for the updates of v1."""
