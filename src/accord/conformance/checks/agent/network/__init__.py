"""What a server has to do over HTTP and WebSocket, whatever version its agent speaks."""
