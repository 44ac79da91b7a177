"""Checks of servers over HTTP and WebSocket, for every version of their agent."""
