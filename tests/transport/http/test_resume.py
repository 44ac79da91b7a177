"""A connection that is interrupted continues where it was: nothing lost, doubled or reordered."""

from __future__ import annotations

import random
from dataclasses import replace

import anyio
import pytest

from accord.transport.http.connections import h2_connection
from accord.transport.remote_limits import RemoteLimits
from tests.transport.http.acp_script import AcpScript
from tests.transport.http.conversation import NOBODY_WAITS, connected
from tests.transport.http.scripted_server import H2Served, ServedRequest, serve

VERSIONS = pytest.mark.parametrize("version", ["h2", "http/1.1"])


@VERSIONS
async def test_events_and_messages_survive_cuts(version: str) -> None:
    """Issue 16: random cuts, in the middle of anything."""
    script = AcpScript(resumes=True)
    chance = random.Random(version)
    cuts, count = 40, 400

    def events() -> list[int]:
        return [one["params"]["number"] for one in talk.messages if one.get("method") == "_event"]

    async with serve(script, version) as server, connected(server.port) as talk:
        assert talk.transport.is_resumable
        await talk.call("session/new")
        for number in range(count):
            if number % (count // cuts) == 0:
                await server.abort_all()
            script.push({"method": "_event", "params": {"number": number}}, "s1")
            script.push({"method": "_event", "params": {"number": number}})
            talk.send(method="_message", params={"sessionId": "s1", "number": number})
            for _ in range(chance.randrange(4)):
                await anyio.lowlevel.checkpoint()

        await talk.heard.until(lambda: len(events()) >= 2 * count or talk.heard.ends)
        await script.until(lambda: len(script.messages) == 1 + count)
        assert not talk.heard.ends
    assert sorted(events()) == sorted([*range(count)] * 2)
    for stream in script.streams.values():
        assert stream.is_sent == len(stream.events)
    sent = [one["params"]["number"] for one in script.messages[1:]]
    assert sent == list(range(count))


@VERSIONS
async def test_a_post_whose_answer_was_lost_is_repeated_with_its_number(version: str) -> None:
    """The extension: the server answers it again, and handles it once."""
    script = AcpScript(resumes=True)
    numbers: list[str] = []

    async def lose_answers(request: ServedRequest) -> bool:
        if request.method == "POST" and "accord-message" in request.headers:
            numbers.append(request.headers["accord-message"])
            script.tell()
            if len(numbers) == 1:
                script.take(1, {"method": "_once"})
                await request.connection.abort()
                return True
        return False

    script.before = lose_answers
    async with serve(script, version) as server, connected(server.port) as talk:
        talk.send(method="_once")
        talk.send(method="_next")
        await script.until(lambda: len(script.messages) == 2 and numbers.count("1") == 2)
    assert [one["method"] for one in script.messages] == ["_once", "_next"]


async def test_messages_are_on_their_way_at_once_and_handled_in_order() -> None:
    """The extension: numbers make it unnecessary to wait for each answer."""
    script = AcpScript(resumes=True)
    under_way = most = 0
    chance = random.Random(5)

    async def shuffle(request: ServedRequest) -> bool:
        nonlocal under_way, most
        if request.method == "POST":
            under_way += 1
            most = max(most, under_way)
            for _ in range(chance.randrange(20)):
                await anyio.lowlevel.checkpoint()
            under_way -= 1
        return False

    script.before = shuffle
    async with serve(script) as server, connected(server.port) as talk:
        for number in range(300):
            talk.send(method="_count", params={"number": number})
        await script.until(lambda: len(script.messages) == 300)
    assert [one["params"]["number"] for one in script.messages] == list(range(300))
    assert 1 < most <= 32


async def test_a_stream_that_was_cut_before_its_headers_came_begins_at_the_first_event() -> None:
    """Ours: what the server sent into the cut connection is asked for again."""
    script = AcpScript(resumes=True)
    script.push({"method": "_first"})

    async def cut_first(request: ServedRequest) -> bool:
        if request.method == "GET":
            script.before = None
            script.stream().is_sent = 1
            await request.connection.abort()
            return True
        return False

    script.before = cut_first
    async with serve(script) as server, connected(server.port) as talk:
        await talk.count(2)
        assert talk.messages[1]["method"] == "_first"
        assert server.requests[-1].headers["last-event-id"] == "0"


async def test_a_gap_is_said() -> None:
    """The extension: 410 with the reason `gap` ends the connection."""
    script = AcpScript(resumes=True)
    async with serve(script) as server, connected(server.port) as talk:
        script.push({"method": "_one"})
        await talk.count(2)
        script.forgotten = 5
        await server.abort_all()
        end = await talk.end()
        assert "messages were lost" in end.reason
        assert "session/load" in end.reason


async def test_a_hole_in_the_numbers_is_said() -> None:
    """Ours: a gap that the server does not know of is found here."""
    script = AcpScript(resumes=True)
    async with serve(script) as server, connected(server.port) as talk:
        await script.until(lambda: script.stream().reader)
        reader = script.stream().reader
        assert reader is not None
        await reader.send(b'id: 1\ndata: {"a":1}\n\nid: 1\ndata: {"a":2}\n\nid: 3\ndata: {}\n\n')
        end = await talk.end()
        assert talk.messages[1:] == [{"a": 1}]
        assert "lost" in end.reason
        assert "session/load" in end.reason
        assert server.connections


async def test_a_connection_that_the_server_forgot_is_over() -> None:
    """RFD streamable-http."""
    script = AcpScript(resumes=True)

    async def forget(request: ServedRequest) -> bool:
        await request.answer(404)
        return True

    async with serve(script) as server, connected(server.port) as talk:
        await script.until(lambda: script.stream().reader)
        script.before = forget
        await server.abort_all()
        assert "no longer has this connection" in (await talk.end()).reason


async def test_the_grace_time_ends_the_attempts() -> None:
    """The extension: then ConnectionLost says so."""
    script = AcpScript(resumes=True)
    limits = RemoteLimits(
        grace_seconds=0.1, reconnect_seconds_min=0.001, reconnect_seconds_max=0.01
    )
    async with serve(script) as server, connected(server.port, limits=limits) as talk:
        await script.until(lambda: script.stream().reader)
        server.accepts = False
        await server.abort_all()
        assert "not restored within 0.1 s" in (await talk.end()).reason


@pytest.mark.parametrize("status", [409, 502, 503, 504])
async def test_a_server_that_is_not_ready_is_asked_again(status: int) -> None:
    """Ours: a server that restarts, or has not noticed that the old connection is gone."""
    script = AcpScript(resumes=True)
    refused = 0

    async def not_yet(request: ServedRequest) -> bool:
        nonlocal refused
        if request.method == "POST" and status == 409:
            return False
        if refused < 4:
            refused += 1
            await request.answer(status)
            return True
        return False

    async with serve(script) as server, connected(server.port) as talk:
        await script.until(lambda: script.stream().reader)
        script.before = not_yet
        await server.abort_all()
        script.push({"method": "_after"})
        await talk.count(2)
        talk.send(method="_posted")
        await script.until(lambda: script.messages)
        assert refused == 4


async def test_a_message_that_was_refused_for_a_while_does_not_use_up_the_grace_time() -> None:
    """Ours: the streams were open all along, so that nothing else shows that all is well."""
    script = AcpScript(resumes=True)
    refused = False

    async def refuse_once(request: ServedRequest) -> bool:
        nonlocal refused
        if request.method == "POST" and not refused:
            refused = True
            await request.answer(503)
            return True
        return False

    async with serve(script) as server, connected(server.port) as talk:
        await script.until(lambda: script.stream().reader)
        script.before = refuse_once
        talk.send(method="_posted")
        await script.until(lambda: script.messages)
        await talk.call("session/new")
        assert refused
        assert talk.transport._reconnection.lost_at is None


async def test_a_post_on_a_half_open_connection_is_repeated_on_another() -> None:
    """Issue 16: half-open connections are found; HTTP/1.1 has no PING that would show it."""
    script = AcpScript(resumes=True)
    numbers: list[str] = []

    async def answer_late(request: ServedRequest) -> bool:
        if request.method != "POST" or "accord-message" not in request.headers:
            return False
        numbers.append(request.headers["accord-message"])
        if len(numbers) == 1:
            await request.is_gone.wait()
            return True
        return False

    script.before = answer_late
    limits = replace(NOBODY_WAITS, silence_seconds=0.1, keep_alive_seconds=0.01)
    async with (
        serve(script, "http/1.1") as server,
        connected(server.port, limits=limits) as talk,
    ):
        talk.send(method="_once")
        await script.until(lambda: script.messages)
    assert [one["method"] for one in script.messages] == ["_once"]
    assert set(numbers) == {"1"}


async def test_a_server_that_takes_nothing_more_on_a_connection_is_asked_on_another() -> None:
    """RFC 9113, 6.5.2: a server that is leaving may allow no request at all."""
    script = AcpScript(resumes=True)
    async with serve(script) as server, connected(server.port) as talk:
        await talk.call("session/new")
        (old,) = server.connections
        assert isinstance(old, H2Served)
        before = old.acknowledged
        await old.allow(0)
        await server.until(lambda: old.acknowledged > before)
        for request in old.requests:
            if request.method == "GET":
                await request.reset()
        await talk.call("_ping")
        script.push({"method": "_event", "params": {}}, "s1")
        await talk.heard.until(lambda: any(one.get("method") == "_event" for one in talk.messages))
        assert len(server.connections) == 2


async def test_a_server_that_accepts_and_says_nothing_is_told_from_one_that_closes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: the reason is what happened; a computer that hangs still accepts connections."""
    monkeypatch.setattr(h2_connection, "PRIOR_KNOWLEDGE_SECONDS_MAX", 0.01)
    script = AcpScript(resumes=True)
    limits = replace(NOBODY_WAITS, grace_seconds=0.1)
    async with serve(script) as server, connected(server.port, limits=limits) as talk:
        await talk.call("session/new")
        monkeypatch.setattr(H2Served, "serve", lambda self: anyio.sleep_forever())
        await server.abort_all()
        assert "did not answer in time" in (await talk.end()).reason


async def test_messages_wait_while_there_is_no_connection() -> None:
    """The transport's interface: they are backlog, and a sender waits for them."""
    script = AcpScript(resumes=True)
    async with serve(script) as server, connected(server.port) as talk:
        await script.until(lambda: script.stream().reader)
        server.accepts = False
        await server.abort_all()
        for _ in range(30):
            talk.send(method="_large", params={"text": "x" * 100_000})
        assert talk.transport.backlog > 3_000_000
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk.transport.drain)
            await anyio.wait_all_tasks_blocked()
            server.accepts = True
        await script.until(lambda: len(script.messages) == 30)


async def test_closing_does_not_wait_for_a_lost_connection() -> None:
    """Ours: the server ends it after its grace time."""
    script = AcpScript(resumes=True)
    async with serve(script) as server, connected(server.port) as talk:
        await script.until(lambda: script.stream().reader)
        server.accepts = False
        await server.abort_all()
        talk.send(method="_never")
        await talk.heard.until(lambda: talk.transport.backlog)
    assert talk.heard.ends[0].clean


async def test_what_is_held_while_paused_comes_once() -> None:
    """Issue 16: a paused reader that loses its network."""
    script = AcpScript(resumes=True)
    async with serve(script) as server, connected(server.port) as talk:
        await script.until(lambda: script.stream().reader)
        talk.transport.pause()
        for number in range(20):
            script.push({"method": "_event", "params": {"number": number}})
        await anyio.wait_all_tasks_blocked()
        await server.abort_all()
        await anyio.wait_all_tasks_blocked()
        assert len(talk.messages) == 1
        talk.transport.resume()
        await talk.count(21)
        assert [one["params"]["number"] for one in talk.messages[1:]] == list(range(20))


def test_the_limits_of_these_tests_are_valid() -> None:
    """Ours."""
    assert NOBODY_WAITS.checked() is NOBODY_WAITS
