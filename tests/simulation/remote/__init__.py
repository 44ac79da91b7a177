"""Worlds in which client and server talk over HTTP and WebSocket, on a network that is played."""
