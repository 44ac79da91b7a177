"""What one frame is, and who answers whom."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.tracing.frames import OPEN_MAX, RequestMatcher, read_frame


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"a"}', "request"),
        (b'{"id":null,"method":"a"}', "request"),
        (b'{"method":"a"}', "notification"),
        (b'{"id":1,"result":null}', "answer"),
        (b'{"id":1,"error":{}}', "error"),
        (b'{"id":1,"method":"a","result":1}', "answer"),
        (b'{"id":1}', "noise"),
        (b"[]", "batch"),
        (b"5", "noise"),
        (b"  \r", "blank"),
        (b"hello", "noise"),
        (b"\xff", "noise"),
    ],
)
def test_every_frame_has_a_kind(raw: bytes, kind: str) -> None:
    """JSON-RPC 2.0."""
    assert read_frame(raw).kind == kind


def test_noise_says_why() -> None:
    """Issue 4: invalid frames are marked."""
    assert read_frame(b"hello").why == "not JSON"
    assert read_frame(b"\xff").why == "not UTF-8"


@pytest.mark.parametrize(
    "params",
    [
        {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": []}},
        {"sessionId": "s", "type": "plan", "data": {"steps": []}},
    ],
)
def test_an_update_is_found_in_every_dialect(params: object) -> None:
    """v1 and v2, and the draft."""
    raw = json.dumps({"method": "session/update", "params": params}).encode()
    frame = read_frame(raw)
    assert frame.update is not None
    assert frame.update[0] == "plan"
    assert frame.session_id == "s"


def test_seven_and_the_text_seven_are_two_ids() -> None:
    """V1-GEN-02."""
    pairing = RequestMatcher()
    pairing.pair(1, 0.0, "client", read_frame(b'{"id":7,"method":"a"}'))
    assert pairing.pair(2, 0.0, "agent", read_frame(b'{"id":"7","result":1}')) is None
    answered = pairing.pair(3, 0.0, "agent", read_frame(b'{"id":7,"result":1}'))
    assert answered is not None
    assert answered.number == 1
    assert pairing.pair(4, 0.0, "agent", read_frame(b'{"id":7,"result":1}')) is None


def test_sides_have_ids_of_their_own() -> None:
    """JSON-RPC 2.0: both may use 1."""
    pairing = RequestMatcher()
    pairing.pair(1, 0.0, "client", read_frame(b'{"id":1,"method":"a"}'))
    assert not pairing.is_open("agent", 1)
    assert pairing.pair(2, 0.0, "client", read_frame(b'{"id":1,"result":1}')) is None
    assert pairing.is_open("client", 1)
    assert [asked.method for asked in pairing.open_requests("client")] == ["a"]


def test_what_is_never_answered_is_forgotten_in_the_end() -> None:
    """Style: everything has a bound."""
    pairing = RequestMatcher()
    for number in range(OPEN_MAX + 10):
        pairing.pair(number, 0.0, "client", read_frame(b'{"id":%d,"method":"a"}' % number))
    assert len(pairing.open_requests("client")) == OPEN_MAX


@given(st.binary(max_size=200))
def test_any_bytes_are_a_frame(raw: bytes) -> None:
    """Issue 4: hostile agents."""
    frame = read_frame(raw)
    assert frame.update is None or frame.method == "session/update"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "id",
                        "method",
                        "params",
                        "result",
                        "error",
                        "update",
                        "sessionId",
                        "sessionUpdate",
                    ]
                ),
                inner,
            )
        ),
        max_leaves=8,
    )
)
def test_any_json_is_a_frame(value: object) -> None:
    """Issue 4: hostile agents."""
    frame = read_frame(json.dumps(value).encode())
    assert frame.session_id is None or isinstance(frame.session_id, str)
    RequestMatcher().pair(1, 0.0, "agent", frame)
