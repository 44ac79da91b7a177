"""The client's methods beyond the protocol, as an agent calls them."""

from typing import TYPE_CHECKING, TypeVar

from accord.errors import RemoteProtocolError
from accord.protocol.extensions import check_name
from accord.schema.codec import Invalid, decode, encode, to_python

if TYPE_CHECKING:
    from accord.agent.session import AgentSession

T = TypeVar("T")


async def call_extension(
    session: "AgentSession", method: str, params: object, result: type[T] | None
) -> "T | object":
    """Call the client, and read the answer as the wanted type or as plain values."""
    check_name(method)
    raw = await session.connection.call(method, encode({} if params is None else params))
    try:
        return to_python(raw) if result is None else decode(result, raw)
    except Invalid as error:
        raise RemoteProtocolError(f"the answer to {method} is invalid: {error}") from None


async def notify_extension(session: "AgentSession", method: str, params: object) -> None:
    """Tell the client something."""
    check_name(method)
    await session.connection.notify(method, encode({} if params is None else params))
