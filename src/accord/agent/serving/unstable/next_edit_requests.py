"""`nes/*` and `document/*`, served to one client.

v1 and v2 differ in one name alone: what v2 calls `suggestionId` is `id` in v1.

What always holds
    * A client gets only the kinds of suggestion that it can show.
    * Closing a session cancels what is being thought up for it, and its id is never used again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import anyio

from accord.agent.serving.service import Service
from accord.agent.serving.unstable.next_edits import (
    DEFAULT_ENCODING,
    NextEditSession,
    Settled,
    SuggestRequest,
)
from accord.agent.session.session import new_session_id
from accord.connection import IncomingRequest
from accord.connection.connection import Work
from accord.errors import RequestError
from accord.protocol.capabilities import supports
from accord.schema.codec import Invalid, decode, encode, to_raw
from accord.schema.struct import Raw, UnknownVariant
from accord.schema.v2 import documents, next_edit

T = TypeVar("T")
Handler = Callable[[IncomingRequest], bytes | Work]

EMPTY = b"{}"
# A client has one session per workspace; this many is a mistake or worse.
SESSIONS_MAX = 100
GATED_KINDS = ("jump", "rename", "searchAndReplace")

_DOCUMENTS: Mapping[str, Any] = {
    "document/didOpen": documents.DidOpenDocumentNotification,
    "document/didChange": documents.DidChangeDocumentNotification,
    "document/didClose": documents.DidCloseDocumentNotification,
    "document/didSave": documents.DidSaveDocumentNotification,
    "document/didFocus": documents.DidFocusDocumentNotification,
}


class NextEditServing:
    """The sessions for suggestions of one connection."""

    def __init__(self, service: Service, offered: Mapping[str, Any]) -> None:
        self._service = service
        self._edits = service.agent.next_edits
        self._sessions: dict[str, NextEditSession] = {}
        self._work: dict[str, set[anyio.CancelScope]] = {}
        self.encoding = self._agreed(offered.get("positionEncodings"))
        shown = [kind for kind in GATED_KINDS if supports(offered, f"nes.{kind}", booleans=False)]
        self._kinds = frozenset({"edit", *shown})
        self.requests: dict[str, Handler] = {
            "nes/start": self._start,
            "nes/suggest": self._suggest,
            "nes/close": self._close,
        }

    def _agreed(self, wanted: Any) -> str:
        listed = wanted if isinstance(wanted, list) else []
        return next((one for one in listed if one in self._edits.encodings), DEFAULT_ENCODING)

    def capabilities(self) -> dict[str, Raw]:
        """More capabilities of the agent, for the answer to `initialize`."""
        return {"nes": to_raw(self._edits.offer()), "positionEncoding": to_raw(self.encoding)}

    # ---- requests

    def _start(self, request: IncomingRequest) -> bytes:
        wanted = self._read(next_edit.StartNesRequest, request.params)
        self._service.require_login()
        if len(self._sessions) >= SESSIONS_MAX:
            raise RequestError.invalid_request(f"more than {SESSIONS_MAX} sessions of suggestions")
        session = NextEditSession(new_session_id(), wanted, self.encoding, self._kinds)
        self._sessions[session.id] = session
        self._work[session.id] = set()
        return encode(next_edit.StartNesResponse(session_id=session.id))

    def _suggest(self, request: IncomingRequest) -> Work:
        wanted = self._read(next_edit.SuggestNesRequest, request.params)
        session = self._session(wanted.session_id)
        scope = anyio.CancelScope()
        running = self._work[session.id]
        running.add(scope)

        async def work() -> bytes:
            found: Sequence[Any] = ()
            try:
                with scope:
                    if self._edits.suggest is not None:
                        found = await self._edits.suggest(SuggestRequest(session, wanted))
            finally:
                running.discard(scope)
            if scope.cancel_called:
                raise RequestError.cancelled("the session of suggestions was closed")
            return self._said([one for one in found if _kind(one) in self._kinds])

        return work

    def _close(self, request: IncomingRequest) -> bytes:
        wanted = self._read(next_edit.CloseNesRequest, request.params)
        session = self._session(wanted.session_id)
        del self._sessions[session.id]
        for scope in self._work.pop(session.id):
            scope.cancel()
        return EMPTY

    def _session(self, session_id: str) -> NextEditSession:
        session = self._sessions.get(session_id)
        if session is None:
            raise RequestError.session_missing(session_id)
        return session

    def _said(self, suggestions: list[Any]) -> bytes:
        if self._service.wire.version == 1:
            suggestions = [_with_short_id(one) for one in suggestions]
        return encode({"suggestions": suggestions})

    # ---- notifications

    def notification(self, method: str, params: Raw) -> bool:
        """Take a notification; False when it is not one of these."""
        if method in _DOCUMENTS:
            handler = self._edits.documents.get(method.removeprefix("document/"))
            if handler is not None:
                told = self._read(_DOCUMENTS[method], params)
                session = self._sessions.get(told.session_id)
                if session is not None:
                    handler(session, told)
            return True
        if method not in ("nes/accept", "nes/reject"):
            return False
        self._settled(method == "nes/accept", params)
        return True

    def _settled(self, accepted: bool, params: Raw) -> None:
        if self._service.wire.version == 1:
            members = self._read(dict[str, Raw], params)
            if "id" in members:
                members["suggestionId"] = members.pop("id")
            params = Raw(encode(members))
        told: Any = self._read(
            next_edit.AcceptNesNotification if accepted else next_edit.RejectNesNotification, params
        )
        session = self._sessions.get(told.session_id)
        if session is None or self._edits.settled is None:
            return
        reason = None if accepted else told.reason or None
        self._edits.settled(Settled(session, told.suggestion_id, accepted, reason))

    def _read(self, wanted: type[T], params: Raw) -> T:
        try:
            return decode(wanted, params, strict=self._service.agent.strict)
        except Invalid as error:
            raise RequestError.invalid_params(error.reason, error.path) from None


def _kind(suggestion: Any) -> str:
    if isinstance(suggestion, UnknownVariant):
        return suggestion.tag
    return str(type(suggestion).__struct_config__.tag)


def _with_short_id(suggestion: Any) -> dict[str, Raw]:
    members = decode(dict[str, Raw], encode(suggestion))
    return {"id" if key == "suggestionId" else key: value for key, value in members.items()}
