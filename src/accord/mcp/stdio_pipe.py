"""The pipe to an MCP server that is a program of ours.

The MCP package could start it, but a server that it starts outlives us when we are killed; ours is
in a tracked process group (`machine/processes/process_groups.py`), with whatever it starts itself.

What always holds
    * The server gets the variables that programs need to run and those that were named, no others.
    * Leaving the block ends the server and its group, within the bounds below.
    * A line that is no message is counted and dropped; a line without end ends the conversation.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from accord.machine.logs import log_redactor
from accord.machine.processes.child_process import GroupProcess, environment, spawn
from accord.machine.processes.program_lookup import with_program
from accord.mcp.server_spec import ServerSpec

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

LINE_BYTES_MAX = 32 * 1024 * 1024
LAST_WORDS_BYTES = 4096
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
"""What a server inherits: where things are and in which language, and nobody's keys."""

_BROKEN = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError)


class StdioPipe:
    """The conversation with one process: messages in, messages out, and how it ended."""

    def __init__(self, process: GroupProcess) -> None:
        self._process = process
        self._last_words = b""
        self._noise = 0
        self._broken = ""
        incoming, self.read = anyio.create_memory_object_stream[Any](0)
        self.write, outgoing = anyio.create_memory_object_stream[Any](0)
        self._incoming: MemoryObjectSendStream[SessionMessage | Exception] = incoming
        self._outgoing: MemoryObjectReceiveStream[SessionMessage] = outgoing

    async def why(self) -> str:
        """Why nothing more comes, in words; empty when nothing is known."""
        if self._broken:
            return self._broken
        with anyio.move_on_after(EXIT_SECONDS_MAX):
            await self._process.wait()
        ended = self._process.exit
        said = log_redactor().text(self._last_words.decode("utf-8", "replace"))
        words = said.strip().splitlines()
        said = f"; its last words: {words[-1]}" if words else ""
        if ended is not None:
            return f"it ended ({ended}){said}"
        if self._noise:
            return f"it wrote {self._noise} lines that are no message of MCP{said}"
        return said.removeprefix("; ")

    async def read_messages(self) -> None:
        """Hand on what it says, until it says no more."""
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        assert self._process.stdout is not None
        async with self._incoming:
            with suppress(*_BROKEN):
                async for line in self._lines(self._process.stdout):
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError:
                        self._noise += 1
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
        """Hand over what is to be said."""
        assert self._process.stdin is not None
        async with self._outgoing:
            try:
                async for one in self._outgoing:
                    text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await self._process.stdin.send(text.encode() + b"\n")
            except _BROKEN:
                # It does not listen any more, so no answer will come.
                await self._incoming.aclose()

    async def hear_complaints(self) -> None:
        """Keep the end of what it writes to stderr, so that it never waits for a reader."""
        assert self._process.stderr is not None
        with suppress(*_BROKEN):
            async for chunk in self._process.stderr:
                self._last_words = (self._last_words + chunk)[-LAST_WORDS_BYTES:]


@asynccontextmanager
async def stdio_pipe(spec: ServerSpec, cwd: str) -> AsyncGenerator[StdioPipe]:
    """Start the server; it is gone when the block is left.

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
        pipe = StdioPipe(process)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pipe.read_messages)
            tasks.start_soon(pipe.write_messages)
            tasks.start_soon(pipe.hear_complaints)
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


__all__ = ["INHERITED", "LINE_BYTES_MAX", "StdioPipe", "stdio_pipe"]
