"""Terminals of v1 agents as the transcript shows them, and sessions that are opened again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from accord.client import Session
from accord.client.permissions.permissions import Permissions
from accord.client.services.files import FileService
from accord.client.session.state import OUTPUT_PIECES_MAX
from accord.connection.limits import Limits
from accord.errors import ConnectionLost
from tests.client.scripted_agent import Json, ScriptedAgent, connected
from tests.hang_limit import HANG_SECONDS

ALL: Json = {"files": None, "terminals": None, "permissions": Permissions.allow_all()}


async def call(agent: ScriptedAgent, method: str, **params: Any) -> Json:
    """Ask something of the client; the result."""
    answer = await agent.answer_to(agent.request(method, {"sessionId": "s1", **params}))
    assert "result" in answer, answer
    result: Json = answer["result"]
    return result


async def until(session: Session, text: str) -> None:
    """Follow the session until a terminal of it shows this text."""
    stream = session.updates()
    while not any(text in terminal.text for terminal in session.transcript.terminals):
        await anext(stream)


async def test_a_terminal_is_shown_while_it_runs_and_keeps_what_it_said(tmp_path: Path) -> None:
    """Ours: as v2 agents show theirs; released before its end, its output stays."""
    seen = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        program = "printf 'é, and more\\n'; exec sleep 1000"
        created = await call(agent, "terminal/create", command="sh", args=["-c", program])
        await seen.wait()
        await call(agent, "terminal/release", terminalId=created["terminalId"])
        agent.end_turn(prompt)

    with anyio.fail_after(HANG_SECONDS):
        async with connected(script, **ALL) as (client, _):
            session = await client.new_session(tmp_path)
            texts: list[str] = []
            async with session.prompt("x") as turn:
                async for update in turn:
                    if update.kind == "terminal":
                        texts.append(update.text)
                        if update.text:
                            assert update.item.exit_status is None
                            seen.set()
            assert "".join(texts) == "é, and more\n"
            [terminal] = session.transcript.terminals
            assert terminal.text == "é, and more\n"
            while terminal.exit_status is None:
                await anext(session.updates())
            assert terminal.exit_status.signal == "SIGTERM"


async def test_a_command_waits_for_a_program_that_is_far_behind(tmp_path: Path) -> None:
    """Ours: a command that prints without end must not fill our memory."""
    created = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        program = f"head -c {64 * 1024 * 400} /dev/zero"
        made = await call(agent, "terminal/create", command=program)
        created.set()
        await call(agent, "terminal/wait_for_exit", terminalId=made["terminalId"])
        agent.end_turn(prompt)

    with anyio.fail_after(HANG_SECONDS):
        async with connected(script, limits=Limits(), **ALL) as (client, _):
            session = await client.new_session(tmp_path)
            async with session.prompt("x") as turn:
                await created.wait()
                while len(turn._inbox) <= OUTPUT_PIECES_MAX:
                    await checkpoint()
                await anyio.wait_all_tasks_blocked()
                assert len(turn._inbox) <= OUTPUT_PIECES_MAX + 2
                got = 0
                async for update in turn:
                    got += len(update.text)
            assert got == 64 * 1024 * 400


@dataclass
class Shown:
    """What a foreign terminal shows."""

    text: str
    truncated: bool = False
    exit: Any = None


class Foreign:
    """Terminals of somebody else's, sync where it can be, which stream nothing."""

    def __init__(self) -> None:
        self.exited = anyio.Event()
        self.released = False

    def create(self, session_id: str, command: str, args: Any, **options: Any) -> str:
        assert "on_output" not in options
        return "t"

    def output(self, session_id: str, terminal_id: str) -> Shown:
        return Shown("said")

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> Any:
        await self.exited.wait()
        from accord.machine import Exit

        return Exit(code=0)

    def kill(self, session_id: str, terminal_id: str) -> None:
        self.exited.set()

    def release(self, session_id: str, terminal_id: str) -> None:
        self.released = True
        self.exited.set()


class Plain(Foreign):
    """The same, with the signature written out."""

    def create(  # type: ignore[override]
        self,
        session_id: str,
        command: str,
        args: Any,
        *,
        env: Any,
        cwd: Any,
        output_byte_limit: Any,
    ) -> str:
        return "t"


@pytest.mark.parametrize("how", ["kill", "release"])
@pytest.mark.parametrize("make", [Foreign, Plain])
async def test_terminals_of_somebody_elses_are_shown_at_their_end(
    tmp_path: Path, make: type[Foreign], how: str
) -> None:
    """Issue 2: each service is replaceable; once is enough, and nothing is lost."""
    terminals = make()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        await call(agent, "terminal/create", command="x")
        await call(agent, f"terminal/{how}", terminalId="t")
        agent.end_turn(prompt)

    async with connected(script, **{**ALL, "terminals": terminals}) as (client, _):
        session = await client.new_session(tmp_path)
        await session.ask("x")
        await until(session, "said")
        await anyio.wait_all_tasks_blocked()
        [terminal] = session.transcript.terminals
        assert terminal.text == "said"
        assert terminal.exit_status is not None


