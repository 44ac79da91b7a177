"""Starts an MCP server as a program, and exchanges messages through its pipes.

A server that the MCP package starts would outlive us if we are killed; ours is in a tracked process
group (`machine/processes/process_groups.py`) with all its children.

What always holds
    * The server gets only the variables that programs need to run, and those of its configuration.
    * Leaving the block ends the server and its group, within the times below.
    * A line that is not a message is counted and dropped; an endless line ends the connection.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from accord.machine.processes.child_process import GroupProcess, environment, spawn
from accord.machine.processes.program_lookup import with_program
from accord.machine.redacted_logs import log_redactor
from accord.mcp.server_spec import ServerSpec

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

LINE_BYTES_MAX = 32 * 1024 * 1024
STDERR_BYTES_KEPT = 4096
STDIN_SECONDS = 1.0
TERMINATE_SECONDS = 0.5
EXIT_SECONDS_MAX = 1.0

INHERITED = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ"),
        *("TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "DISPLAY", "WAYLAND_DISPLAY"),
        *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"),
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"),
        *("DOCKER_HOST", "VIRTUAL_ENV", "PYENV_ROOT", "NVM_DIR"),
    }
)
"""The variables that a server inherits: paths, locale and proxies, but no keys."""

_BROKEN = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError)


class ServerProcess:
    """The messages to and from one process, and how it ended."""

    def __init__(self, process: GroupProcess) -> None:
        self._process = process
        self._stderr_tail = b""
        self._bad_lines = 0
        self._broken = ""
        incoming, self.read = anyio.create_memory_object_stream[Any](0)
        self.write, outgoing = anyio.create_memory_object_stream[Any](0)
        self._incoming: MemoryObjectSendStream[SessionMessage | Exception] = incoming
        self._outgoing: MemoryObjectReceiveStream[SessionMessage] = outgoing

    async def why(self) -> str:
        """Return why the connection ended; empty if that is not known."""
        if self._broken:
            return self._broken
        with anyio.move_on_after(EXIT_SECONDS_MAX):
            await self._process.wait()
        ended = self._process.exit
        said = log_redactor().text(self._stderr_tail.decode("utf-8", "replace"))
        words = said.strip().splitlines()
        said = f"; its last line on stderr: {words[-1]}" if words else ""
        if ended is not None:
            return f"it exited ({ended}){said}"
        if self._bad_lines:
            return f"it wrote {self._bad_lines} lines that are not MCP messages{said}"
        return said.removeprefix("; ")

    async def read_messages(self) -> None:
        """Read messages until the process closes stdout."""
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        assert self._process.stdout is not None
        async with self._incoming:
            with suppress(*_BROKEN):
                async for line in self._lines(self._process.stdout):
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        self._bad_lines += 1
                        continue
                    await self._incoming.send(SessionMessage(message))

    async def _lines(self, stdout: anyio.abc.ByteReceiveStream) -> AsyncGenerator[bytes]:
        parts: list[bytes] = []
        held = 0
        async for chunk in stdout:
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                yield b"".join((*parts, line))
                parts, held = [], 0
            parts.append(rest)
            held += len(rest)
            if held > LINE_BYTES_MAX:
                self._broken = f"it sent a message of more than {LINE_BYTES_MAX} bytes"
                return

    async def write_messages(self) -> None:
        """Write messages to the process."""
        assert self._process.stdin is not None
        async with self._outgoing:
            try:
                async for one in self._outgoing:
                    text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await self._process.stdin.send(text.encode() + b"\n")
            except _BROKEN:
                # It does not read any more, so no answer will arrive.
                await self._incoming.aclose()

    async def read_stderr(self) -> None:
        """Keep the end of stderr, and read it so that the process never blocks."""
        assert self._process.stderr is not None
        with suppress(*_BROKEN):
            async for chunk in self._process.stderr:
                self._stderr_tail = (self._stderr_tail + chunk)[-STDERR_BYTES_KEPT:]


@asynccontextmanager
async def server_process(spec: ServerSpec, cwd: str) -> AsyncGenerator[ServerProcess]:
    """Start the server, and end it when the block is left.

    Raises:
        SpawnFailed: the program could not be started.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name in INHERITED or name.startswith("LC_")
    }
    variables = environment(spec.env, inherited=inherited)
    command = with_program((spec.command, *spec.args), variables)
    process = await spawn(command, cwd=cwd, env=variables)
    try:
        pipe = ServerProcess(process)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pipe.read_messages)
            tasks.start_soon(pipe.write_messages)
            tasks.start_soon(pipe.read_stderr)
            try:
                yield pipe
            finally:
                pipe.read.close()
                pipe.write.close()
                await process.end(stdin_seconds=STDIN_SECONDS, terminate_seconds=TERMINATE_SECONDS)
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await process.end_now()
