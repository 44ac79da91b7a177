"""Requests of v1 agents to a client: files here, terminals in `terminals.py`.

Must not know: how the services do their work.
"""

from typing import Any

from accord.client.connection.agent_connection import AgentLink
from accord.client.services.permission_gate import PermissionGate
from accord.client.services.service_interfaces import (
    DONE,
    Outcome,
    ReadsFiles,
    ReadsFilesAtOnce,
    Service,
    WritesFiles,
    given,
    result_of,
)
from accord.client.session.state import SessionCore
from accord.client.wire.v1.terminals import TerminalRequests
from accord.connection.connection import IncomingRequest
from accord.connection.handler import Result
from accord.jsonrpc.large_text import TextResult
from accord.schema import v1
from accord.schema.codec import decode, encode


def offered(link: AgentLink[SessionCore], strict: bool) -> dict[str, Service]:
    """The methods of the services that the client has."""
    table: dict[str, Service] = {}
    services = link.services
    files = FileRequests(link, strict)
    if isinstance(services.files, ReadsFiles):
        table["fs/read_text_file"] = files.read
    if isinstance(services.files, WritesFiles):
        table["fs/write_text_file"] = files.write
    if services.terminals is not None:
        terminals = TerminalRequests(link, services.terminals, strict)
        table["terminal/create"] = terminals.create
        table["terminal/output"] = terminals.output
        table["terminal/wait_for_exit"] = terminals.wait_for_exit
        table["terminal/kill"] = terminals.kill
        table["terminal/release"] = terminals.release
    return table


class FileRequests:
    def __init__(self, link: AgentLink[Any], strict: bool) -> None:
        self._link = link
        self._services = link.services
        self._gate = PermissionGate(link.services)
        self._strict = strict
        # Asked once: isinstance on a protocol costs more than reading a small file.
        files = link.services.files
        self._reads_at_once = files if isinstance(files, ReadsFilesAtOnce) else None

    def read(self, request: IncomingRequest) -> Outcome:
        """Read a file, or some lines of it."""
        wanted = decode(v1.ReadTextFileRequest, request.params, strict=self._strict)
        self._link.session(wanted.session_id)
        text = self._read_now(wanted)
        if text is not None:
            return _answer(text)

        async def work() -> Result:
            session_id, path = wanted.session_id, wanted.path
            await self._gate.check_read(session_id, path)
            read = self._services.files.read_text
            line, limit = given(wanted.line), given(wanted.limit)
            return _answer(await result_of(read(session_id, path, line, limit)))

        return work

    def _read_now(self, wanted: v1.ReadTextFileRequest) -> str | None:
        """The text at once, without a task, where no question and no wait is needed."""
        files, session_id = self._reads_at_once, wanted.session_id
        if files is None or not self._gate.reads_freely(session_id):
            return None
        return files.read_now(session_id, wanted.path, given(wanted.line), given(wanted.limit))

    def write(self, request: IncomingRequest) -> Outcome:
        """Write a file, if the permissions allow it."""
        wanted = decode(v1.WriteTextFileRequest, request.params, strict=self._strict)
        self._link.session(wanted.session_id)
        return lambda: self._write(wanted.session_id, wanted.path, wanted.content)

    async def _write(self, session_id: str, path: str, content: str) -> bytes:
        await self._gate.write_text(session_id, path, content)
        return DONE


def _answer(text: str) -> Result:
    return TextResult.of("content", text) or encode(v1.ReadTextFileResponse(content=text))
