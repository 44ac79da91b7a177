"""The judged program: a process in its own group and folder, or a connection to a server.

What always holds: leaving `started` leaves no process behind that the program started, and leaving
`connected` ends the connection.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Protocol

import anyio
from anyio import to_thread
from anyio.abc import ByteReceiveStream, Process

from accord.conformance.frames.raw_peer import Gone, RawPeer, Unanswered
from accord.conformance.network.address import RemoteServer
from accord.conformance.network.http_caller import (
    CONNECTION,
    HttpCaller,
    NotReached,
    speaks_http1,
)
from accord.conformance.network.http_link import HttpLink, http_link
from accord.conformance.network.websocket_link import (
    UpgradeRefused,
    WebSocketLink,
    websocket_link,
)
from accord.conformance.time_limits import ANSWER_SECONDS, GRACE_SECONDS, LEAVE_SHARE
from accord.machine.processes.descendants import end_marked, marked, new_mark
from accord.machine.processes.process_groups import watch

# The bytes of a program's stderr that are kept.
STDERR_BYTES_MAX = 64 * 1024
# The last lines of stderr that are shown of a program that ended before anything was checked.
STDERR_LINES_SHOWN = 5


class NotStarted(Exception):
    """The program does not start, so that it cannot be judged; the message says why."""


def ended_early(code: int, before: str, stderr: str) -> NotStarted:
    """Return the error for a program that sent nothing and ended of its own accord."""
    how = f"exit code {code}" if code > 0 else f"signal {-code}"
    last = stderr.strip().splitlines()[-STDERR_LINES_SHOWN:]
    tail = "".join(f"\n  {line}" for line in last) or " nothing"
    return NotStarted(f"the program ended with {how} {before}. Its stderr says:{tail}")


class Counterpart(Protocol):
    """The judged program as a check meets it: a process, or a connection to a server."""

    @property
    def peer(self) -> RawPeer: ...

    @property
    def stderr(self) -> bytearray: ...

    @property
    def exit_code(self) -> int | None:
        """The exit code of a process that has ended; a server has none."""
        ...

    async def close_input(self) -> None:
        """Close the input of the program."""
        ...

    async def ended(self, seconds: float) -> int | None:
        """Return how the program ended; None if it still runs after this time."""
        ...


@dataclass(slots=True)
class Program:
    """A running program and the peer that talks with it."""

    process: Process
    peer: RawPeer
    stderr: bytearray = field(default_factory=bytearray)

    @property
    def exit_code(self) -> int | None:
        return self.process.returncode

    async def close_input(self) -> None:
        """Close the input of the program."""
        assert self.process.stdin is not None
        await self.process.stdin.aclose()

    async def ended(self, seconds: float) -> int | None:
        """Its exit code, or None when it still runs after this time."""
        return await end_of(self.process, seconds)


async def open_program(
    command: Sequence[str], *, stdin: int, folder: str, env: Mapping[str, str], mark: str
) -> Process:
    """Start a command in its own process group, with pipes and this mark.

    Raises:
        NotStarted: there is no such program, or it may not be run.
    """
    watch()
    try:
        return await anyio.open_process(
            list(command),
            stdin=stdin,
            stdout=PIPE,
            stderr=PIPE,
            cwd=folder,
            env=marked({**os.environ, **env}, mark),
            start_new_session=True,
        )
    except OSError as error:
        raise NotStarted(f"cannot start {command[0]}: {error.strerror or error}") from None


def own_home(root: Path) -> dict[str, str]:
    """Make folders for a program's settings and state, and return the variables that name them."""
    folders = {name: root / name for name in ("home", "config", "state")}
    for folder in folders.values():
        folder.mkdir()
    return {
        "HOME": str(folders["home"]),
        "XDG_CONFIG_HOME": str(folders["config"]),
        "XDG_STATE_HOME": str(folders["state"]),
        "XDG_DATA_HOME": str(folders["state"]),
        "ACCORD_CONFIG_DIR": str(folders["config"]),
        "ACCORD_STATE_DIR": str(folders["state"]),
    }


async def end_of(process: Process, seconds: float) -> int | None:
    """Its exit code, or None when it still runs after this time."""
    # On a busy machine the time may be over before the process was polled.
    for wait in (seconds, GRACE_SECONDS):
        with anyio.move_on_after(wait):
            return await process.wait()
    return None


