"""Terminals that a client runs for agents of the 2026-02 draft."""

from __future__ import annotations

import json
import os
import shlex
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

import accord.client.wire.draft.terminals as draft_output
from accord.client import Client
from accord.client.permissions.permissions import Permissions
from accord.client.services.terminals import TerminalService
from accord.machine.processes.child_process import Exit
from accord.machine.terminals.terminals import TerminalOutput
from tests.client.draft.draft_script import PROGRAM, drafting, open_session
from tests.client.scripted_agent import Json, ScriptedAgent

ONLY_ASYNCIO = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
FREE: Json = {"permissions": Permissions.allow_all(), "terminals": True}


class Console:
    """What an agent does with terminals in one turn, and what it is sent meanwhile."""

    def __init__(self, agent: ScriptedAgent, answers: bool = True) -> None:
        self.agent = agent
        self.answers = answers
        self.sent: list[Json] = []
        self.order: list[str] = []

    async def ask(self, method: str, **params: Any) -> Json:
        request_id = self.agent.request(f"terminal/{method}", params)
        while True:
            message = await self.agent.next()
            if message.get("method") == "terminal/output":
                self.take(message)
            elif message.get("id") == request_id and "method" not in message:
                self.order.append(method)
                return message

    def take(self, message: Json) -> None:
        self.order.append("output")
        self.sent.append(message["params"])
        if self.answers and "id" in message:
            self.agent.result(message, {"received": True})

    def text(self, stream: str) -> str:
        return "".join(one["data"] for one in self.sent if one["stream"] == stream)


def turn(work: Any, answers: bool = True) -> Any:
    """A script whose one turn is this work with a console."""

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        prompt = await agent.expect("session/prompt")
        await work(Console(agent, answers))
        agent.result(prompt, {"stopReason": "end_turn"})

    return script


async def played(folder: Path, work: Any, *, answers: bool = True, **options: Any) -> Any:
    """Play it; gives the transcript."""
    script = turn(work, answers)
    async with drafting(script, **{**FREE, **options}) as (client, _):
        session = await client.new_session(folder)
        await session.ask("x")
        return session.transcript


@pytest.mark.rule("D26-11")
async def test_output_is_sent_stdout_and_stderr_apart_and_before_the_exit(tmp_path: Path) -> None:
    """The draft's table 4.3: pushed and not polled; nothing before the agent knows the id."""
    (tmp_path / "sub").mkdir()
    found: dict[str, Any] = {}

    async def work(console: Console) -> None:
        created = (
            await console.ask(
                "create",
                command="echo $WORD; pwd; echo wrong >&2; exit 3",
                env={"WORD": "é"},
                cwd="sub",
            )
        )["result"]
        assert created["pid"] > 1
        terminal = created["terminalId"]
        found["exit"] = (await console.ask("wait_for_exit", terminalId=terminal))["result"]
        found["out"], found["err"] = console.text("stdout"), console.text("stderr")
        found["order"] = console.order
        found["released"] = (await console.ask("release", terminalId=terminal))["result"]
        found["again"] = (await console.ask("release", terminalId=terminal))["result"]
        gone = await console.ask("wait_for_exit", terminalId=terminal)
        found["gone"] = gone["error"]["code"]

    transcript = await played(tmp_path, work)
    assert found["exit"] == {"exitCode": 3}
    assert found["out"] == f"é\n{tmp_path / 'sub'}\n"
    assert found["err"] == "wrong\n"
    assert found["order"][0] == "create"
    assert found["order"][-1] == "wait_for_exit"
    assert (found["released"], found["again"]) == ({"released": True}, {"released": False})
    assert found["gone"] == -32004
    (terminal,) = transcript.terminals
    assert "wrong" in terminal.text
    assert terminal.exit_status.exit_code == 3


@ONLY_ASYNCIO
async def test_a_program_hears_what_its_command_prints(tmp_path: Path) -> None:
    """Issue 5, in a real process."""
    async with Client.spawn(*PROGRAM, permissions=Permissions.allow_all()) as client:
        session = await client.new_session(tmp_path)
        reply = await session.ask('run {"command": "echo out; echo err >&2"}')
        told = json.loads(reply.text)
    assert (told["stdout"], told["stderr"], told["exit"]) == ("out\n", "err\n", {"exitCode": 0})


