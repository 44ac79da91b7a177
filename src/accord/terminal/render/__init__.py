"""Entries of a conversation as lines of a terminal: Markdown, cards, diffs, output, pictures."""
