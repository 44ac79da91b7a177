"""Starting a judged client, and the connection that it makes to the kit.

Several ways.  `spawn`: the client's command is started with the command of an agent, which is a
small program of ours that carries the bytes to the kit; the agent's command takes the place of
`{agent}` in the client's words, or is appended to them, and is in the environment as
ACCORD_CHECK_AGENT.
`stdio`: the client speaks on its own standard output and input, as to an agent that started it.
`http` and `websocket`: the kit listens at an address; its URL takes the place of `{url}` in the
client's words, or is appended to them, and is in the environment as ACCORD_CHECK_URL.

What always holds: leaving `launched` leaves no process and no folder behind.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from subprocess import DEVNULL
from typing import Literal

import anyio
from anyio import to_thread
from anyio.abc import Process, SocketAttribute, SocketStream

from accord.conformance.client import stdio_relay as bridge
from accord.conformance.frames.raw_peer import RawPeer, Unanswered
from accord.conformance.network.http_listener import HttpListener
from accord.conformance.network.line_stream import LineStream
from accord.conformance.run.program import (
    NotStarted,
    drain,
    end_of,
    kill_group,
    open_program,
    started,
)
from accord.conformance.time_limits import LEAVE_SHARE
from accord.machine.own_command_line import own_file
from accord.machine.processes.descendants import end_marked, new_mark

Way = Literal["spawn", "stdio", "http", "websocket"]
PLACEHOLDER = "{agent}"
URL_PLACEHOLDER = "{url}"
URL_VARIABLE = "ACCORD_CHECK_URL"
SCHEMES = {"http": "http", "websocket": "ws"}
AGENT_VARIABLE = "ACCORD_CHECK_AGENT"
# How often a client may connect again in one check.
CONNECTIONS_MAX = 16
# The argument that makes the agent's program fail a login.
FAILING_LOGIN = "--accord-check-failing-login"


@dataclass(slots=True)
class Launched:
    """A running client; `connection` waits for the next time that it connects."""

    process: Process
    way: Way
    peers: list[RawPeer] = field(default_factory=list)
    output: bytearray = field(default_factory=bytearray)
    # This file exists once the agent was run for a failing login, which `stdio` does not allow.
    failed_login: Path | None = None
    # The requests of the client to the kit's server, over a network.
    listener: HttpListener | None = None
    _taken: int = 0
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def connection(self, seconds: float) -> RawPeer:
        """Wait for the next connection.

        Raises:
            Unanswered: the client does not connect within this time, or is gone before.
        """
        with anyio.move_on_after(seconds):
            while self._taken >= len(self.peers):
                if self.process.returncode is not None:
                    break
                with anyio.move_on_after(0.2):
                    await self._changed.wait()
        if self._taken >= len(self.peers):
            code = self.process.returncode
            how = f"ended with code {code}" if code is not None else f"took more than {seconds:g} s"
            raise Unanswered(f"the client did not start the agent: it {how}")
        self._taken += 1
        return self.peers[self._taken - 1]

    async def comes_back(self, peer: RawPeer, seconds: float) -> bool:
        """Whether the client connects again, instead of continuing or ending."""

        async def goes_on() -> None:
            try:
                await peer.expect(lambda one: one.method is not None, "", since=since)
                tasks.cancel_scope.cancel()
            except Unanswered:
                pass

        since = len(peer.frames)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(goes_on)
            with anyio.move_on_after(seconds):
                while self._taken >= len(self.peers) and self.process.returncode is None:
                    with anyio.move_on_after(0.2):
                        await self._changed.wait()
            tasks.cancel_scope.cancel()
        return self._taken < len(self.peers)

    def connected(self, peer: RawPeer) -> None:
        self.peers.append(peer)
        self._changed.set()
        self._changed = anyio.Event()

    def send_signal(self, number: int) -> None:
        """Send a signal to the client only, not to the programs that it started."""
        try:
            os.kill(self.process.pid, number)
        except ProcessLookupError:
            pass

    async def ended(self, seconds: float) -> int | None:
        """Return its exit code; None if it still runs after this time."""
        return await end_of(self.process, seconds)


@asynccontextmanager
async def launched(
    command: Sequence[str],
    *,
    way: Way,
    folder: str,
    env: Mapping[str, str],
    patience: float,
    listen: Listen | None = None,
) -> AsyncGenerator[Launched]:
    """Start the client in this folder.

    Raises:
        NotStarted: there is no such program, it may not be run, or the address cannot be used.
    """
    command = from_here(command)
    if way in SCHEMES:
        where = listen or Listen()
        async with _connecting(command, way, folder, env, patience, where) as client:
            yield client
        return
    if way == "stdio":
        async with started(command, folder=folder, env=env, patience=patience) as program:
            client = Launched(program.process, way, output=program.stderr)
            client.connected(program.peer)
            yield client
        return
    with tempfile.TemporaryDirectory(prefix="accord-") as hidden:
        address = str(Path(hidden, "s"))
        agent = _agent_program(Path(hidden, "agent"), address, Path(hidden, "login"))
        async with (
            await anyio.create_unix_listener(address) as listener,
            _spawned(with_agent(command, agent), folder, {**env, AGENT_VARIABLE: agent}) as client,
            anyio.create_task_group() as tasks,
        ):

            async def serve(stream: SocketStream) -> None:
                async with stream:
                    if len(client.peers) >= CONNECTIONS_MAX:
                        return
                    client.failed_login = Path(hidden, "login")
                    peer = RawPeer(stream, stream, patience=patience)
                    client.connected(peer)
                    await peer.pump()

            tasks.start_soon(listener.serve, serve)
            yield client
            await _leave(client, patience * LEAVE_SHARE)
            tasks.cancel_scope.cancel()


@dataclass(frozen=True, slots=True)
class Listen:
    """The address for clients to connect to; port 0 picks a free port."""

    host: str = "127.0.0.1"
    port: int = 0
    path: str = "/acp"


@asynccontextmanager
async def _connecting(
    command: Sequence[str],
    way: Way,
    folder: str,
    env: Mapping[str, str],
    patience: float,
    listen: Listen,
) -> AsyncGenerator[Launched]:
    """Start a client that connects over a network."""
    try:
        sockets = await anyio.create_tcp_listener(local_host=listen.host, local_port=listen.port)
    except OSError as error:
        raise NotStarted(f"cannot listen at {listen.host}:{listen.port}: {error}") from None
    port = sockets.extra(SocketAttribute.local_port)
    host = f"[{listen.host}]" if ":" in listen.host else listen.host
    url = f"{SCHEMES[way]}://{host}:{port}{listen.path}"
    words = with_url(command, url)
    async with (
        sockets,
        _spawned(words, folder, {**env, URL_VARIABLE: url}) as client,
        anyio.create_task_group() as tasks,
    ):
        client.way = way

        def connected(link: LineStream) -> None:
            if len(client.peers) >= CONNECTIONS_MAX:
                return
            peer = RawPeer(link, link, patience=patience)
            client.connected(peer)
            tasks.start_soon(peer.pump)

        client.listener = HttpListener(connected, listen.path)
        tasks.start_soon(sockets.serve, client.listener.serve)
        yield client
        await _leave(client, patience * LEAVE_SHARE)
        tasks.cancel_scope.cancel()


def with_url(command: Sequence[str], url: str) -> list[str]:
    """Put the URL into the client's command, at its placeholder or at the end."""
    if any(URL_PLACEHOLDER in word for word in command):
        return [word.replace(URL_PLACEHOLDER, url) for word in command]
    return [*command, url]


