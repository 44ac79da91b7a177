"""The parts of `accord run`: prompt, session, turn, output and exit status."""
