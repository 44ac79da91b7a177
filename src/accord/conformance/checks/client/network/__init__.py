"""Checks of clients over HTTP and WebSocket, for every version."""
