"""Renders Markdown as terminal lines."""
