"""Whole conversations in the 2026-02 draft with agents that are processes, frame by frame."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.agent.draft.draft_client import INFO, OFFER
from tests.agent.raw_client import Message
from tests.hang_limit import HANG_SECONDS

FRAME_BYTES_MAX = 1 << 20

AUTHOR = """
from accord import Agent

agent = Agent("author", version="1.0.0", accepts=["embedded_context"])
agent.add_mode("default", "Default")
agent.add_mode("plan", "Plan")

@agent.on_prompt
async def work(turn):
    await turn.think("I need to read it first")
    text = await turn.read_text("auth.ts")
    await turn.edit("auth.ts", text.replace("login", "logon"), reason="Add error handling")
    turn.count_tokens(input=350, output=520)
    await turn.say("done")

agent.run()
"""


class Wire:
    """A process, one JSON text per line in each direction."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin = process.stdin
        self._lines = BufferedByteReceiveStream(process.stdout)
        self.frames: list[Message] = []

    async def send(self, **message: Any) -> None:
        await self._stdin.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def receive(self) -> Message:
        line = await self._lines.receive_until(b"\n", FRAME_BYTES_MAX)
        message: Message = json.loads(line)
        self.frames.append(message)
        return message

    async def until(self, wanted: Callable[[Message], bool]) -> Message:
        while not wanted(message := await self.receive()):
            pass
        return message

    async def ask(
        self, number: int, method: str, params: Message, *, fails: bool = False
    ) -> Message:
        await self.send(id=number, method=method, params=params)
        answer = await self.until(lambda one: one.get("id") == number and "method" not in one)
        wanted = "error" if fails else "result"
        assert wanted in answer, answer
        result: Message = answer[wanted]
        return result


