"""Calls of the client's extension methods."""

from typing import TypeVar

from accord.connection import Connection
from accord.errors import RemoteProtocolError
from accord.protocol.extensions import check_name
from accord.schema.codec import Invalid, decode, encode, to_python

T = TypeVar("T")


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
