"""The kit's own JSON-RPC peer, and functions that read, validate and make frames."""
