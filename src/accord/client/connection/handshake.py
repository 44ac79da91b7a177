"""The `initialize` handshake: our offer, the time limit, and the version that the answer agrees to.

One `initialize` has the keys of v1 and of v2 side by side, and the shape of the answer decides
between them; the version number proves nothing, since many agents echo it.  An agent of the
2026-02 draft cannot read it; `wire/draft/handshake.py` goes on from there.

Must not know: the wire types of any version, which are imported only after the decision.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import anyio

from accord.client.connection.agent_connection import AgentLink
from accord.client.connection.error_context import bounded
from accord.client.connection.implementation import Offer
from accord.client.session.request_checks import encode
from accord.client.wire.wire_interface import Wire
from accord.errors import (
    ConnectFailed,
    ConnectionLost,
    RemoteProtocolError,
    RequestFailed,
    VersionMismatch,
)
from accord.jsonrpc.error_codes import UNSUPPORTED_PROTOCOL_VERSION
from accord.machine.redacted_logs import logger
from accord.protocol.negotiation import Dialect, Refused, judge_answer
from accord.schema.codec import Invalid, Report, to_python
from accord.schema.struct import Raw

_log = logger("accord.client")

INVALID_PARAMS = -32602
# Each is loaded when an agent is found to speak it.
_WIRES: dict[Dialect, tuple[str, str]] = {
    "v1": ("accord.client.wire.v1.wire", "WireV1"),
    "v2": ("accord.client.wire.v2.wire", "WireV2"),
}


class SpeaksDraft(VersionMismatch):
    """The agent answered our `initialize` in the form of the 2026-02 draft."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreed official version, and the answer that settled it."""

    dialect: Dialect
    answer: Mapping[str, Any]


async def shake_hands(
    link: AgentLink[Any], offer: Offer, versions: Collection[int] | None = None
) -> None:
    """Agree on one of these versions, by default of those in the options.

    Raises:
        SpeaksDraft: the agent speaks the draft, and must be asked in its form.
        VersionMismatch: there is no version that both sides speak.
        ConnectionLost: the agent ended, or did not answer in time.
        RequestFailed: the agent refused.
    """
    spoken = link.options.versions if versions is None else versions
    await first_exchange(link, initialize_params(offer, spoken), partial(_agree, link, spoken))


async def first_exchange(link: AgentLink[Any], params: bytes, agree: Callable[[Raw], None]) -> None:
    """Send `initialize`; `agree` reads its answer in wire order and settles the link."""
    seconds = link.options.limits.initialize_seconds
    try:
        with anyio.fail_after(seconds):
            await link.connection.call("initialize", params, on_result=agree)
    except TimeoutError:
        raise ConnectionLost(
            f"the agent did not answer initialize within {seconds:g} s",
            stderr_tail=getattr(link.transport, "stderr_tail", ""),
        ) from None
    except RequestFailed as error:
        if link.is_echo:
            raise RemoteProtocolError(
                "this is not an agent: it sends back what it receives"
            ) from None
        refusal = _explain_refusal(error)
        await link.explain(refusal)
        tail = bounded(getattr(link.transport, "stderr_tail", ""))
        if tail and not getattr(refusal, "stderr", ""):
            refusal.add_note(f"The agent wrote on stderr:\n{tail}")
        raise refusal from None
    except ConnectionLost as error:
        if link.options.is_remote and type(error) is ConnectionLost:
            # Some transports connect with the first message.
            raise ConnectFailed(error.message) from None
        raise _explain_end(error) from None
    except Invalid as error:
        raise RemoteProtocolError(f"the answer to initialize is invalid: {error}") from None


def _agree(link: AgentLink[Any], versions: Collection[int], result: Raw) -> None:
    agreement = judge(result, versions)
    make = wire_of(agreement.dialect)
    wire = make(strict=link.options.strict, report=link.connection.tolerate)
    link.settle(wire, wire.agent(agreement.answer))


class MakeWire(Protocol):
    """The class of a wire form."""

    def __call__(self, *, strict: bool, report: Report) -> Wire:
        """Make one for a connection."""
        ...


def wire_of(dialect: Dialect) -> MakeWire:
    """The wire form of an official version."""
    module, name = _WIRES[dialect]
    make: MakeWire = getattr(import_module(module), name)
    return make


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
        if verdict.code != UNSUPPORTED_PROTOCOL_VERSION:
            raise RemoteProtocolError(verdict.message, _text(result))
        raise VersionMismatch(verdict.message, _supported(verdict.data))
    if verdict.dialect not in _WIRES:
        raise SpeaksDraft("the agent speaks the 2026-02 draft of the protocol")
    for note in verdict.notes:
        _log.warning("initialize: %s", note)
    return Agreement(verdict.dialect, answer)


def _explain_refusal(error: RequestFailed) -> Exception:
    """The error to raise when the agent refused `initialize`."""
    if error.code == UNSUPPORTED_PROTOCOL_VERSION:
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


def _explain_end(error: ConnectionLost) -> ConnectionLost:
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
