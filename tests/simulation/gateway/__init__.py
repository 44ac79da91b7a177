"""Worlds with a gateway in them: see ../README.md."""
