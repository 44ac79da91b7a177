"""The WebSocket endpoint of a served agent."""
