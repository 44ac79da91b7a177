"""Finding files by their names: what git would not ignore, searched at every key press."""
