"""`accord serve` with a collector of OpenTelemetry."""

from __future__ import annotations

import queue
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import anyio
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from accord import Client
from accord.cli.server_setup.span_export import span_export
from accord.cli.usage_error import UsageError
from accord.gateway.spans.interface import NO_SPANS
from tests.gateway.gateway_process import gateway_process
from tests.hang_limit import HANG_SECONDS

KEY = "s3cret-of-the-collector"


@contextmanager
def collector() -> Iterator[tuple[int, queue.Queue[tuple[str | None, bytes]]]]:
    """An HTTP server that keeps what it is sent, with the key that came with it."""
    sent: queue.Queue[tuple[str | None, bytes]] = queue.Queue()

    class Collect(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            sent.put((self.headers["x-key"], body))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collect)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1], sent
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_spans_are_sent_to_the_collector(tmp_path: Path) -> None:
    """Issue 17: OpenTelemetry spans, the last ones too; agents do not get its credentials."""

    async def talk(url: str, token: str) -> None:
        with anyio.fail_after(HANG_SECONDS):
            async with Client.connect(url, token=token) as client:
                session = await client.new_session(cwd=str(tmp_path))
                await session.ask("hello")

    show = f"import os; open({str(tmp_path / 'variables')!r}, 'w').write(repr(dict(os.environ)))"
    program = f"{show}; from accord.cli.main import main; main(['agent'])"
    with collector() as (port, sent):
        env = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
            "OTEL_EXPORTER_OTLP_HEADERS": f"x-key={KEY}",
            "OTEL_SERVICE_NAME": "ours",
            "NO_PROXY": "127.0.0.1",
        }
        target = ("--", sys.executable, "-c", program)
        with gateway_process(tmp_path, target=target, env=env) as gateway:
            anyio.run(talk, gateway.url.replace("http", "ws", 1), gateway.token)
            assert gateway.stop() == 0
        assert KEY not in (tmp_path / "variables").read_text()
        names: set[str] = set()
        while not sent.empty():
            key, body = sent.get()
            assert key == KEY
            (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
            about = {one.key: one.value.string_value for one in resource.resource.attributes}
            assert about["service.name"] == "ours"
            names |= {span.name for scope in resource.scope_spans for span in scope.spans}
    assert {"connection", "initialize", "session/new", "session/prompt", "turn"} <= names


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost", "OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost", "OTEL_SDK_DISABLED": "true"},
    ],
    ids=["nothing", "empty", "none", "disabled"],
)
def test_without_an_endpoint_there_are_no_spans(env: dict[str, str]) -> None:
    """OpenTelemetry's own variables."""
    assert span_export(env).spans is NO_SPANS


def test_another_exporter_is_refused() -> None:
    """Ours: a variable that cannot be followed is told at the start."""
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost", "OTEL_TRACES_EXPORTER": "zipkin"}
    with pytest.raises(UsageError, match="otlp and none"):
        span_export(env)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: what to install."""
    name = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=r"accord\[otel\]"):
        span_export({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost"})
