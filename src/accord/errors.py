"""Every exception that a caller of accord can catch.

AccordError ─┬─ ProtocolError ─┬─ LocalProtocolError    our caller broke a rule; nothing was sent
             │                 ├─ RemoteProtocolError   the peer did; what it sent is attached
             │                 └─ VersionMismatch       no version that both sides speak
             ├─ RequestFailed ─┬─ AuthenticationRequired
             │                 ├─ NotFound
             │                 ├─ MethodMissing
             │                 ├─ RequestCancelled
             │                 └─ RateLimited           knows when to try again
             ├─ ConnectionLost ┬─ LimitExceeded         the transport ended with work pending
             │                 └─ ConnectFailed         a remote agent could not be reached
             ├─ McpCallFailed                           an MCP server behind the peer said no
             ├─ SpawnFailed                             the agent's program did not start
             ├─ ConfigError                             a file of the user's cannot be read so
             ├─ StoreError                              sessions cannot be read or kept
             └─ RequestError                            raise it in a handler to answer with it
"""

import re
from collections.abc import Iterator
from typing import Any

# No peer means a longer wait than a day; what is more is a mistake of units or worse.
_SECONDS_MAX = 86_400
# A longer string is not used as an id; the text of an error is for people.
_ID_CHARACTERS_MAX = 100
# What a peer says about its error is for people too, and a stack trace is not.
_DETAIL_CHARACTERS_MAX = 500
# Nor is its message a place for whole documents; `message` has all of it.
_MESSAGE_CHARACTERS_MAX = 2000
# The last lines of a process that are shown; `stderr_tail` has all that was kept.
_STDERR_CHARACTERS_MAX = 4096
# HTTP's word for it, which agents pass on from their model's server.
_TOO_MANY_REQUESTS = 429


class AccordError(Exception):
    """The root of all errors that accord raises on purpose."""


class ProtocolError(AccordError):
    """A rule of the protocol was broken."""


class LocalProtocolError(ProtocolError):
    """Our own caller asked for something that the protocol forbids.  Nothing was sent."""


class RemoteProtocolError(ProtocolError):
    """The peer sent something that the protocol forbids; `received` is what it sent, as text."""

    def __init__(self, message: str, received: str | None = None) -> None:
        super().__init__(message if received is None else f"{message}; it sent: {received[:500]}")
        self.received = received


class VersionMismatch(ProtocolError):
    """The peer speaks no version that we speak.  `supported` lists what it offered, if it said."""

    def __init__(self, message: str, supported: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.supported = supported


class RequestFailed(AccordError):
    """The peer answered our request with a JSON-RPC error object.

    `said` is the agent's last message where nothing else in the turn tells the cause, and `stderr`
    has what its process said about it, where that process is ours and it did.
    """

    def __init__(self, method: str, code: int, message: str, data: Any = None) -> None:
        cut = "…" if len(message) > _MESSAGE_CHARACTERS_MAX else ""
        super().__init__(f"{method}: {message[:_MESSAGE_CHARACTERS_MAX]}{cut} (code {code})")
        self.method = method
        self.code = code
        self.message = message
        self.data = data
        self.said = ""
        self.stderr = ""

    def __str__(self) -> str:
        text = super().__str__()
        # Many agents have the same message for everything, and the cause beside it.
        words = [part for part in self._details() if " " in part and part not in self.message]
        if words:
            text += f": {' '.join(words)[:_DETAIL_CHARACTERS_MAX]}"
        if self.correlation_id is not None:
            text += f"; correlation id {self.correlation_id[:_ID_CHARACTERS_MAX]}"
        if self.said:
            text += f"\nit said:\n{self.said}"
        return f"{text}\nit said on stderr:\n{self.stderr}" if self.stderr else text

    @property
    def correlation_id(self) -> str | None:
        """The id under which the peer's own log has the cause of an internal error."""
        return _text_of(self.data, "correlationId")

    @property
    def reason(self) -> str | None:
        """The peer's `data.reason`, which is more specific than the code."""
        return _text_of(self.data, "reason")

    @property
    def retry_after(self) -> float | None:
        """Seconds that the peer asked us to wait before trying again, if it said so."""
        for data in _layers(self.data):
            for name, unit in _RETRY_AFTER.items():
                seconds = _seconds_of(name, data.get(name), unit)
                if seconds is not None:
                    return seconds
        return None

    @property
    def detail(self) -> str:
        """The peer's text about the cause and the place of the mistake."""
        return " ".join(self._details())

    def _details(self) -> list[str]:
        """Where peers put it: `data` is that text itself, or has it by one of these names."""
        if isinstance(self.data, str):
            return [self.data]
        path = _text_of(self.data, "path")
        said = (_text_of(self.data, "reason"), _text_of(self.data, "details"))
        return [text for text in (*said, path and f"at {path}") if text]


# How peers say how long to wait, and in what unit; their servers' words are passed on as they are.
_RETRY_AFTER = {
    "retryAfter": 1.0,
    "retry_after": 1.0,
    "retry-after": 1.0,
    "retryAfterSeconds": 1.0,
    "retry_after_seconds": 1.0,
    "retryAfterMs": 0.001,
    "retry_after_ms": 0.001,
    "retryDelay": 1.0,
}
# Those that are texts: a header of HTTP, and Google's `12.5s`.
_RETRY_TEXTS = ("retry-after", "retryDelay")
# Where in an error's data the error of the model's server may be; how deep is looked.
_CAUSES = ("error", "cause", "details", "headers")
_CAUSES_DEEP = 4


def _layers(data: object, depth: int = _CAUSES_DEEP) -> Iterator[dict[str, Any]]:
    """An error's data, and the causes in it."""
    inner: list[object] = []
    if isinstance(data, dict):
        yield data
        inner = [data.get(name) for name in _CAUSES]
    elif isinstance(data, list):
        inner = data[:_CAUSES_DEEP]
    for one in inner if depth else ():
        yield from _layers(one, depth - 1)


def _seconds_of(name: str, value: object, unit: float) -> float | None:
    if isinstance(value, str) and name in _RETRY_TEXTS:
        try:
            value = float(value.strip().removesuffix("s"))
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) * unit if 0 <= value <= _SECONDS_MAX / unit else None


