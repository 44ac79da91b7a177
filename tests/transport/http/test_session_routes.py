"""Which session an answer belongs to, on the client's side."""

from __future__ import annotations

import pytest

from accord.transport.http.connections.exchange import Answer
from accord.transport.http.initialize_answer import Connected, read_initialize_answer
from accord.transport.http.message_routes import MessageKeys
from accord.transport.http.refusals import reason_for
from accord.transport.http.session_routes import CLOSED_SESSIONS_MAX, Arrival, SessionRoutes
from accord.transport.remote_limits import RemoteLimits
from accord.transport.request_headers import HiddenValues
from accord.transport.resume.reconnection import Reconnection

NOTHING = HiddenValues(())


def request(request_id: int, method: str, session_id: str | None) -> MessageKeys:
    return MessageKeys("request", request_id, method, session_id)


def result(
    request_id: int, session_id: str | None = None, *, is_error: bool = False
) -> MessageKeys:
    return MessageKeys("response", request_id, "", session_id, is_error)


def test_an_answer_has_the_session_of_its_requests_stream() -> None:
    """RFD streamable-http: a server answers 400 without it."""
    routes = SessionRoutes()
    assert routes.received(request(1, "fs/read_text_file", "s"), "s") == Arrival()
    assert routes.received(request(2, "_x", None), None) == Arrival()
    assert routes.received(MessageKeys("notification", None, "_x", "s"), "s") == Arrival()
    assert routes.session_of(result(1)) == "s"
    assert routes.session_of(result(1)) is None
    assert routes.session_of(result(2)) is None
    assert routes.session_of(request(3, "session/prompt", "t")) == "t"


def test_what_is_open_in_a_session_can_be_failed() -> None:
    """RFD streamable-http: when its stream ends."""
    routes = SessionRoutes()
    for number, session_id in enumerate(["s", "s", "t"]):
        routes.sent(request(number, "session/prompt", session_id), session_id)
    assert routes.received(result(0), "s") == Arrival()
    assert [keys.id for keys in routes.take_requests("s")] == [1]
    assert routes.take_requests("s") == []
    assert routes.failed(request(2, "session/prompt", "t"))
    assert not routes.failed(request(2, "session/prompt", "t"))


def test_new_and_loaded_sessions_are_seen() -> None:
    """RFD streamable-http."""
    routes = SessionRoutes()
    routes.sent(request(1, "session/new", None), None)
    assert routes.received(result(1, "s"), None) == Arrival(opened="s")
    for number, stream in ((2, None), (3, "s")):
        routes.sent(request(number, "session/load", "s"), "s")
        loaded = Arrival(loaded="s" if stream is None else None)
        assert routes.received(result(number), stream) == loaded


def test_closed_sessions_are_remembered_for_a_while() -> None:
    """Ours: within a bound."""
    routes = SessionRoutes()
    ended = []
    for number in range(CLOSED_SESSIONS_MAX + 2):
        session_id = f"s{number}"
        routes.sent(request(number, "session/close", session_id), session_id)
        ended.append(routes.received(result(number), session_id).ended)
        assert routes.is_closed(session_id)
    assert ended[CLOSED_SESSIONS_MAX:] == ["s0", "s1"]
    assert set(ended[:CLOSED_SESSIONS_MAX]) == {None}
    routes.sent(request(99, "session/load", "s5"), "s5")
    assert not routes.is_closed("s5")
    routes.sent(request(100, "session/close", "s6"), "s6")
    assert routes.received(result(100, is_error=True), "s6") == Arrival()
    assert not routes.is_closed("s6")


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (410, b'{"error":{"data":{"reason":"gap"}}}', "messages were lost"),
        (410, b"", "no longer has this connection (status 410)"),
        (404, b"", "no longer has this connection (status 404)"),
        (401, b"", "credentials"),
        (500, b"oh\nno", "oh no"),
    ],
)
def test_reasons_say_what_to_do(status: int, body: bytes, said: str) -> None:
    """RFD streamable-http; and the query of a URL is never shown."""
    reason = reason_for(Answer(status, [], body), NOTHING)
    assert said in reason
    assert "secret" not in reason


def test_the_answer_to_initialize_makes_the_connection() -> None:
    """RFD streamable-http: the header, or the RFD's member of the result."""
    keys = request(1, "initialize", None)
    body = b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2,"connectionId":"r"}}'
    headers = [("acp-connection-id", "h"), ("accord-resume", "1")]
    assert read_initialize_answer(keys, Answer(200, headers, body), NOTHING) == Connected(
        "h", 2, resumes=True
    )
    assert read_initialize_answer(keys, Answer(200, [], body), NOTHING) == Connected(
        "r", 2, resumes=False
    )
    bad = Answer(200, [("acp-connection-id", "a\x80")], b'{"id":1,"result":{}}')
    assert "Acp-Connection-Id" in str(read_initialize_answer(keys, bad, NOTHING))
    error = Answer(500, [], b'{"id":1,"error":{"code":-32603,"message":"no"}}')
    assert read_initialize_answer(keys, error, NOTHING) is None


def test_attempts_are_made_until_the_grace_time_is_over() -> None:
    """The extension: at once, then 0.1 s doubling to 10 s, until 60 s."""
    again = Reconnection(RemoteLimits())
    now, delays = 100.0, []
    while (delay := again.delay(now, 1.0, "cut")) is not None:
        delays.append(delay)
        now += delay
    assert delays[:5] == [0.0, 0.1, 0.2, 0.4, 0.8]
    assert max(delays) == 10.0
    assert now == pytest.approx(160.0)
    assert again.is_over(now)
    assert again.reason == "cut"
    again.restored()
    assert not again.is_over(now)
    assert again.delay(now, 0.0, "cut") == 5.0
    again.progressed()
    assert again.delay(now, 0.0, "cut") == 0.0
