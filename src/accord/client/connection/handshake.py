"""The `initialize` handshake: our offer, and the version that the agent's answer agrees to.

One `initialize` has the keys of v1 and of v2 side by side, and the shape of the answer decides
between them; the version number proves nothing, since many agents echo it.  An agent of the
2026-02 draft cannot read it; `wire/draft/start.py` goes on from there.

Must not know: the wire types of any version, which are imported only after the decision.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from accord.client.connection.outgoing_params import encode
from accord.errors import ConnectionLost, RemoteProtocolError, RequestFailed, VersionMismatch
from accord.machine.logs import logger
from accord.protocol.negotiation import UNSUPPORTED_VERSION, Dialect, Refused, judge_answer
from accord.schema.codec import Invalid, to_python
from accord.schema.struct import Raw

_log = logger("accord.client")

INVALID_PARAMS = -32602
VERSIONS: tuple[int, ...] = (1, 2)
OFFICIAL: frozenset[Dialect] = frozenset({"v1", "v2"})


@dataclass(frozen=True, slots=True)
class Implementation:
    """A program at one end of a connection."""

    name: str
    version: str
    title: str | None = None

    def to_wire(self) -> dict[str, str]:
        """The object that both versions use."""
        named = {"name": self.name, "version": self.version}
        return named if self.title is None else {**named, "title": self.title}


@dataclass(frozen=True, slots=True)
class Offer:
    """The client's description of itself, as plain objects for each version."""

    info: Implementation
    v1: Mapping[str, Any]
    v2: Mapping[str, Any]


class SpeaksDraft(VersionMismatch):
    """The agent answered our `initialize` in the form of the 2026-02 draft."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreed official version, and the answer that settled it."""

    dialect: Dialect
    answer: Mapping[str, Any]


def initialize_params(offer: Offer, versions: Collection[int]) -> bytes:
    """The params of `initialize` for a client that speaks these versions."""
    params: dict[str, Any] = {"protocolVersion": max(versions)}
    if 2 in versions:
        params["info"] = offer.info.to_wire()
        params["capabilities"] = offer.v2
    if 1 in versions:
        params["clientInfo"] = offer.info.to_wire()
        params["clientCapabilities"] = offer.v1
    return encode(params)


def judge(result: Raw, versions: Collection[int]) -> Agreement:
    """The version that the answer agrees to.

    Raises:
        VersionMismatch: the agent speaks no version that we speak.
        RemoteProtocolError: the answer is not a valid one.
    """
    try:
        answer = to_python(result)
    except Invalid as error:
        raise RemoteProtocolError(f"the answer to initialize is unreadable: {error}") from None
    if not isinstance(answer, dict):
        raise RemoteProtocolError("the answer to initialize is not an object", _text(result))
    verdict = judge_answer(answer, versions)
    if isinstance(verdict, Refused):
        if verdict.code != UNSUPPORTED_VERSION:
            raise RemoteProtocolError(verdict.message, _text(result))
        raise VersionMismatch(verdict.message, _supported(verdict.data))
    if verdict.dialect not in OFFICIAL:
        raise SpeaksDraft("the agent speaks the 2026-02 draft of the protocol")
    for note in verdict.notes:
        _log.warning("initialize: %s", note)
    return Agreement(verdict.dialect, answer)


def explain_refusal(error: RequestFailed) -> Exception:
    """The error to raise when the agent refused `initialize`."""
    if error.code == UNSUPPORTED_VERSION:
        supported = _supported(error.data)
        offered = f"; it supports {', '.join(map(str, supported))}" if supported else ""
        mismatch = VersionMismatch(f"the agent refused the version: {error.message}{offered}")
        mismatch.supported = supported
        return mismatch
    if error.code == INVALID_PARAMS:
        error.add_note(
            "The agent refused our initialize.  It may refuse keys that it does not know:"
            " versions=(1,) sends only those of version 1."
        )
    return error


def explain_end(error: ConnectionLost) -> ConnectionLost:
    """The error to raise when the agent exited before it answered `initialize`."""
    if error.exit_status != "exit code 0":
        return error
    return ConnectionLost(
        f"{error.message}, before it answered initialize; does the program call agent.run()?",
        exit_status=error.exit_status,
        stderr_tail=error.stderr_tail,
    )


def _supported(data: object) -> tuple[int, ...]:
    found = data.get("supported") if isinstance(data, Mapping) else None
    if not isinstance(found, list):
        return ()
    return tuple(number for number in found if isinstance(number, int))


def _text(raw: Raw) -> str:
    return bytes(raw).decode("utf-8", "replace")


def read_implementation(info: object) -> Implementation | None:
    """Name and version of the agent, where it gave them in a readable form."""
    if not isinstance(info, Mapping):
        return None
    name, version, title = info.get("name"), info.get("version"), info.get("title")
    if not isinstance(name, str) or not isinstance(version, str):
        return None
    return Implementation(name, version, title if isinstance(title, str) else None)


__all__ = [
    "VERSIONS",
    "Agreement",
    "Implementation",
    "Offer",
    "SpeaksDraft",
    "explain_end",
    "explain_refusal",
    "initialize_params",
    "judge",
    "read_implementation",
]