@asynccontextmanager
async def started(
    command: Sequence[str],
    *,
    folder: str,
    env: Mapping[str, str],
    patience: float = ANSWER_SECONDS,
) -> AsyncGenerator[Program]:
    """Start a command with pipes and a pump for its output.

    Raises:
        NotStarted: there is no such program, or it may not be run.
    """
    mark = new_mark()
    process = await open_program(command, stdin=PIPE, folder=folder, env=env, mark=mark)
    assert process.stdin is not None
    assert process.stdout is not None
    program = Program(process, RawPeer(process.stdout, process.stdin, patience=patience))
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(program.peer.pump)
            tasks.start_soon(drain, process.stderr, program.stderr)
            yield program
            await _leave(program)
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(5):
            kill_group(process.pid)
            await process.wait()
            # The rest in the pipes is read, since otherwise their end would not be seen.
            for stream in (process.stdout, process.stderr):
                await _empty(stream)
            await process.stdin.aclose()
            await to_thread.run_sync(end_marked, mark)


async def _leave(program: Program) -> None:
    """Let the program end of its own accord, and read its output until then."""
    try:
        await program.close_input()
    except (OSError, anyio.BrokenResourceError):
        pass
    with anyio.move_on_after(program.peer.patience * LEAVE_SHARE):
        await program.process.wait()
        await program.peer.closed.wait()


async def _empty(stream: ByteReceiveStream | None) -> None:
    assert stream is not None
    try:
        while True:
            await stream.receive(65_536)
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await stream.aclose()


async def drain(stream: ByteReceiveStream | None, kept: bytearray) -> None:
    """Read the output of a program to its end, and keep the beginning."""
    assert stream is not None
    try:
        while True:
            chunk = await stream.receive(65_536)
            kept += chunk[: STDERR_BYTES_MAX - len(kept)]
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass


def kill_group(group: int) -> None:
    """End a program and the rest of its process group."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


@dataclass(slots=True)
class RemoteProgram:
    """One connection to a server, and the peer that talks over it."""

    link: HttpLink | WebSocketLink
    peer: RawPeer
    # The stderr of a server cannot be seen.
    stderr: bytearray = field(default_factory=bytearray)

    @property
    def exit_code(self) -> None:
        return None

    async def close_input(self) -> None:
        await self.link.send_eof()

    async def ended(self, seconds: float) -> int | None:
        with anyio.move_on_after(seconds):
            await self.link.over.wait()
            return 0
        return None


# Statuses of a server, or of a proxy in front of it, for a refused user or an unknown path.
REFUSALS = frozenset({301, 302, 303, 307, 308, 401, 403, 404, 405, 407, 421, 426, 429, 501})
NOT_READY = frozenset({502, 503, 504})
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {}},
}


class NotAdmitted(Exception):
    """The server refuses its user, or closes without an answer; then `status` is None."""

    def __init__(self, status: int | None, body: bytes = b"", location: str | None = None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body
        self.location = location


async def require_admission(server: RemoteServer, patience: float) -> None:
    """Require that a server admits its user; otherwise it cannot be judged.

    Raises:
        NotReached: nobody listens there.
        NotAdmitted: it refuses every request, or does not speak HTTP.
    """
    try:
        if server.address.transport == "http":
            status, body, location = await _initialized(server, patience)
        else:
            async with websocket_link(server):
                return
    except UpgradeRefused as error:
        if error.answer is None:
            raise NotAdmitted(None) from None
        status, body = int(error.answer.status_code), bytes(error.answer.body or b"")
        location = error.answer.headers.get("location")
    except Gone:
        raise NotAdmitted(None) from None
    except Unanswered:
        # For instance a slow server, which is judged.
        return
    if status in REFUSALS | NOT_READY:
        raise NotAdmitted(status, body, location)


async def _initialized(server: RemoteServer, patience: float) -> tuple[int, bytes, str | None]:
    """Open a connection and end it; return the server's answer."""
    is_http2 = not await speaks_http1(server.address)
    caller = HttpCaller(server, patience=patience, is_http2=is_http2)
    answer = await caller.post(HELLO)
    connection = answer.header(CONNECTION)
    if connection is not None:
        await caller.request("DELETE", {CONNECTION: connection})
    return answer.status, answer.body, answer.header("location")


@asynccontextmanager
async def connected(server: RemoteServer, patience: float) -> AsyncGenerator[RemoteProgram]:
    """Connect to a server and read what it says.

    Raises:
        NotStarted: nobody listens there.
        UpgradeRefused: it does not speak WebSocket.
    """
    async with AsyncExitStack() as stack:
        try:
            if server.address.transport == "http":
                # A server that cannot be reached is not judged.
                is_http2 = not await speaks_http1(server.address)
                caller = HttpCaller(server, patience=patience, is_http2=is_http2)
                link: HttpLink | WebSocketLink
                link = await stack.enter_async_context(http_link(caller))
            else:
                link = await stack.enter_async_context(websocket_link(server))
        except NotReached as error:
            raise NotStarted(f"cannot reach {error}") from None
        program = RemoteProgram(link, RawPeer(link, link, patience=patience))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(program.peer.pump)
            yield program
            tasks.cancel_scope.cancel()