def _text_of(data: object, key: str) -> str | None:
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, str) else None


class AuthenticationRequired(RequestFailed):
    """The agent wants a login first; `session.client.authenticate(method)` is the way."""


class NotFound(RequestFailed):
    """The session, file or other thing that the request named does not exist there."""


class MethodMissing(RequestFailed):
    """The peer does not have this method, or did not offer the capability."""


class RequestCancelled(RequestFailed):
    """The request was cancelled before it was done."""


class RateLimited(RequestFailed):
    """Too many requests; `retry_after` has the seconds to wait where the peer gave them."""

    def __str__(self) -> str:
        text, seconds = super().__str__(), self.retry_after
        return text if seconds is None else f"{text}; it asks to wait {seconds:g} s"


class ConnectionLost(AccordError):
    """The connection ended while something still needed it.

    `exit_status` and `stderr_tail` say how the agent's process ended, where there was one.
    """

    def __init__(
        self, message: str, *, exit_status: str | None = None, stderr_tail: str = ""
    ) -> None:
        text = message
        words = stderr_tail.rstrip()
        if words.strip():
            cut = "…" if len(words) > _STDERR_CHARACTERS_MAX else ""
            text = f"{message}\nthe end of its stderr:\n{cut}{words[-_STDERR_CHARACTERS_MAX:]}"
        super().__init__(text)
        self.message = message
        self.exit_status = exit_status
        self.stderr_tail = stderr_tail


class LimitExceeded(ConnectionLost):
    """A bound with a name was passed and the connection had to end."""

    def __init__(self, limit: str, value: int, message: str) -> None:
        super().__init__(f"{message} (limit {limit} = {value})")
        self.limit = limit
        self.value = value


