"""Renderers for each kind of conversation entry."""
