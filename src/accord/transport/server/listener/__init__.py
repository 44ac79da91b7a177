"""The server of `accord serve`: one port for HTTP and WebSocket."""
