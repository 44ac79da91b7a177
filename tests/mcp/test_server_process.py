"""A server that is a program: everything that a session does with one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.agent.tools.elicitation import Answer
from accord.mcp.elicitation import Question
from accord.mcp.servers import McpServers, ServerStatus
from accord.schema import v2
from tests.mcp.conftest import connected, the_status, workshop

SECRET = "s3cret-value"


async def test_a_program_is_used_in_every_way(tmp_path: Path, monkeypatch: Any) -> None:
    """Issue: servers are really connected, tools listed with their server, results mapped.

    One test for many things, since each start of a server made with the MCP package takes long.
    """
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-user")
    changed = anyio.Event()

    async def on_change(_status: ServerStatus) -> None:
        changed.set()

    spec = workshop(env={"TOKEN": SECRET})
    hooks = {"roots": [str(tmp_path)], "elicit": answer_form, "on_change": on_change}
    async with connected(spec, cwd=tmp_path, **hooks) as servers:
        assert the_status(servers).state == "connected"
        await it_lists_tools(servers)
        await it_returns_what_the_tool_says(servers)
        await it_gives_only_the_named_variables(servers, tmp_path)
        await it_reports_progress(servers)
        await it_tells_the_server_of_a_cancellation(servers)
        await it_passes_questions_on(servers)
        await it_reads_resources(servers)
        await it_follows_changes_of_the_list(servers, changed)
    assert the_status(servers).state == "closed"
    closed = await servers.call("shop", "add", {"a": 1, "b": 2})
    assert (closed.ok, closed.text) == (False, "MCP server 'shop': it is closed")


async def answer_form(question: Question) -> Answer:
    if question.mode == "url":
        return Answer("accept" if question.url == "https://example.com/login" else "cancel", {})
    assert question.server == "shop"
    assert question.schema is not None
    assert set(question.schema["properties"]) == {"name"}
    return Answer("accept", {"name": "Ada"})


async def it_lists_tools(servers: McpServers) -> None:
    add = servers.tool("shop", "add")
    assert add is not None
    assert (add.title, add.description, add.kind) == ("Add", "Add two numbers.", "fetch")
    assert set(add.input_schema["properties"]) == {"a", "b"}
    fail = servers.tool("shop", "fail")
    assert fail is not None
    assert fail.kind == "other"
    assert the_status(servers).tools == len(servers.tools)


async def it_returns_what_the_tool_says(servers: McpServers) -> None:
    added = await servers.call("shop", "add", {"a": 1, "b": 2})
    assert (added.ok, added.structured) == (True, {"total": 3})
    failed = await servers.call("shop", "fail")
    assert not failed.ok
    assert "fail" in failed.text
    shown = await servers.call("shop", "show")
    assert [type(one) for one in shown.blocks] == [
        v2.TextContent,
        v2.ImageContent,
        v2.AudioContent,
        v2.ResourceLink,
        v2.EmbeddedResource,
    ]
    assert shown.text.splitlines() == [
        "some text",
        "[image image/png, 15 bytes]",
        "[audio audio/wav, 15 bytes]",
        "[resource notes: file:///notes.txt]",
        "inside a resource",
    ]
    unknown = await servers.call("shop", "ad")
    assert "has no tool 'ad'; it has: add," in unknown.text
    nowhere = await servers.call("chop", "add")
    assert nowhere.text == "there is no MCP server 'chop'; there are: shop"


async def it_gives_only_the_named_variables(servers: McpServers, folder: Path) -> None:
    named = await servers.call("shop", "environment", {"name": "TOKEN"})
    # It has it, and quotes it in vain.
    assert named.text == "[secret]"
    other = await servers.call("shop", "environment", {"name": "OPENAI_API_KEY"})
    assert other.text == "unset"
    assert (await servers.call("shop", "where")).text == str(folder.resolve())
    assert (await servers.call("shop", "roots")).text.rstrip("/") == folder.as_uri()


async def it_reports_progress(servers: McpServers) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def progressed(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    result = await servers.call("shop", "slow", on_progress=progressed)
    assert result.text == "done"
    assert heard == [(1, 2, "step 1"), (2, 2, "step 2")]


async def it_tells_the_server_of_a_cancellation(servers: McpServers) -> None:
    scope = anyio.CancelScope()

    async def progressed(_done: float, _total: float | None, _message: str | None) -> None:
        scope.cancel()

    with scope:
        await servers.call("shop", "wait", on_progress=progressed)
    assert scope.cancelled_caught
    # The cancellation was sent before this call; its handler may end a little later.
    while (await servers.call("shop", "cancelled")).text != "1":
        pass


async def it_passes_questions_on(servers: McpServers) -> None:
    assert (await servers.call("shop", "greet")).text == "hello Ada"
    assert (await servers.call("shop", "log_in")).text == "accept"

    async def decline(_question: Question) -> Answer:
        return Answer("decline", {})

    assert (await servers.call("shop", "greet", elicit=decline)).text == "decline"

    async def wrong(_question: Question) -> Answer:
        return Answer("accept", {"name": 5})

    assert (await servers.call("shop", "greet", elicit=wrong)).text == "cancel"

    async def cannot(_question: Question) -> Answer:
        return Answer("unsupported", {})

    assert "cannot be shown a form" in (await servers.call("shop", "greet", elicit=cannot)).text


async def it_reads_resources(servers: McpServers) -> None:
    [memo] = await servers.resources()
    assert (memo.server, memo.uri) == ("shop", "memo://today")
    read = await servers.read_resource("memo://today")
    assert (read.ok, read.text) == (True, "write tests")
    missing = await servers.read_resource("memo://tomorrow")
    assert not missing.ok
    assert "shop" in missing.text


async def it_follows_changes_of_the_list(servers: McpServers, changed: anyio.Event) -> None:
    assert servers.tool("shop", "learned") is None
    assert (await servers.call("shop", "learn")).ok
    await changed.wait()
    assert (await servers.call("shop", "learned")).text == "new"


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_trio_serves_as_well(tmp_path: Path) -> None:
    """House rule: outside of the transports the event loop is any that anyio knows."""
    async with connected(workshop(), cwd=tmp_path) as servers:
        assert (await servers.call("shop", "add", {"a": 1, "b": 2})).structured == {"total": 3}
