"""Requests to a client of the draft: those of v1, with the draft's extra data in `_meta`.

What always holds
    * A client's refusal of a file is the error that our own files raise.
    * A grant never leaves its connection: another client has another user.
    * No more commands run at once than the client allows; the next one waits for a place.
    * A terminal that was made is released, whatever became of its turn, and its command is ended
      first: by SIGTERM, then by force.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from accord.agent.serving.client_answer_checks import decided_by
from accord.agent.serving.wire import FileDetails
from accord.agent.session.session_state import REQUEST_PERMISSION, SessionState
from accord.agent.terminals.command import Done, Job
from accord.agent.terminals.command_runner import RELEASE_SECONDS_MAX, not_started
from accord.agent.tools.files import READ, WRITE
from accord.agent.tools.permission_request import PermissionAsk, PermissionOption
from accord.errors import (
    AccordError,
    NotFound,
    RemoteProtocolError,
    RequestCancelled,
    RequestFailed,
)
from accord.machine.errors import (
    AccessDenied,
    AlreadyThere,
    FileFailure,
    NoSuchFile,
)
from accord.machine.redacted_logs import logger
from accord.schema import v2
from accord.schema.codec import encode, to_python
from accord.translate.message import UNREADABLE
from accord.translate.meta_store import DRAFT, kept

if TYPE_CHECKING:
    from accord.agent.session.turn_state import TurnState
    from accord.agent.tools.tool_call import ToolCallHandle
    from accord.connection import Connection

# How long a command may take to leave after each signal.
KILL_SECONDS = 2.0
# How much longer than a command's time limit the client may take to report its end.
GRACE_SECONDS = 2.0
# How long the place of a terminal is kept for a client that does not confirm its release.
PLACE_SECONDS_MAX = 10.0

_log = logger("accord.agent")


class DraftClientRequests:
    """Requests to a client of the draft; see `wire.ClientRequests`."""

    def __init__(self, connection: Connection, terminals_max: int | None) -> None:
        self._connection = connection
        self._places = None if terminals_max is None else anyio.Semaphore(terminals_max)
        self.grants = Grants()

    # ---- permission

    async def ask_permission(
        self, session: SessionState, ask: PermissionAsk
    ) -> PermissionOption | None:
        """Ask the user, and read the answer as one of the options, and for how long it holds."""
        params = session.wire.permission_request(session.id, ask._replace(reason=_reason(ask)))
        try:
            with session.asking():
                result = await self._connection.call(REQUEST_PERMISSION, params)
        except RequestCancelled:
            return None
        chosen = session.wire.permission_choice(result)
        ask.heard(decided_by(result))
        scope = kept(_members(to_python(result)), DRAFT).get("scope")
        self.grants.answered(session, scope if isinstance(scope, str) else None)
        return next((one for one in ask.options if one.option_id == chosen), None)

    def remembered(self, session: SessionState, keys: Sequence[str], allowed: bool) -> None:
        self.grants.remembered(session, keys, allowed)

    # ---- files

    async def read_text(
        self,
        session: SessionState,
        path: str,
        line: int | None,
        limit: int | None,
        details: FileDetails,
    ) -> str:
        """The text of a file, or of this many lines of it."""
        params: dict[str, Any] = {"sessionId": session.id, "path": path}
        if line is not None:
            params["line"] = line
        if limit is not None:
            params["limit"] = limit
        if details.encoding is not None:
            params["_meta"] = {DRAFT: {"encoding": details.encoding}}
        content = (await self._file(READ, path, params)).get("content")
        if not isinstance(content, str):
            raise RemoteProtocolError(f"the client answered {READ} without text")
        return content

    async def write_text(
        self, session: SessionState, path: str, text: str, details: FileDetails
    ) -> bool:
        """Write a file; whether it is a new one."""
        more: dict[str, Any] = {
            "createDirectories": details.create_directories,
            "overwrite": details.overwrite,
        }
        if details.encoding is not None:
            more["encoding"] = details.encoding
        params = {"sessionId": session.id, "path": path, "content": text, "_meta": {DRAFT: more}}
        try:
            answer = await self._file(WRITE, path, params)
        except AccessDenied as error:
            if details.overwrite:
                raise
            raise AlreadyThere(path) from error
        return kept(answer, DRAFT).get("created") is True

    async def _file(self, method: str, path: str, params: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return _members(to_python(await self._connection.call(method, encode(params))))
        except NotFound as error:
            raise NoSuchFile(path) from error
        except RequestFailed as error:
            if error.reason == UNREADABLE:
                raise RemoteProtocolError(f"{method}: {error.message}") from None
            if error.reason == "truncated":
                raise FileFailure(path, error.message) from error
            if error.reason not in ("permission_denied", "access_denied"):
                raise
            raise AccessDenied(path, error.message) from error

    # ---- commands

    async def run(self, turn: TurnState, call: ToolCallHandle, job: Job) -> Done:
        """Run a command in a terminal of the client's; see `wire.ClientRequests.run`."""
        if self._places is not None:
            await self._places.acquire()
        terminal = await self._create(turn.session.id, job)
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

    async def _create(self, session_id: str, job: Job) -> _Terminal:
        """Make a terminal.  One that is made after its turn was cancelled is released unseen."""
        terminal = _Terminal(session_id)
        errors: list[Exception] = []
        wanted, answered = True, anyio.Event()

        async def ask() -> None:
            try:
                made = await self._ask("terminal/create", _creation(session_id, job))
                terminal.made(made)
            except Exception as error:  # noqa: BLE001 - it is raised where the caller waits
                errors.append(not_started(error, job.command))
                self._free()
            finally:
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

    async def _wait(
        self, terminal: _Terminal, seconds: float | None
    ) -> tuple[dict[str, Any] | None, bool]:
        """How it ended, or None where it did not in time; and whether time ran out."""
        more = {} if seconds is None else {"timeout": _milliseconds(seconds)}
        ended: dict[str, Any] | None = None
        with anyio.move_on_after(None if seconds is None else seconds + GRACE_SECONDS):
            try:
                ended = await self._ask("terminal/wait_for_exit", terminal.params(more))
            except RequestFailed as error:
                if error.reason != UNREADABLE:
                    raise
                # It has ended in an unknown way.
                ended = {}
        if ended is None or kept(ended, DRAFT).get("timedOut") is True:
            return None, True
        return ended, False

    async def _kill(self, terminal: _Terminal) -> dict[str, Any] | None:
        """End the command, gently at first; return how it ended, if the client knows."""
        for how in ({"signal": "SIGTERM"}, {"signal": "SIGKILL", "force": True}):
            await self._ask("terminal/kill", terminal.params(how))
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
                    terminal.shown = await self._ask("terminal/output", terminal.params({}))
                    last = await self._ask("terminal/release", terminal.params({}))
                    terminal.shown = kept(last, DRAFT).get("printed", terminal.shown)
        except AccordError as error:
            _log.info("releasing terminal %s failed: %s", terminal.id, error)
        finally:
            self._free()
            released.set()

    def _free(self) -> None:
        if self._places is not None:
            self._places.release()

    async def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        return _members(to_python(await self._connection.call(method, encode(params))))


