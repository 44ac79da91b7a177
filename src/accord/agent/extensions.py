"""Methods beyond the protocol: runs the agent's own, and calls those of the client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from accord.agent.callbacks import Guard
from accord.connection import Connection
from accord.connection.error_responses import error_for
from accord.errors import RemoteProtocolError, RequestError
from accord.protocol.extensions import advertised, check_name
from accord.schema.codec import Invalid, decode, encode, to_python, to_raw
from accord.schema.struct import UNSET, Raw

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition, Extension


T = TypeVar("T")


class ExtensionHandlers:
    """The extensions that one client can use."""

    def __init__(
        self, extensions: Mapping[str, Extension], connection: Connection, guard: Guard
    ) -> None:
        self._extensions = extensions
        self._connection = connection
        self._guard = guard

    def request(self, method: str, params: Raw) -> Callable[[], Awaitable[bytes]] | None:
        """The work of an extension method, or None if the agent does not have it."""
        extension = self._extensions.get(method)
        if extension is None or extension.is_notification:
            return None
        value = _decoded(extension.params, params)

        async def work() -> bytes:
            return encode(await extension.handler(value))

        return work

    def notification(self, method: str, params: Raw) -> bool:
        """Start the handler of an extension notification; False if there is none."""
        extension = self._extensions.get(method)
        if extension is None or not extension.is_notification:
            return False
        value = _decoded(extension.params, params)

        async def work() -> None:
            try:
                await self._guard.run(extension.handler(value))
            except Exception as error:  # noqa: BLE001 - a notification has no answer
                error_for(error, method)

        self._connection.run(work)
        return True


def _decoded(wanted: Any, params: Raw) -> Any:
    try:
        return decode(wanted, params)
    except Invalid as error:
        raise RequestError.invalid_params(error.reason, error.path) from None


async def call_extension(
    connection: Connection, method: str, params: object, result: type[T] | None
) -> T | object:
    """Call the client; read the answer as `result`, or as plain values."""
    check_name(method)
    raw = await connection.call(method, encode({} if params is None else params))
    try:
        return to_python(raw) if result is None else decode(result, raw)
    except Invalid as error:
        raise RemoteProtocolError(f"the answer to {method} is invalid: {error}") from None


async def notify_extension(connection: Connection, method: str, params: object) -> None:
    """Send the client a notification."""
    check_name(method)
    await connection.notify(method, encode({} if params is None else params))


def extension_meta(agent: AgentDefinition) -> Any:
    """The agent's extensions, for the `_meta` of its capabilities."""
    meta = advertised(agent.extensions)
    return {key: to_raw(value) for key, value in meta.items()} or UNSET
