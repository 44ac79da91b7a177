"""A client hands on what the agent can take, and says what it leaves out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from accord.client.connection.capabilities import AgentCapabilities
from accord.errors import ConfigError
from accord.mcp.project_file import ProjectServer
from accord.mcp.server_handoff import hand_on
from accord.mcp.server_spec import ServerSpec, spec_of
from accord.schema import v1, v2

ALL = AgentCapabilities(mcp_stdio=True, mcp_http=True, mcp_sse=True, additional_directories=True)
NONE = AgentCapabilities()


def entry(kind: str, **more: object) -> ProjectServer:
    about = {"name": "x", "file": Path("/x"), "digest": "", "type": kind, **more}
    return ProjectServer(**about)  # type: ignore[arg-type]


SERVERS = {
    "tool": entry("stdio", command=sys.executable, args=("-V",), env={"A": "b"}),
    "net": entry("http", url="https://x.example", headers={"K": "secret-of-net"}),
    "old": entry("sse", url="https://y.example", headers={"K": "v"}),
}


def test_every_transport_becomes_what_a_session_takes(tmp_path: Path) -> None:
    """Issue: hand MCP servers and additional directories to any agent."""
    handed = hand_on(ALL, SERVERS, [tmp_path])
    tool, net, old = handed.servers
    assert isinstance(tool, v2.McpServerStdio)
    assert isinstance(net, v2.McpServerHttp)
    assert isinstance(old, v1.McpServer)
    assert old.type == "sse"
    assert spec_of(tool) == ServerSpec(
        name="tool", transport="stdio", command=sys.executable, args=("-V",), env={"A": "b"}
    )
    assert handed.directories == (str(tmp_path),)
    assert handed.warnings == ()


def test_what_the_agent_cannot_take_is_left_out_with_a_warning(tmp_path: Path) -> None:
    """Issue: by its capabilities; what a configuration says need not fit every agent."""
    handed = hand_on(NONE, SERVERS, [tmp_path], required=False)
    assert (handed.servers, handed.directories) == ((), ())
    assert handed.warnings == (
        "the agent does not support the MCP server tool: no stdio servers",
        "the agent does not support the MCP server net: no HTTP servers",
        "the agent does not support the MCP server old: no SSE servers",
        f"the agent does not support additional folders: {tmp_path}",
    )


def test_what_the_user_named_must_fit(tmp_path: Path) -> None:
    """Issue: a clear refusal."""
    with pytest.raises(ConfigError, match="no HTTP servers"):
        hand_on(NONE, {"net": SERVERS["net"]})
    with pytest.raises(ConfigError, match="additional folders"):
        hand_on(NONE, {}, [tmp_path])


def test_a_program_that_is_not_there_is_named() -> None:
    """The protocol wants whole paths, so it is looked for here."""
    with pytest.raises(ConfigError, match="gone was not found: no-such-program"):
        hand_on(ALL, {"gone": entry("stdio", command="no-such-program")})