class _Terminal:
    """One terminal of the client's."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self.id = ""
        self.pid: int | None = None
        self.shown: Mapping[str, Any] = {}

    def made(self, result: dict[str, Any]) -> None:
        """The client has made it."""
        terminal_id, pid = result.get("terminalId"), kept(result, DRAFT).get("pid")
        if not isinstance(terminal_id, str):
            raise RemoteProtocolError("the client answered terminal/create without an id")
        self.id = terminal_id
        self.pid = pid if isinstance(pid, int) else None

    def params(self, more: Mapping[str, Any]) -> dict[str, Any]:
        """The params of a request about it."""
        named: dict[str, Any] = {"sessionId": self._session_id, "terminalId": self.id}
        return {**named, "_meta": {DRAFT: dict(more)}} if more else named

    def done(self, ended: Mapping[str, Any], timed_out: bool) -> Done:
        """How it ended, with what was printed."""
        code, signal = ended.get("exitCode"), ended.get("signal")
        signal = signal if isinstance(signal, str) and signal else None
        streams = kept(dict(self.shown), DRAFT)
        return Done(
            code if isinstance(code, int) and signal is None else None,
            str(self.shown.get("output", "")),
            signal,
            self.shown.get("truncated") is True,
            timed_out,
            stdout=streams.get("stdout", ""),
            stderr=streams.get("stderr", ""),
            pid=self.pid,
        )


class Grants:
    """What the user allowed or forbade for longer than a session, on one connection."""

    def __init__(self) -> None:
        # Sessions that are served now, and the scope of the answer that each got last.
        self._sessions: dict[SessionState, str | None] = {}
        self._always: dict[str, bool] = {}
        self._workspaces: dict[str, dict[str, bool]] = {}

    def join(self, session: SessionState) -> bool:
        """A session begins: what was decided for its workspace, or for ever, holds in it.

        False when it was here already.
        """
        if session in self._sessions:
            return False
        self._sessions[session] = None
        session.adopt(self._always | self._workspaces.get(session.record.cwd, {}))
        return True

    def leave(self, session: SessionState) -> None:
        """Forget a session that has ended."""
        self._sessions.pop(session, None)

    def answered(self, session: SessionState, scope: str | None) -> None:
        """The user has answered; whether that is to be remembered comes next, if at all."""
        if session in self._sessions:
            self._sessions[session] = scope

    def remembered(self, session: SessionState, keys: Sequence[str], allowed: bool) -> None:
        """The answer is kept; one for the workspace or for good counts in other sessions too."""
        scope = self._sessions.get(session)
        if scope not in ("workspace", "always"):
            return
        self._sessions[session] = None
        cwd = session.record.cwd
        answers = dict.fromkeys(keys, allowed)
        held = self._always if scope == "always" else self._workspaces.setdefault(cwd, {})
        held.update(answers)
        for other in self._sessions:
            if other is not session and (scope == "always" or other.record.cwd == cwd):
                other.adopt(answers)


def _reason(ask: PermissionAsk) -> str:
    """The reason, and what a lasting answer covers: the draft's scopes are only durations."""
    why = ask.reason or ask.title
    return (
        why if ask.covers is None else f"{why}\nIf it is remembered, it covers only {ask.covers}."
    )


def _creation(session_id: str, job: Job) -> dict[str, Any]:
    params: dict[str, Any] = {
        "sessionId": session_id,
        "command": job.command,
        "args": list(job.args),
        "env": [{"name": name, "value": value} for name, value in job.env.items()],
        "cwd": job.cwd,
        "outputByteLimit": job.output_bytes,
    }
    if job.timeout is not None:
        params["_meta"] = {DRAFT: {"timeout": _milliseconds(job.timeout)}}
    return params


def _members(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
