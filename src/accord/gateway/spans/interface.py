"""Spans as the gateway begins and ends them, and the W3C keys that connect them with others.  Pure.

What always holds
    * A span holds names of agents, methods and sessions, and codes of errors: no text of anybody,
      no names of users and no credentials.
    * Without spans, what a client says in `_meta` reaches the agent as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw

TRACE_KEYS: Final = ("traceparent", "tracestate", "baggage")
"""What `_meta` has according to W3C Trace Context and W3C Baggage."""

Attributes = Mapping[str, str | int]


class Span(Protocol):
    """Something that takes time, from its beginning to its end."""

    @property
    def keys(self) -> Mapping[str, str]:
        """The W3C keys with which somebody else goes on; none where nothing is recorded."""
        ...

    def end(self, outcome: str | None = None, *, failed: bool = False) -> None:
        """End it, once; what comes later is ignored."""
        ...


class Spans(Protocol):
    """Begins spans, and sends them to whoever wants them."""

    def begin(
        self,
        name: str,
        attributes: Attributes,
        *,
        params: bytes | Raw | None = None,
        parent: Span | None = None,
    ) -> Span:
        """Begin a span: below what `_meta` of the params names, or else below `parent`."""
        ...


class NoSpan:
    """A span that nobody looks at."""

    keys: Mapping[str, str] = {}

    def end(self, outcome: str | None = None, *, failed: bool = False) -> None:
        del outcome, failed


class NoSpans:
    """Begins spans that nobody looks at."""

    def begin(
        self,
        name: str,
        attributes: Attributes,
        *,
        params: bytes | Raw | None = None,
        parent: Span | None = None,
    ) -> Span:
        """Return the span that nobody looks at."""
        del name, attributes, params, parent
        return NO_SPAN


NO_SPAN: Final[Span] = NoSpan()
NO_SPANS: Final[Spans] = NoSpans()


def below(span: Span, params: Raw) -> Raw:
    """Return params whose `_meta` continues at a span; others than objects stay as they are."""
    if not span.keys:
        return params
    read = to_python(params)
    if not isinstance(read, dict):
        return params
    return Raw(encode({**read, "_meta": {**meta_of(read), **span.keys}}))


def without_trace(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return params that can be sent again later: the trace that they belonged to is over."""
    kept = {key: one for key, one in params.items() if key != "_meta"}
    meta = {key: one for key, one in meta_of(params).items() if key not in TRACE_KEYS}
    return {**kept, "_meta": meta} if meta else kept


def meta_of(params: object) -> dict[str, Any]:
    """Return the `_meta` of params, empty if they have none."""
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    return meta if isinstance(meta, dict) else {}


__all__ = [
    "NO_SPAN",
    "NO_SPANS",
    "TRACE_KEYS",
    "Attributes",
    "NoSpan",
    "NoSpans",
    "Span",
    "Spans",
    "below",
    "meta_of",
    "without_trace",
]
