"""Rare cases with agents of the 2026-02 draft."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from accord.client import Client
from accord.client.options import DraftOptions
from accord.client.permissions.permissions import Permissions
from accord.errors import LocalProtocolError, RequestFailed, VersionMismatch
from accord.machine.processes.child_process import Exit
from accord.schema import v2
from accord.schema.struct import UnknownVariant
from tests.client.draft.draft_script import ANSWER, asking, drafting, open_session
from tests.client.scripted_agent import BARE, Json, ScriptedAgent, playing


async def test_servers_and_blocks_that_the_draft_cannot_say_are_refused() -> None:
    """The draft's table 6 and 8: before anything is sent."""

    async def script(agent: ScriptedAgent) -> None:
        sent = await open_session(agent)
        transport = {"type": "http", "url": "http://h", "headers": {"A": "1"}}
        assert sent["mcpServers"] == [{"name": "h", "transport": transport}]

    http = v2.McpServerHttp(name="h", url="http://h", headers=[v2.HttpHeader(name="A", value="1")])
    async with drafting(script) as (client, _):
        with pytest.raises(LocalProtocolError, match="acp"):
            await client.new_session(mcp_servers=[v2.McpServerAcp(name="a", server_id="1")])
        session = await client.new_session(mcp_servers=[http])
        for block in (UnknownVariant("type", "smell", b"{}"), object()):
            with pytest.raises(LocalProtocolError):
                session.prompt(block)  # type: ignore[arg-type]


async def test_extensions_of_the_agent_are_found_among_its_custom_capabilities() -> None:
    """The draft's table 2: `_custom` is `_meta` of the others."""
    custom = {"accord": {"methods": ["_acme/x"]}}
    answer = {**ANSWER, "capabilities": {"_custom": custom, "_meta": {"other": 1}}}

    async def script(agent: ScriptedAgent) -> None:
        pass

    async with drafting(script, answer) as (client, _):
        assert client.capabilities.raw["_meta"] == {**custom, "other": 1}


async def test_an_agent_that_was_known_and_now_demands_more_is_named_at_once() -> None:
    """Ours: starting from the top would say the same."""

    class Known:
        forgotten = False

        def recall(self, agent: object, /) -> tuple[str, str] | None:
            return "draft", "1"

        def remember(self, agent: object, dialect: str, version: str, /) -> None:
            pass

        def forget(self, agent: object, /) -> None:
            self.forgotten = True

    async def script(agent: ScriptedAgent) -> None:
        required = {"requiredClientCapabilities": {"fs": {"watch": True}}}
        agent.result(await agent.expect("initialize"), {**ANSWER, **required})

    known = Known()
    async with playing(script) as (_, transport):
        draft = DraftOptions(address="x", dialects=known)
        with pytest.raises(VersionMismatch, match=r"fs\.watch"):
            async with Client.connect(transport, draft=draft, **BARE):
                pytest.fail("it cannot work with us")
    assert not known.forgotten


async def test_an_answer_to_the_drafts_form_that_is_none_leaves_the_first_error() -> None:
    """The draft's table 1.2."""
    for answer in (5, {"protocolVersion": 7, "agentInfo": {}, "capabilities": {}}):

        async def script(agent: ScriptedAgent, answer: Any = answer) -> None:
            agent.error(await agent.expect("initialize"), -32602, "the first")
            agent.result(await agent.expect("initialize"), answer)

        async with playing(script) as (_, transport):
            with pytest.raises(RequestFailed, match="the first"):
                async with Client.connect(transport, **BARE):
                    pytest.fail("there was no answer")


class Hasty:
    """Its one command prints before anybody knows its id."""

    streams_output = True

    def __init__(self) -> None:
        self._tasks: Any = None
        self._printed = anyio.Event()

    def for_connection(self, tasks: Any) -> Hasty:
        self._tasks = tasks
        return self

    async def create(
        self, session_id: str, command: str, args: Any, on_output: Any = None, **more: Any
    ) -> str:
        async def print_all() -> None:
            await on_output(b"early\xc3")
            self._printed.set()

        self._tasks.start_soon(print_all)
        await anyio.wait_all_tasks_blocked()
        return "t1"

    def output(self, session_id: str, terminal_id: str) -> None:
        raise NotImplementedError

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> Exit:
        await self._printed.wait()
        return Exit(code=0)

    def kill(self, session_id: str, terminal_id: str) -> None:
        raise NotImplementedError

    def release(self, session_id: str, terminal_id: str) -> None:
        raise NotImplementedError


async def test_output_that_is_refused_or_came_early_harms_nobody(tmp_path: Path) -> None:
    """Ours: it is shown all the same; half a character at the end is told too."""
    sent: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        prompt = await agent.expect("session/prompt")
        created = await agent.answer_to(agent.request("terminal/create", {"command": "true"}))
        terminal = created["result"]["terminalId"]
        waiting = agent.request("terminal/wait_for_exit", {"terminalId": terminal})
        while True:
            message = await agent.next()
            if message.get("method") == "terminal/output":
                sent.append(message["params"])
                agent.error(message, -32004, "which terminal?")
            elif message.get("id") == waiting:
                break
        agent.result(prompt, {"stopReason": "end_turn"})

    options: Json = {"permissions": Permissions.allow_all(), "terminals": Hasty()}
    async with drafting(script, **options) as (client, _):
        session = await client.new_session(tmp_path)
        await session.ask("x")
    assert [one["data"] for one in sent] == ["early", "\ufffd"]
    assert "early" in session.transcript.terminals[0].text


async def test_a_file_that_a_rule_protects_is_not_read(tmp_path: Path) -> None:
    """Ours: reading is free unless a rule speaks against it."""
    from accord.client.permissions.rules import Rule

    (tmp_path / "secret").write_text("x")
    answers: list[Json] = []
    rules = [Rule(effect="reject", path=str(tmp_path / "secret"))]
    options: Json = {"permissions": Permissions.policy(rules, otherwise="allow"), "files": True}
    script = asking("fs/read_text_file", {"path": "secret"}, answers)
    async with drafting(script, **options) as (client, _):
        session = await client.new_session(tmp_path)
        await session.ask("x")
    assert answers[0]["error"]["code"] == -32002
