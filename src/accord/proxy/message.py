"""What a handler of a proxy is given: a message on its way, a response, and the two neighbours.

What always holds: params and results that a handler did not change go on as the bytes that came,
also where it looked at them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from accord.schema.codec import encode, to_python
from accord.schema.struct import UNSET, Raw, UnsetType

if TYPE_CHECKING:
    from accord.proxy.conversation import Link
    from accord.proxy.direction_queue import Holding

Sender: TypeAlias = Literal["client", "agent"]


class Content:
    """JSON that is read when somebody looks, and written again only if that made it another."""

    __slots__ = ("_raw", "_value")

    def __init__(self, raw: Raw | bytes) -> None:
        self._raw = raw
        self._value: Any | UnsetType = UNSET

    @property
    def value(self) -> Any:
        """The plain value; change it in place."""
        if self._value is UNSET:
            self._value = to_python(self._raw)
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value

    def rewrite(self) -> None:
        """Have it go on as it was read, also where the bytes can be read in another way."""
        self._raw = encode(self.value)

    @property
    def has_key_twice(self) -> bool:
        """Whether readers may differ in what the bytes say."""
        # Few proxies ask, and the redactor takes long to load.
        from accord.machine.redaction.redactor import decoded

        return not decoded(bytes(memoryview(self._raw)))[1]

    @property
    def encoded(self) -> Raw | bytes:
        """The bytes that came, or those of what it was changed to."""
        return self._raw if self._value is UNSET else same_or_new(self._raw, self._value)


def same_or_new(raw: Raw | bytes, value: Any) -> Raw | bytes:
    """The bytes that came if the value still says the same, else those of the value."""
    new = encode(value)
    return raw if new == encode(to_python(raw)) else new


class Message:
    """A request or a notification on its way.

    `params` may be changed in place, or set.  `sender` is `client` or `agent`.  The two neighbours,
    `client` and `agent`, may be told or asked something of the proxy's own.
    """

    __slots__ = ("_content", "doing", "link", "method", "sender")

    def __init__(self, link: Link, sender: Sender, method: str, params: Raw | bytes) -> None:
        self.link = link
        self.sender: Sender = sender
        self.method = method
        self._content = Content(params)
        # Who works on it, where somebody does: what that holds up must not keep its answers away.
        self.doing: Holding | None = None

    @property
    def client(self) -> Neighbour:
        """The client, to be told or asked something."""
        return Neighbour(self.link, "client", self.doing)

    @property
    def agent(self) -> Neighbour:
        """The agent, to be told or asked something."""
        return Neighbour(self.link, "agent", self.doing)

    @property
    def params(self) -> dict[str, Any]:
        """The params; those that are no object, which no method of the protocol has, read as {}."""
        value = self._content.value
        return value if isinstance(value, dict) else {}

    @params.setter
    def params(self, params: dict[str, Any]) -> None:
        self._content.value = params

    def rewrite(self) -> None:
        """Have the params go on as they were read: a key that came twice goes on once."""
        self._content.rewrite()

    @property
    def has_key_twice(self) -> bool:
        """Whether readers may differ in what the params are."""
        return self._content.has_key_twice

    @property
    def session_id(self) -> str | None:
        """The session that it is about, if it says so."""
        found = self.params.get("sessionId")
        return found if isinstance(found, str) else None

    @property
    def encoded(self) -> Raw | bytes:
        """The params as they go on."""
        return self._content.encoded

    def __repr__(self) -> str:
        return f"<{self.method} of the {self.sender}>"


class Response:
    """The good answer to a request, on its way back; `result` may be changed in place, or set."""

    __slots__ = ("_content", "request")

    def __init__(self, request: Message, result: Raw | bytes) -> None:
        self.request = request
        self._content = Content(result)

    @property
    def result(self) -> Any:
        """The result."""
        return self._content.value

    @result.setter
    def result(self, result: Any) -> None:
        self._content.value = result

    @property
    def encoded(self) -> Raw | bytes:
        """The result as it goes on."""
        return self._content.encoded


class Neighbour:
    """The client or the agent, for what a proxy has to say by itself."""

    __slots__ = ("_doing", "_who", "link")

    def __init__(self, link: Link, who: Sender, doing: Holding | None = None) -> None:
        self.link = link
        self._who: Sender = who
        self._doing = doing

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell it something, behind all that went to it before."""
        self.link.end_of(self._who).notify(method, encode(params))

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Ask it something; the result is plain JSON.

        Raises:
            RequestFailed: it refused.
            ConnectionLost: it is gone.
        """
        return await self.link.ask(self._who, method, encode(params), self._doing)


Forward: TypeAlias = Callable[[Message], Awaitable[Any]]
"""Passes a request on and gives the result of its answer as plain JSON."""

__all__ = ["Forward", "Message", "Neighbour", "Response", "Sender", "same_or_new"]
