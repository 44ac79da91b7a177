"""Rare cases with a client of the 2026-02 draft: what is malformed, missing or unexpected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.agent.serving.draft.mcp_servers import kept_servers
from accord.agent.session.agent_session import session_state
from accord.errors import LocalProtocolError, RequestFailed, StoreError
from accord.schema import v2
from accord.schema.struct import Raw
from tests.agent.draft.draft_client import draft_client
from tests.hang_limit import HANG_SECONDS

M = "acp.draft/2026-02"


def agent_that(handler: Any, **more: Any) -> Agent:
    """An agent with this handler."""
    agent = Agent("corners", version="1", **more)
    agent.on_prompt(handler)
    return agent


@pytest.mark.parametrize(
    ("kind", "given", "operation", "resource"),
    [
        ("fetch", {"url": "https://a.b"}, "network_access", "https://a.b"),
        ("other", {"resource": "db", "path": "/x"}, "mcp_tool", "db"),
        ("execute", {"command": "ls"}, "terminal_execute", "ls"),
        ("read", [1], "file_read", "Do it"),
        ("delete", {"path": "/d"}, "file_delete", "/d"),
    ],
)
async def test_a_question_names_what_it_is_about(
    kind: str, given: Any, operation: str, resource: str
) -> None:
    """The draft's table 4.1: by the place, the command, or what the input says; else the title."""

    async def ask(turn: Turn) -> None:
        async with turn.tool_call("Do it", kind=kind, raw_input=given) as call:
            await call.ask()

    async with draft_client(agent_that(ask)) as client:
        session = await client.new_session()
        prompt = client.start_prompt(session)
        request = await client.next("session/request_permission")
        assert request["params"]["operation"] == operation
        assert request["params"]["resource"] == resource
        assert request["params"]["reason"].splitlines()[0] == "Do it"
        client.grant(request)
        await client.answer(prompt)


async def test_a_question_that_fails_is_an_error_of_the_turn() -> None:
    """A client that cannot answer has not agreed."""
    seen: list[Exception] = []

    async def ask(turn: Turn) -> None:
        async with turn.tool_call("Do it", kind="edit") as call:
            try:
                await call.ask()
            except RequestFailed as error:
                seen.append(error)
                raise

    async with draft_client(agent_that(ask)) as client:
        session = await client.new_session()
        prompt = client.start_prompt(session)
        client.refuse(await client.next("session/request_permission"), -32603)
        answer = await client.answer(prompt)
        assert answer["result"]["stopReason"] == "error"
        assert client.statuses() == ["pending", "awaiting_permission", "in_progress", "failed"]
    assert len(seen) == 1


async def test_a_store_that_fails_at_the_end_is_an_error_of_the_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D26-08: after the turn began nothing is an error answer."""
    agent = Agent("full", version="1")

    @agent.on_prompt
    async def talk(turn: Turn) -> None:
        async def touch() -> None:
            raise StoreError("store_full", "the disk is full")

        monkeypatch.setattr(session_state(turn.session).stored, "touch", touch)
        await turn.say("x")

    async with draft_client(agent) as client:
        session = await client.new_session()
        result = await client.prompt(session)
        assert result["stopReason"] == "error"
        assert result["_meta"][M]["error"]["data"]["reason"] == "store_full"


async def test_a_store_that_fails_before_the_turn_is_an_error_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The draft's table 3.5: the turn has not begun."""

    async def never(turn: Turn) -> None:
        raise AssertionError("no turn")

    agent = agent_that(never)
    async with draft_client(agent) as client:
        session = await client.new_session()

        async def put(record: Any) -> None:
            raise StoreError("store_full", "the disk is full")

        monkeypatch.setattr(agent.store, "put", put)
        answer = await client.answer(client.start_prompt(session))
        assert answer["error"]["code"] == -32603


