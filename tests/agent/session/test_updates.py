"""What an agent says while a session is made is sent behind the answer that names the session."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.agent.session.agent_session import AgentSession
from accord.agent.session.updates import HELD_MAX
from accord.connection.limits import Limits
from accord.errors import LocalProtocolError
from accord.schema import v2
from tests.agent.draft.draft_client import draft_client
from tests.agent.raw_client import RawClient, raw_client
from tests.hang_limit import HANG_SECONDS

VERSIONS = pytest.mark.parametrize("version", [1, 2])
PLACE = {"cwd": "/", "mcpServers": []}


def titled(count: int = 1) -> Agent:
    """An agent that names its sessions as soon as it sees them."""
    agent = Agent("titled", version="1", unstable=True)

    @agent.on_session
    async def see(session: AgentSession) -> None:
        for number in range(count):
            await session.set_title(f"Title {number}")
        await session.emit(v2.Notice(severity="info", title="Hello"))

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.say("ok")

    return agent


def said(text: str) -> v2.AgentMessage:
    return v2.AgentMessage(message_id="hello", content=[v2.TextContent(text=text)])


def told(client: RawClient, since: int) -> list[str]:
    """What came, in its order: the titles and notices, and `answer`."""
    found: list[str] = []
    for frame in client.frames[since:]:
        update: Any = frame.get("params", {}).get("update", {})
        if "method" not in frame:
            found.append("answer")
        elif update.get("title"):
            found.append(update["title"])
    return found


CAPABILITIES: dict[str, Any] = {"session": {"notices": {}}}


@VERSIONS
@pytest.mark.parametrize("method", ["session/new", "session/fork"])
async def test_the_answer_comes_first(version: int, method: str) -> None:
    """Users of editors: a client drops what it hears of a session that it does not know."""
    async with raw_client(titled(), version=version, capabilities=CAPABILITIES) as client:
        session_id = await client.new_session("/")
        since = 1 if method == "session/new" else len(client.frames)
        if method == "session/fork":
            await client.result(method, {"sessionId": session_id, **PLACE})
        await client.result("session/list", {})
    assert told(client, since) == ["answer", "Title 0", "Hello", "answer"]


@VERSIONS
async def test_a_past_has_it_and_it_is_not_told_twice(version: int) -> None:
    """Ours: a client that loads a session knows its id; notices are of the moment, behind it."""
    async with raw_client(titled(), version=version, capabilities=CAPABILITIES) as client:
        session_id = await client.new_session("/")
        await client.result("session/close", {"sessionId": session_id})
        since = len(client.frames)
        load = {"sessionId": session_id, **PLACE}
        if version == 1:
            await client.result("session/load", load)
        else:
            await client.result("session/resume", load | {"replayFrom": {"type": "start"}})
    # The title as it is now: that of the first time is gone.
    assert told(client, since) == ["Title 0", "Hello", "answer"]


@VERSIONS
async def test_a_session_that_is_resumed_is_told_where_its_version_wants_it(version: int) -> None:
    """Ours: as for every way to begin; in v2 nothing but states follows the answer (issue 13)."""
    async with raw_client(titled(), version=version, capabilities=CAPABILITIES) as client:
        session_id = await client.new_session("/")
        await client.result("session/close", {"sessionId": session_id})
        since = len(client.frames)
        await client.result("session/resume", {"sessionId": session_id, **PLACE})
        await client.result("session/list", {})
    said = ["answer", "Title 0", "Hello"] if version == 1 else ["Title 0", "Hello", "answer"]
    assert told(client, since) == [*said, "answer"]


@pytest.mark.parametrize("begin", ["session/new", "session/resume"])
@pytest.mark.rule("V2-SESS-11")
async def test_a_state_waits_too_but_for_the_one_that_a_resumed_session_has_first(
    begin: str,
) -> None:
    """Ours: a command that the hook starts is in the state, of which no client has heard yet."""
    agent = Agent("starter", version="1")

    @agent.on_session
    async def start(session: AgentSession) -> None:
        await session.start_command("true")

    async with raw_client(agent, version=2) as client:
        since = len(client.frames)
        session_id = await client.new_session("/")
        if begin == "session/resume":
            await client.result("session/close", {"sessionId": session_id})
            since = len(client.frames)
            await client.result(begin, {"sessionId": session_id, **PLACE})
        await client.result("session/list", {})
    heard = [frame for frame in client.frames[since:] if "method" in frame or "result" in frame]
    kinds = [one.get("params", {}).get("update", {}).get("sessionUpdate") for one in heard]
    if begin == "session/new":
        assert heard[0]["result"]["sessionId"] == session_id
        assert kinds[1] == "terminal_update"
    else:
        at = kinds.index(None)
        assert "terminal_update" in kinds[:at]
        assert kinds[at - 1] == "state_update"


HALF = "\ud83d"


@VERSIONS
@pytest.mark.parametrize("text", [HALF, "x" * 300_000])
async def test_what_cannot_be_sent_is_refused_to_the_caller(version: int, text: str) -> None:
    """Issue 2: what a caller does wrong is told to it; the connection lives."""
    agent = Agent("clumsy", version="1", limits=Limits(frame_bytes=200_000))
    refused: list[LocalProtocolError] = []

    @agent.on_session
    async def see(session: AgentSession) -> None:
        try:
            await session.emit(said(text))
        except LocalProtocolError as error:
            refused.append(error)
        await session.emit(said("good"))

    async with raw_client(agent, version=version) as client:
        await client.new_session("/")
        await client.result("session/list", {})
    assert len(refused) == 1
    assert "good" in str(client.updates())


@VERSIONS
async def test_what_turns_out_to_be_unsayable_later_harms_nobody(
    version: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: nobody waits for it any more; it is logged, and all else is told."""
    agent = Agent("clumsy", version="1", limits=Limits(frame_bytes=1000))

    @agent.on_session
    async def see(session: AgentSession) -> None:
        # By itself it is short enough, in its frame it is not.
        await session.emit(said("x" * 850))
        await session.emit(said("good"))

    async with raw_client(agent, version=version) as client:
        await client.new_session("/")
        await client.result("session/list", {})
    assert "xxx" not in str(client.updates())
    assert "good" in str(client.updates())
    assert "cannot be sent" in caplog.text