class ConnectFailed(ConnectionLost):
    """A remote agent could not be reached; the message says why.

    `status` is the one with which a server refused the upgrade to WebSocket.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class McpCallFailed(AccordError):
    """An MCP server that was reached through the peer answered with an error of its own.

    `code` is MCP's, never one of ACP.
    """

    def __init__(self, method: str, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"MCP {method}: {message} (code {code})")
        self.method = method
        self.code = code
        self.message = message
        self.data = data


class SpawnFailed(AccordError):
    """A program could not be started; the message names it and says why."""


class ConfigError(AccordError):
    """A configuration file has an invalid value; the message names file, key and valid values."""

    def __init__(self, message: str, *, file: str | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.file = file
        self.key = key


class StoreError(AccordError):
    """Sessions could not be read or kept; nothing that was there is lost by it.

    `reason` is one word for a program: session_in_use, session_damaged, session_pruned,
    session_exists, store_newer, store_damaged, store_unreachable, store_full.
    """

    def __init__(self, reason: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.reason = reason
        self.details = details


class RequestError(AccordError):
    """Raise this in a handler: the peer gets exactly this code, message and data."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @classmethod
    def invalid_params(cls, reason: str, path: str | None = None) -> "RequestError":
        """-32602 with the path of the bad field and why it is bad.

        Both are in the message too, since most clients show nothing else.
        """
        data: dict[str, Any] = {"reason": reason}
        if path is not None:
            data["path"] = path
        place = "" if path in (None, "$") else f" at {path}"
        return cls(-32602, f"Invalid params: {reason}{place}", data)

    @classmethod
    def invalid_request(cls, reason: str) -> "RequestError":
        """-32600: this may not be asked now."""
        return cls(-32600, reason)

    @classmethod
    def method_missing(cls, method: str, reason: str | None = None) -> "RequestError":
        """-32601 with the name of the method."""
        data: dict[str, Any] = {"method": method}
        if reason is not None:
            data["reason"] = reason
        return cls(-32601, f"Method not found: {method}", data)

    @classmethod
    def session_missing(cls, session_id: str) -> "RequestError":
        """-32002 for a session that is unknown or not active."""
        return cls(-32002, f"No such session: {session_id}", {"sessionId": session_id})

    @classmethod
    def resource_missing(cls, uri: str) -> "RequestError":
        """-32002 for a file or another resource."""
        return cls(-32002, f"Not found: {uri}", {"uri": uri})

    @classmethod
    def authentication_required(
        cls, message: str = "Authentication required", auth_methods: Any = None
    ) -> "RequestError":
        """-32000; the agent's methods ride along so that a client need not look them up."""
        data: dict[str, Any] = {"reason": "auth_required"}
        if auth_methods is not None:
            data["authMethods"] = auth_methods
        return cls(-32000, message, data)

    @classmethod
    def cancelled(cls, message: str = "Request cancelled") -> "RequestError":
        """An error with code -32800, for a request that was cancelled."""
        return cls(-32800, message)

    @classmethod
    def permission_denied(cls, message: str, scope: str | None = None) -> "RequestError":
        """Our code for a thing that the user or a policy does not allow."""
        data: dict[str, Any] = {"reason": "permission_denied"}
        if scope is not None:
            data["scope"] = scope
        return cls(-32052, message, data)

    @classmethod
    def rate_limited(cls, message: str, retry_after: float | None = None) -> "RequestError":
        """Our code for `try again later`."""
        data: dict[str, Any] = {"reason": "rate_limited"}
        if retry_after is not None:
            data["retryAfter"] = retry_after
        return cls(-32058, message, data)


# The second is what a connection of ours answers when too many of the peer's requests are open; the
# others are words of models' servers.
_RATE_REASONS = frozenset(
    {
        *("rate_limited", "too_many_requests", "rate_limit", "rate_limit_error"),
        *("rate_limit_exceeded", "model_rate_limited"),
    }
)
# By what names a peer's data has such a word, or the status of HTTP.
_REASON_KEYS = ("reason", "type", "kind", "errorKind", "code")
_STATUS_KEYS = ("status", "statusCode", "status_code", "httpStatus", "code")
# How it is said in words alone.  A quota that is used up is something else: waiting does not help.
_RATE_WORDS = re.compile(
    r"\b429\b.{0,20}too many requests|^too many requests\b|\brate[ _-]?limit"
    r"(ed\b| (is |was )?(exceeded|reached|hit)\b|_error\b)",
    re.IGNORECASE,
)
_BY_CODE: dict[int, type[RequestFailed]] = {
    -32000: AuthenticationRequired,
    -32002: NotFound,
    -32601: MethodMissing,
    -32800: RequestCancelled,
    -32058: RateLimited,
    _TOO_MANY_REQUESTS: RateLimited,
}


def request_failed(method: str, code: int, message: str, data: Any = None) -> RequestFailed:
    """The most telling class for an error answer: by `data`, then by code, then by its words."""
    if any(_is_rate_limit(one) for one in _layers(data)):
        return RateLimited(method, code, message, data)
    kind = _BY_CODE.get(code, RequestFailed)
    if kind is RequestFailed and _RATE_WORDS.search(message[:_MESSAGE_CHARACTERS_MAX]):
        kind = RateLimited
    return kind(method, code, message, data)


def _is_rate_limit(data: dict[str, Any]) -> bool:
    if any(_text_of(data, key) in _RATE_REASONS for key in _REASON_KEYS):
        return True
    statuses = (data.get(key) for key in _STATUS_KEYS)
    return any(one in (_TOO_MANY_REQUESTS, str(_TOO_MANY_REQUESTS)) for one in statuses)


__all__ = [
    "AccordError",
    "AuthenticationRequired",
    "ConfigError",
    "ConnectFailed",
    "ConnectionLost",
    "LimitExceeded",
    "LocalProtocolError",
    "McpCallFailed",
    "MethodMissing",
    "NotFound",
    "ProtocolError",
    "RateLimited",
    "RemoteProtocolError",
    "RequestCancelled",
    "RequestError",
    "RequestFailed",
    "SpawnFailed",
    "StoreError",
    "VersionMismatch",
    "request_failed",
]
