"""Forwards a request to another hop, with mapped ids, and returns the answer.

Must not know who is at the hops, or why a request goes where it goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from accord.jsonrpc.envelope import NO_PARAMS
from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_PARAMS
from accord.proxy.component_exit import gone_data, gone_sentence
from accord.proxy.hop import AnswerReceiver, Endpoint, Hop, OpenRequest
from accord.schema.codec import Invalid, decode, encode, to_python
from accord.schema.method import CANCEL_REQUEST
from accord.schema.struct import UNSET, BareStruct, Omit, Raw
from accord.transport.transport import Ended

ELICIT: Final = "elicitation/create"
"""The one request whose params may name another request, by its id on the same wire."""


class AnswerForwarder:
    """Returns the answer to a forwarded request to its sender."""

    __slots__ = ("request",)

    def __init__(self, request: OpenRequest) -> None:
        self.request = request

    def answered(self, result: Raw) -> None:
        """Return the result, byte for byte."""
        self.request.answer(result)

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        """Return the error unchanged."""
        self.request.refuse(code, message, data)

    def lost(self, hop: Hop, why: Ended) -> None:
        """Answer that the neighbour is gone."""
        self.request.refuse(INTERNAL_ERROR, gone_sentence(hop, why), encode(gone_data(hop, why)))


def pass_on(
    request: OpenRequest,
    params: bytes | Raw,
    to: Endpoint,
    receiver: AnswerReceiver,
    method: str | None = None,
) -> None:
    """Forward a request to an endpoint."""
    method = request.method if method is None else method
    if method == ELICIT:
        mapped = _with_their_id(request, params, to)
        if mapped is None:
            request.refuse(
                INVALID_PARAMS, "Invalid params: requestId does not name an open request"
            )
            return
        params = mapped
    call_id = to.call(method, params, receiver)
    if call_id:
        request.sent = (to.hop, call_id)


def pass_on_cancel(request: OpenRequest, params: Raw) -> None:
    """Cancel a forwarded request at the next hop, by the id on that wire.

    Without params, the sender itself is gone: then one cancellation is enough.
    """
    if request.sent is None or (request.is_withdrawn and params is NO_PARAMS):
        return
    request.is_withdrawn = True
    hop, call_id = request.sent
    if call_id in hop.calls:
        named: Any = {} if params is NO_PARAMS else to_python(params)
        named["requestId"] = call_id
        hop.notify(CANCEL_REQUEST, encode(named))


def _with_their_id(request: OpenRequest, params: bytes | Raw, to: Endpoint) -> bytes | Raw | None:
    """Replace the id of the named request by its id on `to`'s wire; None if it is not open."""
    try:
        named = to_python(params)
    except Invalid:
        return params
    if not isinstance(named, dict) or "requestId" not in named:
        return params
    meant = named["requestId"]
    receiver = request.end.hop.calls.get(meant) if isinstance(meant, int) else None
    origin: OpenRequest | None = getattr(receiver, "request", None)
    if origin is None or origin.end.hop is not to.hop:
        return None
    named["requestId"] = origin.id
    return encode(named)


class _Agreed(BareStruct, frozen=True, kw_only=True):
    """The part of an answer to `initialize` that shows the version; v2 has no agentCapabilities."""

    protocol_version: Omit[int] = UNSET
    agent_capabilities: Omit[Raw] = UNSET


_V2: Final = _Agreed(protocol_version=2)


def use_version(result: bytes | Raw, hops: Iterable[Hop | None]) -> None:
    """Use the JSON-RPC rules of v2 from now on if the answer to `initialize` agrees on it."""
    try:
        agreed = decode(_Agreed, result)
    except Invalid:
        return
    if agreed == _V2:
        for hop in hops:
            if hop is not None:
                hop.peer.set_version(2)
