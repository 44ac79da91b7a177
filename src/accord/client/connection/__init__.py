"""The connection to one agent: handshake, requests in both directions, traffic."""
