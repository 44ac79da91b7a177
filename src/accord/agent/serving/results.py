"""Parts of answers that the versions have in common."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from accord.connection.connection import Work
from accord.protocol.extensions import advertised
from accord.schema.codec import decode, encode, to_raw
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition

EMPTY = b"{}"


def directories_of(wanted: Any) -> tuple[str, ...]:
    """The additional folders of a session request."""
    directories = wanted.additional_directories
    return () if directories is UNSET else tuple(directories)


def empty_after(work: Callable[[], Awaitable[None]]) -> Work:
    """Work that is answered with an empty result."""

    async def run() -> bytes:
        await work()
        return EMPTY

    return run


def to_plain(value: Any) -> dict[str, Any]:
    """A struct as the plain object that is on the wire."""
    plain: dict[str, Any] = decode(dict, encode(value))
    return plain


def extension_meta(agent: "AgentDefinition") -> Any:
    """The agent's extensions, for the `_meta` of its capabilities."""
    meta = advertised(agent.extensions)
    return {key: to_raw(value) for key, value in meta.items()} or UNSET
