"""The functions that a program registered with its proxy, by message.

Must not know how messages are transported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, iscoroutinefunction, signature
from typing import Any, Final

from accord.errors import LocalProtocolError
from accord.proxy.hop import OutgoingFilter
from accord.proxy.message import Sender
from accord.schema.method import SESSION_UPDATE

ANY: Final = "*"
SENDERS: Final[tuple[Sender, ...]] = ("client", "agent")


class Handler:
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
    """The tables of functions: one per request method, several in order for everything else."""

    def __init__(self, outgoing_filters: Mapping[Sender, OutgoingFilter]) -> None:
        self._requests: dict[tuple[Sender, str], Handler] = {}
        self._responses: dict[tuple[Sender, str], list[Handler]] = {}
        self._notifications: dict[tuple[Sender, str], list[Handler]] = {}
        self._updates: dict[str, list[Handler]] = {}
        self.ends: list[Handler] = []
        self.outgoing_filters = outgoing_filters

    def add_request(self, method: str, function: Callable[..., Any], of: Sender | None) -> None:
        """Add a function for requests of a method.

        Raises:
            LocalProtocolError: the method has a function, or this one takes the wrong parameters.
        """
        handler = Handler(function, "message", "forward")
        for sender in _senders(of):
            if (sender, method) in self._requests:
                raise LocalProtocolError(f"there is already a handler for {method}")
            self._requests[sender, method] = handler

    def add_response(self, method: str, function: Callable[..., Any], of: Sender | None) -> None:
        """Add a function for results of requests of a method that `of` sent."""
        handler = Handler(function, "response")
        for sender in _senders(of):
            self._responses.setdefault((sender, method), []).append(handler)

    def add_notification(
        self, method: str, function: Callable[..., Any], of: Sender | None
    ) -> None:
        """Add a function for notifications of a method."""
        handler = Handler(function, "message")
        for sender in _senders(of):
            self._notifications.setdefault((sender, method), []).append(handler)

    def add_update(self, kind: str, function: Callable[..., Any]) -> None:
        """Add a function for session updates of a kind."""
        self._updates.setdefault(kind, []).append(Handler(function, "update", "message"))

    def add_end(self, function: Callable[..., Any]) -> None:
        """Add a function for the end of a conversation.

        Raises:
            LocalProtocolError: the function is async, or takes the wrong parameters.
        """
        handler = Handler(function, "client")
        if handler.is_async:
            raise LocalProtocolError(f"{handler.name} must not be an `async def` function")
        self.ends.append(handler)

    def for_request(self, sender: Sender, method: str) -> Handler | None:
        """Return the function for a request, if there is one."""
        return self._requests.get((sender, method)) or self._requests.get((sender, ANY))

    def for_response(self, sender: Sender, method: str) -> list[Handler]:
        """Return the functions for the answer to a request."""
        found = self._responses
        return [*found.get((sender, method), ()), *found.get((sender, ANY), ())]

    def for_notification(self, sender: Sender, method: str) -> list[Handler]:
        """Return the functions for a notification."""
        found = self._notifications
        return [*found.get((sender, method), ()), *found.get((sender, ANY), ())]

    def for_update(self, kind: str) -> list[Handler]:
        """Return the functions for a session update."""
        return [*self._updates.get(kind, ()), *self._updates.get(ANY, ())]

    @property
    def has_updates(self) -> bool:
        """Whether there are functions for session updates."""
        return bool(self._updates)

    def watched(self, sender: Sender) -> frozenset[str] | None:
        """Return the notifications of a side that have functions; None for all."""
        methods = {method for side, method in self._notifications if side == sender}
        if sender == "agent" and self._updates:
            methods.add(SESSION_UPDATE)
        return None if ANY in methods else frozenset(methods)


def _senders(of: Sender | None) -> tuple[Sender, ...]:
    if of is not None and of not in SENDERS:
        raise LocalProtocolError(f"`of` must be 'client' or 'agent', not {of!r}")
    return SENDERS if of is None else (of,)
