"""What a client has to do over HTTP and WebSocket, whatever version it speaks."""
