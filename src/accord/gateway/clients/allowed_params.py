"""What a client may not ask of an agent that others use too.

Programs and folders of this machine, when it opens a session; and other accounts for the agent.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from accord.errors import RequestFailed
from accord.gateway.access.principal import Principal
from accord.gateway.configuration.agent_settings import AgentSettings
from accord.jsonrpc.error_codes import INVALID_PARAMS, PERMISSION_DENIED

ACCOUNT_METHODS: Final = frozenset(
    {
        *("authenticate", "logout", "auth/login", "auth/logout"),
        *("providers/set", "providers/disable"),
    }
)
"""What changes the account that an agent works with, in each version."""


def refuse_programs(settings: AgentSettings, method: str, params: dict[str, Any]) -> None:
    """Refuse MCP servers that would be started as programs on this machine.

    Raises:
        RequestFailed: there is one that the agent's settings do not allow.
    """
    servers = params.get("mcpServers")
    for server in servers if isinstance(servers, list) else ():
        if not isinstance(server, dict) or server.get("type", "stdio") != "stdio":
            continue
        if settings.stdio_mcp.allows(*_program_of(server)):
            continue
        name = str(server.get("name", "without a name"))
        said = (
            f"the MCP server {name!r} would run a program on the machine that hosts this"
            " agent, which does not allow that; connect without it, or use a server with"
            " a URL"
        )
        data = {"reason": "stdio_mcp_server", "server": name, "policy": "refused"}
        raise RequestFailed(method, INVALID_PARAMS, said, data)


def refuse_folders(settings: AgentSettings, method: str, params: dict[str, Any]) -> None:
    """Refuse a session outside the folder that the agent's clients may use.

    Raises:
        RequestFailed: it names a folder outside.
    """
    if settings.root is None:
        return
    root = os.path.realpath(str(settings.root))
    more = params.get("additionalDirectories")
    for folder in (params.get("cwd"), *(more if isinstance(more, list) else ())):
        if isinstance(folder, str) and not Path(os.path.realpath(folder)).is_relative_to(root):
            said = f"sessions of this agent are in {settings.root}; {folder} is outside"
            data = {"reason": "outside_root", "root": str(settings.root)}
            raise RequestFailed(method, INVALID_PARAMS, said, data)


def refuse_account_change(settings: AgentSettings, rights: Principal, method: str) -> None:
    """Refuse a login, a logout or another provider that would count for other users too.

    Raises:
        RequestFailed: the agent's account is shared, and an admin of the agent is needed.
    """
    role = rights.role_for(settings.name)
    if method not in ACCOUNT_METHODS or settings.accounts == "separate" or role == "admin":
        return
    said = (
        f"{method} would change the account of {settings.name} for everybody who uses it here;"
        " ask an admin of the agent"
    )
    data = {"reason": "role", "role": role, "needed": "admin"}
    raise RequestFailed(method, PERMISSION_DENIED, said, data)


def _program_of(server: dict[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Return the command line and the variables of an MCP server."""
    args = server.get("args")
    words = [str(server.get("command", "")), *map(str, args if isinstance(args, list) else ())]
    variables = server.get("env")
    named = {
        str(one.get("name")): str(one.get("value"))
        for one in (variables if isinstance(variables, list) else ())
        if isinstance(one, dict)
    }
    return words, named
