"""Numbered frames: how a remote connection continues where it was cut.  Pure; no I/O, no clock."""
