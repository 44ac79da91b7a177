"""Requests of an agent that several people may answer: the first valid answer counts.

What always holds
    * The agent gets one answer to each request, and only one that was offered to it.
    * Whoever was asked and did not answer is told that the question is settled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from accord.gateway.configuration.rights import Role, includes
from accord.gateway.sessions.attachment import Attachment
from accord.gateway.sessions.log_events import REQUEST, SETTLED, body_of
from accord.jsonrpc.error_codes import INTERNAL_ERROR, REQUEST_CANCELLED
from accord.proxy.hop import OpenRequest
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw

ROLE_TO_ANSWER: Final[dict[str, Role]] = {
    "session/request_permission": "admin",
    "elicitation/create": "editor",
}
"""The requests that go to several people, and the least role of those who may answer."""

PERMISSION: Final = "session/request_permission"
CANCELLED: Final = {"outcome": {"outcome": "cancelled"}}
WITHDRAWN: Final = (REQUEST_CANCELLED, "Request cancelled")


@dataclass
class SharedRequest:
    """One request; `take_back` has what withdraws it from each client that was asked."""

    request: OpenRequest
    method: str
    params: bytes
    take_back: dict[Attachment, Callable[[], None]] = field(default_factory=dict)
    refusals: int = 0


class SharedRequests:
    """The open requests of one session, by the numbers of their events."""

    def __init__(
        self,
        put: Callable[[str, bytes, Callable[[int], None] | None], None],
        attachments: Callable[[], list[Attachment]],
        tell_settled: Callable[[int, str, str], None],
    ) -> None:
        self._put = put
        self._attachments = attachments
        self._tell_settled = tell_settled
        self.open: dict[int, SharedRequest] = {}

    def ask(self, request: OpenRequest, params: Raw) -> None:
        """Take a request of the agent; people are asked once it is in the log."""
        raw = bytes(memoryview(params))
        shared = SharedRequest(request, request.method, raw)
        request.run = self

        def logged(key: int) -> None:
            if not request.is_open or request.is_withdrawn:
                return
            self.open[key] = shared
            for attachment in self._attachments():
                attachment.after(key, partial(self._offer, attachment, key))

        body = encode({"method": request.method, "params": Raw(raw)})
        self._put(REQUEST, body, logged)

    def offer_open(self, attachment: Attachment) -> None:
        """Ask somebody who has just come about everything that is still open."""
        for key in list(self.open):
            self._offer(attachment, key)

    def _offer(self, attachment: Attachment, key: int) -> None:
        shared = self.open.get(key)
        if shared is None or attachment in shared.take_back or attachment.is_over:
            return
        if not includes(attachment.role, ROLE_TO_ANSWER[shared.method]):
            return
        take_back = attachment.client.ask(attachment, key, shared.method, shared.params)
        if take_back is not None:
            shared.take_back[attachment] = take_back

    def answered(self, attachment: Attachment, key: int, by: str, result: Raw) -> None:
        """Take somebody's answer; only the first valid one counts."""
        shared = self.open.get(key)
        if shared is None or not includes(attachment.role, ROLE_TO_ANSWER[shared.method]):
            return
        problem = _problem(shared, result)
        if problem is not None:
            self.refused(attachment, key, INTERNAL_ERROR, problem)
            return
        shared.take_back.pop(attachment, None)
        raw = Raw(bytes(memoryview(result)))
        self._settle(key, by, "answered", lambda: shared.request.answer(raw))

    def refused(self, attachment: Attachment, key: int, code: int, message: str) -> None:
        """Take an error instead of an answer: the agent gets it if nobody else is asked."""
        shared = self.open.get(key)
        if shared is None:
            return
        shared.take_back.pop(attachment, None)
        if not shared.take_back:
            self._settle(key, "", "failed", lambda: shared.request.refuse(code, message))

    def left(self, attachment: Attachment) -> None:
        """Forget somebody who has gone; the questions stay open for the others."""
        for shared in self.open.values():
            shared.take_back.pop(attachment, None)

    def withdrawn(self, request: OpenRequest) -> None:
        """The agent no longer wants an answer."""
        request.is_withdrawn = True
        for key, shared in list(self.open.items()):
            if shared.request is request:
                self._settle(key, "", "withdrawn", partial(request.refuse, *WITHDRAWN))

    def cancel_all(self, by: str) -> None:
        """A turn is cancelled: its permission requests are answered so."""
        for key, shared in list(self.open.items()):
            if shared.method == PERMISSION:
                answer = partial(shared.request.answer, encode(CANCELLED))
                self._settle(key, by, "cancelled", answer)

    def process_ended(self) -> None:
        """Forget the open requests of a process that has ended."""
        for key in list(self.open):
            self._settle(key, "", "withdrawn", lambda: None)

    def _settle(self, key: int, by: str, outcome: str, answer: Callable[[], None]) -> None:
        shared = self.open.pop(key)
        for take_back in shared.take_back.values():
            take_back()
        shared.take_back.clear()

        def logged(seq: int) -> None:
            del seq
            answer()
            self._tell_settled(key, by, outcome)

        self._put(SETTLED, body_of(request=key, by=by, outcome=outcome), logged)


def _problem(shared: SharedRequest, result: Raw) -> str | None:
    """Say why an answer to a permission request cannot be passed on."""
    if shared.method != PERMISSION:
        return None
    answer = to_python(result)
    outcome: Any = answer.get("outcome") if isinstance(answer, dict) else None
    if not isinstance(outcome, dict):
        return "the answer to the permission request has no outcome"
    if outcome.get("outcome") == "cancelled":
        return None
    asked = to_python(shared.params)
    options = asked.get("options", []) if isinstance(asked, dict) else []
    offered = [one.get("optionId") for one in options if isinstance(one, dict)]
    if outcome.get("outcome") == "selected" and outcome.get("optionId") in offered:
        return None
    return "the answer to the permission request names no option that was offered"
