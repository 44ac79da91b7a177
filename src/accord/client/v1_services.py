"""What v1 agents ask of a client: its files and its terminals.

Reads, writes and commands pass the permissions even when the agent never asked for one: an
approval of the tool call covers them, else the user is asked, and without a user they are refused.

Must not know: how the services do their work.
"""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from accord.client.conversation import Conversation
from accord.client.services import Services
from accord.connection.connection import IncomingRequest
from accord.errors import RequestError
from accord.schema import v1
from accord.schema.codec import decode, encode
from accord.schema.struct import UNSET, UnsetType

Outcome: TypeAlias = bytes | Callable[[], Awaitable[bytes]]
Service: TypeAlias = Callable[[IncomingRequest], Outcome]
FindSession: TypeAlias = Callable[[str], Conversation]
T = TypeVar("T")

_DONE = b"{}"


def offered(services: Services, session_of: FindSession, strict: bool) -> dict[str, Service]:
    """The methods of the services that are there."""
    table: dict[str, Service] = {}
    if services.files is not None:
        files = _FileRequests(services, session_of, strict)
        if hasattr(services.files, "read_text"):
            table["fs/read_text_file"] = files.read
        if hasattr(services.files, "write_text"):
            table["fs/write_text_file"] = files.write
    if services.terminals is not None:
        terminals = _TerminalRequests(services, session_of, strict)
        table["terminal/create"] = terminals.create
        table["terminal/output"] = terminals.output
        table["terminal/wait_for_exit"] = terminals.wait_for_exit
        table["terminal/kill"] = terminals.kill
        table["terminal/release"] = terminals.release
    return table


async def _result(value: Any) -> Any:
    """Services may be sync or async."""
    return await value if inspect.isawaitable(value) else value


def _given(value: T | UnsetType | None) -> T | None:
    return None if value is UNSET else value


class _FileRequests:
    def __init__(self, services: Services, session_of: FindSession, strict: bool) -> None:
        self._services = services
        self._session_of = session_of
        self._strict = strict

    def read(self, request: IncomingRequest) -> Outcome:
        wanted = decode(v1.ReadTextFileRequest, request.params, strict=self._strict)
        self._session_of(wanted.session_id)
        text = self._read_now(wanted)
        if text is not None:
            return encode(v1.ReadTextFileResponse(content=text))

        async def work() -> bytes:
            permissions = self._services.permissions
            may_read = getattr(permissions, "may_read", None)
            if may_read is not None and not await may_read(wanted.session_id, wanted.path):
                raise RequestError.permission_denied(f"reading {wanted.path} is not allowed")
            text = await _result(
                self._services.files.read_text(
                    wanted.session_id, wanted.path, _given(wanted.line), _given(wanted.limit)
                )
            )
            return encode(v1.ReadTextFileResponse(content=text))

        return work

    def _read_now(self, wanted: v1.ReadTextFileRequest) -> str | None:
        """The text without a task of its own, where nobody needs to be asked or waited for."""
        reads_freely = getattr(self._services.permissions, "reads_freely", None)
        read_now = getattr(self._services.files, "read_now", None)
        if reads_freely is None or read_now is None or not reads_freely(wanted.session_id):
            return None
        line, limit = _given(wanted.line), _given(wanted.limit)
        text: str | None = read_now(wanted.session_id, wanted.path, line, limit)
        return text

    def write(self, request: IncomingRequest) -> Outcome:
        wanted = decode(v1.WriteTextFileRequest, request.params, strict=self._strict)
        self._session_of(wanted.session_id)

        async def work() -> bytes:
            if not await self._services.permissions.may_write(wanted.session_id, wanted.path):
                raise RequestError.permission_denied(f"writing {wanted.path} is not allowed")
            await _result(
                self._services.files.write_text(wanted.session_id, wanted.path, wanted.content)
            )
            return _DONE

        return work


