"""A session that never had a prompt is not kept when its connection is over (issue 14)."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.store import MemoryStore, SessionRecord
from accord.store.sqlite import SqliteStore
from tests.agent.draft.draft_client import draft_client
from tests.agent.raw_client import initialize_params, raw_client
from tests.agent.unstable.play import run_turn

VERSIONS = pytest.mark.parametrize("version", [1, 2])
PLACE: dict[str, Any] = {"cwd": "/tmp", "mcpServers": []}
PROGRAM = Path(__file__).with_name("keeping_agent.py")


def made(store: Any) -> Agent:
    """An agent that answers, with its unstable parts on: some name and fork sessions."""
    agent = Agent("unused", version="1.0", unstable=True, store=store)
    agent.add_mode("ask", "Ask")
    agent.add_mode("act", "Act")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.say("hello")

    return agent


async def kept(store: Any) -> list[str]:
    """The ids that the store lists."""
    page = await store.list(None, None)
    return [record.session_id for record in page.sessions]


@asynccontextmanager
async def sqlite(path: Path) -> AsyncIterator[SqliteStore]:
    async with aclosing(SqliteStore(path / "s.sqlite3")) as store:
        yield store


@VERSIONS
async def test_only_sessions_that_were_talked_in_are_kept(version: int, tmp_path: Path) -> None:
    """Issue 14: editors begin a session with each start."""
    async with sqlite(tmp_path) as store:
        async with raw_client(made(store), version=version) as client:
            used, unused = await client.new_session(), await client.new_session()
            await run_turn(client, version, used)
            # It is one of the sessions as long as its client is there.
            assert set(await kept(store)) == {used, unused}
        assert await kept(store) == [used]
        async with raw_client(made(store), version=version) as client:
            error = await client.error("session/resume", {"sessionId": unused, **PLACE})
            assert error["code"] == -32002


async def test_a_draft_client_leaves_no_empty_session_either() -> None:
    """Issue 14: in all versions."""
    store = MemoryStore()
    async with draft_client(made(store)) as client:
        used = await client.new_session()
        await client.new_session()
        await client.prompt(used)
    assert await kept(store) == [used]


@VERSIONS
async def test_a_session_that_is_closed_can_be_opened_again_until_then(version: int) -> None:
    """Closing is not deleting; the end of the connection is."""
    store = MemoryStore()
    async with raw_client(made(store), version=version) as client:
        back, left = await client.new_session(), await client.new_session()
        for session_id in (back, left):
            await client.result("session/close", {"sessionId": session_id})
        await client.result("session/resume", {"sessionId": back, **PLACE})
        await run_turn(client, version, back)
        assert set(await kept(store)) == {back, left}
    assert await kept(store) == [back]


@VERSIONS
async def test_a_mode_that_was_chosen_is_no_use(version: int) -> None:
    """Editors set the mode of a session before anybody has said a word."""
    store = MemoryStore()
    async with raw_client(made(store), version=version) as client:
        session_id = await client.new_session()
        more = {} if version == 1 else {"type": "id"}
        params = {"sessionId": session_id, "configId": "mode", "value": "act", **more}
        await client.result("session/set_config_option", params)
    assert await kept(store) == []


@VERSIONS
async def test_a_session_with_a_name_or_a_past_is_kept(version: int) -> None:
    """Somebody wanted it."""
    store = MemoryStore()
    async with raw_client(made(store), version=version) as client:
        used, named = await client.new_session(), await client.new_session()
        await run_turn(client, version, used)
        await client.result("session/set_title", {"sessionId": named, "title": "Mine"})
        forked = (await client.result("session/fork", {"sessionId": used, **PLACE}))["sessionId"]
        empty = await client.new_session()
        await client.result("session/fork", {"sessionId": empty, **PLACE})
    assert set(await kept(store)) == {used, named, forked}
    async with raw_client(made(store), version=version) as client:
        # Looking at it must not delete it.
        await client.result("session/resume", {"sessionId": forked, **PLACE})
    assert set(await kept(store)) == {used, named, forked}


@VERSIONS
async def test_another_client_of_the_same_agent_may_use_it(version: int) -> None:
    """What one connection leaves is not taken from another."""
    agent = made(MemoryStore())
    async with raw_client(agent, version=version) as second:
        async with raw_client(agent, version=version) as first:
            talked, open_ = await first.new_session(), await first.new_session()
            for session_id in (talked, open_):
                await second.result("session/resume", {"sessionId": session_id, **PLACE})
            await run_turn(second, version, talked)
        assert set(await kept(agent.store)) == {talked, open_}
        await run_turn(second, version, open_)
    assert set(await kept(agent.store)) == {talked, open_}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_process_that_is_killed_leaves_none(version: int, tmp_path: Path) -> None:
    """Issue 14: some editors end an agent with SIGKILL, so that it cannot tidy up."""
    path = tmp_path / "s.sqlite3"
    ids = [killed_after_new(path, version) for _ in range(2)]
    async with aclosing(SqliteStore(path)) as store:
        # Not listed; whoever knows it may still open it, until the next one is made.
        assert await kept(store) == []
        assert await store.get(ids[1]) is not None
        await store.create(SessionRecord("mine", "/", unused=True))
        assert await store.get(ids[1]) is None
        assert await kept(store) == ["mine"]


def killed_after_new(path: Path, version: int) -> str:
    """Begin a session in a process of its own, and kill that."""
    command = [sys.executable, str(PROGRAM), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        params = [initialize_params(version, {}), PLACE]
        methods = ["initialize", "session/new"]
        answer: dict[str, Any] = {}
        for number, (method, given) in enumerate(zip(methods, params, strict=True)):
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            while answer.get("id") != number:
                answer = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    found: str = answer["result"]["sessionId"]
    return found
