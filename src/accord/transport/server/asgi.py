"""The types of ASGI that are used here."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Mapping[str, str]

__all__ = ["Headers", "Message", "Receive", "Scope", "Send"]
