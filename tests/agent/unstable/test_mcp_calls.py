"""MCP requests to servers behind the client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.agent.agent import PromptHandler
from accord.errors import LocalProtocolError, McpCallFailed, RemoteProtocolError, RequestFailed
from tests.agent.raw_client import Message, raw_client
from tests.agent.unstable.play import made, run_turn
from tests.hang_limit import HANG_SECONDS

SERVER = {"type": "acp", "name": "tools", "serverId": "srv-1"}


def consumer(handler: PromptHandler) -> Agent:
    return made(handler, mcp=["acp"])


def caught(into: list[Any]) -> PromptHandler:
    """A handler that calls a tool and keeps what came of it."""

    async def call(turn: Turn) -> None:
        try:
            into.append(await turn.session.call_mcp("srv-1", "tools/call", {"name": "add", "n": 1}))
        except Exception as error:
            into.append(error)

    return call


async def outcome(version: int, answer: Message) -> Any:
    """What a handler gets when the client answers its call with a result."""
    got: list[Any] = []
    async with raw_client(consumer(caught(got)), version=version) as client:
        client.serve["mcp/message"] = lambda _params: answer
        await run_turn(client, version, await client.new_session(mcpServers=[SERVER]))
        sent = next(frame for frame in client.frames if frame.get("method") == "mcp/message")
        assert sent["params"]["serverId"] == "srv-1"
        assert sent["params"]["method"] == "tools/call"
        assert sent["params"]["params"] == {"name": "add", "n": 1}
    return got[0]


@pytest.mark.rule("V1-MCP-08", "V1-MCP-09")
@pytest.mark.parametrize(
    "answer",
    [
        {"result": {"sum": 2}},
        {"result": None},
        {"result": [1], "error": {"code": 1, "message": "both"}},
    ],
)
async def test_the_inner_result_is_the_result(version: int, answer: Message) -> None:
    """Spec: null is a result; where both are there the result counts."""
    assert await outcome(version, answer) == answer["result"]


@pytest.mark.rule("V1-MCP-08", "V1-MCP-09")
async def test_an_inner_error_stays_inner(version: int) -> None:
    """Spec: MCP's error is not one of ACP."""
    error = {"code": -32000, "message": "no such tool", "data": {"name": "add"}}
    got = await outcome(version, {"error": error})
    assert isinstance(got, McpCallFailed)
    assert (got.method, got.code, got.message, got.data) == (
        "tools/call",
        -32000,
        "no such tool",
        {"name": "add"},
    )


@pytest.mark.rule("V1-MCP-09")
async def test_an_inner_error_that_nobody_catches_is_no_error_code_of_ours(version: int) -> None:
    """Spec: the inner -32000 must not read as `log in first`."""

    async def call(turn: Turn) -> None:
        await turn.session.call_mcp("srv-1", "tools/call")

    async with raw_client(consumer(call), version=version) as client:
        client.serve["mcp/message"] = lambda _: {"error": {"code": -32000, "message": "boom"}}
        session_id = await client.new_session(mcpServers=[SERVER])
        answer = await client.answer(client.start_prompt(session_id))
        if version == 1:
            error = answer["error"]
        else:
            error = (await client.take(_is_idle))["params"]["update"]["error"]
        assert error["code"] == -32603
        assert "boom" in error["message"]


def _is_idle(message: Message) -> bool:
    return bool(message.get("params", {}).get("update", {}).get("state") == "idle")


async def test_an_outcome_that_is_none_is_the_peers_mistake(version: int) -> None:
    """Spec: exactly one of `result` and `error`."""
    for broken in ({}, {"error": None}, {"error": {"code": "x"}}):
        assert isinstance(await outcome(version, broken), RemoteProtocolError)


