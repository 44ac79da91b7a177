"""Internal errors of an agent: its own words on stderr are part of the error."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import anyio
import pytest

from accord.client import Client
from accord.client.connection.error_context import (
    CHARACTERS_MAX,
    LINES_MAX,
    about,
    add_stderr,
    bounded,
)
from accord.errors import (
    ConnectionLost,
    RemoteProtocolError,
    RequestFailed,
    request_failed,
)
from tests.client.scripted_agent import BARE, ScriptedAgent, connected
from tests.hang_limit import HANG_SECONDS

AGENT = """
import json, sys, time
version, how = int(sys.argv[1]), sys.argv[2]

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def report():
    sys.stderr.write("accord: error other1 while handling x\\\\nKeyError: of another\\\\n")
    sys.stderr.write("accord: error abc123 while handling session/prompt\\\\n  in handler\\\\n")
    sys.stderr.write("ZeroDivisionError: division by zero\\\\n")
    sys.stderr.flush()

for line in sys.stdin:
    message = json.loads(line)
    method, id_ = message.get("method"), message.get("id")
    if method == "initialize":
        told = {"protocolVersion": version}
        told["info" if version == 2 else "agentInfo"] = {"name": "a", "version": "1"}
        told["capabilities" if version == 2 else "agentCapabilities"] = (
            {"session": {"prompt": {}}} if version == 2 else {})
        send(id=id_, result=told)
    elif method == "session/new":
        send(id=id_, result={"sessionId": "s"})
    elif method == "session/prompt":
        data = {"correlationId": "abc123"} if "nameless" not in how else None
        error = {"code": -32603, "message": "Internal error", "data": data}
        if how != "late":
            report()
        if how == "nameless said":
            chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "m",
                     "content": {"type": "text", "text": "You have no credit left."}}
            send(method="session/update", params={"sessionId": "s", "update": chunk})
        if version == 1:
            send(id=id_, error=error)
        else:
            send(id=id_, result={"messageId": "u"})
            for state in ({"state": "running"}, {"state": "idle", "stopReason": "error",
                                                 "error": error}):
                update = {"sessionUpdate": "state_update", **state}
                send(method="session/update", params={"sessionId": "s", "update": update})
        if how == "late":
            time.sleep(0.05)
            report()
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    """The agent's program."""
    path = tmp_path / "agent.py"
    path.write_text(AGENT.replace("\\\\n", "\\n"), "utf-8")
    return str(path)


async def failed(program: str, version: int, how: str) -> RequestFailed:
    """The error of a prompt."""
    with anyio.fail_after(HANG_SECONDS):
        async with Client.spawn(sys.executable, program, str(version), how, **BARE) as client:
            session = await client.new_session()
            with pytest.raises(RequestFailed) as caught:
                await session.ask("x")
    return caught.value


@pytest.mark.parametrize("how", ["early", "late"])
@pytest.mark.parametrize("version", [1, 2])
async def test_an_internal_error_has_its_id_and_the_lines_of_it(
    program: str, version: int, how: str
) -> None:
    """Ours: the traceback with that id is on stderr, which otherwise nobody sees."""
    error = await failed(program, version, how)
    assert error.correlation_id == "abc123"
    assert "correlation id abc123" in str(error)
    assert str(error).endswith("ZeroDivisionError: division by zero")
    assert "  in handler" in error.stderr
    assert "of another" not in str(error)


async def test_without_an_id_the_last_words_are_shown(program: str) -> None:
    """Ours: other agents print something too."""
    error = await failed(program, 1, "nameless")
    assert error.correlation_id is None
    assert "correlation id" not in str(error)
    # It may lag behind the answer, and nothing says how long to wait for it.
    assert error.stderr == "" or "ZeroDivisionError" in str(error)


@pytest.mark.parametrize("version", [1, 2])
async def test_the_last_message_of_the_turn_tells_the_cause(program: str, version: int) -> None:
    """Issue 14: stderr had lines about something else, and they stood for the cause."""
    error = await failed(program, version, "nameless said")
    assert error.said == "You have no credit left."
    assert error.stderr == ""
    assert str(error).endswith("it said:\nYou have no credit left.")


async def test_what_was_said_before_a_tool_call_is_not_the_cause() -> None:
    """Issue 14: only a turn that ends with words says why."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        turn = await agent.begin_turn()
        agent.say("I look at it.")
        agent.update({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t"})
        agent.error(turn, -32603, "Internal error")
        turn = await agent.begin_turn()
        agent.error(turn, -32603, "Internal error")

    async with connected(script) as (client, _):
        session = await client.new_session()
        for _ in range(2):
            with pytest.raises(RequestFailed) as caught:
                await session.ask("x")
            assert caught.value.said == ""


def test_of_many_lines_the_last_are_kept() -> None:
    """Ours: a bound in lines and one in characters."""
    assert bounded("\n".join(map(str, range(1000)))).splitlines()[0] == str(1000 - LINES_MAX)
    assert len(bounded("x" * 100_000)) == CHARACTERS_MAX + 1
    assert bounded(" \n") == ""


def test_only_the_lines_about_the_error_are_taken() -> None:
    """Ours."""
    text = "noise\naccord: error a1 while\nTrace\naccord: error b2 while\nOther\n"
    assert about(text, "a1") == "accord: error a1 while\nTrace"
    assert about(text, "b2") == "accord: error b2 while\nOther"
    assert about(text, "c3") == ""


class Quiet:
    """A transport of a process that says nothing."""

    stderr_tail = ""


async def test_what_is_never_said_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: the wait is bounded, and other errors are left alone."""
    monkeypatch.setattr("accord.client.connection.error_context.LAG_SECONDS_MAX", 0.02)
    internal = request_failed("m", -32603, "no", {"correlationId": "x" * 500})
    with anyio.fail_after(HANG_SECONDS):
        for error in (internal, request_failed("m", -32602, "no"), ValueError()):
            for transport in (Quiet(), object()):
                await add_stderr(error, transport)
    assert internal.stderr == ""
    assert len(str(internal)) < 200


# ---- programs that are not agents


async def test_a_program_that_sends_everything_back_is_no_agent() -> None:
    """Ours: `cat` used to be told that its initialize came too early."""
    with (
        anyio.fail_after(HANG_SECONDS),
        pytest.raises(RemoteProtocolError, match="is not an agent"),
    ):
        await Client.spawn("cat", **BARE).__aenter__()


async def test_a_program_that_ends_at_once_is_shown_whole_with_a_hint() -> None:
    """Ours: a first agent without its last line."""
    command = [sys.executable, "-c", "agent = 1"]
    with anyio.fail_after(HANG_SECONDS), pytest.raises(ConnectionLost) as caught:
        await Client.spawn(*command, **BARE).__aenter__()
    assert "-c 'agent = 1'` exited: exit code 0" in str(caught.value)
    assert "agent.run()" in str(caught.value)


async def test_what_an_agent_prints_on_its_stdout_is_quoted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ours: the commonest mistake of a first agent."""
    caplog.set_level(logging.WARNING)

    async def script(agent: ScriptedAgent) -> None:
        agent.write(b"hello, I am starting\n" + b"y" * 10_000 + b"\n")
        assert (await agent.next())["error"]["code"] == -32700
        await agent.open_session()

    async with connected(script) as (client, _):
        await client.new_session()
    [told, *_] = [one.getMessage() for one in caplog.records if "bad frame" in one.getMessage()]
    assert "'hello, I am starting'" in told
    assert "the agent printed this on its stdout, which is the wire" in told
