"""Parts of answers that the versions have in common."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from accord.connection.connection import Work
from accord.errors import RequestError
from accord.protocol.extensions import advertised
from accord.schema.codec import decode, encode, to_raw
from accord.schema.struct import UNSET

if TYPE_CHECKING:
    from accord.agent.definition import AgentDefinition
    from accord.agent.session.state import SessionState

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


def require_option(
    session: "SessionState", option_id: str, value: object, value_path: str = "$.value"
) -> None:
    """Refuse an option or value that the session does not have."""
    option = session.offer.find(option_id)
    if option is None:
        raise RequestError.invalid_params(f"unknown option {option_id!r}", "$.configId")
    if not option.accepts(value):
        raise RequestError.invalid_params(
            f"option {option_id!r} has no value {value!r}", value_path
        )


def missing_capabilities(missing: list[str]) -> RequestError:
    """The error for a client that lacks required capabilities."""
    return RequestError(
        -32601,
        f"this agent needs client capabilities that are missing: {', '.join(missing)}",
        {"method": "initialize", "reason": "capability_not_supported", "missing": missing},
    )
