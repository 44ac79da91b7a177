"""Hosting: agents of any kind behind HTTP and WebSocket, for several users."""
