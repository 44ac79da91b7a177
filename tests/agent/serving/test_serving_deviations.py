"""What a client does against the rules and an agent lives with: done without, and logged once."""

from __future__ import annotations

from typing import TypedDict

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.client import Client
from accord.transport.memory import memory_pair
from tests.agent.raw_client import raw_client
from tests.hang_limit import HANG_SECONDS

VERSIONS = pytest.mark.parametrize("version", [1, 2])


class Words(TypedDict):
    """What the extension wants."""

    words: str


@VERSIONS
@pytest.mark.rule("V1-GEN-12")
async def test_what_is_repaired_is_logged(version: int, caplog: pytest.LogCaptureFixture) -> None:
    """Issue 2: by default logged and tolerated."""
    caplog.set_level("INFO", "accord.connection")
    async with raw_client(Agent("a", version="1"), version=version) as client:
        for _ in range(3):
            await client.result("session/new", {"cwd": "/", "mcpServers": None})
    (said,) = (one.getMessage() for one in caplog.records)
    assert "NewSessionRequest: null, read as empty (at $.mcpServers)" in said


@VERSIONS
@pytest.mark.parametrize("level", ["INFO", "WARNING"])
async def test_keys_that_nobody_knows_are_logged_once(
    version: int, level: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue 2: unknown root fields are logged and tolerated; `_meta` is where they belong."""
    caplog.set_level(level, "accord.connection")
    more = {"colour": "red", "_meta": {"shade": "dark"}}
    async with raw_client(Agent("a", version="1"), version=version, validate=False) as client:
        for _ in range(3):
            await client.result("session/new", {"cwd": "/", "mcpServers": [], **more})
    said = [one.getMessage() for one in caplog.records]
    expected = ["tolerated: NewSessionRequest: unknown key (at $.colour)"]
    assert said == (expected if level == "INFO" else [])


@pytest.mark.rule("V1-GEN-09")
@pytest.mark.parametrize("versions", [(1,), (2,), (1, 2)])
async def test_a_client_of_both_versions_breaks_no_rule(
    versions: tuple[int, ...], caplog: pytest.LogCaptureFixture
) -> None:
    """Dialect 1.2: the first message has the keys of v1 and v2 side by side."""
    caplog.set_level("INFO", "accord.connection")
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Agent("a", version="1", versions=versions).serve, theirs)
        async with Client.connect(ours) as client:
            await client.new_session("/")
    assert "tolerated" not in caplog.text


@VERSIONS
async def test_a_malformed_notification_of_ones_own_is_one_line(
    version: int, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ours: the client's mistake is not a bug here, so there is no traceback."""
    agent = Agent("a", version="1")

    @agent.notification("_note")
    async def note(params: Words) -> None:
        pytest.fail("it is malformed")

    async with raw_client(agent, version=version) as client:
        for _ in range(3):
            client.notify("_note", {"words": 5})
        await client.result("session/list", {})
    (said,) = (one.getMessage() for one in caplog.records)
    assert "ignored the notification _note" in said
    assert "$.words" in said
    assert "Traceback" not in caplog.text + capfd.readouterr().err


@pytest.mark.parametrize("versions", [(1,), (2,), (1, 2)])
async def test_a_strict_agent_and_a_strict_client_understand_each_other(
    versions: tuple[int, ...],
) -> None:
    """Issue 2: our client sends the keys of both versions in one `initialize`."""
    agent = Agent("a", version="1", strict=True)

    @agent.on_prompt
    async def work(turn: Turn) -> None:
        await turn.say("hello")

    ours, theirs = memory_pair()
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.serve, theirs)
            async with Client.connect(ours, versions=versions, strict=True) as client:
                session = await client.new_session()
                assert (await session.ask("x")).text == "hello"
