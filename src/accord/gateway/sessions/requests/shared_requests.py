"""Requests of an agent that several people may answer: the first valid answer counts.

What always holds
    * The agent gets one answer to each request, and only one that it offered.
    * Only who may answer is asked, and whoever was asked is told when the question is settled.
    * A request that nobody could answer for `UNANSWERED_SECONDS_MAX` fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from accord.gateway.agents.agent_process import Answer
from accord.gateway.configuration.rights import Role, includes
from accord.gateway.sessions.attachment import Attachment
from accord.gateway.sessions.log_events import REQUEST, SETTLED, Put, body_of
from accord.gateway.spans.interface import NO_SPAN, Span
from accord.jsonrpc.error_codes import INTERNAL_ERROR, REQUEST_CANCELLED, TIMED_OUT
from accord.proxy.hop import OpenRequest
from accord.schema.codec import Invalid, encode, to_python
from accord.schema.struct import Raw

PERMISSION: Final = "session/request_permission"
ELICITATION: Final = "elicitation/create"

ROLE_TO_ANSWER: Final[dict[str, Role]] = {PERMISSION: "admin", ELICITATION: "editor"}
"""The requests that go to several people, and the least role of those who may answer."""

UNANSWERED_SECONDS_MAX: Final = 3600.0
"""How long a request waits while nobody is connected who may answer it."""

CANCELLED: Final = {"outcome": {"outcome": "cancelled"}}
ELICITATION_ACTIONS: Final = frozenset({"accept", "decline", "cancel"})


@dataclass(eq=False)
class SharedRequest:
    """One request; `asked` has what withdraws it from each client that was asked."""

    request: OpenRequest
    method: str
    params: bytes
    asked: dict[Attachment, Callable[[], None]] = field(default_factory=dict)
    span: Span = NO_SPAN
    waiting: anyio.CancelScope | None = None


class SharedRequests:
    """The open requests of one session, by the numbers of their events."""

    def __init__(
        self,
        put: Put,
        attachments: Callable[[], list[Attachment]],
        tasks: TaskGroup,
        begin_span: Callable[[str, bytes], Span],
    ) -> None:
        self._put = put
        self._attachments = attachments
        self._tasks = tasks
        self._begin_span = begin_span
        self.open: dict[int, SharedRequest] = {}

    def ask(self, request: OpenRequest, params: Raw) -> None:
        """Take a request of the agent; people are asked once it is in the log."""
        raw = bytes(memoryview(params))
        shared = SharedRequest(request, request.method, raw)
        request.run = self

        def logged(key: int) -> None:
            if not request.is_open:
                return
            self.open[key] = shared
            shared.span = self._begin_span(shared.method, raw)
            for attachment in self._attachments():
                attachment.after(key, partial(self._offer, attachment, key))
            self._wait_if_unasked(key)

        body = encode({"method": request.method, "params": Raw(raw)})
        self._put(REQUEST, body, logged)

    # ---- people

    def offer_open(self, attachment: Attachment) -> None:
        """Ask somebody who has just come about everything that is still open."""
        for key in list(self.open):
            self._offer(attachment, key)

    def _offer(self, attachment: Attachment, key: int) -> None:
        shared = self.open.get(key)
        if shared is None or attachment in shared.asked or attachment.is_over:
            return
        if not _may_answer(attachment, shared):
            return
        take_back = attachment.client.ask(
            shared.method, shared.params, partial(self._told, attachment, key)
        )
        if take_back is not None:
            shared.asked[attachment] = take_back
            _stop_waiting(shared)

    def role_changed(self, attachment: Attachment) -> None:
        """Ask somebody what they may answer now, and take back what they may no longer."""
        for key, shared in list(self.open.items()):
            if attachment in shared.asked and not _may_answer(attachment, shared):
                shared.asked.pop(attachment)()
                self._wait_if_unasked(key)
        self.offer_open(attachment)

    def left(self, attachment: Attachment) -> None:
        """Forget somebody who has gone; the questions stay open for the others."""
        for key, shared in list(self.open.items()):
            take_back = shared.asked.pop(attachment, None)
            if take_back is not None:
                take_back()
                self._wait_if_unasked(key)

    # ---- answers

    def _told(self, attachment: Attachment, key: int, answer: Answer) -> None:
        """Take somebody's answer; only the first valid one counts."""
        shared = self.open.get(key)
        if shared is None or shared.asked.pop(attachment, None) is None:
            return
        error = answer.error
        if answer.result is not None:
            problem = _problem(shared, answer.result)
            if problem is None:
                by = attachment.client.principal
                self._settle(key, by, "answered", partial(shared.request.answer, answer.result))
                return
            error = (INTERNAL_ERROR, problem, None)
        if error is not None and not shared.asked:
            self._settle(key, "", "failed", partial(shared.request.refuse, *error[:2]))

    def withdrawn(self, request: OpenRequest) -> None:
        """The agent no longer wants an answer."""
        refuse = partial(request.refuse, REQUEST_CANCELLED, "Request cancelled")
        for key, shared in list(self.open.items()):
            if shared.request is request:
                self._settle(key, "", "withdrawn", refuse)
                return
        # It is not in the log yet, or is settled already, which `refuse` knows.
        refuse()

    def cancel_all(self, by: str) -> None:
        """A turn is cancelled: its permission requests are answered so."""
        for key, shared in list(self.open.items()):
            if shared.method == PERMISSION:
                answer = partial(shared.request.answer, encode(CANCELLED))
                self._settle(key, by, "cancelled", answer)

    def end(self) -> None:
        """The agent, or the session, is gone: nobody waits for an answer any more."""
        for key, shared in list(self.open.items()):
            # At once: after a failure nothing more comes into the log.
            shared.request.refuse(REQUEST_CANCELLED, "the session has ended")
            self._settle(key, "", "withdrawn", lambda: None)

    def _settle(self, key: int, by: str, outcome: str, answer: Callable[[], None]) -> None:
        shared = self.open.pop(key)
        _stop_waiting(shared)
        shared.span.end(outcome, failed=outcome == "failed")
        asked, shared.asked = shared.asked, {}
        for take_back in asked.values():
            take_back()
        body = body_of(request=key, by=by, outcome=outcome)
        self._put(SETTLED, body, lambda _: answer())

    # ---- nobody is there

    def _wait_if_unasked(self, key: int) -> None:
        shared = self.open[key]
        if not shared.asked and shared.waiting is None:
            shared.waiting = anyio.CancelScope()
            self._tasks.start_soon(self._wait, key, shared, shared.waiting, name="unanswered")

    async def _wait(self, key: int, shared: SharedRequest, scope: anyio.CancelScope) -> None:
        with scope:
            await anyio.sleep(UNANSWERED_SECONDS_MAX)
            if self.open.get(key) is shared:
                said = "nobody was connected who may answer this"
                refuse = partial(shared.request.refuse, TIMED_OUT, said, b'{"reason":"nobody"}')
                self._settle(key, "", "failed", refuse)


def _stop_waiting(shared: SharedRequest) -> None:
    if shared.waiting is not None:
        shared.waiting.cancel()
        shared.waiting = None


def _may_answer(attachment: Attachment, shared: SharedRequest) -> bool:
    return includes(attachment.role, ROLE_TO_ANSWER[shared.method])


def _problem(shared: SharedRequest, result: Raw) -> str | None:
    """Say why an answer cannot be passed on."""
    try:
        answer = to_python(result)
    except Invalid as error:
        return f"the answer cannot be read: {error}"
    if not isinstance(answer, dict):
        return "the answer is not an object"
    if shared.method == PERMISSION:
        return _problem_of_permission(shared, answer.get("outcome"))
    if answer.get("action") not in ELICITATION_ACTIONS:
        return f"the answer names none of the actions {', '.join(sorted(ELICITATION_ACTIONS))}"
    return None


def _problem_of_permission(shared: SharedRequest, outcome: Any) -> str | None:
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
