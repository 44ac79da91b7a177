"""Passing a request on to another hop: ids are mapped, the answer finds its way back.

Must not know who stands on the hops, or why a request goes where it goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from accord.jsonrpc.envelope import NO_PARAMS
from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_PARAMS
from accord.proxy.hop import Hop
from accord.proxy.open_requests import Asked, End, Then
from accord.schema.codec import Invalid, decode, encode, to_python
from accord.schema.method import CANCEL_REQUEST
from accord.schema.struct import UNSET, BareStruct, Omit, Raw
from accord.transport.transport import Ended

ELICIT: Final = "elicitation/create"
"""The one request whose params may name another request, by its id on the same wire."""
LAST_LINES: Final = 5
LAST_CHARACTERS: Final = 2000


class Passed:
    """Waits for the answer to a request that was passed on, and hands it back."""

    __slots__ = ("asked",)

    def __init__(self, asked: Asked) -> None:
        self.asked = asked

    def answered(self, result: Raw) -> None:
        """Hand the result back, byte for byte."""
        self.asked.answer(result)

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        """Hand the error back as it is."""
        self.asked.refuse(code, message, data)

    def lost(self, hop: Hop, why: Ended) -> None:
        """Say who is gone."""
        self.asked.refuse(INTERNAL_ERROR, farewell(hop, why), encode(remains(hop, why)))


def pass_on(
    asked: Asked, params: bytes | Raw, to: End, then: Then, method: str | None = None
) -> None:
    """Ask `to` what was asked of us."""
    method = asked.method if method is None else method
    if method == ELICIT:
        mapped = _with_their_id(asked, params, to)
        if mapped is None:
            asked.refuse(INVALID_PARAMS, "Invalid params: requestId names no open request")
            return
        params = mapped
    call_id = to.call(method, params, then)
    if call_id:
        asked.sent = (to.hop, call_id)


def pass_on_cancel(asked: Asked, params: Raw) -> None:
    """Withdraw from the next hop what was passed on to it, by the id that it knows.

    Without params it is the end of the asker that says so: then once is enough.
    """
    if asked.sent is None or (asked.is_withdrawn and params is NO_PARAMS):
        return
    asked.is_withdrawn = True
    hop, call_id = asked.sent
    if call_id in hop.calls:
        named: Any = {} if params is NO_PARAMS else to_python(params)
        named["requestId"] = call_id
        hop.notify(CANCEL_REQUEST, encode(named))


def _with_their_id(asked: Asked, params: bytes | Raw, to: End) -> bytes | Raw | None:
    """Params with the id of the request that they name as `to` knows it; None if it is not open."""
    try:
        named = to_python(params)
    except Invalid:
        return params
    if not isinstance(named, dict) or "requestId" not in named:
        return params
    meant = named["requestId"]
    then = asked.end.hop.calls.get(meant) if isinstance(meant, int) else None
    origin: Asked | None = getattr(then, "asked", None)
    if origin is None or origin.end.hop is not to.hop:
        return None
    named["requestId"] = origin.id
    return encode(named)


class _Agreed(BareStruct, frozen=True, kw_only=True):
    """As much of an answer to `initialize` as tells the version; v1 has a key that v2 has not."""

    protocol_version: Omit[int] = UNSET
    agent_capabilities: Omit[Raw] = UNSET


def heed_version(result: bytes | Raw, hops: Iterable[Hop | None]) -> None:
    """Read by the rules of v2 from now on if the answer to `initialize` agrees on it."""
    try:
        agreed = decode(_Agreed, result)
    except Invalid:
        return
    if agreed.protocol_version == 2 and agreed.agent_capabilities is UNSET:
        for hop in hops:
            if hop is not None:
                hop.peer.set_version(2)


def farewell(hop: Hop, why: Ended) -> str:
    """One sentence about a neighbour that is gone."""
    said = f"{hop.name} is gone: {why.reason}"
    lines = why.stderr_tail.strip().splitlines()
    return f"{said}; it last said: {lines[-1][:200]}" if lines else said


def remains(hop: Hop, why: Ended) -> dict[str, Any]:
    """The same for programs: who, how its process ended, and its last words."""
    found: dict[str, Any] = {"reason": "component_gone", "component": hop.name}
    if why.exit_status is not None:
        found["exitStatus"] = why.exit_status
    lines = why.stderr_tail.strip().splitlines()
    if lines:
        found["stderr"] = "\n".join(lines[-LAST_LINES:])[-LAST_CHARACTERS:]
    return found


__all__ = ["Passed", "farewell", "heed_version", "pass_on", "pass_on_cancel", "remains"]
