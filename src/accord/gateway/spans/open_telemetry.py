"""Spans for OpenTelemetry.  The only module of the gateway that imports it."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry import trace
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from accord.gateway.spans.interface import TRACE_KEYS, Attributes, Span, meta_of
from accord.schema.codec import Invalid, to_python
from accord.schema.struct import Raw
from accord.version import __version__

# Not the process's own choice: the protocol names these keys.
_PROPAGATOR = CompositePropagator([TraceContextTextMapPropagator(), W3CBaggagePropagator()])


class OtelSpan:
    """One span, with the baggage that came with its parent."""

    def __init__(self, span: trace.Span, context: Context) -> None:
        self._span = span
        self.context = trace.set_span_in_context(span, context)
        self.keys: dict[str, str] = {}
        if span.get_span_context().is_valid:
            _PROPAGATOR.inject(self.keys, self.context)

    def end(self, outcome: str | None = None, *, failed: bool = False) -> None:
        """End it, once; what comes later is ignored."""
        if not self._span.is_recording():
            return
        if outcome is not None:
            self._span.set_attribute("accord.outcome", outcome)
        if failed:
            self._span.set_status(trace.StatusCode.ERROR)
        self._span.end()


class OtelSpans:
    """Spans of one provider."""

    def __init__(self, provider: trace.TracerProvider) -> None:
        self._tracer = provider.get_tracer("accord.gateway", __version__)

    def begin(
        self,
        name: str,
        attributes: Attributes,
        *,
        params: bytes | Raw | None = None,
        parent: Span | None = None,
    ) -> Span:
        """Begin a span: below what `_meta` of the params names, or else below `parent`."""
        context = parent.context if isinstance(parent, OtelSpan) else Context()
        named = _keys_in(params)
        links = None
        if named:
            # Baggage alone names no parent: the span stays below ours.
            near = trace.get_current_span(context).get_span_context()
            context = _PROPAGATOR.extract(named, context)
            far = trace.get_current_span(context).get_span_context()
            if near.is_valid and far != near:
                links = [trace.Link(near)]
        span = self._tracer.start_span(
            name,
            context,
            kind=trace.SpanKind.SERVER,
            attributes=dict(attributes),
            links=links,
        )
        return OtelSpan(span, context)


def _keys_in(params: bytes | Raw | None) -> Mapping[str, str]:
    """Return the W3C keys of params, which somebody else has sent."""
    if params is None or b'"_meta"' not in bytes(memoryview(params)):
        return {}
    try:
        meta = meta_of(to_python(params))
    except Invalid:
        return {}
    return {key: meta[key] for key in TRACE_KEYS if isinstance(meta.get(key), str)}


__all__ = ["OtelSpan", "OtelSpans"]
