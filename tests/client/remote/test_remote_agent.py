"""Agents behind a URL: `Client.connect` over WebSocket, against our own server."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from accord import (
    Agent,
    Client,
    ConnectFailed,
    ConnectionLost,
    Limits,
    LocalProtocolError,
    RemoteLimits,
    RemoteServer,
    Turn,
)
from accord.transport.memory import memory_pair
from accord.transport.server.authorization import bearer_tokens
from tests.transport.cutting_proxy import cutting_proxy

TOKEN = "tokentokentoken"
SCHEMES = pytest.mark.parametrize("scheme", ["ws", "http"])


def make_agent() -> Agent:
    """An agent that repeats what it is told, or reads a file by way of the client."""
    agent = Agent("remote", version="1.0.0")

    @agent.on_prompt
    async def prompt(turn: Turn) -> None:
        if turn.text.startswith("read "):
            await turn.say(await turn.read_text(turn.text.removeprefix("read ")))
        elif turn.text == "much":
            await turn.say("x" * 10_000)
        elif turn.text == "wait":
            await turn.say("waiting")
            await anyio.sleep_forever()
        else:
            await turn.say(turn.text)

    return agent


@asynccontextmanager
async def serving(**options: Any) -> AsyncIterator[RemoteServer]:
    """Our agent on a free port."""
    async with RemoteServer(make_agent().asgi(**options)) as server:
        yield server


@SCHEMES
async def test_a_session_over_a_url(scheme: str, tmp_path: Path) -> None:
    """Issue 16: the same client, with a URL in place of a command."""
    (tmp_path / "a.txt").write_text("from here")
    async with (
        serving(auth=bearer_tokens({TOKEN: "me"})) as server,
        Client.connect(f"{scheme}://localhost:{server.port}/acp", token=TOKEN) as client,
    ):
        assert client.agent_info is not None
        assert client.agent_info.name == "remote"
        session = await client.new_session(tmp_path)
        assert (await session.ask("hello")).text == "hello"
        assert (await session.ask(f"read {tmp_path / 'a.txt'}")).text == "from here"


@SCHEMES
async def test_tokens_and_messages_are_in_no_log_of_any_package(
    scheme: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue: no secrets in logs, not even where a program logs everything."""
    caplog.set_level(logging.DEBUG)
    async with (
        serving(auth=bearer_tokens({TOKEN: "me"})) as server,
        Client.connect(f"{scheme}://localhost:{server.port}/acp", token=TOKEN) as client,
    ):
        canary = "a text of a message"
        assert (await (await client.new_session()).ask(canary)).text == canary
    assert TOKEN not in caplog.text
    assert canary not in caplog.text


@SCHEMES
async def test_a_wrong_token_is_refused_with_the_reason(scheme: str) -> None:
    """Ours: the error says what to do, and does not show the token."""
    async with serving(auth=bearer_tokens({TOKEN: "me"})) as server:
        with pytest.raises(ConnectFailed, match="401") as caught:
            async with Client.connect(
                f"{scheme}://localhost:{server.port}/acp", token="wrongwrong"
            ):
                pass
    assert "wrongwrong" not in str(caught.value)


@SCHEMES
async def test_another_path_is_no_agent(scheme: str) -> None:
    """Ours: the usual mistake."""
    async with serving() as server:
        with pytest.raises(ConnectFailed, match="/acp"):
            async with Client.connect(f"{scheme}://localhost:{server.port}/other"):
                pass


@SCHEMES
async def test_another_name_is_not_served(scheme: str) -> None:
    """Issue 16: the error names the option of the server."""
    async with serving(hosts=["agents.example"]) as server:
        with pytest.raises(ConnectFailed, match=r"status 421.*--allow-host"):
            async with Client.connect(f"{scheme}://127.0.0.1:{server.port}/acp"):
                pass


@SCHEMES
async def test_a_page_of_another_site_is_told_where_to_look(scheme: str) -> None:
    async with serving() as server:
        with pytest.raises(ConnectFailed, match=r"status 403.*lists of origins"):
            async with Client.connect(
                f"{scheme}://127.0.0.1:{server.port}/acp",
                headers={"Origin": "https://evil.example"},
            ):
                pass


