"""Folds that apply the updates of each version to a transcript's view."""
