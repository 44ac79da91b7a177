"""`accord serve` with real agents behind real sockets: sessions, processes, rights and limits."""

from __future__ import annotations

import json
import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from accord import Client, Permissions
from accord.errors import AccordError, RequestFailed
from accord.gateway.access.api_keys import new_api_key
from accord.machine.processes.descendants import read_process
from accord.machine.sandbox.availability import find_sandbox
from accord.machine.sandbox.options import SandboxUnavailable
from accord.schema.v1 import McpServer
from tests.gateway.gateway_process import ROOT, GatewayProcess, gateway_process
from tests.hang_limit import HANG_SECONDS

pytestmark = pytest.mark.anyio

PROGRAM = str(ROOT / "tests" / "gateway" / "hosted_program.py")


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


def command(folder: Path) -> tuple[str, ...]:
    """The target of a gateway: the program, with its sessions in this folder."""
    return ("--", sys.executable, PROGRAM, str(folder / "agent.sqlite3"))


@asynccontextmanager
async def client(
    gateway: GatewayProcess,
    *,
    scheme: str = "ws",
    version: int = 2,
    token: str | None = None,
    url: str | None = None,
) -> AsyncGenerator[Client]:
    """Connect our own client."""
    with anyio.fail_after(HANG_SECONDS):
        async with Client.connect(
            (url or gateway.url).replace("http", scheme, 1),
            token=token or gateway.token,
            versions=(version,),
            permissions=Permissions.allow_all(),
        ) as connected:
            yield connected


def get(gateway: GatewayProcess, path: str, token: str | None = None) -> tuple[int, Any, Any]:
    """GET a page; return its status, body and headers."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    asked = urllib.request.Request(f"http://127.0.0.1:{gateway.port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(asked, timeout=HANG_SECONDS) as page:
            return page.status, page.read(), page.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), error.headers


async def gone(pid: int) -> None:
    """Wait until a process has ended."""
    with anyio.fail_after(HANG_SECONDS):
        while (found := read_process(pid)) is not None and not found.is_dead:
            await anyio.sleep(0.01)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_the_built_in_agent_is_hosted(scheme: str, version: int, tmp_path: Path) -> None:
    """Issue 17: a name as the target; every version over both transports."""
    with gateway_process(tmp_path, target=("built-in",)) as gateway:
        async with client(gateway, scheme=scheme, version=version) as connected:
            session = await connected.new_session(cwd=str(tmp_path))
            answer = await session.ask("hello")
            assert answer.text


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_a_session_is_there_on_another_device_and_after_kill_9(
    scheme: str, tmp_path: Path
) -> None:
    """Issue 17: sessions outlive connections, processes and restarts; no process outlives us."""
    with gateway_process(tmp_path, target=command(tmp_path)) as gateway:
        async with client(gateway, scheme=scheme) as first:
            session = await first.new_session(cwd=str(tmp_path))
            said = (await session.ask("daemon")).text
        async with client(gateway, scheme=scheme) as second:
            again = await second.load_session(session.id, cwd=str(tmp_path))
            assert said in [message.text for message in again.transcript.messages]
            # The same process: its session outlived the connection.
            assert (await again.ask("pid")).text == said.split()[0]
        gateway.process.send_signal(signal.SIGKILL)
        for pid in said.split():
            await gone(int(pid))
    with gateway_process(tmp_path, target=command(tmp_path)) as gateway:
        async with client(gateway, scheme=scheme) as third:
            again = await third.load_session(session.id, cwd=str(tmp_path))
            assert said in [message.text for message in again.transcript.messages]
            assert (await again.ask("pid")).text != said.split()[0]


async def test_processes_end_with_the_gateway_also_daemons(tmp_path: Path) -> None:
    """Issue 17: a child that left its group too."""
    with gateway_process(tmp_path, target=command(tmp_path)) as gateway:
        async with client(gateway) as connected:
            session = await connected.new_session(cwd=str(tmp_path))
            said = (await session.ask("daemon")).text
            assert await to_thread.run_sync(gateway.stop) == 0
        for pid in said.split():
            await gone(int(pid))


async def test_sigterm_lets_the_turn_end_and_begins_nothing(tmp_path: Path) -> None:
    """Issue 17: no turn is cut short within the grace time; /readyz says so."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with gateway_process(tmp_path, target=command(tmp_path)) as gateway:
        assert get(gateway, "/readyz")[0] == 200
        async with client(gateway) as connected:
            session = await connected.new_session(cwd=str(tmp_path))
            other = await connected.new_session(cwd=str(tmp_path))
            async with session.prompt(f"wait {pipe}") as turn:
                await begun(turn)
                gateway.process.send_signal(signal.SIGTERM)
                await to_thread.run_sync(partial(gateway.said, "waiting up to 30 s"))
                assert get(gateway, "/readyz")[0] == 503
                assert get(gateway, "/healthz")[0] == 200
                status, _, headers = get(gateway, "/acp", gateway.token)
                assert (status, headers["retry-after"]) == (503, "5")
                with pytest.raises(AccordError, match="shutting down"):
                    await other.ask("more")
                await to_thread.run_sync(pipe.write_text, "the end")
                async for _ in turn:
                    pass
            assert turn.stop_reason == "end_turn"
            assert turn.reply.text.endswith("the end")
            assert await to_thread.run_sync(gateway.process.wait, HANG_SECONDS) == 0


