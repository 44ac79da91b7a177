"""What serving files and serving terminals have in common in v1.

Their form, and care with services that may be anybody's.
"""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from accord.client.session.state import Conversation
from accord.connection.connection import IncomingRequest
from accord.connection.handler import Result
from accord.schema.struct import UNSET, UnsetType

Outcome: TypeAlias = Result | Callable[[], Awaitable[Result]]
Service: TypeAlias = Callable[[IncomingRequest], Outcome]
FindSession: TypeAlias = Callable[[str], Conversation]
T = TypeVar("T")

DONE = b"{}"


async def result_of(value: Any) -> Any:
    """Services may be sync or async."""
    return await value if inspect.isawaitable(value) else value


def given(value: T | UnsetType | None) -> T | None:
    """The value, and None where there is none."""
    return None if value is UNSET else value


def takes(function: Callable[..., Any], name: str) -> bool:
    """Whether a method of a service has this parameter, which not all of them need to have."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return name in parameters


__all__ = ["DONE", "FindSession", "Outcome", "Service", "given", "result_of", "takes"]
