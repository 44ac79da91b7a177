"""Where messages go."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.transport.http.message_routes import (
    MessageKeys,
    answer_session,
    is_object,
    may_have_id,
    read_initialize_result,
    read_keys,
)

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