async def test_terminals_work_in_a_session_that_is_closed_and_loaded_again(tmp_path: Path) -> None:
    """Ours: the end of the old one's commands takes time, and is not the new one's end."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await call(agent, "terminal/create", command="sleep", args=["1000"])
        agent.write({"jsonrpc": "2.0", "method": "session/update", "params": {}})
        agent.result(await agent.expect("session/close"), {})
        agent.result(await agent.expect("session/load"), {})
        prompt = await agent.begin_turn()
        made = await call(agent, "terminal/create", command="echo", args=["again"])
        await call(agent, "terminal/wait_for_exit", terminalId=made["terminalId"])
        agent.end_turn(prompt)

    with anyio.fail_after(HANG_SECONDS):
        async with connected(script, **ALL) as (client, _):
            session = await client.new_session(tmp_path)
            while not session.transcript.terminals:
                await anext(session.updates())
            await session.close()
            session = await client.load_session("s1", tmp_path)
            await session.ask("go")
            assert [one.text for one in session.transcript.terminals] == ["again\n"]


# ---- writes


async def test_nobody_is_asked_about_a_write_that_cannot_be(tmp_path: Path) -> None:
    """Ours: first the roots, then the user."""
    asked: list[str] = []

    def ask(request: Any) -> bool:
        asked.append(request.title)
        return True

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        for path in ("/etc/no-such-file", "relative", str(tmp_path / "a")):
            params = {"sessionId": "s1", "path": path, "content": "x"}
            await agent.answer_to(agent.request("fs/write_text_file", params))
        agent.end_turn(prompt)

    options = {**ALL, "permissions": Permissions.ask(ask)}
    async with connected(script, **options) as (client, _):
        session = await client.new_session(tmp_path)
        await session.ask("x")
    assert asked == [f"Write {tmp_path / 'a'}"]
    assert (tmp_path / "a").read_text() == "x"


async def test_a_link_that_is_changed_while_the_user_thinks_writes_nothing(tmp_path: Path) -> None:
    """Ours: the user said yes to a place, and the write goes there or nowhere."""
    for name in ("notes", "secrets"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "notes")

    def ask(request: Any) -> bool:
        os.unlink(link)
        link.symlink_to(tmp_path / "secrets")
        return True

    answers: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        params = {"sessionId": "s1", "path": str(link / "a"), "content": "x"}
        answers.append(await agent.answer_to(agent.request("fs/write_text_file", params)))
        agent.end_turn(prompt)

    options = {**ALL, "permissions": Permissions.ask(ask)}
    async with connected(script, **options) as (client, _):
        session = await client.new_session(tmp_path)
        await session.ask("x")
    assert answers[0]["error"]["data"]["reason"] == "permission_denied"
    assert not list((tmp_path / "secrets").iterdir())


async def test_a_dead_agent_s_commands_end_at_once(tmp_path: Path) -> None:
    """Issue 2: all gone when the connection ends, which may be long before the client's block."""
    ended = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        await call(agent, "terminal/create", command="sleep", args=["1000"])
        await agent.transport.aclose()

    def look(update: Any) -> None:
        if update.kind == "terminal" and update.item.exit_status is not None:
            ended.set()

    with anyio.fail_after(HANG_SECONDS):
        async with connected(script, **ALL) as (client, _):
            session = await client.new_session(tmp_path, on_update=look)
            with pytest.raises(ConnectionLost):
                await session.ask("x")
            await ended.wait()


async def test_a_service_that_cannot_end_keeps_nobody_from_ending(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: the end of the connection is told to every service, and its faults are logged."""
    told: list[str] = []

    class Files(FileService):
        def close_all(self) -> None:
            told.append("files")

    class Terminals(Foreign):
        def close_all(self) -> None:
            told.append("terminals")
            raise ZeroDivisionError("mine")

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.transport.aclose()

    options: Json = {**ALL, "files": Files(), "terminals": Terminals()}
    async with connected(script, **options) as (client, _):
        session = await client.new_session(tmp_path)
        with pytest.raises(ConnectionLost):
            await session.ask("x")
    assert told == ["terminals", "files"]
    assert "failed to end" in caplog.text


async def test_a_command_that_may_not_run_is_told_as_a_whole(tmp_path: Path) -> None:
    """Ours: `sh` alone says nothing to whoever reads the agent's log; within a bound."""
    refused: list[Json] = []

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        for args in (["-c", "rm -r x"], ["-c", "x" * 5000]):
            params = {"sessionId": "s1", "command": "sh", "args": args}
            refused.append(await agent.answer_to(agent.request("terminal/create", params)))
        agent.end_turn(prompt)

    options = {**ALL, "permissions": Permissions.deny_all()}
    async with connected(script, **options) as (client, _):
        session = await client.new_session(tmp_path)
        await session.ask("x")
    first, second = (answer["error"]["message"] for answer in refused)
    assert first == "running sh -c 'rm -r x' is not allowed"
    assert len(second) < 600
