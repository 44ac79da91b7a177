"""Commands in the terminals of a client of the 2026-02 draft, which pushes what they print.

The client starts a command and calls `terminal/output` on us with every piece; we never poll.
These requests name no session.

What always holds
    * No more commands run at once than the client allows; the next one waits for a place.
    * A terminal that was made is released, whatever became of its turn, and its command is ended
      first: by SIGTERM, then by force.
    * Output is bounded by what the job asks for; the newest is kept.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anyio

from accord.agent.terminals.commands import Done, Job
from accord.agent.terminals.terminals import RELEASE_SECONDS_MAX, not_started
from accord.errors import AccordError, RemoteProtocolError
from accord.machine.logs import logger
from accord.schema import draft, v2
from accord.schema.codec import encode, to_python
from accord.schema.struct import UNSET, Raw
from accord.translate.draft.vocabulary import exit_code_of

if TYPE_CHECKING:
    from accord.agent.session.turn_state import TurnState
    from accord.agent.tools.tool_call import ToolCallHandle
    from accord.connection import Connection

# How long a command may take to leave after each signal.
KILL_SECONDS = 2.0
# How much longer than a command's own time the client may take to say that it is over.
GRACE_SECONDS = 2.0
# How long the place of a terminal is kept for a client that does not confirm its release.
PLACE_SECONDS_MAX = 10.0
# Of output that comes before the answer that names its terminal.
EARLY_TERMINALS_MAX = 16
OUTPUT_BYTES_DEFAULT = 1024 * 1024

_log = logger("accord.agent")


class Printed:
    """What a terminal has printed, its two streams apart; the client's or one of ours."""

    __slots__ = (
        "_bytes",
        "_decoder",
        "_limit",
        "_pieces",
        "command",
        "exit_code",
        "is_ours",
        "is_over",
        "printed_bytes",
        "said_bytes",
        "shown_in",
        "truncated",
    )

    def __init__(
        self, command: str | None, *, limit: int = OUTPUT_BYTES_DEFAULT, is_ours: bool = False
    ) -> None:
        self.command = command
        self.is_ours = is_ours
        self.is_over = False
        self.exit_code: int | None = None
        self.truncated = False
        self.shown_in: tuple[str, str] | None = None
        self.said_bytes = 0
        self.printed_bytes = 0
        self._limit = limit
        self._bytes = 0
        self._pieces: deque[tuple[str, str]] = deque()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add_bytes(self, data: bytes) -> None:
        """More of what a process of ours printed, both streams in one."""
        self.add("stdout", self._decoder.decode(data))

    def add(self, stream: str, text: str) -> None:
        """More; the oldest goes where it is too much."""
        data = text.encode("utf-8", "replace")
        self.printed_bytes += len(data)
        if len(data) > self._limit:
            text = data[len(data) - self._limit :].decode("utf-8", "ignore")
            self.truncated = True
        self._pieces.append((stream, text))
        self._bytes += min(len(data), self._limit)
        while self._bytes > self._limit:
            _, oldest = self._pieces.popleft()
            self._bytes -= len(oldest.encode("utf-8", "replace"))
            self.truncated = True

    def take(self, other: Printed) -> None:
        """What came before anybody knew whose it was."""
        for stream, text in other._pieces:
            self.add(stream, text)
        self.truncated = self.truncated or other.truncated

    @property
    def output(self) -> str:
        """Both streams, in the order in which they came."""
        return "".join(text for _, text in self._pieces)

    def stream(self, name: str) -> str:
        """One of the two; what names none is of stdout."""
        wants_errors = name == "stderr"
        return "".join(text for one, text in self._pieces if (one == "stderr") == wants_errors)

    def said(self, terminal_id: str) -> draft.TerminalOutput:
        """As a tool call shows it; a client has the output of its own terminals already."""
        command: Any = UNSET if self.command is None else self.command
        if not self.is_ours and not self.is_over:
            return draft.TerminalOutput(terminal_id=terminal_id, command=command)
        return draft.TerminalOutput(
            terminal_id=terminal_id,
            command=command,
            exit_code=self.exit_code if self.is_over else None,
            stdout=self.stream("stdout"),
            stderr=self.stream("stderr"),
        )


