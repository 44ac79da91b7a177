"""Where messages go."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.transport.http.connections.exchange import Answer
from accord.transport.http.initialize_answer import Connected, read_initialize_answer
from accord.transport.http.message_routes import (
    CLOSED_SESSIONS_MAX,
    Arrival,
    MessageKeys,
    SessionRoutes,
    answer_session,
    is_object,
    may_have_id,
    read_initialize_result,
    read_keys,
)
from accord.transport.http.refusals import reason_for
from accord.transport.remote_limits import RemoteLimits
from accord.transport.request_headers import HiddenValues
from accord.transport.resume.reconnection import Reconnection

NOTHING = HiddenValues(())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
MEMBERS = st.dictionaries(st.sampled_from(["sessionId", "update", "_meta"]), JSON)


@pytest.mark.parametrize(
    ("message", "keys"),
    [
        ({"id": 1, "method": "a", "params": {"sessionId": "s"}}, ("request", 1, "a", "s", False)),
        ({"id": "1", "method": "a"}, ("request", "1", "a", None, False)),
        ({"id": None, "method": "a"}, ("request", None, "a", None, False)),
        ({"method": "a", "params": [1]}, ("notification", None, "a", None, False)),
        ({"method": "a", "params": {"sessionId": 5}}, ("notification", None, "a", None, False)),
        ({"method": "a", "params": {"sessionId": ""}}, ("notification", None, "a", None, False)),
        ({"id": 1, "result": {"sessionId": "s"}}, ("response", 1, "", "s", False)),
        ({"id": 1, "result": None}, ("response", 1, "", None, False)),
        ({"id": 1, "error": {"code": 1}}, ("response", 1, "", None, True)),
        ({"id": 1.5, "method": "a", "params": {"sessionId": "s"}}, ("request", None, "a", "s", 0)),
        ({"id": 1.5, "error": {}}, ("response", None, "", None, True)),
        ({"id": 1, "method": "a\ud83d"}, ("request", 1, "a\ud83d", None, False)),
        ({"method": "a\ud83d", "params": []}, ("notification", None, "a\ud83d", None, False)),
    ],
)
def test_keys_are_read(message: dict[str, Any], keys: tuple[Any, ...]) -> None:
    """RFD streamable-http."""
    assert read_keys(json.dumps(message).encode()) == MessageKeys(*keys)


@pytest.mark.parametrize(
    "frame", [b"", b"{", b"[]", b"5", b"null", b"{}", b"\xff", b'{"id":1.5', b'{"a":"\\ud83d"}']
)
def test_what_is_no_message_has_no_keys(frame: bytes) -> None:
    """Ours: bad input is data."""
    assert read_keys(frame) is None


def test_a_message_that_is_too_deep_has_no_keys() -> None:
    """LIM-01: the connection refuses it; routing does not fail."""
    assert read_keys(b'{"a":' + b"[" * 100_000) is None


@given(st.binary())
def test_no_bytes_make_routing_fail(frame: bytes) -> None:
    """Ours: bad input is data."""
    assert read_keys(frame) is None or frame


@given(st.fixed_dictionaries({"method": st.text()}, optional={"id": JSON, "params": MEMBERS}))
def test_a_quick_look_misses_no_id(message: dict[str, Any]) -> None:
    """Ours: what has an id is never taken for a notification."""
    frame = json.dumps(message).encode()
    keys = read_keys(frame)
    assert keys is not None
    assert may_have_id(frame) or keys.kind == "notification"
    assert is_object(b" \n" + frame)
    session_id = message.get("params", {}).get("sessionId")
    assert keys.session_id == (session_id if isinstance(session_id, str) and session_id else None)


def test_a_load_is_answered_on_the_connections_stream() -> None:
    """RFD streamable-http and TR-HTTP-11."""
    assert answer_session("session/load", "s") is None
    assert answer_session("session/prompt", "s") == "s"
    assert answer_session("session/new", None) is None


@pytest.mark.parametrize(
    ("result", "read"),
    [
        ({"protocolVersion": 1, "connectionId": "c"}, ("c", 1)),
        ({"protocolVersion": "1"}, (None, None)),
        ([], (None, None)),
    ],
)
def test_the_answer_to_initialize_is_read(result: object, read: tuple[Any, ...]) -> None:
    """RFD streamable-http: the RFD has the id in the result too."""
    assert read_initialize_result(json.dumps({"id": 0, "result": result}).encode()) == read
    assert read_initialize_result(b"{") == (None, None)


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
