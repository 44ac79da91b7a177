"""File requests of agents of the 2026-02 draft, which arrive through the translator.

As those of v1 agents, and in `_meta` there is more to say: encodings, whether a file may be new or
must be, how many lines there are.

Reads and writes pass the permissions even when the agent never asked for one.

Must not know: how the service does its work.  One that has only v1's `read_text` and `write_text`
is used by those, as far as that goes.
"""

from typing import Any

from accord.client.connection.agent_connection import AgentLink
from accord.client.services.service_interfaces import (
    Outcome,
    ReadsFiles,
    Service,
    WritesFiles,
    given,
    result_of,
)
from accord.client.session.state import SessionCore
from accord.client.wire.draft.permission_requests import permission_service
from accord.client.wire.draft.terminals import DetailedTerminals
from accord.client.wire.draft.wire import kept_details
from accord.client.wire.v1.files import FileRequests
from accord.connection.connection import IncomingRequest
from accord.errors import RequestError
from accord.jsonrpc.error_codes import ACCESS_DENIED, RESOURCE_NOT_FOUND
from accord.machine.filesystem.encoded_files import UTF_8, TextPart, UnknownEncoding, text_codec
from accord.machine.filesystem.local_files import Stored
from accord.schema import v1
from accord.schema.codec import decode, encode
from accord.translate.meta_store import draft_meta


def offered(link: AgentLink[SessionCore]) -> dict[str, Service]:
    """The methods of the services that the client has."""
    services = link.services
    table: dict[str, Service] = {"session/request_permission": permission_service(link)}
    files = DetailedFiles(link)
    if isinstance(services.files, ReadsFiles):
        table["fs/read_text_file"] = files.read
    if isinstance(services.files, WritesFiles):
        table["fs/write_text_file"] = files.write
    if services.terminals is not None:
        terminals = DetailedTerminals(link, services.terminals)
        table["terminal/create"] = terminals.create
        table["terminal/wait_for_exit"] = terminals.wait_for_exit
        table["terminal/kill"] = terminals.kill
        table["terminal/release"] = terminals.release
    return table


class DetailedFiles(FileRequests):
    """Serves the file requests of a draft agent."""

    def __init__(self, link: AgentLink[SessionCore]) -> None:
        super().__init__(link, strict=False)
        files = link.services.files
        self._reads_parts = _has_its_own(files, "read_part", "read_text")
        self._writes_encoded = _has_its_own(files, "write_encoded", "write_text")

    def read(self, request: IncomingRequest) -> Outcome:
        """Some lines, or all."""
        wanted = decode(v1.ReadTextFileRequest, request.params)
        named = kept_details(wanted).get("encoding", UTF_8)
        encoding = _codec(named)
        self._link.session(wanted.session_id)

        async def work() -> bytes:
            await self._gate.check_read(wanted.session_id, wanted.path)
            part = await self._part(wanted, encoding)
            told: dict[str, Any] = {"encoding": named, "truncated": part.truncated}
            if part.total_lines is not None:
                told["totalLines"] = part.total_lines
            return encode(v1.ReadTextFileResponse(content=part.text, meta=draft_meta(told)))

        return work

    async def _part(self, wanted: v1.ReadTextFileRequest, encoding: str) -> TextPart:
        files, session_id, path = self._services.files, wanted.session_id, wanted.path
        start, limit = given(wanted.line), given(wanted.limit)
        try:
            if self._reads_parts:
                end = None if limit is None else max(start or 1, 1) + limit - 1
                read = files.read_part(session_id, path, encoding, start, end)
                part: TextPart = await result_of(read)
                return part
            _only_utf_8(encoding)
            text: str = await result_of(files.read_text(session_id, path, start, limit))
        except RequestError as error:
            raise _of_resource(error) from None
        # Whether a line follows the last one, only the file knows.
        return TextPart(text, None, limit is not None and text.count("\n") >= limit)

    def write(self, request: IncomingRequest) -> Outcome:
        """Make a file, or replace it."""
        wanted = decode(v1.WriteTextFileRequest, request.params)
        told = kept_details(wanted)
        encoding = _codec(told.get("encoding", UTF_8))
        self._link.session(wanted.session_id)

        async def work() -> bytes:
            try:
                at = await self._gate.check_write(wanted.session_id, wanted.path, wanted.content)
                stored = await self._stored(wanted, told, encoding, at)
            except RequestError as error:
                raise _of_resource(error) from None
            written = {"bytesWritten": stored.size, "created": stored.created}
            return encode(v1.WriteTextFileResponse(meta=draft_meta(written)))

        return work

    async def _stored(
        self, wanted: v1.WriteTextFileRequest, told: dict[str, Any], encoding: str, at: str | None
    ) -> Stored:
        files, session_id = self._services.files, wanted.session_id
        path, content = wanted.path, wanted.content
        overwrite = told.get("overwrite") is not False
        if self._writes_encoded:
            stored: Stored = await result_of(
                files.write_encoded(
                    session_id,
                    path,
                    content,
                    encoding,
                    at=at,
                    create_directories=told.get("createDirectories") is not False,
                    overwrite=overwrite,
                )
            )
            return stored
        _only_utf_8(encoding)
        if not overwrite and await self._exists(session_id, path):
            raise RequestError(
                ACCESS_DENIED, f"{path}: already exists", {"reason": "access_denied"}
            )
        await self._gate.write_at(session_id, path, content, at)
        return Stored(len(content.encode("utf-8", "replace")), not overwrite)

    async def _exists(self, session_id: str, path: str) -> bool:
        read: Any = getattr(self._services.files, "read_text", None)
        if read is None:
            raise RequestError.invalid_params(
                "whether the file exists cannot be determined; leave overwrite out", "$.overwrite"
            )
        try:
            await result_of(read(session_id, path, 1, 1))
        except RequestError as error:
            if error.code == RESOURCE_NOT_FOUND:
                return False
            raise
        return True


def _has_its_own(service: object, rich: str, plain: str) -> bool:
    """Whether a service does the richer thing itself.

    A subclass that overrides only the plain method would be bypassed by the inherited rich one.
    """
    for one in type(service).__mro__:
        if rich in vars(one):
            return True
        if plain in vars(one):
            return False
    return False


def _codec(name: str) -> str:
    try:
        return text_codec(name)
    except UnknownEncoding:
        raise RequestError.invalid_params(f"unknown encoding {name!r}", "$.encoding") from None


def _only_utf_8(encoding: str) -> None:
    if encoding != UTF_8:
        raise RequestError.invalid_params(
            f"the encoding {encoding} is not supported here", "$.encoding"
        )


def _of_resource(error: RequestError) -> RequestError:
    """What is out of bounds, or what the system refuses, is the resource's matter in the draft.

    Permission is denied only where the user said no.
    """
    scope = error.data.get("scope") if isinstance(error.data, dict) else None
    if scope not in ("roots", "system"):
        return error
    return RequestError(ACCESS_DENIED, error.message, {"reason": "access_denied"})
