"""The wrapper around messages to and from the component behind a proxy: `proxy/successor`."""

from __future__ import annotations

from typing import Final

from accord.jsonrpc.envelope import NO_PARAMS, json_text
from accord.schema.struct import UNSET, BareStruct, Omit, Raw

_NULL: Final = memoryview(b"null")
SUCCESSOR_METHODS: Final = frozenset({"proxy/successor", "_proxy/successor"})


class Wrapped(BareStruct, frozen=True, kw_only=True):
    """The params of `proxy/successor`; a `_meta` beside them concerns only that hop."""

    method: str
    params: Omit[Raw] = UNSET

    @property
    def inner_params(self) -> Raw:
        """The params of the wrapped message; null means none."""
        params = self.params
        return NO_PARAMS if params is UNSET or is_null(params) else params


def is_null(params: bytes | Raw) -> bool:
    """Whether these params are null, which means none."""
    # Compared without a copy: params may be large.
    return memoryview(params) == _NULL


def wrapped(method: str, params: bytes | Raw) -> bytes:
    """Return the params of the wrapper around a message."""
    if params is NO_PARAMS or is_null(params):
        return b'{"method":%b}' % json_text(method)
    return b'{"method":%b,"params":%b}' % (json_text(method), params)
