"""MCP servers: used by a session of an agent, and passed to an agent by a client.

The package `mcp` implements the protocol.  It is slow to import and comes with the extra `agent`,
so it is imported only when a server is connected.
"""