@pytest.mark.rule("V1-MCP-09")
async def test_an_outer_error_is_about_reaching_the_server(version: int) -> None:
    """Spec: routing and runtime faults only."""
    got: list[Any] = []
    async with raw_client(consumer(caught(got)), version=version) as client:
        session_id = await client.new_session(mcpServers=[SERVER])
        client.start_prompt(session_id)
        client.refuse(await client.next("mcp/message"), -32603, "the server is down")
        with anyio.fail_after(HANG_SECONDS):
            while not got:
                await anyio.lowlevel.checkpoint()
    assert isinstance(got[0], RequestFailed)


async def test_notifications_reach_the_request_that_they_name_and_no_other(version: int) -> None:
    """Spec: only while the inner request is open; ids are never used twice."""
    heard: list[tuple[str, str, Mapping[str, Any]]] = []

    async def call(turn: Turn) -> None:
        async def one(name: str) -> None:
            await turn.session.call_mcp(
                "srv-1",
                "tools/call",
                {"name": name},
                on_notification=lambda method, params: heard.append((name, method, params)),
            )

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, "a")
            tasks.start_soon(one, "b")

    async with raw_client(consumer(call), version=version) as client:
        session_id = await client.new_session(mcpServers=[SERVER])
        client.start_prompt(session_id)
        calls = {}
        for _ in range(2):
            sent = await client.next("mcp/message")
            calls[sent["params"]["params"]["name"]] = sent
        ids = {name: sent["params"]["requestId"] for name, sent in calls.items()}
        assert len(set(ids.values())) == 2

        def tell(server: str, request_id: str, step: int) -> None:
            told = {"serverId": server, "requestId": request_id, "method": "progress"}
            client.notify("mcp/message", told | {"params": {"step": step}})

        tell("srv-1", ids["b"], 1)
        tell("srv-1", "unknown", 2)
        tell("srv-2", ids["a"], 3)
        tell("srv-1", ids["a"], 4)
        client.notify("mcp/message", {"serverId": "srv-1"})
        client.reply(calls["a"], {"result": {}})
        tell("srv-1", ids["a"], 5)
        tell("srv-1", ids["b"], 6)
        client.reply(calls["b"], {"result": {}})
        await client.result("session/close", {"sessionId": session_id})
    assert heard == [
        ("b", "progress", {"step": 1}),
        ("a", "progress", {"step": 4}),
        ("b", "progress", {"step": 6}),
    ]


@pytest.mark.rule("V1-MCP-07")
async def test_an_id_names_one_server_of_a_connection(version: int) -> None:
    """Spec: an id is not reused; the same server may be named again."""
    async with raw_client(consumer(caught([])), version=version) as client:
        other = SERVER | {"name": "other"}
        params = {"cwd": "/tmp", "mcpServers": [SERVER, other]}
        error = await client.error("session/new", params)
        assert (error["code"], error["data"]["path"]) == (-32602, "$.mcpServers[1].serverId")
        await client.new_session(mcpServers=[SERVER])
        await client.new_session(mcpServers=[SERVER])
        error = await client.error("session/new", {"cwd": "/tmp", "mcpServers": [other]})
        assert error["data"]["path"] == "$.mcpServers[0].serverId"


async def test_a_server_that_the_session_does_not_have_is_a_mistake(version: int) -> None:
    """Ours: named before anything is sent."""
    got: list[Any] = []
    async with raw_client(consumer(caught(got)), version=version) as client:
        await run_turn(client, version, await client.new_session())
        assert "mcp/message" not in client.methods()
    assert isinstance(got[0], LocalProtocolError)


async def test_cancelling_the_turn_withdraws_the_call(version: int) -> None:
    """Ours: the outer request is cancelled by its own id."""
    async with raw_client(consumer(caught([])), version=version) as client:
        session_id = await client.new_session(mcpServers=[SERVER])
        client.start_prompt(session_id)
        sent = await client.next("mcp/message")
        client.cancel(session_id)
        withdrawn = await client.next("$/cancel_request")
        assert withdrawn["params"]["requestId"] == sent["id"]
