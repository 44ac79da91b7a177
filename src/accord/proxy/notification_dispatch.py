"""Runs the handlers for notifications, updates and responses.

What always holds: a handler that fails is reported on stderr.  Its notification is dropped, because
the handler may have been about to remove something from it.
"""

from __future__ import annotations

from typing import Any

from accord.connection.error_responses import report
from accord.proxy.handler_registry import Handler
from accord.proxy.message import Message, Neighbour, Response
from accord.schema.codec import Invalid, decode
from accord.schema.struct import BareStruct, Raw


class _Tag(BareStruct, frozen=True, kw_only=True):
    session_update: str


class _Tagged(BareStruct, frozen=True, kw_only=True):
    """The part of a `session/update` that names its kind."""

    update: _Tag


def kind_of_update(params: Raw) -> str | None:
    """Return the kind of a session update, or None."""
    try:
        return decode(_Tagged, params).update.session_update
    except Invalid:
        return None


class NotificationRun:
    """Runs the handlers of one notification in order, those for its update first."""

    __slots__ = ("_handlers", "_message", "_name", "_updates")

    def __init__(
        self, name: str, message: Message, handlers: list[Handler], updates: list[Handler]
    ) -> None:
        self._name = name
        self._message = message
        self._handlers = handlers
        self._updates = updates

    @property
    def is_async(self) -> bool:
        """Whether a handler is async."""
        return any(one.is_async for one in (*self._handlers, *self._updates))

    def run_now(self) -> bool:
        """Run synchronous handlers; return whether to forward the notification."""
        try:
            for one in self._updates:
                if not self._took(one.call(*self._of_update(one))):
                    return False
            for one in self._handlers:
                if one.call(self._message) is False:
                    return False
        except Exception as error:  # noqa: BLE001 - the conversation goes on
            self._failed(error)
            return False
        return True

    async def run(self) -> bool:
        """Run handlers of which some are async; return whether to forward the notification."""
        try:
            for one in self._updates:
                if not self._took(await finished(one, one.call(*self._of_update(one)))):
                    return False
            for one in self._handlers:
                if await finished(one, one.call(self._message)) is False:
                    return False
        except Exception as error:  # noqa: BLE001 - the conversation goes on
            self._failed(error)
            return False
        return True

    def _of_update(self, handler: Handler) -> tuple[Any, ...]:
        return (self._message.params["update"], self._message)[: handler.takes]

    def _took(self, said: Any) -> bool:
        if isinstance(said, dict):
            self._message.params["update"] = said
        return said is not False

    def _failed(self, error: Exception) -> None:
        method = self._message.method
        report(error, f"accord: the proxy {self._name!r} failed at {method}, which was dropped")


async def finished(handler: Handler, said: Any) -> Any:
    """Return what a handler returned, awaited if it is async."""
    return await said if handler.is_async else said


async def show(handlers: list[Handler], response: Response) -> None:
    """Run the handlers of a response."""
    for one in handlers:
        await finished(one, one.call(response))


def show_now(handlers: list[Handler], response: Response) -> None:
    """Run synchronous handlers of a response."""
    for one in handlers:
        one.call(response)


def tell_end(handlers: list[Handler], client: Neighbour, name: str) -> None:
    """Run the handlers for the end of the conversation."""
    for one in handlers:
        try:
            one.call(client)
        except Exception as error:  # noqa: BLE001 - the other handlers still run
            report(error, f"accord: the proxy {name!r} failed at the end of the conversation")