class _TerminalRequests:
    def __init__(self, services: Services, session_of: FindSession, strict: bool) -> None:
        self._services = services
        self._session_of = session_of
        self._strict = strict

    def create(self, request: IncomingRequest) -> Outcome:
        wanted = decode(v1.CreateTerminalRequest, request.params, strict=self._strict)
        session = self._session_of(wanted.session_id)
        args = list(wanted.args or ())
        env = {variable.name: variable.value for variable in wanted.env or ()}
        cwd = _given(wanted.cwd)

        async def work() -> bytes:
            may_run = self._services.permissions.may_run
            if not await may_run(session.id, wanted.command, args, cwd or session.cwd, env):
                raise RequestError.permission_denied(f"running {wanted.command} is not allowed")
            terminal_id = await _result(
                self._services.terminals.create(
                    session.id,
                    wanted.command,
                    args,
                    env=env,
                    cwd=cwd,
                    output_byte_limit=_given(wanted.output_byte_limit),
                )
            )
            line = " ".join((wanted.command, *args))
            transcript = session.transcript
            session.hand_on(transcript.terminal_started(terminal_id, line, cwd or session.cwd))
            session.link.connection.run(lambda: self._watch(session, terminal_id))
            return encode(v1.CreateTerminalResponse(terminal_id=terminal_id))

        return work

    async def _watch(self, session: Conversation, terminal_id: str) -> None:
        """Show in the transcript how a command of ours ended, as v2 agents report theirs."""
        terminals = self._services.terminals
        try:
            ended = await _result(terminals.wait_for_exit(session.id, terminal_id))
            shown = terminals.output(session.id, terminal_id)
        except RequestError:
            # Released before its end.
            return
        text = (await _result(shown)).text
        transcript = session.transcript
        session.hand_on(transcript.terminal_output(terminal_id, text.encode()))
        session.hand_on(transcript.terminal_exited(terminal_id, ended.code, ended.signal))

    def output(self, request: IncomingRequest) -> Outcome:
        wanted = decode(v1.TerminalOutputRequest, request.params, strict=self._strict)
        shown = self._services.terminals.output(wanted.session_id, wanted.terminal_id)
        if inspect.isawaitable(shown):
            return lambda: _encoded(shown, _output)
        return encode(_output(shown))

    def wait_for_exit(self, request: IncomingRequest) -> Outcome:
        wanted = decode(v1.WaitForTerminalExitRequest, request.params, strict=self._strict)
        terminals = self._services.terminals
        return lambda: _encoded(
            terminals.wait_for_exit(wanted.session_id, wanted.terminal_id), _exit
        )

    def kill(self, request: IncomingRequest) -> Outcome:
        wanted = decode(v1.KillTerminalRequest, request.params, strict=self._strict)
        terminals = self._services.terminals
        return lambda: _encoded(terminals.kill(wanted.session_id, wanted.terminal_id), None)

    def release(self, request: IncomingRequest) -> Outcome:
        wanted = decode(v1.ReleaseTerminalRequest, request.params, strict=self._strict)
        terminals = self._services.terminals
        return lambda: _encoded(terminals.release(wanted.session_id, wanted.terminal_id), None)


async def _encoded(value: Any, convert: Callable[[Any], Any] | None) -> bytes:
    found = await _result(value)
    return _DONE if convert is None else encode(convert(found))


def _output(shown: Any) -> v1.TerminalOutputResponse:
    status: v1.TerminalExitStatus | UnsetType = UNSET
    if shown.exit is not None:
        status = v1.TerminalExitStatus(exit_code=shown.exit.code, signal=shown.exit.signal)
    return v1.TerminalOutputResponse(
        output=shown.text, truncated=shown.truncated, exit_status=status
    )


def _exit(ended: Any) -> v1.WaitForTerminalExitResponse:
    return v1.WaitForTerminalExitResponse(exit_code=ended.code, signal=ended.signal)


__all__ = ["offered"]
