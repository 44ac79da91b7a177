"""The arguments of a proxy's handlers: a message, a response, and the two neighbours.

What always holds: params and results that a handler read but did not change are forwarded byte for
byte.
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
    """JSON that is decoded on first use, and encoded again only if it was changed."""

    __slots__ = ("_raw", "_value")

    def __init__(self, raw: Raw | bytes) -> None:
        self._raw = raw
        self._value: Any | UnsetType = UNSET

    @property
    def value(self) -> Any:
        """The decoded value; change it in place."""
        if self._value is UNSET:
            self._value = to_python(self._raw)
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._value = value

    def rewrite(self) -> None:
        """Encode the decoded value, so that a reader cannot read the original bytes differently."""
        self._raw = encode(self.value)

    @property
    def has_key_twice(self) -> bool:
        """Whether an object repeats a key, so that readers may differ."""
        # Imported here: few proxies need it, and the redactor takes long to load.
        from accord.machine.redaction.redactor import decoded

        return not decoded(bytes(memoryview(self._raw)))[1]

    @property
    def encoded(self) -> Raw | bytes:
        """The original bytes, or new ones if the value was changed."""
        return self._raw if self._value is UNSET else same_or_new(self._raw, self._value)


def same_or_new(raw: Raw | bytes, value: Any) -> Raw | bytes:
    """Return the original bytes if the value is unchanged, else the encoded value."""
    new = encode(value)
    return raw if new == encode(to_python(raw)) else new


class Message:
    """A request or a notification that passes the proxy.

    Change `params` in place, or set them.  `sender` is `client` or `agent`.  Through `client` and
    `agent` the proxy can send notifications and requests of its own.
    """

    __slots__ = ("_content", "conversation", "hold", "method", "sender")

    def __init__(
        self, conversation: Conversation, sender: Sender, method: str, params: Raw | bytes
    ) -> None:
        self.conversation = conversation
        self.sender: Sender = sender
        self.method = method
        self._content = Content(params)
        # Held by the handler at work; released before it waits, so that its answer can arrive.
        self.hold: Hold | None = None

    @property
    def client(self) -> Neighbour:
        """The client, for messages of the proxy's own."""
        return Neighbour(self.conversation, "client", self.hold)

    @property
    def agent(self) -> Neighbour:
        """The agent, for messages of the proxy's own."""
        return Neighbour(self.conversation, "agent", self.hold)

    @property
    def params(self) -> dict[str, Any]:
        """The params; {} if they are not an object, which no method of the protocol allows."""
        value = self._content.value
        return value if isinstance(value, dict) else {}

    @params.setter
    def params(self, params: dict[str, Any]) -> None:
        self._content.value = params

    def rewrite(self) -> None:
        """Encode the params as they were read: a repeated key is forwarded once."""
        self._content.rewrite()

    @property
    def has_key_twice(self) -> bool:
        """Whether the params repeat a key, so that readers may differ."""
        return self._content.has_key_twice

    @property
    def session_id(self) -> str | None:
        """The id of the session, if the params name one."""
        found = self.params.get("sessionId")
        return found if isinstance(found, str) else None

    @property
    def encoded(self) -> Raw | bytes:
        """The params to forward."""
        return self._content.encoded

    def __repr__(self) -> str:
        return f"<{self.method} of the {self.sender}>"


class Response:
    """The result of a request on its way back; change `result` in place, or set it."""

    __slots__ = ("_content", "request")

    def __init__(self, request: Message, result: Raw | bytes) -> None:
        self.request = request
        self._content = Content(result)

    @property
    def result(self) -> Any:
        return self._content.value

    @result.setter
    def result(self, result: Any) -> None:
        self._content.value = result

    @property
    def encoded(self) -> Raw | bytes:
        """The result to forward."""
        return self._content.encoded


class Neighbour:
    """The client or the agent, for messages of the proxy's own."""

    __slots__ = ("_hold", "_who", "conversation")

    def __init__(self, conversation: Conversation, who: Sender, hold: Hold | None = None) -> None:
        self.conversation = conversation
        self._who: Sender = who
        self._hold = hold

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification after everything that was sent before."""
        self.conversation.notify(self._who, method, encode(params))

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request and return its result as plain JSON.

        Raises:
            RequestFailed: the neighbour answered with an error.
            ConnectionLost: the neighbour is gone.
        """
        return await self.conversation.ask(self._who, method, encode(params), self._hold)


Forward: TypeAlias = Callable[[Message], Awaitable[Any]]
"""Forwards a request and returns its result as plain JSON."""
