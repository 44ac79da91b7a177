"""MCP servers in v1: descriptions that are handed through to the agent's program."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.schema import v2
from tests.agent.raw_client import raw_client

STDIO = {"name": "files", "command": "/bin/files", "args": ["-v"], "env": []}
HTTP = {
    "type": "http",
    "name": "web",
    "url": "https://example.com/mcp",
    "headers": [{"name": "A", "value": "b"}],
}
SSE = {**HTTP, "type": "sse"}


def keeping_agent(seen: list[Any], **options: Any) -> Agent:
    """An agent that keeps the servers of its turns."""
    agent = Agent("servers", version="1", **options)

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        seen[:] = turn.mcp_servers

    return agent


@pytest.mark.rule("V1-MCP-01")
async def test_servers_reach_the_handler_whole() -> None:
    """Spec: stdio needs no capability; the others were offered."""
    seen: list[Any] = []
    agent = keeping_agent(seen, mcp=("http", "sse"))
    env = [{"name": "K", "value": "v"}]
    async with raw_client(agent) as client:
        session_id = await client.new_session(mcpServers=[STDIO | {"env": env}, HTTP, SSE])
        await client.prompt(session_id)
        assert isinstance(seen[0], v2.McpServerStdio)
        assert (seen[0].command, seen[0].args) == ("/bin/files", ["-v"])
        assert seen[0].env == [v2.EnvVariable(name="K", value="v")]
        assert isinstance(seen[1], v2.McpServerHttp)
        assert seen[1].url == "https://example.com/mcp"
        assert seen[2].tag == "sse"
        # Another list on resume takes the place of the old one.
        await client.result("session/resume", {"sessionId": session_id, "cwd": "/tmp"})
        await client.prompt(session_id)
        assert seen == []


@pytest.mark.parametrize("server", [HTTP, SSE, {**HTTP, "type": "smoke"}])
async def test_a_transport_that_was_not_offered_is_refused(server: dict[str, Any]) -> None:
    """Spec: the refusal says which entry; no session is made."""
    async with raw_client(keeping_agent([])) as client:
        error = await client.error("session/new", {"cwd": "/tmp", "mcpServers": [STDIO, server]})
        assert error["code"] == -32602
        assert error["data"]["path"].startswith("$.mcpServers[1]")
        assert (await client.result("session/list", {}))["sessions"] == []


@pytest.mark.rule("V1-MCP-06")
async def test_a_command_is_absolute_or_made_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Schema: absolute; a bare name is looked up, as clients in the field send it."""
    program = tmp_path / "serve-files"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("serve-files")
    seen: list[Any] = []
    async with raw_client(keeping_agent(seen)) as client:
        for command in ("no-such-command", "./serve-files", "sub/serve-files", ""):
            bad = {"cwd": str(tmp_path), "mcpServers": [STDIO | {"command": command}]}
            error = await client.error("session/new", bad)
            assert error["code"] == -32602
            assert error["data"]["path"] == "$.mcpServers[0].command"
        session_id = await client.new_session(mcpServers=[STDIO | {"command": "serve-files"}])
        await client.prompt(session_id)
    assert seen[0].command == str(program)
    assert seen[0].args == ["-v"]
