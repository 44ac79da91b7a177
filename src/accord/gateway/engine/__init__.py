"""The engine of the gateway: the log of each session, its owner, its record, and the way to it."""
