"""The client that the kit plays for an agent: files, terminals, permissions, questions.

It gives an agent what it asks for, in the session's folder only, and keeps count.  What it answers
can be changed by a check.

What always holds: nothing outside its folder is read or written, every command is ended with it,
and every command's output has a bound.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any

import anyio
from anyio.abc import Process, TaskGroup

from accord.conformance.frames.error_codes import INTERNAL_ERROR, INVALID_PARAMS, NOT_FOUND
from accord.conformance.frames.raw_peer import Message, RawPeer, Reply
from accord.conformance.time_limits import COMMAND_END_SECONDS
from accord.machine.processes.descendants import marked

OUTPUT_BYTES_MAX = 1024 * 1024
TERMINALS_MAX = 64

# The options for a request that offers none, as in the draft.
DRAFT_OPTIONS = [
    {"optionId": "allow_once", "kind": "allow_once"},
    {"optionId": "reject_once", "kind": "reject_once"},
]

Decide = Callable[[Message], Awaitable[Reply | None]]


@dataclass(slots=True)
class Terminal:
    """A command of the agent that the kit runs."""

    process: Process
    output: bytearray = field(default_factory=bytearray)
    exited: anyio.Event = field(default_factory=anyio.Event)
    released: bool = False

    def status(self) -> Message | None:
        code = self.process.returncode
        if code is None:
            return None
        if code < 0:
            return {"exitCode": None, "signal": signal.Signals(-code).name}
        return {"exitCode": code, "signal": None}


@dataclass(slots=True)
class Host:
    """The services of a client for one program."""

    folder: Path
    tasks: TaskGroup
    permission: Decide = field(default_factory=lambda: choosing("allow"))
    elicitation: Decide = field(default_factory=lambda: filling("accept"))
    terminals: dict[str, Terminal] = field(default_factory=dict)
    read: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    # Additional folders of all sessions.
    roots: list[Path] = field(default_factory=list)
    # The folders of sessions with another folder than the usual one.
    folders: dict[str, Path] = field(default_factory=dict)
    # Once this is set, no command is started any more.
    ended: anyio.Event = field(default_factory=anyio.Event)

    def serve(self, peer: RawPeer) -> None:
        """Answer the requests of this peer's program from now on."""
        peer.responders.update(
            {
                "fs/read_text_file": self._read_file,
                "fs/write_text_file": self._write_file,
                "terminal/create": self._create,
                "terminal/output": self._output,
                "terminal/wait_for_exit": self._wait,
                "terminal/kill": self._kill,
                "terminal/release": self._release,
                "session/request_permission": self._permission,
                "elicitation/create": self._elicitation,
            }
        )

    # A check may change the answers while it runs.
    async def _permission(self, params: Message) -> Reply | None:
        return await self.permission(params)

    async def _elicitation(self, params: Message) -> Reply | None:
        return await self.elicitation(params)

    async def end(self) -> None:
        """End every running command, wait for its end, and start none from now on."""
        self.ended.set()
        for terminal in self.terminals.values():
            end_process(terminal.process)
        with anyio.move_on_after(COMMAND_END_SECONDS, shield=True):
            for terminal in self.terminals.values():
                await terminal.exited.wait()
        for terminal in self.terminals.values():
            # Close also the pipes of a command whose output was not read to its end.
            await terminal.process.aclose()

    def _within(self, path: Any) -> Path | None:
        if not isinstance(path, str):
            return None
        real = Path(os.path.realpath(path))
        folders = (self.folder, *self.roots)
        return real if any(real.is_relative_to(os.path.realpath(one)) for one in folders) else None

    async def _read_file(self, params: Message) -> Reply | None:
        path = self._within(params.get("path"))
        if path is None or not path.is_file():
            return Reply.refused(NOT_FOUND, "no such file")
        self.read.append(str(path))
        lines = path.read_text("utf-8", "replace").splitlines(keepends=True)
        first = params.get("line") or 1
        limit = params.get("limit")
        if not isinstance(first, int) or not (limit is None or isinstance(limit, int)):
            return Reply.refused(INVALID_PARAMS, "line and limit are numbers")
        until = None if limit is None else first - 1 + limit
        return Reply({"content": "".join(lines[first - 1 : until])})

    async def _write_file(self, params: Message) -> Reply | None:
        path, text = self._within(params.get("path")), params.get("content")
        if path is None or not isinstance(text, str):
            return Reply.refused(INVALID_PARAMS, "outside of the session's folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        self.written.append(str(path))
        return Reply({})

    async def _create(self, params: Message) -> Reply | None:
        name = await self._open(params, stderr=STDOUT)
        if isinstance(name, Reply):
            return name
        self.tasks.start_soon(_collect, self.terminals[name])
        return Reply({"terminalId": name})

    async def _open(self, params: Message, *, stderr: int) -> str | Reply:
        """Start a command; return the name of its terminal, or the reason why it has none."""
        if not isinstance(params.get("command"), str) or len(self.terminals) >= TERMINALS_MAX:
            return Reply.refused(INVALID_PARAMS, "no command, or too many")
        if self.ended.is_set():
            return Reply.refused(INTERNAL_ERROR, "it is over")
        try:
            folder = self.folders.get(str(params.get("sessionId")), self.folder)
            process = await start_command(params, folder, stderr=stderr)
        except OSError as error:
            return Reply.refused(INTERNAL_ERROR, f"not started: {error.strerror}")
        if self.ended.is_set():
            # The request came while the program was being ended: this command would never be ended.
            end_process(process)
            await process.aclose()
            return Reply.refused(INTERNAL_ERROR, "it is over")
        name = f"terminal-{len(self.terminals) + 1}"
        self.terminals[name] = Terminal(process)
        return name

    def _terminal(self, params: Message) -> Terminal | None:
        terminal = self.terminals.get(str(params.get("terminalId")))
        return None if terminal is None or terminal.released else terminal

    async def _output(self, params: Message) -> Reply | None:
        terminal = self._terminal(params)
        if terminal is None:
            return Reply.refused(NOT_FOUND, "no such terminal")
        text = terminal.output.decode("utf-8", "replace")
        return Reply({"output": text, "truncated": False, "exitStatus": terminal.status()})

    async def _wait(self, params: Message) -> Reply | None:
        terminal = self._terminal(params)
        if terminal is None:
            return Reply.refused(NOT_FOUND, "no such terminal")
        await terminal.exited.wait()
        return Reply(terminal.status() or {})

    async def _kill(self, params: Message) -> Reply | None:
        terminal = self._terminal(params)
        if terminal is None:
            return Reply.refused(NOT_FOUND, "no such terminal")
        end_process(terminal.process)
        return Reply({})

    async def _release(self, params: Message) -> Reply | None:
        terminal = self._terminal(params)
        if terminal is None:
            return Reply.refused(NOT_FOUND, "no such terminal")
        end_process(terminal.process)
        terminal.released = True
        return Reply({})


async def _collect(terminal: Terminal) -> None:
    stream = terminal.process.stdout
    assert stream is not None
    try:
        while True:
            terminal.output += await stream.receive(65_536)
            del terminal.output[:-OUTPUT_BYTES_MAX]
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass
    await terminal.process.wait()
    terminal.exited.set()


async def start_command(params: Message, folder: Path, *, stderr: int) -> Process:
    """Start the command of `terminal/create` in its own process group.

    Raises:
        OSError: it cannot be started.
    """
    command, arguments = str(params["command"]), params.get("args") or []
    words = [command, *map(str, arguments)]
    if not arguments and " " in command:
        words = ["/bin/sh", "-c", command]
    given = params.get("env") or []
    if isinstance(given, dict):
        given = [{"name": name, "value": value} for name, value in given.items()]
    added = {str(one.get("name")): str(one.get("value")) for one in given}
    return await anyio.open_process(
        words,
        stdin=None,
        stdout=PIPE,
        stderr=stderr,
        cwd=params.get("cwd") or str(folder),
        env=marked({**os.environ, **added}),
        start_new_session=True,
    )


def end_process(process: Process, how: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to a command and everything that it started."""
    try:
        os.killpg(process.pid, how)
    except (ProcessLookupError, PermissionError):
        pass


def choosing(kind: str) -> Decide:
    """Answer permission requests with the first option of a kind: `allow`, `reject`.

    Without such an option, and for `cancelled`, the outcome is `cancelled`.
    """

    async def decide(params: Message) -> Reply | None:
        options = params.get("options", DRAFT_OPTIONS)
        for option in options if isinstance(options, list) else []:
            if isinstance(option, dict) and str(option.get("kind", "")).startswith(kind):
                chosen = {"outcome": "selected", "optionId": option.get("optionId")}
                return Reply({"outcome": chosen})
        return Reply({"outcome": {"outcome": "cancelled"}})

    return decide


def always(reply: Reply | None) -> Decide:
    """Give every request the same answer; None leaves it open."""

    async def decide(params: Message) -> Reply | None:
        return reply

    return decide


def filling(action: str) -> Decide:
    """Answer forms: `accept` fills in each field of the schema with something that fits."""

    async def decide(params: Message) -> Reply | None:
        if action != "accept":
            return Reply({"action": action})
        schema = params.get("requestedSchema")
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if not isinstance(properties, dict):
            return Reply({"action": "accept"})
        content = {name: _value(field) for name, field in properties.items()}
        return Reply({"action": "accept", "content": content})

    return decide


def _value(wanted: Any) -> Any:
    wanted = wanted if isinstance(wanted, dict) else {}
    if "default" in wanted:
        return wanted["default"]
    for key in ("enum", "oneOf", "anyOf"):
        if wanted.get(key):
            first = wanted[key][0]
            return first.get("const", "") if isinstance(first, dict) else first
    plain = {"boolean": True, "array": []}
    if wanted.get("type") in ("number", "integer"):
        return wanted.get("minimum", 1)
    text = "accord" + "x" * max(0, int(wanted.get("minLength", 0)) - 6)
    return plain.get(str(wanted.get("type")), text)
