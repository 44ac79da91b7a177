"""The client's methods beyond the protocol, as an agent calls them."""

from typing import TYPE_CHECKING, TypeVar

from accord.errors import RemoteProtocolError
from accord.protocol.extensions import check_name
from accord.schema.codec import Invalid, decode, encode, to_python

if TYPE_CHECKING:
    from accord.agent.session.session import AgentSession

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


class ExtendedTurn:
    """The part of `Turn` that is about methods beyond the protocol."""

    if TYPE_CHECKING:

        @property
        def session(self) -> "AgentSession":
            """The session that this turn is part of."""
            raise NotImplementedError

    @property
    def client_extensions(self) -> frozenset[str]:
        """The methods beyond the protocol that the client says it has."""
        return self.session.wire.features.extensions

    async def call_extension(
        self, method: str, params: object = None, result: type[T] | None = None
    ) -> "T | object":
        """Call a method beyond the protocol; with a type the answer is read as that.

        Raises:
            RequestFailed: the client answered with an error, -32601 where it has no such method.
        """
        return await call_extension(self.session, method, params, result)

    async def notify_extension(self, method: str, params: object = None) -> None:
        """Send a notification beyond the protocol."""
        await notify_extension(self.session, method, params)
