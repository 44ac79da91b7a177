"""Folds for the updates of v2."""
