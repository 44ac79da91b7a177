"""Methods and notifications beyond the protocol, registered by name and typed by annotation.

Names start with an underscore.  What is registered before the connection is made is advertised in
the `_meta` of our capabilities, as the agent side does it.
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
    """What this side understands beyond the protocol."""

    def __init__(self) -> None:
        self._methods: dict[str, _Extension] = {}
        self._notifications: dict[str, _Extension] = {}

    def method(self, name: str) -> Callable[[F], F]:
        """Register what answers requests of this name; its parameter's annotation is read as."""
        return self._register(self._methods, name)

    def notification(self, name: str) -> Callable[[F], F]:
        """Register what is told notifications of this name."""
        return self._register(self._notifications, name)

    def _register(self, table: dict[str, _Extension], name: str) -> Callable[[F], F]:
        check_name(name)
        if name in self._methods or name in self._notifications:
            raise LocalProtocolError(f"{name} is registered already")

        def register(handler: F) -> F:
            hints = get_type_hints(handler)
            hints.pop("return", None)
            table[name] = _Extension(handler, next(iter(hints.values()), dict[str, Any]))
            return handler

        return register

    def advertised(self) -> dict[str, Any]:
        """The `_meta` that tells the peer, empty when there is nothing to tell."""
        return advertised((*self._methods, *self._notifications))

    def answer(self, name: str, params: Raw) -> Work | None:
        """The work that answers a request, None where nobody registered for it."""
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
        """Hand over a notification; what is still to be awaited, if anything."""
        found = self._notifications.get(name)
        if found is None:
            return None
        result = found.handle(found.read(params))
        return result if inspect.isawaitable(result) else None


__all__ = ["Extensions"]
