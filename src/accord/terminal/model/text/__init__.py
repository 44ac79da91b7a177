"""Make foreign text safe for a terminal: characters, colours, output, diffs."""
