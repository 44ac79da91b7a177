"""A recording as a timeline, an HTML page, lines in a terminal, or statistics."""