async def test_a_command_ends_when_its_time_is_over(tmp_path: Path) -> None:
    """The draft's table 4.3: `timeout` of the terminal, in milliseconds."""
    found: list[Json] = []

    async def work(console: Console) -> None:
        created = await console.ask("create", command="sleep", args=["60"], timeout=50)
        terminal = created["result"]["terminalId"]
        found.append((await console.ask("wait_for_exit", terminalId=terminal))["result"])

    await played(tmp_path, work)
    assert found == [{"exitCode": 143, "signal": "SIGTERM", "timedOut": True}]


async def test_a_wait_ends_when_its_time_is_over_and_the_command_goes_on(tmp_path: Path) -> None:
    """The draft's table 4.3: `{exitCode: -1, timedOut: true}`."""
    found: list[Json] = []

    async def work(console: Console) -> None:
        created = await console.ask("create", command="sleep", args=["60"])
        terminal = created["result"]["terminalId"]
        waited = await console.ask("wait_for_exit", terminalId=terminal, timeout=20)
        found.append(waited["result"])
        found.append((await console.ask("kill", terminalId=terminal))["result"])
        found.append((await console.ask("wait_for_exit", terminalId=terminal))["result"])
        found.append((await console.ask("kill", terminalId=terminal))["result"])
        waited = await console.ask("wait_for_exit", terminalId=terminal, timeout=0)
        found.append(waited["result"])

    await played(tmp_path, work)
    assert found == [
        {"exitCode": -1, "timedOut": True},
        {"killed": True},
        {"exitCode": 143, "signal": "SIGTERM"},
        {"killed": False},
        {"exitCode": 143, "signal": "SIGTERM"},
    ]


@pytest.mark.parametrize(
    ("how", "ended"),
    [
        ({"signal": "SIGINT"}, "SIGINT"),
        ({"signal": "usr1"}, "SIGUSR1"),
        ({"force": True}, "SIGKILL"),
        ({"signal": "SIGINT", "force": True}, "SIGKILL"),
        ({"force": False}, "SIGTERM"),
    ],
)
async def test_a_command_is_sent_the_signal_that_was_named(
    tmp_path: Path, how: Json, ended: str
) -> None:
    """Draft 5.2.7: SIGTERM by default; `force` is SIGKILL; the exit is as a shell tells it."""
    found: list[Json] = []

    async def work(console: Console) -> None:
        terminal = (await console.ask("create", command="sleep", args=["60"]))["result"][
            "terminalId"
        ]
        unknown = await console.ask("kill", terminalId=terminal, signal="SIGNIX")
        assert unknown["error"]["code"] == -32602
        assert (await console.ask("kill", terminalId=terminal, **how))["result"]["killed"] is True
        found.append((await console.ask("wait_for_exit", terminalId=terminal))["result"])

    await played(tmp_path, work)
    assert found == [{"exitCode": 128 + signal.Signals[ended].value, "signal": ended}]


async def test_no_more_terminals_run_than_we_said(tmp_path: Path) -> None:
    """The draft's table 7: `maxConcurrent` is enforced, with a clear error."""
    found: list[Json] = []

    async def work(console: Console) -> None:
        first = await console.ask("create", command="sleep", args=["60"])
        found.append((await console.ask("create", command="true"))["error"])
        await console.ask("release", terminalId=first["result"]["terminalId"])
        assert "result" in await console.ask("create", command="true")

    await played(tmp_path, work, terminals=TerminalService(count_max=1))
    assert found[0]["code"] == -32006
    assert "maxConcurrent" in found[0]["message"]


