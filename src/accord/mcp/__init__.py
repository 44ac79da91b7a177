"""MCP servers: used by a session of an agent, and handed on by a client.

The package `mcp` speaks the protocol itself.  It is slow to import and comes with the extra
`agent`, so nothing here imports it before a server is really connected.
"""
