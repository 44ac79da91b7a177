"""`authenticate` of the 2026-02 draft, answered by the gateway before its messages are translated.

A login with `api_key` or `oauth2` is about the gateway, which knows these credentials.  Every other
message of the client goes on, byte for byte; `custom` is about an account of the agent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from anyio.abc import TaskGroup

from accord.errors import RequestError
from accord.gateway.access.credentials import LOGIN_METHODS
from accord.gateway.access.limits import LimitReached
from accord.jsonrpc.framing import FrameTooLong, splitter_for
from accord.schema.codec import Invalid, encode, to_python
from accord.translate.draft.error_codes import DRAFT_RATE_LIMITED
from accord.transport.transport import Ended, Receiver, Transport

Login = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Returns the result of `authenticate` with these params, or raises RequestError."""

Admit = Callable[[int], None]
"""Counts a request of this size, or raises LimitReached."""

METHOD: Final = b'"authenticate"'


class DraftLogins:
    """The transport to a client of the draft, without its logins at the gateway."""

    def __init__(self, transport: Transport, login: Login, admit: Admit) -> None:
        self._transport = transport
        self._login = login
        self._admit = admit
        self._splitter = splitter_for("lines")
        self._receiver: Receiver
        self._tasks: TaskGroup

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Deliver everything but logins at the gateway."""
        self._receiver, self._tasks = receiver, tasks
        await self._transport.start(self, tasks)

    def data_received(self, data: bytes) -> None:
        """Pass messages on, and answer logins."""
        try:
            frames = self._splitter.feed(data)
        except FrameTooLong as error:
            self._receiver.ended(Ended(f"the client sent too long a message: {error}"))
            return
        passed = [one for one in frames if not self._takes(one)]
        if passed:
            self._receiver.data_received(self._splitter.encode_all(passed))

    def ended(self, why: Ended) -> None:
        """Pass the end on."""
        self._receiver.ended(why)

    def _takes(self, frame: bytes) -> bool:
        if METHOD not in frame:
            return False
        try:
            message = to_python(frame)
        except Invalid:
            return False
        if not isinstance(message, dict) or message.get("method") != "authenticate":
            return False
        params, request_id = message.get("params"), message.get("id")
        if not isinstance(params, dict) or not isinstance(request_id, int | str):
            return False
        kind = params.get("method")
        if not isinstance(kind, str) or kind not in LOGIN_METHODS:
            return False
        self._tasks.start_soon(self._answer, request_id, params, len(frame), name="draft login")
        return True

    async def _answer(self, request_id: int | str, params: Mapping[str, Any], size: int) -> None:
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id}
        try:
            self._admit(size)
            answer["result"] = await self._login(params)
        except LimitReached as reached:
            error = reached.request_error()
            answer["error"] = _error(DRAFT_RATE_LIMITED, error)
        except RequestError as error:
            answer["error"] = _error(error.code, error)
        self._transport.write(self._splitter.encode(encode(answer)))

    # ---- the rest is the client's transport

    @property
    def backlog(self) -> int:
        """Bytes that the client has not taken yet."""
        return self._transport.backlog

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    async def drain(self) -> None:
        await self._transport.drain()

    def pause(self) -> None:
        self._transport.pause()

    def resume(self) -> None:
        self._transport.resume()

    async def aclose(self) -> None:
        await self._transport.aclose()


def _error(code: int, error: RequestError) -> dict[str, Any]:
    found: dict[str, Any] = {"code": code, "message": error.message}
    return found if error.data is None else {**found, "data": error.data}


__all__ = ["DraftLogins", "Login"]
