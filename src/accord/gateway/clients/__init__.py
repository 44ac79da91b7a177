"""One connection of a client to a gateway."""
