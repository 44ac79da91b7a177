"""ACP over WebSocket: one JSON-RPC message per text frame."""