@SCHEMES
@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH_9\r\n", b"220 mail.example ESMTP\r\n"])
async def test_a_server_of_something_else_is_no_agent(scheme: str, greeting: bytes) -> None:
    """Issue 16: what closes without an answer may want TLS, or be no ACP server."""

    async def greet(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(greeting)

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, greet)
        port = listener.extra(SocketAttribute.local_port)
        with pytest.raises(ConnectFailed, match=r"check that an ACP server|check the host"):
            async with Client.connect(f"{scheme}://127.0.0.1:{port}/acp"):
                pass
        tasks.cancel_scope.cancel()


@SCHEMES
async def test_nothing_listens_there(scheme: str) -> None:
    """Ours: told at once, not after a minute of attempts."""
    async with serving() as server:
        port = server.port
    with pytest.raises(ConnectFailed, match="refused"):
        async with Client.connect(f"{scheme}://127.0.0.1:{port}/acp"):
            pass


async def test_a_turn_survives_a_cut() -> None:
    """Issue 16: a lost network is not the end of a turn."""
    limits = RemoteLimits(reconnect_seconds_min=0, reconnect_seconds_max=0)
    async with (
        serving() as server,
        cutting_proxy(server.port, seed=1, bytes_max=1) as proxy,
        Client.connect(f"ws://127.0.0.1:{proxy.port}/acp", remote_limits=limits) as client,
    ):
        session = await client.new_session()
        async with session.prompt("wait") as turn:
            async for update in turn:
                if update.text == "waiting":
                    proxy.cut_all()
                    await turn.cancel()
            assert turn.stop_reason == "cancelled"
        assert (await session.ask("still there?")).text == "still there?"
        assert proxy.cuts == 1


async def test_a_server_that_is_gone_is_told_after_the_grace_time() -> None:
    """Issue 16: and how to go on."""
    limits = RemoteLimits(reconnect_seconds_min=0.01, grace_seconds=0.05)
    async with (
        serving() as server,
        Client.connect(f"ws://127.0.0.1:{server.port}/acp", remote_limits=limits) as client,
    ):
        session = await client.new_session()
        turn = session.prompt("wait")
        async with turn:
            await anext(aiter(turn))
            await server.aclose()
            with pytest.raises(ConnectionLost, match="session/load"):
                await turn.wait()


async def test_the_limit_of_a_message_is_that_of_the_connection() -> None:
    """Ours: one number for one thing."""
    limits = Limits(frame_bytes=5000)
    async with (
        serving() as server,
        Client.connect(f"ws://127.0.0.1:{server.port}/acp", limits=limits) as client,
    ):
        session = await client.new_session()
        with pytest.raises(ConnectionLost, match="message_bytes = 5000"):
            await session.ask("much")


@SCHEMES
async def test_a_folder_of_the_agents_machine(scheme: str) -> None:
    """Ours: without services of this machine, the folder need not be here."""
    async with serving() as server:
        url = f"{scheme}://127.0.0.1:{server.port}/acp"
        async with Client.connect(url) as client:
            with pytest.raises(LocalProtocolError, match="files=False"):
                await client.new_session("/no/such/folder")
        async with Client.connect(url, files=False, terminals=False) as client:
            session = await client.new_session("/no/such/folder")
            assert (await session.ask("hello")).text == "hello"
            with pytest.raises(LocalProtocolError, match="absolute"):
                await client.new_session("no/such/folder")


def test_mistakes_are_told_before_anything_is_sent() -> None:
    """Ours: each with the way out."""
    with pytest.raises(LocalProtocolError, match=r"Client\.spawn"):
        Client.connect("python agent.py")
    with pytest.raises(LocalProtocolError, match="insecure=True"):
        Client.connect("ws://agents.example/acp")
    with pytest.raises(LocalProtocolError, match="a token is visible ASCII"):
        Client.connect("wss://agents.example/acp", token="a b")
    with pytest.raises(LocalProtocolError, match="the URL of an agent begins with https://"):
        Client.connect("htps://agents.example/acp")
    with pytest.raises(LocalProtocolError, match="token= only go with a URL"):
        Client.connect(memory_pair()[0], token="a")
    with pytest.raises(LocalProtocolError, match="URL or a transport"):
        Client.connect(7)  # type: ignore[arg-type]
