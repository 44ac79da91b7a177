"""What v1 agents ask of a client: its files here, its terminals in `v1_terminals.py`.

Reads, writes and commands pass the permissions even when the agent never asked for one: an
approval of the tool call covers them, else the user is asked, and without a user they are refused.

Must not know: how the services do their work.
"""

from accord.client.services.services import Services
from accord.client.wire.v1.service import (
    DONE,
    FindSession,
    Outcome,
    Service,
    given,
    result_of,
    takes,
)
from accord.client.wire.v1.terminals import TerminalRequests
from accord.connection.connection import IncomingRequest
from accord.connection.handler import Result
from accord.errors import RequestError
from accord.jsonrpc.large_text import TextResult
from accord.schema import v1
from accord.schema.codec import decode, encode


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
        terminals = TerminalRequests(services, session_of, strict)
        table["terminal/create"] = terminals.create
        table["terminal/output"] = terminals.output
        table["terminal/wait_for_exit"] = terminals.wait_for_exit
        table["terminal/kill"] = terminals.kill
        table["terminal/release"] = terminals.release
    return table


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
            return _answer(text)

        async def work() -> Result:
            permissions = self._services.permissions
            may_read = getattr(permissions, "may_read", None)
            if may_read is not None and not await may_read(wanted.session_id, wanted.path):
                raise RequestError.permission_denied(f"reading {wanted.path} is not allowed")
            text = await result_of(
                self._services.files.read_text(
                    wanted.session_id, wanted.path, given(wanted.line), given(wanted.limit)
                )
            )
            return _answer(text)

        return work

    def _read_now(self, wanted: v1.ReadTextFileRequest) -> str | None:
        """The text without a task of its own, where nobody needs to be asked or waited for."""
        reads_freely = getattr(self._services.permissions, "reads_freely", None)
        read_now = getattr(self._services.files, "read_now", None)
        if reads_freely is None or read_now is None or not reads_freely(wanted.session_id):
            return None
        line, limit = given(wanted.line), given(wanted.limit)
        text: str | None = read_now(wanted.session_id, wanted.path, line, limit)
        return text

    def write(self, request: IncomingRequest) -> Outcome:
        wanted = decode(v1.WriteTextFileRequest, request.params, strict=self._strict)
        self._session_of(wanted.session_id)

        return lambda: self._write(wanted.session_id, wanted.path, wanted.content)

    async def _write(self, session_id: str, path: str, content: str) -> bytes:
        files, permissions = self._services.files, self._services.permissions
        # First the roots: nobody is asked about what cannot be.  What is asked about is where the
        # path leads now, and there it is written, whatever links are changed meanwhile.
        locate = getattr(files, "locate", None)
        at = None if locate is None else await result_of(locate(session_id, path))
        there = {} if at is None or not takes(permissions.may_write, "at") else {"at": at}
        if takes(permissions.may_write, "content"):
            there["content"] = content
        if not await permissions.may_write(session_id, path, **there):
            raise RequestError.permission_denied(f"writing {path} is not allowed")
        there = {} if at is None or not takes(files.write_text, "at") else {"at": at}
        await result_of(files.write_text(session_id, path, content, **there))
        return DONE


def _answer(text: str) -> Result:
    return TextResult.of("content", text) or encode(v1.ReadTextFileResponse(content=text))


__all__ = ["offered"]
