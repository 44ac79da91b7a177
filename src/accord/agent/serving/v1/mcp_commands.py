"""Make the commands of MCP servers in v1 absolute.

The protocol requires absolute paths, but many clients send what their users wrote, such as `npx`.
A bare name is looked up in PATH.  A relative path is refused, because it is not defined which
folder it starts from.
"""

from __future__ import annotations

import os

from accord.errors import RequestError
from accord.machine.redacted_logs import logger
from accord.schema import v1
from accord.schema.struct import UNSET

_log = logger("accord.agent")


def resolved(server: v1.McpServer, index: int) -> v1.McpServer:
    """The server with an absolute command; a command that is not found is refused."""
    if server.type is not UNSET or server.command is UNSET or os.path.isabs(server.command):
        return server
    from accord.machine.processes.program_lookup import find_program

    command = server.command
    found = None if os.path.dirname(command) else find_program(command)
    if found is None:
        raise RequestError.invalid_params(
            f"{command!r} is neither an absolute path nor a command that can be found",
            f"$.mcpServers[{index}].command",
        )
    _log.warning("the command %r of MCP server %r is not absolute", command, server.name)
    return v1.McpServer(
        name=server.name,
        command=found,
        args=server.args,
        env=server.env,
        meta=server.meta,
    )
