"""Which functions a proxy has for which messages.

Must not know how messages travel.  Always holds: what no function was given for is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, iscoroutinefunction, signature
from typing import Any, Final

from accord.errors import LocalProtocolError
from accord.proxy.hop import OutgoingFilter
from accord.proxy.message import Sender
from accord.schema.method import SESSION_UPDATE

ANY: Final = "*"
SENDERS: Final[tuple[Sender, ...]] = ("client", "agent")


class Handler:
    """One function of the program."""

    __slots__ = ("call", "is_async", "name", "takes")

    def __init__(self, function: Callable[..., Any], *parameters: str) -> None:
        self.call = function
        self.name = getattr(function, "__name__", repr(function))
        self.is_async = iscoroutinefunction(function)
        self.takes = _count(function, self.name, parameters)
        if self.takes == 2 and parameters[1] == "forward" and not self.is_async:
            raise LocalProtocolError(
                f"{self.name} takes `forward`, so it must be an `async def` function"
            )


def _count(function: Callable[..., Any], name: str, given: tuple[str, ...]) -> int:
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    parameters = signature(function).parameters.values()
    if any(one.kind is Parameter.VAR_POSITIONAL for one in parameters):
        return len(given)
    takes = sum(one.kind in kinds for one in parameters)
    if not 1 <= takes <= len(given):
        wanted = " or ".join(f"({', '.join(given[: n + 1])})" for n in range(len(given)))
        raise LocalProtocolError(f"{name} must take {wanted}")
    return takes


class Handlers:
    """The tables.  Requests have one function each; the others may have several, in order."""

    def __init__(self) -> None:
        self._requests: dict[tuple[Sender, str], Handler] = {}
        self._responses: dict[tuple[Sender, str], list[Handler]] = {}
        self._notifications: dict[tuple[Sender, str], list[Handler]] = {}
        self._updates: dict[str, list[Handler]] = {}
        self.ends: list[Handler] = []
        # Who sees all that goes to a side, last of all.
        self.outgoing_filters: dict[Sender, OutgoingFilter] = {}

    def add_request(self, method: str, function: Callable[..., Any], of: Sender | None) -> None:
        """A function for requests of a method.

        Raises:
            LocalProtocolError: there is one already, or it does not take what it is given.
        """
        handler = Handler(function, "message", "forward")
        for sender in _senders(of):
            if (sender, method) in self._requests:
                raise LocalProtocolError(f"there is a handler for {method} already")
            self._requests[sender, method] = handler

    def add_response(self, method: str, function: Callable[..., Any], of: Sender | None) -> None:
        """A function for the good answers to requests of a method, which `of` sent."""
        handler = Handler(function, "response")
        for sender in _senders(of):
            self._responses.setdefault((sender, method), []).append(handler)

    def add_notification(
        self, method: str, function: Callable[..., Any], of: Sender | None
    ) -> None:
        """A function for notifications of a method."""
        handler = Handler(function, "message")
        for sender in _senders(of):
            self._notifications.setdefault((sender, method), []).append(handler)

    def add_update(self, kind: str, function: Callable[..., Any]) -> None:
        """A function for updates of a kind."""
        self._updates.setdefault(kind, []).append(Handler(function, "update", "message"))

    def add_end(self, function: Callable[..., Any]) -> None:
        """A function for the end of a conversation.

        Raises:
            LocalProtocolError: it waits, or does not take what it is given.
        """
        handler = Handler(function, "client")
        if handler.is_async:
            raise LocalProtocolError(f"{handler.name} must not be an `async def` function")
        self.ends.append(handler)

    def for_request(self, sender: Sender, method: str) -> Handler | None:
        """Who wants such a request."""
        return self._requests.get((sender, method)) or self._requests.get((sender, ANY))

    def for_response(self, sender: Sender, method: str) -> list[Handler]:
        """Who wants the answer to such a request."""
        found = self._responses
        return [*found.get((sender, method), ()), *found.get((sender, ANY), ())]

    def for_notification(self, sender: Sender, method: str) -> list[Handler]:
        """Who wants such a notification."""
        found = self._notifications
        return [*found.get((sender, method), ()), *found.get((sender, ANY), ())]

    def for_update(self, kind: str) -> list[Handler]:
        """Who wants such an update."""
        return [*self._updates.get(kind, ()), *self._updates.get(ANY, ())]

    @property
    def has_updates(self) -> bool:
        """Whether anybody wants any update."""
        return bool(self._updates)

    def watched(self, sender: Sender) -> frozenset[str] | None:
        """The notifications of a side that somebody wants; None for all."""
        methods = {method for who, method in self._notifications if who == sender}
        if sender == "agent" and self._updates:
            methods.add(SESSION_UPDATE)
        return None if ANY in methods else frozenset(methods)


def _senders(of: Sender | None) -> tuple[Sender, ...]:
    if of is not None and of not in SENDERS:
        raise LocalProtocolError(f"messages are of the client or of the agent, not of {of!r}")
    return SENDERS if of is None else (of,)


__all__ = ["ANY", "Handler", "Handlers"]
