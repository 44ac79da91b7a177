"""What a handler of a proxy is given: a message on its way, a response, and the two neighbours.

What always holds: params and results that a handler did not change go on as the bytes that came,
also where it looked at them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol, TypeAlias

from accord.schema.codec import encode, to_python
from accord.schema.struct import UNSET, Raw, UnsetType

Sender: TypeAlias = Literal["client", "agent"]


class Hold(Protocol):
    """Keeps later messages waiting while a handler works."""

    def release(self) -> None:
        """Let later messages pass."""
        ...


class Conversation(Protocol):
    """The conversation of a message, through which a handler can reach both sides."""

    def notify(self, who: Sender, method: str, params: bytes) -> None:
        """Send a notification after everything that was sent to this side before."""
        ...

    async def ask(self, who: Sender, method: str, params: bytes, hold: Hold | None) -> Any:
        """Send a request and return its result."""
        ...

    def start_soon(self, job: Callable[..., Awaitable[Any]], *arguments: Any) -> None:
        """Run a job until the conversation ends at the latest."""
        ...


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

    __slots__ = ("_content", "conversation", "hold", "method", "sender")

    def __init__(
        self, conversation: Conversation, sender: Sender, method: str, params: Raw | bytes
    ) -> None:
        self.conversation = conversation
        self.sender: Sender = sender
        self.method = method
        self._content = Content(params)
        # Who works on it, where somebody does: what that holds up must not keep its answers away.
        self.hold: Hold | None = None

    @property
    def client(self) -> Neighbour:
        """The client, to be told or asked something."""
        return Neighbour(self.conversation, "client", self.hold)

    @property
    def agent(self) -> Neighbour:
        """The agent, to be told or asked something."""
        return Neighbour(self.conversation, "agent", self.hold)

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

    __slots__ = ("_hold", "_who", "conversation")

    def __init__(self, conversation: Conversation, who: Sender, hold: Hold | None = None) -> None:
        self.conversation = conversation
        self._who: Sender = who
        self._hold = hold

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell it something, behind all that went to it before."""
        self.conversation.notify(self._who, method, encode(params))

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Ask it something; the result is plain JSON.

        Raises:
            RequestFailed: it refused.
            ConnectionLost: it is gone.
        """
        return await self.conversation.ask(self._who, method, encode(params), self._hold)


Forward: TypeAlias = Callable[[Message], Awaitable[Any]]
"""Passes a request on and gives the result of its answer as plain JSON."""

__all__ = ["Forward", "Message", "Neighbour", "Response", "Sender", "same_or_new"]