def from_here(command: Sequence[str]) -> list[str]:
    """Make names of files in a command absolute.

    The client is started in a folder of its own, where their names would mean nothing.  A plain
    word is left alone: it may be a module or a prompt even if a file has the same name.
    """
    here = Path.cwd()
    return [
        str(here / word) if _names_file(word, number) and os.path.isfile(here / word) else word
        for number, word in enumerate(command)
    ]


def _names_file(word: str, number: int) -> bool:
    # A program without a slash is looked up in PATH.
    return "/" in word or (number > 0 and bool(Path(word).suffix))


def with_agent(command: Sequence[str], agent: str) -> list[str]:
    """Put the agent's command into the client's, at its placeholder or at the end."""
    if any(PLACEHOLDER in word for word in command):
        return [word.replace(PLACEHOLDER, agent) for word in command]
    return [*command, agent]


def _agent_program(path: Path, address: str, failed_login: Path) -> str:
    """Return a command of one word, so that a client cannot quote it wrongly."""
    relay = " ".join(map(quote, own_file(bridge.__file__, address)))
    fails = f'case "$*" in *{FAILING_LOGIN}*) : >{quote(str(failed_login))}; exit 3 ;; esac'
    path.write_text(f"#!/bin/sh\n{fails}\nexec {relay}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@asynccontextmanager
async def _spawned(
    command: Sequence[str], folder: str, env: Mapping[str, str]
) -> AsyncGenerator[Launched]:
    mark = new_mark()
    process = await open_program(command, stdin=DEVNULL, folder=folder, env=env, mark=mark)
    client = Launched(process, "spawn")
    try:
        async with anyio.create_task_group() as tasks:
            for said in (process.stdout, process.stderr):
                tasks.start_soon(drain, said, client.output)
            yield client
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(5):
            kill_group(process.pid)
            await process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    await stream.aclose()
            await to_thread.run_sync(end_marked, mark)


async def _leave(client: Launched, seconds: float) -> None:
    """Let the client notice that its agent is gone, and end of its own accord."""
    for peer in client.peers:
        try:
            await peer.writing.aclose()
        except (OSError, anyio.BrokenResourceError):
            pass
    await client.ended(seconds)
