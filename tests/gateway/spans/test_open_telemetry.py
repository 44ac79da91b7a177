"""Spans with the SDK of OpenTelemetry: which there are, what they hold, and how they connect."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from accord.gateway.spans.open_telemetry import OtelSpans
from tests.gateway.scripted_agent import Scripted, scripted

pytestmark = pytest.mark.anyio

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
META = {
    "traceparent": f"00-{TRACE}-{PARENT}-01",
    "tracestate": "vendor=some",
    "baggage": "team=red",
    "mine": "kept",
}
YES = {"outcome": {"outcome": "selected", "optionId": "yes"}}
SECRET = "s3cret"


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


class Collected(InMemorySpanExporter):
    """Spans that have ended; somebody may wait for the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.news = anyio.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        self.news.set()
        return result


class Observed:
    """A gateway whose spans are kept."""

    def __init__(self, hosting: Scripted) -> None:
        self.hosting = hosting
        self._exporter = Collected()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        hosting.gateway.spans = OtelSpans(provider)

    @property
    def ended(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    async def span(self, name: str) -> ReadableSpan:
        """Wait until a span with this name has ended."""
        while True:
            for span in self.ended:
                if span.name == name:
                    return span
            self._exporter.news = anyio.Event()
            await self._exporter.news.wait()


@asynccontextmanager
async def observed(version: int = 1) -> AsyncIterator[Observed]:
    async with scripted(version) as hosting:
        yield Observed(hosting)


def id_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return format(span.context.span_id, "016x")


def parent_of(span: ReadableSpan) -> str | None:
    return None if span.parent is None else format(span.parent.span_id, "016x")


def trace_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return format(span.context.trace_id, "032x")


@pytest.mark.parametrize("version", [1, 2])
async def test_a_prompt_is_traced_from_its_client_to_the_agent(version: int) -> None:
    """Issue 17: the W3C keys of the client are read, and the agent gets those of the turn."""
    async with observed(version) as one:
        ann = await one.hosting.person("ann")
        session_id = await ann.new()
        block = {"type": "text", "text": SECRET}
        params = {"sessionId": session_id, "prompt": [block], "_meta": META}
        request = ann.ask("session/prompt", params)
        agent = one.hosting.agent_wire
        prompt = await agent.hears("session/prompt")
        if version == 1:
            agent.answer(prompt["id"], {"stopReason": "end_turn"})
        else:
            agent.answer(prompt["id"], {"messageId": "m1"})
            agent.update(session_id, sessionUpdate="state_update", state="running")
            agent.update(
                session_id, sessionUpdate="state_update", state="idle", stopReason="end_turn"
            )
        await ann.answer_to(request)
        turn, asked = await one.span("turn"), await one.span("session/prompt")
        assert (trace_of(turn), trace_of(asked)) == (TRACE, TRACE)
        assert (parent_of(asked), parent_of(turn)) == (PARENT, id_of(asked))
        meta = prompt["params"]["_meta"]
        assert meta["traceparent"] == f"00-{TRACE}-{id_of(turn)}-01"
        assert {**META, **meta} == {**meta, "tracestate": "vendor=some", "baggage": "team=red"}
        assert meta["mine"] == "kept"
        assert dict(turn.attributes or {}) == {
            "accord.agent": "test",
            "accord.session": session_id,
        }
        assert turn.status.status_code is StatusCode.UNSET


async def test_requests_are_below_their_connection_and_end_with_it() -> None:
    """Issue 17: spans for connection and request; what a client makes up is in no name."""
    async with observed() as one:
        ann = await one.hosting.person("ann")
        await ann.new()
        refused = await ann.call(f"_{SECRET}", {"sessionId": SECRET})
        assert "error" in refused
        ann.ask("session/set_mode", {"sessionId": "s1", "modeId": "x"})
        await one.hosting.agent_wire.hears("session/set_mode")
        await ann.wire.transport.aclose()
        connection = await one.span("connection")
        assert parent_of(connection) is None
        for name in ("initialize", "session/new", "other", "session/set_mode"):
            span = await one.span(name)
            assert parent_of(span) == id_of(connection)
        assert (await one.span("session/new")).status.status_code is StatusCode.UNSET
        assert ((await one.span("session/set_mode")).attributes or {})[
            "accord.outcome"
        ] == "client_gone"
        other = await one.span("other")
        assert other.status.status_code is StatusCode.ERROR
        assert (other.attributes or {})["accord.outcome"] == "error -32002"


async def test_a_permission_request_is_below_its_turn() -> None:
    """Issue 17: from the question to the answer that counts."""
    async with observed() as one:
        ann = await one.hosting.person("ann", role="admin")
        session_id = await ann.new()
        ann.prompt(session_id, "go")
        agent = one.hosting.agent_wire
        prompt = await agent.hears("session/prompt")
        params = {
            "sessionId": session_id,
            "toolCall": {"toolCallId": "c", "title": SECRET},
            "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
        }
        agent.request("q", "session/request_permission", params)
        asked = await ann.hears("session/request_permission")
        ann.wire.answer(asked["id"], YES)
        await agent.hears(None)
        permission = await one.span("session/request_permission")
        agent.answer(prompt["id"], {"stopReason": "end_turn"})
        assert parent_of(permission) == id_of(await one.span("turn"))
        assert (permission.attributes or {})["accord.outcome"] == "answered"


async def test_a_turn_that_is_cut_short_failed() -> None:
    """Issue 17: an agent that dies in mid-turn."""
    async with observed() as one:
        ann = await one.hosting.person("ann")
        request = ann.prompt(await ann.new(), "go")
        await one.hosting.agent_wire.hears("session/prompt")
        await one.hosting.kill()
        assert "error" in await ann.answer_to(request)
        turn = await one.span("turn")
        assert turn.status.status_code is StatusCode.ERROR
        assert (turn.attributes or {})["accord.outcome"] == "interrupted"


@pytest.mark.parametrize(
    "meta",
    [
        {"traceparent": 1, "baggage": ["x"]},
        {"traceparent": "00-zz-zz-zz"},
        {"traceparent": "x" * 100_000, "baggage": "=" * 100_000},
        "no object",
    ],
    ids=["no texts", "no ids", "huge", "no meta"],
)
async def test_keys_that_cannot_be_read_begin_a_new_trace(meta: Any) -> None:
    """Ours: what a client sends never fails its request for this."""
    async with observed() as one:
        ann = await one.hosting.person("ann")
        answer = await ann.call("session/new", {"cwd": "/", "mcpServers": [], "_meta": meta})
        assert "result" in answer
        connection_trace = trace_of(await one.span("initialize"))
        assert trace_of(await one.span("session/new")) == connection_trace


async def test_nothing_that_anybody_said_is_in_a_span() -> None:
    """Issue 17: no secrets, no text, no names of users."""
    async with observed() as one:
        ann = await one.hosting.person("ann")
        session_id = await ann.new()
        ann.prompt(session_id, SECRET)
        prompt = await one.hosting.agent_wire.hears("session/prompt")
        error = {"code": -32603, "message": SECRET, "data": SECRET}
        one.hosting.agent_wire.say({"id": prompt["id"], "error": error})
        await one.span("turn")
        await one.span("session/prompt")
        await ann.wire.transport.aclose()
        await one.span("connection")
        told = " ".join(span.to_json() for span in one.ended)
        assert SECRET not in told
        assert '"ann"' not in told