@asynccontextmanager
async def started(*command: str, folder: Path) -> AsyncIterator[Wire]:
    """A process and its wire; it leaves by itself when its stdin is closed."""
    env = {**os.environ, "ACCORD_CONFIG_DIR": str(folder), "ACCORD_STATE_DIR": str(folder)}
    env |= {"HOME": str(folder), "ACCORD_MODEL": "offline"}
    with anyio.fail_after(HANG_SECONDS):
        async with await anyio.open_process(command, env=env, stderr=None) as process:
            wire = Wire(process)
            yield wire
            assert process.stdin is not None
            await process.stdin.aclose()
            assert await process.wait() == 0


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.rule("D26-04", "D26-06", "D26-08", "D26-14", "D26-34")
async def test_the_drafts_own_conversation(tmp_path: Path) -> None:
    """The shape of the draft's appendix A: start, session, and a turn with a changed file."""
    async with started(sys.executable, "-c", AUTHOR, folder=tmp_path) as wire:
        hello = {"protocolVersion": 1, "clientInfo": INFO, "capabilities": OFFER}
        offer = await wire.ask(1, "initialize", hello)
        assert offer["agentInfo"] == {"name": "author", "version": "1.0.0"}
        assert offer["capabilities"]["sessionCapabilities"]["modes"] == ["default", "plan"]
        made = await wire.ask(2, "session/new", {"workingDirectory": "/home/user/project"})
        session = made["sessionId"]
        wire.frames.clear()
        content = [{"type": "text", "text": "Add error handling to the login function"}]
        params = {"sessionId": session, "content": content}
        await wire.send(id=10, method="session/prompt", params=params)
        for method, result in (
            ("fs/read_text_file", {"content": "login()\n", "encoding": "utf-8", "totalLines": 1}),
            ("fs/read_text_file", {"content": "login()\n", "encoding": "utf-8", "totalLines": 1}),
            ("session/request_permission", {"granted": True, "remember": True, "scope": "session"}),
            ("fs/write_text_file", {"bytesWritten": 8, "created": False}),
        ):
            asked = await wire.until(lambda one: "id" in one)
            assert asked["method"] == method
            await wire.send(id=asked["id"], result=result)
        answer = await wire.until(lambda one: one.get("id") == 10)
        assert answer["result"] == {
            "stopReason": "end_turn",
            "usage": {"inputTokens": 350, "outputTokens": 520},
        }
        shapes = [
            one.get("method") if "id" in one else one["params"]["type"] for one in wire.frames
        ]
        assert shapes == [
            "user_message_chunk",
            "thought_message_chunk",
            "fs/read_text_file",
            "fs/read_text_file",
            "tool_call",
            "tool_call_update",
            "tool_call_update",
            "session/request_permission",
            "tool_call_update",
            "fs/write_text_file",
            "tool_call_update",
            "agent_message_chunk",
            None,
        ]
        written = next(one for one in wire.frames if one.get("method") == "fs/write_text_file")
        assert written["params"]["path"] == "/home/user/project/auth.ts"
        assert "sessionId" not in written["params"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_built_in_agent_knows_the_common_names_of_the_draft(tmp_path: Path) -> None:
    """Issue 15: the draft's five modes and its two options, where it has their meaning."""
    async with started(sys.executable, "-m", "accord", "agent", folder=tmp_path) as wire:
        hello = {"protocolVersion": 1, "clientInfo": INFO, "capabilities": {}}
        await wire.ask(1, "initialize", hello)
        wishes = {
            "initialMode": "code",
            "configOptions": {"autoApprove": True, "maxTokens": 4321, "depth": 1},
        }
        made = await wire.ask(2, "session/new", {"workingDirectory": str(tmp_path), **wishes})
        session = {"sessionId": made["sessionId"]}
        assert made["_meta"]["acp.draft/2026-02"]["rejectedConfigOptions"] == {"depth": 1}
        before, number = "auto-edit", 3
        for name, mode in (
            ("ask", "read-only"),
            ("default", "ask_permission"),
            ("architect", "read-only"),
            ("plan", "plan"),
            ("code", "auto-edit"),
        ):
            changed = await wire.ask(number, "session/set_mode", {**session, "mode": name})
            assert changed == {"previousMode": before, "currentMode": mode}
            before, number = mode, number + 1
        params = {**session, "key": "maxTokens", "value": 16000}
        changed = await wire.ask(number, "session/set_config_option", params)
        assert (changed["key"], changed["previousValue"]) == ("token_limit", "4321")
        # Any whole number will do, and nothing else.
        params = {**session, "key": "maxTokens", "value": 777}
        changed = await wire.ask(number + 1, "session/set_config_option", params)
        assert (changed["previousValue"], changed["currentValue"]) == ("16000", "777")
        for at, value in enumerate((0, -5, "many", 1.5), number + 2):
            params = {**session, "key": "maxTokens", "value": value}
            refused = await wire.ask(at, "session/set_config_option", params, fails=True)
            assert refused["code"] == -32602


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.rule("D26-07", "D26-09", "D26-35")
async def test_the_built_in_agent_serves_the_draft(tmp_path: Path) -> None:
    """Issue 5: without being asked; a session is loaded by another process without its folder."""
    (tmp_path / "notes.txt").write_text("an apple\n")
    command = (sys.executable, "-m", "accord", "agent")
    async with started(*command, folder=tmp_path) as wire:
        hello = {"protocolVersion": 1, "clientInfo": INFO, "capabilities": {}}
        offer = (await wire.ask(1, "initialize", hello))["capabilities"]
        modes = offer["sessionCapabilities"]["modes"]
        # Its mode `ask` asks for permission, which is not the draft's `ask`.
        assert "ask_permission" in modes
        assert "ask" not in modes
        assert "model" in offer["sessionCapabilities"]["configOptions"]
        assert offer["sessionCapabilities"]["persistence"] is True
        made = await wire.ask(2, "session/new", {"workingDirectory": str(tmp_path)})
        params = {"sessionId": made["sessionId"], "mode": "plan"}
        changed = await wire.ask(3, "session/set_mode", params)
        assert changed == {"previousMode": "ask_permission", "currentMode": "plan"}
        told = await wire.until(lambda one: one["params"]["type"] == "current_mode_update")
        assert told["params"]["data"] == changed
        content = [{"type": "text", "text": "show notes.txt"}]
        prompt = {"sessionId": made["sessionId"], "content": content}
        assert (await wire.ask(4, "session/prompt", prompt))["stopReason"] == "end_turn"
        assert "an apple" in json.dumps(wire.frames)
    async with started(*command, folder=tmp_path) as wire:
        await wire.ask(1, "initialize", hello)
        loaded = await wire.ask(2, "session/load", {"sessionId": made["sessionId"]})
        assert loaded["workingDirectory"] == str(tmp_path)
        assert loaded["mode"] == "plan"
        assert loaded["messageCount"] == 2