class ClientTerminals:
    """All terminals of one client.  Guards the number of those that are open."""

    def __init__(
        self, connection: Connection, printed: dict[str, Printed], most: int | None
    ) -> None:
        self._connection = connection
        self._printed = printed
        self._places = None if most is None else anyio.Semaphore(most)
        self._open: set[str] = set()
        self._creating = 0
        self._early: dict[str, Printed] = {}

    # ---- what the client pushes

    def push(self, told: draft.TerminalOutputRequest) -> bool:
        """`terminal/output`: False for a terminal that is none of ours."""
        stream = told.stream if isinstance(told.stream, str) else "stdout"
        if told.terminal_id in self._open:
            self._printed[told.terminal_id].add(stream, told.data)
            return True
        if not self._creating:
            return False
        # The command prints before its start was answered.
        early = self._early.get(told.terminal_id)
        if early is None:
            if len(self._early) >= EARLY_TERMINALS_MAX:
                return False
            early = self._early[told.terminal_id] = Printed(None)
        early.add(stream, told.data)
        return True

    # ---- a command

    async def run(self, turn: TurnState, call: ToolCallHandle, job: Job) -> Done:
        """See `wire.Ways.run`."""
        if self._places is not None:
            await self._places.acquire()
        terminal = await self._create(job)
        ended: dict[str, Any] | None = None
        timed_out = False
        released = anyio.Event()
        try:
            await call.show(v2.Terminal(terminal_id=terminal.id))
            started = anyio.current_time()
            ended, timed_out = await self._wait(terminal, job.timeout)
            if ended is None:
                ended = await self._kill(terminal)
            late = job.timeout is not None and anyio.current_time() - started >= job.timeout
            timed_out = timed_out or late
        finally:
            # In a task of the connection: a turn that is cancelled leaves nothing running.
            self._connection.run(lambda: self._leave(terminal, ended is None, released))
            with anyio.move_on_after(RELEASE_SECONDS_MAX, shield=True):
                # The last output may come behind the exit, but not behind the release.
                await released.wait()
        return terminal.done(ended or {}, timed_out)

    async def _create(self, job: Job) -> _Terminal:
        """Make a terminal.  One that is made after its turn was cancelled is released unseen."""
        terminal = _Terminal(job)
        errors: list[Exception] = []
        wanted, answered = True, anyio.Event()

        def made(result: Raw) -> None:
            # In wire order: output that comes right behind belongs to it.
            self._made(terminal, result)

        async def ask() -> None:
            self._creating += 1
            try:
                await self._connection.call(
                    "terminal/create", encode(terminal.request()), on_result=made
                )
            except Exception as error:  # noqa: BLE001 - it is raised where the caller waits
                errors.append(not_started(error, job.command))
                self._free()
            finally:
                self._creating -= 1
                if not self._creating:
                    self._early.clear()
                answered.set()
            if not wanted and not errors:
                await self._leave(terminal, True, anyio.Event())

        self._connection.run(ask)
        try:
            await answered.wait()
        except BaseException:
            if answered.is_set() and not errors:
                self._connection.run(lambda: self._leave(terminal, True, anyio.Event()))
            wanted = False
            raise
        if errors:
            raise errors[0]
        return terminal

    def _made(self, terminal: _Terminal, result: Raw) -> None:
        value = to_python(result)
        members: dict[str, Any] = value if isinstance(value, dict) else {}
        terminal_id, pid = members.get("terminalId"), members.get("pid")
        if not isinstance(terminal_id, str):
            raise RemoteProtocolError("the client answered terminal/create without an id")
        terminal.id = terminal_id
        terminal.pid = pid if isinstance(pid, int) else None
        self._printed[terminal_id] = terminal.printed
        self._open.add(terminal_id)
        early = self._early.pop(terminal_id, None)
        if early is not None:
            terminal.printed.take(early)

    async def _wait(
        self, terminal: _Terminal, seconds: float | None
    ) -> tuple[dict[str, Any] | None, bool]:
        """How it ended, or None where it did not in time; and whether time ran out."""
        params: dict[str, Any] = {"terminalId": terminal.id}
        if seconds is not None:
            params["timeout"] = _milliseconds(seconds)
        ended: dict[str, Any] | None = None
        with anyio.move_on_after(None if seconds is None else seconds + GRACE_SECONDS):
            ended = await self._ask("terminal/wait_for_exit", params)
        if ended is None or ended.get("timedOut") is True:
            return None, True
        return ended, False

    async def _kill(self, terminal: _Terminal) -> dict[str, Any] | None:
        """End it, politely first; how it ended, if the client could say."""
        for how in ({"signal": "SIGTERM"}, {"signal": "SIGKILL", "force": True}):
            await self._ask("terminal/kill", {"terminalId": terminal.id, **how})
            ended, _ = await self._wait(terminal, KILL_SECONDS)
            if ended is not None:
                return ended
        return None

    async def _leave(self, terminal: _Terminal, kill: bool, released: anyio.Event) -> None:
        """Give it back.  Run in a task of the connection: a slow client holds up no turn."""
        try:
            with anyio.move_on_after(PLACE_SECONDS_MAX):
                try:
                    if kill:
                        await self._kill(terminal)
                finally:
                    await self._ask("terminal/release", {"terminalId": terminal.id})
        except AccordError as error:
            _log.info("releasing terminal %s failed: %s", terminal.id, error)
        finally:
            self._open.discard(terminal.id)
            terminal.printed.is_over = True
            self._free()
            released.set()

    def _free(self) -> None:
        if self._places is not None:
            self._places.release()

    async def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        value = to_python(await self._connection.call(method, encode(params)))
        return value if isinstance(value, dict) else {}


class _Terminal:
    """One terminal of the client's."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.id = ""
        self.pid: int | None = None
        self.printed = Printed(job.line, limit=job.output_bytes)

    def request(self) -> draft.CreateTerminalRequest:
        job = self.job
        return draft.CreateTerminalRequest(
            command=job.command,
            args=list(job.args) or UNSET,
            cwd=job.cwd,
            env=job.env or UNSET,
            timeout=UNSET if job.timeout is None else _milliseconds(job.timeout),
        )

    def done(self, ended: Mapping[str, Any], timed_out: bool) -> Done:
        """How it ended, with what was pushed of it."""
        code, signal = ended.get("exitCode"), ended.get("signal")
        signal = signal if isinstance(signal, str) and signal else None
        known = isinstance(code, int) and signal is None and ended.get("timedOut") is not True
        printed = self.printed
        printed.is_over = True
        printed.exit_code = exit_code_of(code if isinstance(code, int) else None, signal)
        return Done(
            code if known else None,
            printed.output,
            signal,
            printed.truncated,
            timed_out,
            stdout=printed.stream("stdout"),
            stderr=printed.stream("stderr"),
            pid=self.pid,
        )


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


__all__ = ["ClientTerminals", "Printed"]
