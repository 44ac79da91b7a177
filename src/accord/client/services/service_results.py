"""The form of a service's answers to an agent's requests, for services that are sync or async."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from accord.connection.connection import IncomingRequest
from accord.connection.handler import Result
from accord.schema.struct import UNSET, UnsetType

# A result, or the work that leads to one.
Outcome: TypeAlias = Result | Callable[[], Awaitable[Result]]
# Answers the requests of one method.
Service: TypeAlias = Callable[[IncomingRequest], Outcome]
T = TypeVar("T")

DONE = b"{}"


async def result_of(value: Any) -> Any:
    """The result of a method that may be sync or async."""
    return await value if inspect.isawaitable(value) else value


def given(value: T | UnsetType | None) -> T | None:
    """The value of an optional field, or None."""
    return None if value is UNSET else value