async def test_a_prompt_that_grows_when_it_is_translated_is_served() -> None:
    """The bound on a message is that of the client's connection, not of the one behind it."""
    seen: list[int] = []

    async def count(turn: Turn) -> None:
        seen.append(len(turn.prompt))

    agent = agent_that(count)
    agent._definition.limits = agent._definition.limits._replace(frame_bytes=20_000)
    async with draft_client(agent) as client:
        session = await client.new_session("/a/folder/with/a/long/name/so/that/paths/are/long")
        result = await client.prompt(session, attachments=[{"path": "a"}] * 1000)
        assert result["stopReason"] == "end_turn"
    assert seen == [1001]


async def test_too_many_prompts_are_refused_before_their_turn() -> None:
    """As in v1: the line of a session has an end."""
    free = anyio.Event()

    async def wait(turn: Turn) -> None:
        await free.wait()

    agent = agent_that(wait)
    async with draft_client(agent) as client:
        session = await client.new_session()
        most = agent.limits.prompts_queued
        prompts = [client.start_prompt(session) for _ in range(most + 2)]
        assert (await client.answer(prompts[-1]))["error"]["code"] == -32600
        free.set()
        for prompt in prompts[:-1]:
            assert (await client.answer(prompt))["result"]["stopReason"] == "end_turn"


async def test_a_call_is_patched_after_its_announcement() -> None:
    """The draft's table 5.1: what the draft's update has no field for is kept in `_meta`."""

    async def work(turn: Turn) -> None:
        await turn.emit(v2.ToolCallUpdate(tool_call_id="c", status="in_progress", title="One"))
        await turn.emit(
            v2.ToolCallUpdate(
                tool_call_id="c",
                name="tool",
                kind="edit",
                title="Two",
                locations=[v2.ToolCallLocation(path="/a")],
                raw_input=Raw(b'{"a":1}'),
            )
        )
        await turn.emit(v2.ToolCallUpdate(tool_call_id="c", content=[], status="paused"))
        await turn.emit(v2.ToolCallUpdate(tool_call_id="c", status="completed"))
        with pytest.raises(LocalProtocolError):
            await turn.emit(v2.ToolCallUpdate(tool_call_id="c", status="failed"))
        # What is told past the turn's guard is held back by the wire.
        await turn.session.emit(v2.ToolCallUpdate(tool_call_id="c", status="failed"))

    async with draft_client(agent_that(work)) as client:
        session = await client.new_session()
        await client.prompt(session)
        assert client.statuses() == ["pending", "in_progress", "completed"]
        patched = client.told("tool_call_update")[1]["_meta"][M]
        assert patched["input"] == {"a": 1}
        assert (patched["title"], patched["kind"], patched["tool"]) == ("Two", "edit", "tool")


async def test_notifications_of_the_agents_own_are_served() -> None:
    """The draft's table 2: custom methods."""
    agent = Agent("own", version="1")
    seen = anyio.Event()

    @agent.notification("_vendor/hint")
    async def hint(params: dict[str, Any]) -> None:
        seen.set()

    async with draft_client(agent) as client:
        client.notify("session/cancel", {"sessionId": "nobody"})
        client.notify("_vendor/unknown", {})
        client.notify("_vendor/hint", {})
        with anyio.fail_after(HANG_SECONDS):
            await seen.wait()


async def test_a_secret_in_a_list_is_hidden_too() -> None:
    """Whatever the credentials look like."""
    agent = Agent("lists", version="1")

    @agent.on_authenticate
    async def refuse(method: str, credentials: Mapping[str, Any]) -> None:
        raise ValueError(f"none of {credentials['codes']} but {credentials['pin']}")

    async with draft_client(agent) as client:
        credentials = {"codes": ["alpha-1", "beta-22"], "pin": 1}
        params = {"method": "custom", "credentials": credentials}
        result = await client.result("authenticate", params)
    assert result == {"success": False, "error": "none of ['[secret]', '[secret]'] but 1"}


def test_what_was_kept_of_servers_and_cannot_be_read_is_nothing() -> None:
    """A store of another version must not keep a session from being loaded."""
    assert kept_servers(b"{") == []
    assert kept_servers(None) == []