@pytest.mark.rule("D26-33")
async def test_a_command_that_may_not_run_or_cannot_is_refused(tmp_path: Path) -> None:
    """The draft's table 9: the user's no is -32002; what is not a program is -32602."""
    codes: list[int] = []

    async def work(console: Console) -> None:
        answer = await console.ask("create", command="no-such-program-here", args=["x"])
        codes.append(answer["error"]["code"])

    await played(tmp_path, work, permissions=Permissions.deny_all())
    await played(tmp_path, work)
    assert codes == [-32002, -32602]


@pytest.mark.parametrize("silent", [True, False])
async def test_an_agent_that_does_not_answer_output_does_not_stop_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent: bool
) -> None:
    """The draft's table 4.3: a call in the style of a notification; some never answer it."""
    monkeypatch.setattr(draft_output, "ANSWER_SECONDS_MAX", 0.01)
    asked: list[bool] = []
    # The command prints a line, and the next one when the agent has the last.
    os.mkfifo(tmp_path / "gate")
    gate = os.open(tmp_path / "gate", os.O_RDWR)

    async def work(console: Console) -> None:
        take = console.take

        def watched(message: Json) -> None:
            asked.append("id" in message)
            if not silent:
                console.agent.error(message, -32601, "no such method")
            take(message)
            os.write(gate, b"\n" if silent else b"\n\n\n")

        console.take = watched  # type: ignore[method-assign]
        there = shlex.quote(str(tmp_path / "gate"))
        line = f"exec 3<>{there}; for i in 1 2 3; do echo $i; read -r next <&3; done"
        created = await console.ask("create", command=line)
        terminal = created["result"]["terminalId"]
        exited = await console.ask("wait_for_exit", terminalId=terminal)
        assert exited["result"] == {"exitCode": 0}
        if silent:
            assert console.text("stdout") == "1\n2\n3\n"

    try:
        await played(tmp_path, work, answers=False)
    finally:
        os.close(gate)
    # Asked once; then only told, or not even that.
    assert asked[0] is True
    assert asked[1:] == ([False, False] if silent else [])


class Poor:
    """A service of a program's own with the five methods alone: no streams, signals or pids."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.killed = False

    def create(self, session_id: str, command: str, args: Any, **more: Any) -> str:
        return "t1"

    def output(self, session_id: str, terminal_id: str) -> TerminalOutput:
        return TerminalOutput("all of it", False, Exit(code=0))

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> Exit:
        await self.ended.wait()
        return Exit(code=None, signal="SIGTERM")

    def kill(self, session_id: str, terminal_id: str) -> None:
        self.killed = True
        self.ended.set()

    def release(self, session_id: str, terminal_id: str) -> None:
        pass


async def test_a_service_that_knows_only_v1_serves_what_it_can(tmp_path: Path) -> None:
    """Ours: its output comes at the end, and a signal is a kill."""
    found: list[Json] = []
    poor = Poor()

    async def work(console: Console) -> None:
        created = await console.ask("create", command="x")
        assert created["result"] == {"terminalId": "t1"}
        found.append((await console.ask("kill", terminalId="t1", signal="SIGINT"))["result"])
        found.append((await console.ask("wait_for_exit", terminalId="t1"))["result"])
        while not console.sent:
            console.take(await console.agent.expect("terminal/output"))
        found.append((await console.ask("kill", terminalId="t1"))["result"])
        assert console.text("stdout") == "all of it"

    await played(tmp_path, work, terminals=poor)
    assert poor.killed
    assert found == [
        {"killed": True},
        {"exitCode": 143, "signal": "SIGTERM"},
        {"killed": False},
    ]


async def test_commands_end_with_the_connection(tmp_path: Path) -> None:
    """Ours: as for every agent."""
    pids: list[int] = []

    async def script(agent: ScriptedAgent) -> None:
        await open_session(agent)
        await agent.expect("session/prompt")
        created = await Console(agent).ask("create", command="sleep", args=["60"])
        pids.append(created["result"]["pid"])
        await agent.transport.aclose()

    async with drafting(script, **FREE) as (client, _):
        session = await client.new_session(tmp_path)
        with pytest.raises(Exception, match="closed the connection"):
            await session.ask("x")
    assert not Path(f"/proc/{pids[0]}").exists()
