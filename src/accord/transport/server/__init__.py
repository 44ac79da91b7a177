"""Agents served over HTTP and WebSocket, as an ASGI application for any server."""
