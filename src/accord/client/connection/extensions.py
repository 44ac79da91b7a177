"""Methods and notifications beyond the protocol, registered by name and typed by annotation.

Names start with an underscore.  Those registered before the client connects are advertised in
the `_meta` of our capabilities, as on the agent's side.
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

from accord.errors import LocalProtocolError
from accord.protocol.extensions import advertised, check_name
from accord.schema.codec import decode, encode
from accord.schema.struct import Raw

F = TypeVar("F", bound=Callable[[Any], Any])
Work = Callable[[], Awaitable[bytes]]
Job = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Extension:
    handle: Callable[[Any], Any]
    params: Any

    def read(self, raw: Raw) -> Any:
        return decode(self.params, raw if bytes(raw) not in (b"", b"null") else b"{}")


class Extensions:
    """The methods and notifications that a client understands beyond the protocol."""

    def __init__(self) -> None:
        self._methods: dict[str, _Extension] = {}
        self._notifications: dict[str, _Extension] = {}

    def method(self, name: str) -> Callable[[F], F]:
        """Register a handler for requests; the params are read as its parameter's annotation."""
        return self._register(self._methods, name)

    def notification(self, name: str) -> Callable[[F], F]:
        """Register a handler for notifications, as `method` does for requests."""
        return self._register(self._notifications, name)

    def _register(self, table: dict[str, _Extension], name: str) -> Callable[[F], F]:
        check_name(name)
        if name in self._methods or name in self._notifications:
            raise LocalProtocolError(f"{name} is already registered")

        def register(handler: F) -> F:
            hints = get_type_hints(handler)
            hints.pop("return", None)
            table[name] = _Extension(handler, next(iter(hints.values()), dict[str, Any]))
            return handler

        return register

    def advertised(self) -> dict[str, Any]:
        """The `_meta` that advertises them; empty where nothing is registered."""
        return advertised((*self._methods, *self._notifications))

    def answer(self, name: str, params: Raw) -> Work | None:
        """The work that answers a request; None where no handler is registered."""
        found = self._methods.get(name)
        if found is None:
            return None
        value = found.read(params)

        async def work() -> bytes:
            result = found.handle(value)
            if inspect.isawaitable(result):
                result = await result
            return encode(result)

        return work

    def tell(self, name: str, params: Raw) -> Awaitable[object] | None:
        """Pass on a notification; returns what is still to be awaited, if anything."""
        found = self._notifications.get(name)
        if found is None:
            return None
        result = found.handle(found.read(params))
        return result if inspect.isawaitable(result) else None