async def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    """Ours: somebody who presses Ctrl-C twice."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with gateway_process(tmp_path, target=command(tmp_path)) as gateway:
        async with client(gateway) as connected:
            session = await connected.new_session(cwd=str(tmp_path))
            async with session.prompt(f"wait {pipe}") as turn:
                await begun(turn)
                gateway.process.send_signal(signal.SIGINT)
                await to_thread.run_sync(partial(gateway.said, "another signal stops at once"))
                assert await to_thread.run_sync(gateway.stop, signal.SIGINT) == 0


async def begun(turn: Any) -> None:
    """Wait until the agent works on a prompt."""
    async for _ in turn:
        if "waiting" in turn.reply.text:
            return


def write_now(pipe: Path) -> None:
    """Write to a pipe if somebody reads from it."""
    try:
        descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return
    os.write(descriptor, b"x")
    os.close(descriptor)


def configured(folder: Path, text: str) -> tuple[str, ...]:
    """Write a configuration with two agents and two users; return the options."""
    file = folder / "gateway.toml"
    line = json.dumps([sys.executable, PROGRAM, str(folder / "agent.sqlite3")])
    agents = f"[agents.one]\ntitle = 'One'\ncommand = {line}\n[agents.two]\ncommand = {line}\n"
    file.write_text(f"{text}\n{agents}")
    return ("--config", str(file))


async def test_users_have_the_rights_of_the_file(tmp_path: Path) -> None:
    """Issue 17: rights per agent; an agent that somebody may not use does not exist for them."""
    ann, bob = new_api_key(), new_api_key()
    options = list(configured(tmp_path, ""))
    with (tmp_path / "gateway.toml").open("a") as file:
        file.write(f'[users.ann]\napi_keys = "{ann.hash}"\nagents = {{ "*" = "editor" }}\n')
        file.write(f'[users.bob]\napi_keys = "{bob.hash}"\nagents = {{ two = "viewer" }}\n')
    with gateway_process(tmp_path, *options, target=(), token=None) as gateway:
        listed = {}
        for name, key in (("ann", ann.key), ("bob", bob.key)):
            status, body, _ = get(gateway, "/.well-known/acp-agents.json", key)
            assert status == 200
            listed[name] = json.loads(body)["agents"]
        assert [one["id"] for one in listed["ann"]] == ["one", "two"]
        assert [one["id"] for one in listed["bob"]] == ["two"]
        assert listed["ann"][0]["title"] == "One"
        assert listed["bob"][0]["version"] == "7.1"
        assert listed["bob"][0]["capabilities"]["loadSession"] is True
        unknown = [get(gateway, path)[:2] for path in ("/agents/one/acp", "/nowhere", "/metrics")]
        assert len(set(unknown)) == 1
        assert unknown[0][0] == 401
        hidden = [get(gateway, path, bob.key)[:2] for path in ("/agents/one/acp", "/nowhere")]
        assert hidden == [(404, b"Not found")] * 2
        metrics = get(gateway, "/metrics", bob.key)[1].decode()
        assert 'accord_agent_processes{agent="two"} 0' in metrics
        assert "one" not in metrics
        root = gateway.url.removesuffix("/acp")
        async with client(gateway, token=ann.key, url=f"{root}/agents/two/acp") as connected:
            session = await connected.new_session(cwd=str(tmp_path))
            assert (await session.ask("hi")).text == "hi"
        async with client(gateway, token=bob.key, url=f"{root}/agents/two/acp") as connected:
            with pytest.raises(AccordError, match="but not start any"):
                await connected.new_session(cwd=str(tmp_path))


async def test_limits_say_when_to_come_back(tmp_path: Path) -> None:
    """Issue 17: per principal; over HTTP with the status and the header for it."""
    limits = "[limits]\nconnections = 1\nsessions = 2\nprocesses = 2\n"
    options = configured(tmp_path, "")
    with (tmp_path / "gateway.toml").open("a") as file:
        file.write(limits)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with gateway_process(tmp_path, *options, target=()) as gateway:
        async with client(gateway) as connected:
            status, body, headers = get(gateway, "/acp", gateway.token)
            assert (status, headers["retry-after"]) == (429, "5")
            assert b"connections" in body
            busy = await connected.new_session(cwd=str(tmp_path))
            async with busy.prompt(f"wait {pipe}") as turn:
                idle = await connected.new_session(cwd=str(tmp_path))
                await idle.ask("pid")
                # The idle one is parked to make room for a third, and comes back in its place.
                third = await connected.new_session(cwd=str(tmp_path))
                async with third.prompt(f"wait {pipe}") as waiting:
                    with pytest.raises(RequestFailed) as refused:
                        await connected.new_session(cwd=str(tmp_path))
                    assert refused.value.data["limit"] in ("sessions", "processes")
                    assert refused.value.data["retryAfter"] > 0
                    # Both turns read from the pipe.
                    while not (waiting.is_over and turn.is_over):
                        write_now(pipe)
                        await anyio.sleep(0.01)
            assert (await idle.ask("back")).text == "back"


async def test_an_idle_session_is_parked_and_comes_back(tmp_path: Path) -> None:
    """Issue 17: idle agents are parked and brought back by resume."""
    options = configured(tmp_path, "park_seconds = 1")
    with gateway_process(tmp_path, *options, target=()) as gateway:
        async with client(gateway) as connected:
            session = await connected.new_session(cwd=str(tmp_path))
            pid = (await session.ask("pid")).text
            await gone(int(pid))
            assert (await session.ask("pid")).text != pid


async def test_one_process_for_each_connection(tmp_path: Path) -> None:
    """Issue 17: as configured."""
    options = list(configured(tmp_path, ""))
    file = tmp_path / "gateway.toml"
    file.write_text(
        file.read_text().replace("[agents.two]", "process = 'connection'\n[agents.two]")
    )
    with gateway_process(tmp_path, *options, target=()) as gateway:
        root = gateway.url.removesuffix("/acp")
        for name, same in (("one", True), ("two", False)):
            async with client(gateway, url=f"{root}/agents/{name}/acp") as connected:
                sessions = [await connected.new_session(cwd=str(tmp_path)) for _ in range(2)]
                pids = [(await session.ask("pid")).text for session in sessions]
            assert (pids[0] == pids[1]) is same


async def test_programs_of_clients_and_the_token_stay_out(tmp_path: Path) -> None:
    """Issue 17: client-supplied stdio MCP servers are refused with a clear error by default."""
    with gateway_process(tmp_path, target=command(tmp_path)) as gateway:
        async with client(gateway) as connected:
            # Of version 1 every agent takes them.
            server = McpServer(name="mine", command="/bin/touch", args=[str(tmp_path / "x")])
            async with client(gateway, version=1) as older:
                with pytest.raises(RequestFailed, match="MCP server"):
                    await older.new_session(cwd=str(tmp_path), mcp_servers=[server])
            assert not (tmp_path / "x").exists()
            session = await connected.new_session(cwd=str(tmp_path))
            assert (await session.ask("variable ACCORD_SERVE_TOKEN")).text == "not set"


async def test_an_agent_that_does_not_work_is_an_answer(tmp_path: Path) -> None:
    """Ours: a client learns why, and not only that the connection was closed."""
    with gateway_process(tmp_path, target=("--", "/bin/false")) as gateway:
        with pytest.raises(AccordError, match="the agent false does not work"):
            async with client(gateway):
                pass
        status, body, _ = get(gateway, "/.well-known/acp-agents.json", gateway.token)
        assert (status, json.loads(body)["agents"][0]["available"]) == (200, False)


async def test_an_agent_in_a_sandbox_writes_in_its_session_only(tmp_path: Path) -> None:
    """Issue 17: the session's folder writable; each session in a sandbox of its own."""
    try:
        find_sandbox()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    target = ("--", sys.executable, PROGRAM, ":memory:")
    with gateway_process(tmp_path, "--sandbox", target=target) as gateway:
        async with client(gateway) as connected:
            for folder, other in (folders, folders[::-1]):
                session = await connected.new_session(cwd=str(folder))
                assert (await session.ask(f"write {folder}/mine")).text == "written"
                await session.ask(f"write {other}/theirs")
                said = (await session.ask("daemon")).text
                assert said
    assert [(one / "mine").exists() for one in folders] == [True, True]
    assert [(one / "theirs").exists() for one in folders] == [False, False]
