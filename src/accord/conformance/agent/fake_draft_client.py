"""The client that the kit plays for an agent of the 2026-02 draft.

Its files and terminals are those of the official versions with other words: lines from the first
to the last, output that is pushed to the agent, codes with meanings of their own.

What always holds: what a command printed is pushed before its end is told, nothing is pushed
behind a release, and a terminal's pushes are in the order in which they were printed.
"""

from __future__ import annotations

import codecs
import signal
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream

from accord.conformance.agent.fake_client import OUTPUT_BYTES_MAX, Host, Terminal, end_process
from accord.conformance.frames.error_codes import INVALID_PARAMS
from accord.conformance.frames.raw_peer import Message, RawPeer, Reply

NOT_FOUND = -32004
ACCESS_DENIED = -32005
ENCODINGS = frozenset({"utf-8", "utf8", "utf-16", "latin-1", "iso-8859-1", "ascii", "us-ascii"})
# The answer to a wait whose time limit is reached before the command ends.
TIMED_OUT: Message = {"exitCode": -1, "timedOut": True}


@dataclass(slots=True)
class DraftHost(Host):
    """The services of a client of the draft for one program."""

    _peer: list[RawPeer] = field(default_factory=list)

    def serve(self, peer: RawPeer) -> None:
        """Answer the requests of this peer's program from now on, and push output to it."""
        self._peer[:] = [peer]
        peer.responders.update(
            {
                "fs/read_text_file": self._read_file,
                "fs/write_text_file": self._write_file,
                "terminal/create": self._create,
                "terminal/wait_for_exit": self._wait,
                "terminal/kill": self._kill,
                "terminal/release": self._release,
                "session/request_permission": self._permission,
            }
        )

    async def _permission(self, params: Message) -> Reply | None:
        reply = await self.permission(params)
        if reply is not None and isinstance(reply.result, dict):
            return Reply(granted(reply.result))
        return reply

    # ---- files

    def _within(self, path: Any) -> Path | None:
        """Return the path of a file of the session; a relative name is in the working folder."""
        if not isinstance(path, str):
            return None
        return Host._within(self, str(self.folder / path))

    async def _read_file(self, params: Message) -> Reply | None:
        path, encoding = self._within(params.get("path")), params.get("encoding") or "utf-8"
        first, last = params.get("startLine"), params.get("endLine")
        if not (_is_line(first) and _is_line(last)) or str(encoding).lower() not in ENCODINGS:
            return Reply.refused(INVALID_PARAMS, "startLine, endLine or encoding is wrong")
        if path is None:
            return Reply.refused(ACCESS_DENIED, "outside of the session's folder")
        if not path.is_file():
            return Reply.refused(NOT_FOUND, "no such file")
        self.read.append(str(path))
        lines = path.read_text(encoding, "replace").splitlines(keepends=True)
        text = "".join(lines[(first or 1) - 1 : last])
        return Reply({"content": text, "encoding": encoding, "totalLines": len(lines)})

    async def _write_file(self, params: Message) -> Reply | None:
        path, text = self._within(params.get("path")), params.get("content")
        encoding = params.get("encoding") or "utf-8"
        if not isinstance(text, str) or str(encoding).lower() not in ENCODINGS:
            return Reply.refused(INVALID_PARAMS, "content or encoding is wrong")
        if path is None:
            return Reply.refused(ACCESS_DENIED, "outside of the session's folder")
        if params.get("createDirectories") is False and not path.parent.is_dir():
            return Reply.refused(NOT_FOUND, "no such folder")
        created = not path.exists()
        if not created and params.get("overwrite") is False:
            return Reply.refused(ACCESS_DENIED, "the file exists")
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.write_bytes(text.encode(encoding, "replace"))
        self.written.append(str(path))
        return Reply({"bytesWritten": written, "created": created})

    # ---- terminals

    async def _create(self, params: Message) -> Reply | None:
        folder = str(self.folder / str(params.get("cwd") or "."))
        name = await self._open({**params, "cwd": folder}, stderr=PIPE)
        if isinstance(name, Reply):
            return name
        terminal = self.terminals[name]
        answered = anyio.Event()
        self.tasks.start_soon(self._push_all, name, terminal, answered)
        if (seconds := _seconds(params.get("timeout"))) is not None:
            self.tasks.start_soon(_end_after, seconds, terminal)
        return Reply({"terminalId": name, "pid": terminal.process.pid}, sent=answered)

    async def _push_all(self, name: str, terminal: Terminal, answered: anyio.Event) -> None:
        """Push the output of a command, from the answer to its start until its end."""
        await answered.wait()
        process = terminal.process
        async with anyio.create_task_group() as tasks:
            for stream, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
                if pipe is not None:
                    tasks.start_soon(self._push, name, terminal, stream, pipe)
        await process.wait()
        terminal.exited.set()

    async def _push(
        self, name: str, terminal: Terminal, stream: str, pipe: ByteReceiveStream
    ) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text, over = "", False
        while not over:
            try:
                chunk = await pipe.receive(65_536)
                # Output over the bound is read and dropped, so that the command continues.
                chunk = chunk[: max(0, OUTPUT_BYTES_MAX - len(terminal.output))]
                terminal.output += chunk
                text = decoder.decode(chunk)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                text, over = decoder.decode(b"", final=True), True
            if text and not terminal.released:
                pushed = {"terminalId": name, "data": text, "stream": stream}
                await self._peer[0].ask("terminal/output", pushed)

    async def _wait(self, params: Message) -> Reply | None:
        terminal = self._terminal(params)
        if terminal is None:
            return Reply.refused(NOT_FOUND, "no such terminal")
        with anyio.move_on_after(_seconds(params.get("timeout"))):
            await terminal.exited.wait()
            return Reply(_ended(terminal.process.returncode or 0))
        return Reply(TIMED_OUT)

    async def _kill(self, params: Message) -> Reply | None:
        terminal = self._terminal(params)
        if terminal is None:
            return Reply.refused(NOT_FOUND, "no such terminal")
        wanted = getattr(signal, str(params.get("signal") or "SIGTERM"), None)
        if not isinstance(wanted, signal.Signals):
            return Reply.refused(INVALID_PARAMS, "no such signal")
        running = terminal.process.returncode is None
        end_process(terminal.process, signal.SIGKILL if params.get("force") is True else wanted)
        return Reply({"killed": running})

    async def _release(self, params: Message) -> Reply | None:
        terminal = self._terminal(params)
        if terminal is None:
            return Reply.refused(NOT_FOUND, "no such terminal")
        end_process(terminal.process)
        terminal.released = True
        return Reply({"released": True})


async def _end_after(seconds: float, terminal: Terminal) -> None:
    with anyio.move_on_after(seconds):
        await terminal.exited.wait()
        return
    end_process(terminal.process)


def _is_line(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1)


def _seconds(milliseconds: Any) -> float | None:
    is_number = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
    return max(0.0, milliseconds / 1000) if is_number else None


def _ended(code: int) -> Message:
    """Return the exit code of a command; for a signal, the one that shells report."""
    if code >= 0:
        return {"exitCode": code}
    return {"exitCode": 128 - code, "signal": signal.Signals(-code).name}


def granted(result: Message) -> Message:
    """Return an answer in the form of the draft, which has no options to choose from."""
    outcome = result.get("outcome")
    chosen = str(outcome.get("optionId", "")) if isinstance(outcome, dict) else ""
    allowed = chosen.startswith("allow")
    return {"granted": True, "scope": "once"} if allowed else {"granted": False}
