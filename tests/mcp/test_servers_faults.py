"""Servers that do something wrong: the call or the server fails, and says why; nothing hangs."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from accord.machine.processes.process_groups import ProcessGroup
from accord.mcp import connection
from accord.mcp.server_spec import ServerSpec
from accord.mcp.servers import McpServers
from tests.mcp.conftest import SECONDS, connected, faulty, the_status

SECRET = "hunter22"


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (
            "dies at once",
            "it exited (exit code 7); its last line on stderr: no licence found for [secret]",
        ),
        ("wrong greeting", "its answer is malformed (capabilities: Field required)"),
        ("wrong list", "its answer is malformed (tools.0.inputSchema: Field required)"),
    ],
)
async def test_a_server_that_cannot_be_used_says_why(tmp_path: Path, fault: str, why: str) -> None:
    """Issue: a failing one is reported and the session lives; credentials are never shown."""
    async with connected(faulty(fault, env={"TOKEN": SECRET}), cwd=tmp_path) as servers:
        status = the_status(servers)
        assert (status.state, status.error) == ("failed", why)
        assert servers.tools == []


async def test_a_program_that_is_not_there_fails_alone(tmp_path: Path) -> None:
    """Issue: the others are not touched."""
    missing = ServerSpec(name="none", transport="stdio", command="/no/such/program")
    async with connected(missing, faulty("nothing"), cwd=tmp_path) as servers:
        assert [one.state for one in servers.status] == ["failed", "connected"]
        assert servers.status[0].error == "cannot start '/no/such/program': no such program"
        assert [one.name for one in servers.tools] == ["work"]
        assert not (await servers.call("none", "work")).ok
        assert (await servers.call("bad", "work")).ok


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (
            "dies in a call",
            (
                "it was lost in the middle of the call: it exited (exit code 3); "
                "its last line on stderr: out of"
            ),
        ),
        ("wrong shape", "its answer is malformed"),
        ("wrong output", "Invalid structured content returned by tool work: 'many' is not of type"),
        ("no output", "Tool work has an output schema but did not return structured content"),
        ("answers with an error", "no: [secret]"),
    ],
)
async def test_a_call_that_goes_wrong_fails_and_says_why(
    tmp_path: Path, fault: str, why: str
) -> None:
    """Issue: results are checked against MCP's shapes and the tool's schema; bad ones fail."""
    async with connected(faulty(fault, env={"TOKEN": SECRET}), cwd=tmp_path) as servers:
        result = await servers.call("bad", "work")
        assert not result.ok
        assert result.text.startswith(f"MCP server 'bad': {why}")


async def test_garbage_between_the_messages_is_ignored(tmp_path: Path) -> None:
    """Fault: many servers print a greeting to stdout."""
    async with connected(faulty("prints garbage"), cwd=tmp_path) as servers:
        assert (await servers.call("bad", "work")).ok


async def test_a_server_that_says_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault: never answers; every wait has a bound."""
    async with anyio.create_task_group() as tasks:
        around = connection.SessionContext(
            start_soon=tasks.start_soon, cwd=str(tmp_path), connect_seconds=0.3, call_seconds=0.2
        )
        silent = McpServers([faulty("says nothing")], around)
        with anyio.fail_after(SECONDS):
            assert await silent.settled(SECONDS)
        assert the_status(silent).error == "it did not answer within 0.3 seconds"
        await silent.aclose()


async def test_a_call_that_is_never_answered_is_given_up(tmp_path: Path) -> None:
    """Fault: never answers a call."""
    async with anyio.create_task_group() as tasks:
        around = connection.SessionContext(
            start_soon=tasks.start_soon, cwd=str(tmp_path), call_seconds=0.2
        )
        slow = McpServers([faulty("never answers a call")], around)
        with anyio.fail_after(SECONDS):
            result = await slow.call("bad", "work")
        assert result.text == "MCP server 'bad': it did not answer within 0.2 seconds"
        assert the_status(slow).state == "connected"
        await slow.aclose()


async def test_the_next_call_connects_a_dead_server_again(tmp_path: Path) -> None:
    """Issue: reconnect.  The call in which it died is not repeated: it may have had an effect."""
    async with connected(faulty("dies once"), cwd=tmp_path) as servers:
        first = await servers.call("bad", "work")
        assert "lost in the middle of the call" in first.text
        assert the_status(servers).state == "lost"
        assert [one.name for one in servers.tools] == ["work"]
        assert (await servers.call("bad", "work")).ok
        assert the_status(servers).state == "connected"


async def test_a_server_that_never_comes_back_is_left_alone_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: reconnecting is bounded."""
    monkeypatch.setattr(connection, "RECONNECTS_MAX", 2)
    async with connected(faulty("dies at once"), cwd=tmp_path) as servers:
        assert "failed 2 times" not in (await servers.call("bad", "work")).text
        assert "failed 2 times" in (await servers.call("bad", "work")).text


@pytest.mark.parametrize("fault", ["has children", "does not leave"])
async def test_no_process_outlives_its_session(tmp_path: Path, fault: str) -> None:
    """Issue: closed with the session.  The fixture sees to it that no group is left."""
    async with connected(faulty(fault), cwd=tmp_path) as servers:
        said = (await servers.call("bad", "work")).text
        pid = int(said.removeprefix("pid "))
        os.kill(pid, 0)
    assert not ProcessGroup(pid).alive()


async def test_a_server_that_is_being_connected_can_be_closed(tmp_path: Path) -> None:
    """A session may end before its servers have answered."""
    async with anyio.create_task_group() as tasks:
        with anyio.fail_after(SECONDS):
            servers = await McpServers.connect(
                [faulty("says nothing")], start_soon=tasks.start_soon, cwd=str(tmp_path)
            )
            assert not await servers.settled(0.2)
            assert the_status(servers).state == "connecting"
            await servers.aclose()
            assert the_status(servers).state == "closed"
