"""A client tells a server that continues connections which events it has."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.transport.http.acp_script import AcpScript
from tests.transport.http.conversation import NOBODY_WAITS, connected
from tests.transport.http.scripted_server import ServedRequest, serve

LIMITS = replace(NOBODY_WAITS, acknowledge_bytes=10_000, acknowledge_seconds=0.01)
RECEIVED = "_accord/received"
VERSIONS = pytest.mark.parametrize("version", ["h2", "http/1.1"])


class Acknowledged:
    """Answers acknowledgements as told, and remembers them: stream and count."""

    def __init__(self, script: AcpScript, *statuses: int | None) -> None:
        self.said: list[tuple[str | None, int]] = []
        self._script = script
        self._statuses = list(statuses)
        script.before = self._before

    async def _before(self, request: ServedRequest) -> bool:
        if request.method != "POST":
            return False
        message = json.loads(request.body)
        if message.get("method") != RECEIVED:
            return False
        assert "accord-message" not in request.headers
        assert "id" not in message
        self.said.append((request.headers.get("acp-session-id"), message["params"]["count"]))
        status = self._statuses.pop(0) if self._statuses else 202
        if status is None:
            await request.connection.abort()
        else:
            await request.answer(status)
        self._script.tell()
        return True


@VERSIONS
async def test_events_are_acknowledged_by_their_bytes(version: str) -> None:
    """The extension: for each stream; and little is left that is not acknowledged."""
    script = AcpScript(resumes=True)
    heard = Acknowledged(script)
    async with serve(script, version) as server, connected(server.port, limits=LIMITS) as talk:
        await talk.call("session/new")
        for _ in range(10):
            script.push({"method": "_event", "params": {"text": "x" * 4_000}}, "s1")
        await talk.count(12)
        await script.until(lambda: heard.said and heard.said[-1][1] >= 8)
        for _ in range(3):
            script.push({"method": "_event", "params": {"text": "x" * 4_000}})
        await script.until(lambda: (None, 4) in heard.said or (None, 3) in heard.said)
    counts = [count for session_id, count in heard.said if session_id == "s1"]
    assert counts == sorted(set(counts))


@pytest.mark.parametrize("status", [503, 429, None])
async def test_an_acknowledgement_that_fails_is_repeated(status: int | None) -> None:
    """Ours: a server that waits for it sends nothing more that would remind the client."""
    script = AcpScript(resumes=True)
    heard = Acknowledged(script, status, status)
    async with serve(script) as server, connected(server.port, limits=LIMITS) as talk:
        script.push({"method": "_event", "params": {"text": "x" * 20_000}})
        await talk.count(2)
        await script.until(lambda: len(heard.said) == 3)
        script.push({"method": "_event", "params": {"text": "x" * 20_000}})
        await script.until(lambda: heard.said[-1] == (None, 2))
        assert not talk.heard.ends
    assert heard.said[:3] == [(None, 1)] * 3


async def test_a_server_without_the_extension_gets_no_acknowledgements() -> None:
    """The extension: such a peer sees plain ACP."""
    script = AcpScript()
    heard = Acknowledged(script)
    async with serve(script) as server, connected(server.port, limits=LIMITS) as talk:
        script.push({"method": "_event", "params": {"text": "x" * 20_000}})
        await talk.count(2)
        await talk.call("session/new")
    assert not heard.said
