"""Checks that a message of the agent is one of the protocol, and means the same to every reader."""

from __future__ import annotations

from typing import Final

from accord.errors import RequestError
from accord.jsonrpc.error_codes import INVALID_PARAMS
from accord.proxy.message import Message
from accord.schema.codec import Invalid, decode
from accord.schema.v1 import methods as v1_methods
from accord.schema.v2 import methods as v2_methods

_METHODS: Final = (*v1_methods.CLIENT_METHODS.values(), *v2_methods.CLIENT_METHODS.values())
_METHODS_OF: Final = {
    1: v2_methods.CLIENT_METHODS | v1_methods.CLIENT_METHODS,
    2: v1_methods.CLIENT_METHODS | v2_methods.CLIENT_METHODS,
}
"""The methods by version; each version also accepts the other's methods."""
REQUESTS: Final = frozenset(one.name for one in _METHODS if one.kind != "notification")
"""The requests of agents in the protocol.  Those that are not judged only continue something that
was."""
NOTIFICATIONS: Final = frozenset(one.name for one in _METHODS if one.kind != "request")
"""The notifications of agents.  Others are dropped: some clients act on a request without an id."""
_KEYS: Final = {
    key.lower(): key
    for key in (
        *("sessionId", "path", "content", "command", "args", "env", "cwd", "method", "params"),
        *("serverId", "toolCall", "subject", "options", "toolCallId", "kind", "title", "type"),
        *("rawInput", "locations", "name", "value", "optionId", "changes", "oldPath", "operation"),
        *("newText", "oldText", "patch", "text"),
    )
}
"""The keys that judgements depend on, in the spelling of the protocol."""
_FREE: Final = frozenset({"rawInput", "rawOutput", "params", "_meta"})
"""Keys whose values the protocol does not define."""


def check_params(message: Message, version: int) -> None:
    """Refuse params that do not have the form of the protocol: another reader may see more in them.

    Raises:
        RequestError: where and why the params are wrong.
    """
    method = _METHODS_OF[version].get(message.method)
    try:
        if method is not None:
            decode(method.params, message.encoded)
    except Invalid as error:
        raise RequestError.invalid_params(f"guard: {error.reason}", error.path) from None


def make_unambiguous(message: Message) -> None:
    """Rewrite a message so that both sides read what was judged, even if a key was repeated.

    Raises:
        RequestError: a key differs from a known one only in case, which some readers ignore.
    """
    _check_keys(message.params)
    message.rewrite()


def _check_keys(value: object) -> None:
    if isinstance(value, list):
        for one in value:
            _check_keys(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            known = _KEYS.get(key.lower())
            if known is not None and key != known:
                said = f"guard: {key!r} may be read as {known}; the request is not forwarded"
                raise RequestError(INVALID_PARAMS, said)
            if key not in _FREE:
                _check_keys(one)
