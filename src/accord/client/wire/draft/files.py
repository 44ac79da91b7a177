"""What agents of the 2026-02 draft ask of a client's files; `terminals.py` has its terminals.

Requests name no session, paths may be relative to its folder, and there is more to say than in v1:
encodings, lines to the last one, whether a file may be new or must be.

Reads and writes pass the permissions even when the agent never asked for one.

Must not know: how the service does its work.  One that has only v1's `read_text` and `write_text`
is used by those, as far as that goes.
"""

import os
from typing import Any

from accord.client.services.permission_gate import PermissionGate
from accord.client.services.protocols import LocatesFiles
from accord.client.services.requests import Outcome, given, result_of
from accord.client.services.services import Services
from accord.client.wire.draft.owners import Owners
from accord.connection.connection import IncomingRequest
from accord.errors import RequestError
from accord.jsonrpc.error_codes import ACCESS_DENIED, RESOURCE_NOT_FOUND
from accord.machine.filesystem.encoded_files import UTF_8, TextPart, UnknownEncoding, text_codec
from accord.machine.filesystem.local_files import Stored
from accord.schema import draft
from accord.schema.codec import decode, encode
from accord.schema.struct import UNSET


class FileRequests:
    def __init__(self, services: Services, owners: Owners, strict: bool) -> None:
        self._services = services
        self._gate = PermissionGate(services)
        self._owners = owners
        self._strict = strict
        files = services.files
        self._reads_parts = _has_its_own(files, "read_part", "read_text")
        self._writes_encoded = _has_its_own(files, "write_encoded", "write_text")

    def read(self, request: IncomingRequest) -> Outcome:
        """Some lines, or all."""
        wanted = decode(draft.ReadTextFileRequest, request.params, strict=self._strict)
        encoding = _codec(wanted.encoding or UTF_8)
        start, end = given(wanted.start_line), given(wanted.end_line)
        if end is not None and end < max(start or 1, 1):
            raise RequestError.invalid_params("endLine is before startLine", "$.endLine")
        session = self._owners.of_path(wanted.path)
        path = _placed(session.cwd, wanted.path)

        async def work() -> bytes:
            await self._gate.check_read(session.id, path)
            part = await self._part(session.id, path, encoding, start, end)
            return encode(
                draft.ReadTextFileResponse(
                    content=part.text,
                    encoding=wanted.encoding or UTF_8,
                    total_lines=UNSET if part.total_lines is None else part.total_lines,
                    truncated=part.truncated,
                )
            )

        return work

    async def _part(
        self, session_id: str, path: str, encoding: str, start: int | None, end: int | None
    ) -> TextPart:
        files = self._services.files
        try:
            if self._reads_parts:
                part: TextPart = await result_of(
                    files.read_part(session_id, path, encoding, start, end)
                )
                return part
            _only_utf_8(encoding)
            limit = None if end is None else end - max(start or 1, 1) + 1
            text: str = await result_of(files.read_text(session_id, path, start, limit))
        except RequestError as error:
            raise _of_resource(error) from None
        if start in (None, 0, 1) and end is None:
            return TextPart(
                text, text.count("\n") + (not text.endswith("\n") and text != ""), False
            )
        # Whether a line follows the last one, only the file knows.
        return TextPart(text, None, limit is not None and text.count("\n") >= limit)

    def write(self, request: IncomingRequest) -> Outcome:
        """Make a file, or replace it."""
        wanted = decode(draft.WriteTextFileRequest, request.params, strict=self._strict)
        encoding = _codec(wanted.encoding or UTF_8)
        session = self._owners.of_path(wanted.path)
        path = _placed(session.cwd, wanted.path)

        async def work() -> bytes:
            try:
                at = await self._gate.check_write(session.id, path, wanted.content)
                stored = await self._stored(session.id, path, wanted, encoding, at)
            except RequestError as error:
                raise _of_resource(error) from None
            return encode(
                draft.WriteTextFileResponse(bytes_written=stored.size, created=stored.created)
            )

        return work

    async def _stored(
        self,
        session_id: str,
        path: str,
        wanted: draft.WriteTextFileRequest,
        encoding: str,
        at: str | None,
    ) -> Stored:
        files = self._services.files
        if self._writes_encoded:
            stored: Stored = await result_of(
                files.write_encoded(
                    session_id,
                    path,
                    wanted.content,
                    encoding,
                    at=at,
                    create_directories=wanted.create_directories is not False,
                    overwrite=wanted.overwrite is not False,
                )
            )
            return stored
        _only_utf_8(encoding)
        created = wanted.overwrite is False and not await self._exists(session_id, path)
        if wanted.overwrite is False and not created:
            raise RequestError(
                ACCESS_DENIED, f"{path}: already exists", {"reason": "access_denied"}
            )
        if isinstance(files, LocatesFiles):
            await result_of(files.write_text(session_id, path, wanted.content, at=at))
        else:
            await result_of(files.write_text(session_id, path, wanted.content))
        return Stored(len(wanted.content.encode("utf-8", "replace")), created)

    async def _exists(self, session_id: str, path: str) -> bool:
        read: Any = getattr(self._services.files, "read_text", None)
        if read is None:
            raise RequestError.invalid_params(
                "it cannot be told whether the file exists; leave overwrite out", "$.overwrite"
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

    Who inherits it, and does the plain one in another way, would have it go past that.
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
        raise RequestError.invalid_params(f"{encoding} is not served here", "$.encoding")


def _placed(cwd: str, path: str) -> str:
    """Relative paths count from the working directory, in this dialect alone."""
    return path if path.startswith("/") else os.path.join(cwd, path)


def _of_resource(error: RequestError) -> RequestError:
    """What is out of bounds, or what the system refuses, is the resource's matter in the draft.

    Permission is denied only where the user said no.
    """
    scope = error.data.get("scope") if isinstance(error.data, dict) else None
    if scope not in ("roots", "system"):
        return error
    return RequestError(ACCESS_DENIED, error.message, {"reason": "access_denied"})


__all__ = ["FileRequests"]
