"""Elicitation: an agent asks the user to fill in a form or to visit a page.

It must not know the wire beyond the structs that it reads; callbacks do the display.

Always holds
    * Only modes with a callback are offered and shown; every other mode is answered -32602.
    * Only values that fit the form are sent.  An answer that is not understood, or a callback that
      raises, counts as closing the form, and is logged.
    * A URL is never opened or fetched here.
    * Questions reach the user one at a time, in order.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import anyio

from accord.client.callbacks import call
from accord.client.question_queue import Queue
from accord.client.services.forms import FormRequest, FormValue, read_form
from accord.client.services.url_requests import UrlRequest, read_url
from accord.errors import RequestError
from accord.machine.redacted_logs import logger

ATTEMPTS_MAX = 3
"""How often a form is shown again because the answer did not fit."""

OPEN_MAX = 256
"""Visited pages that are not done; the oldest is forgotten first."""

_log = logger("accord.client")


@dataclass(frozen=True, slots=True)
class ElicitationAnswer:
    """What the user did; `content` is set when a form was accepted."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, FormValue] | None = None


DECLINED = ElicitationAnswer("decline")
CLOSED = ElicitationAnswer("cancel")

# Values to send, False to decline, None to close.  True has no values: it closes the form too, and
# is logged.
FormAnswer: TypeAlias = Mapping[str, FormValue] | bool | None
OnForm: TypeAlias = Callable[[FormRequest], "FormAnswer | Awaitable[FormAnswer]"]
# True when the user agreed to open it, False to decline, None to close.
OnUrl: TypeAlias = Callable[[UrlRequest], "bool | Awaitable[bool | None] | None"]
OnComplete: TypeAlias = Callable[[UrlRequest], None]


class Elicitations:
    """The callbacks that ask the user.  A mode without a callback is not offered."""

    def __init__(
        self,
        *,
        on_form: OnForm | None = None,
        on_url: OnUrl | None = None,
        on_complete: OnComplete | None = None,
    ) -> None:
        """`on_complete` is called when the agent says that a visited page is done."""
        self._on_form = on_form
        self._on_url = on_url
        self._on_complete = on_complete
        self._queue = Queue()
        self._open: dict[str, UrlRequest] = {}
        self._asking: dict[str, set[anyio.CancelScope]] = {}

    def for_connection(self) -> Elicitations:
        """The same callbacks and queue, with pages of its own."""
        other = Elicitations(
            on_form=self._on_form, on_url=self._on_url, on_complete=self._on_complete
        )
        other._queue = self._queue
        return other

    def capabilities(self) -> dict[str, dict[str, object]]:
        """The modes to offer to the agent."""
        offered: dict[str, dict[str, object]] = {}
        if self._on_form is not None:
            offered["form"] = {}
        if self._on_url is not None:
            offered["url"] = {}
        return offered

    async def create(self, wire: Any) -> ElicitationAnswer:
        """Answer a request, given as the struct of either version.

        Raises:
            RequestError: the mode was not offered, or the request is invalid.
        """
        mode = mode_of(wire)
        if mode == "form" and self._on_form is not None:
            form = read_form(wire)
            return await self._queued(form.session_id, lambda: self._fill_in(form))
        if mode == "url" and self._on_url is not None:
            page = read_url(wire)
            if page.elicitation_id in self._open:
                reason = f"elicitation {page.elicitation_id!r} is already open"
                raise RequestError.invalid_params(reason, "$.elicitationId")
            return await self._queued(page.session_id, lambda: self._visit(page))
        raise RequestError.invalid_params(f"the mode {mode!r} was not offered", "$.mode")

    def complete(self, elicitation_id: str) -> bool:
        """The agent says that a page is done; unknown and finished ids are ignored."""
        page = self._open.pop(elicitation_id, None)
        if page is None:
            return False
        if self._on_complete is not None:
            try:
                self._on_complete(page)
            except Exception:  # noqa: BLE001 - a mistake of the callback ends nothing
                _log.exception("the callback for a completed elicitation failed")
        return True

    def cancel_session(self, session_id: str) -> None:
        """The turn was cancelled: answer its open questions with `cancel`."""
        for scope in tuple(self._asking.get(session_id, ())):
            scope.cancel()

    async def _queued(
        self, session_id: str | None, ask: Callable[[], Awaitable[ElicitationAnswer]]
    ) -> ElicitationAnswer:
        key = "" if session_id is None else session_id
        scopes = self._asking.setdefault(key, set())
        answer = CLOSED
        with anyio.CancelScope() as scope:
            scopes.add(scope)
            try:
                async with self._queue.turn():
                    answer = await ask()
            finally:
                scopes.discard(scope)
                if not scopes:
                    self._asking.pop(key, None)
        return CLOSED if scope.cancel_called else answer

    async def _fill_in(self, form: FormRequest) -> ElicitationAnswer:
        for _ in range(ATTEMPTS_MAX):
            values = await _call(self._on_form, form)
            if values is False:
                return DECLINED
            if not isinstance(values, Mapping):
                if values is not None:
                    _log.error("a form was answered with %r, which is not an answer", values)
                return CLOSED
            errors = await form.check(values)
            if not errors:
                return ElicitationAnswer("accept", _plain(form, values))
            form = replace(form, values=dict(values), errors=errors)
        _log.error("a form was answered %d times with values that do not fit", ATTEMPTS_MAX)
        return CLOSED

    async def _visit(self, page: UrlRequest) -> ElicitationAnswer:
        # Before the answer, because the page may tell the agent sooner than we do.
        self._open[page.elicitation_id] = page
        agreed: object = None
        try:
            agreed = await _call(self._on_url, page)
        finally:
            if agreed is not True:
                self._open.pop(page.elicitation_id, None)
        while len(self._open) > OPEN_MAX:
            del self._open[next(iter(self._open))]
        if agreed is True:
            return ElicitationAnswer("accept")
        if agreed not in (False, None):
            _log.error("a URL was answered with %r, which is not an answer", agreed)
        return DECLINED if agreed is False else CLOSED


async def _call(callback: Callable[[Any], Any] | None, request: object) -> object:
    if callback is None:
        return None
    try:
        answer: object = await call(callback, request)
        return answer
    except Exception:  # noqa: BLE001 - an error of the callback is not an answer
        _log.exception("asking the user failed")
        return None


def _plain(form: FormRequest, values: Mapping[str, Any]) -> dict[str, FormValue]:
    """The values for the wire: whole numbers are integers."""
    whole = {one.name for one in form.fields if one.type == "integer"}
    return {name: int(value) if name in whole else value for name, value in values.items()}


def mode_of(wire: Any) -> str:
    """The mode, also if we do not know it."""
    tag = getattr(wire, "tag", None)
    return tag if isinstance(tag, str) else str(wire.__struct_config__.tag)


__all__ = [
    "ATTEMPTS_MAX",
    "ElicitationAnswer",
    "Elicitations",
    "FormRequest",
    "UrlRequest",
    "mode_of",
    "read_url",
]