async def test_the_draft_has_the_same_order() -> None:
    """Ours: one agent, one order."""
    agent = Agent("greeter", version="1")

    @agent.on_session
    async def greet(session: AgentSession) -> None:
        await session.emit(said("Hello"))

    async with draft_client(agent) as client:
        since = len(client.frames)
        session_id = await client.new_session()
        await client.request("session/list", {})
        first, second, *_ = client.frames[since:]
    assert first["result"]["sessionId"] == session_id
    assert "Hello" in str(second)


@VERSIONS
async def test_what_waits_is_bounded(version: int) -> None:
    """Design: every buffer has a bound; then it is as it was: told at once, in order."""
    async with raw_client(titled(HELD_MAX + 5), version=version) as client:
        await client.new_session("/")
        await client.result("session/list", {})
    found = told(client, 1)
    assert [one for one in found if one.startswith("Title")] == [
        f"Title {number}" for number in range(HELD_MAX + 5)
    ]
    assert found.index("answer") >= HELD_MAX + 5


@VERSIONS
async def test_a_prompt_ends_the_waiting(version: int) -> None:
    """Ours: who prompts knows the session, even where the request that began it was refused."""
    agent = titled()
    failing = [False]
    see = agent._definition.session_hook
    assert see is not None

    @agent.on_session
    async def fail(session: AgentSession) -> None:
        await see(session)
        if failing[0]:
            raise ValueError("not today")

    async with raw_client(agent, version=version) as client:
        session_id = await client.new_session("/")
        await client.result("session/close", {"sessionId": session_id})
        failing[0] = True
        await client.error("session/resume", {"sessionId": session_id, **PLACE})
        answer = await client.answer(client.start_prompt(session_id))
        if "result" in answer:
            with anyio.fail_after(HANG_SECONDS):
                await client.take(lambda one: "'ok'" in str(one))
