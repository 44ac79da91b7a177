"""Where `accord serve` sends its spans: a collector, as the variables of OpenTelemetry say.

What always holds: without these variables nothing of OpenTelemetry is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread

from accord.cli.usage_error import UsageError
from accord.gateway.spans.interface import NO_SPANS, Spans

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
SECRETS: Final = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
"""Variables with the credentials for the collector, which no agent gets."""

LAST_SPANS_SECONDS_MAX: Final = 2.0
"""How long the collector may take for the last spans."""


class SpanExport:
    """The spans of a gateway, and their way out."""

    def __init__(self, spans: Spans = NO_SPANS, provider: TracerProvider | None = None) -> None:
        self.spans = spans
        self._provider = provider

    async def aclose(self) -> None:
        """Send what is left, within a bound."""
        provider = self._provider
        if provider is not None:
            with anyio.move_on_after(LAST_SPANS_SECONDS_MAX, shield=True):
                await to_thread.run_sync(provider.force_flush, abandon_on_cancel=True)


def span_export(environment: Mapping[str, str]) -> SpanExport:
    """Return where spans go; without an endpoint nowhere.

    Raises:
        UsageError: the packages are missing, or the variables name another kind of exporter.
    """
    kind = environment.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower()
    is_disabled = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if is_disabled or kind == "none" or not any(map(environment.get, ENDPOINTS)):
        return SpanExport()
    if kind != "otlp":
        raise UsageError(f"OTEL_TRACES_EXPORTER is {kind!r}; this program has otlp and none")
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        from accord.gateway.spans.open_telemetry import OtelSpans
    except ModuleNotFoundError as error:
        raise UsageError(
            f"spans for {next(one for one in ENDPOINTS if environment.get(one))} need the package"
            f" {error.name}; install accord[otel], or remove the variable"
        ) from None
    name = environment.get("OTEL_SERVICE_NAME") or "accord"
    # Not at exit: a collector that does not answer would hold up the end of the program.
    provider = TracerProvider(
        resource=Resource.create({SERVICE_NAME: name}), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return SpanExport(OtelSpans(provider), provider)


__all__ = ["ENDPOINTS", "SECRETS", "SpanExport", "span_export"]
