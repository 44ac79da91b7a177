"""The peer: requests, notifications and answers that keep to the rules, and their bounds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.errors import LocalProtocolError
from accord.jsonrpc import (
    NO_PARAMS,
    PENDING_MAX,
    BlankSkipped,
    CallAnswered,
    CallFailed,
    Event,
    FrameRejected,
    Id,
    NotificationReceived,
    Peer,
    RequestReceived,
)
from accord.jsonrpc.envelope import ID_MAX, ID_MIN

ids = st.integers(ID_MIN, ID_MAX) | st.text() | st.none()


def request(request_id: Id, method: str = "x") -> bytes:
    """A request as a peer of ours would write it."""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method}).encode()


def rejected(event: Event) -> FrameRejected:
    """The event, which must be this one."""
    assert isinstance(event, FrameRejected)
    return event


def parsed(frame: bytes | None) -> Any:
    """A frame as a plain value."""
    assert frame
    return json.loads(frame)


@given(
    st.binary()
    | st.text(st.sampled_from('{}[]",:\\a1 id')).map(str.encode)
    | st.fixed_dictionaries(
        {},
        optional={
            name: st.none() | st.integers() | st.floats() | st.text() | st.lists(st.none())
            for name in ("jsonrpc", "id", "method", "params", "result", "error")
        },
    ).map(lambda members: json.dumps(members).encode()),
    st.booleans(),
    st.booleans(),
)
def test_receive_turns_any_bytes_into_an_event(frame: bytes, strict: bool, batches: bool) -> None:
    """Ours: bad input is an event, never an exception."""
    peer = Peer(strict=strict, accept_batches=batches)
    peer.call("x", b"{}")
    assert isinstance(peer.receive(frame), Event)


@pytest.mark.rule("V1-GEN-02", "V1-GEN-03")
@given(ids)
def test_an_answer_repeats_the_id_with_its_type(request_id: Id) -> None:
    """V1: 7 is answered as 7 and "7" as "7", exactly, also above 2^53."""
    peer = Peer()
    for _ in range(2):
        event = peer.receive(request(request_id))
        assert isinstance(event, RequestReceived)
        assert event.id == request_id
        assert type(event.id) is type(request_id)
        assert peer.is_unanswered(request_id)
        answer = parsed(peer.answer(event.id, b'{"ok":true}'))
        assert answer == {"jsonrpc": "2.0", "id": request_id, "result": {"ok": True}}
        assert type(answer["id"]) is type(request_id)
        assert not peer.is_unanswered(request_id)


def test_a_request_is_refused_with_code_message_and_data() -> None:
    """JSON-RPC 2.0 section 5.1."""
    peer = Peer()
    peer.receive(request("a"))
    assert parsed(peer.refuse("a", -32601, "no", b'{"method":"x"}')) == {
        "jsonrpc": "2.0",
        "id": "a",
        "error": {"code": -32601, "message": "no", "data": {"method": "x"}},
    }


def test_params_come_still_encoded_and_may_be_absent() -> None:
    """Ours: absent params read as an empty object and can be told from it."""
    peer = Peer()
    given_params = peer.receive(b'{"jsonrpc":"2.0","method":"x","params":{"n":1e400}}')
    absent = peer.receive(b'{"jsonrpc":"2.0","method":"x"}\r')
    assert isinstance(given_params, NotificationReceived)
    assert isinstance(absent, NotificationReceived)
    assert bytes(given_params.params) == b'{"n":1e400}'
    assert absent.params is NO_PARAMS
    assert bytes(NO_PARAMS) == b"{}"


def test_answering_twice_or_unasked_is_a_bug_of_ours() -> None:
    """V1-GEN-03 for our own caller: it raises, and nothing is sent."""
    peer = Peer()
    peer.receive(request(1))
    peer.answer(1, b"{}")
    for bad_id in (1, "1", None):
        with pytest.raises(LocalProtocolError, match="is open"):
            peer.answer(bad_id, b"{}")
        with pytest.raises(LocalProtocolError, match="is open"):
            peer.refuse(bad_id, -32603, "no")


@pytest.mark.rule("V1-GEN-05", "V2-GEN-01", "V2-GEN-02")
def test_our_ids_are_whole_numbers_and_never_used_twice() -> None:
    """V2: not reused while open; V1: neither null nor fractional."""
    peer = Peer()
    seen: set[int] = set()
    for _ in range(100):
        call_id, frame = peer.call("x", b'{"a":1}')
        assert parsed(frame) == {"jsonrpc": "2.0", "id": call_id, "method": "x", "params": {"a": 1}}
        assert type(parsed(frame)["id"]) is int
        assert call_id not in seen
        seen.add(call_id)
        if call_id % 3 == 0:
            peer.receive(b'{"jsonrpc":"2.0","id":%d,"result":{}}' % call_id)


@given(st.permutations(range(6)), st.lists(st.booleans(), min_size=6, max_size=6))
def test_every_call_is_settled_once_in_any_order(order: list[int], goes_well: list[bool]) -> None:
    """Ours: one CallAnswered or CallFailed per call, and none after it."""
    peer = Peer()
    calls = [peer.call("x", None)[0] for _ in order]
    for index in order:
        outcome = b'"result":[]' if goes_well[index] else b'"error":{"code":-1,"message":"no"}'
        frame = b'{"jsonrpc":"2.0","id":%d,%b}' % (calls[index], outcome)
        event = peer.receive(frame)
        assert isinstance(event, CallAnswered if goes_well[index] else CallFailed)
        assert event.id == calls[index]
        assert event.note is None
        assert not isinstance(peer.receive(frame), CallAnswered | CallFailed)
    assert peer.pending_count == 0


def test_a_notification_is_written_without_an_id() -> None:
    """JSON-RPC 2.0 section 4.1."""
    assert parsed(Peer().notify("x", b"{}")) == {"jsonrpc": "2.0", "method": "x", "params": {}}


@pytest.mark.rule("V1-CREQ-01")
def test_dollar_notifications_are_notifications_like_any_other() -> None:
    """V1: no error is sent for them."""
    event = Peer().receive(b'{"jsonrpc":"2.0","method":"$/foo","params":{}}')
    assert event == NotificationReceived("$/foo", event.params)  # type: ignore[union-attr]


def test_the_ids_of_both_directions_are_apart() -> None:
    """Ours: the peer's request 1 is not an answer to our call 1."""
    peer = Peer()
    call_id, _ = peer.call("x", None)
    assert isinstance(peer.receive(request(call_id)), RequestReceived)
    assert isinstance(peer.receive(b'{"jsonrpc":"2.0","id":%d,"result":1}' % call_id), CallAnswered)
    peer.answer(call_id, b"{}")


@pytest.mark.rule("LIM-02")
def test_a_request_over_the_limit_is_refused_and_the_open_ones_are_not_touched() -> None:
    """LIM-02: 1,024 are kept open, two more are refused, and one fits when one is answered."""
    peer = Peer()
    for number in range(PENDING_MAX):
        assert isinstance(peer.receive(request(number)), RequestReceived)
    for number in (5000, 5001):
        error = parsed(rejected(peer.receive(request(number))).answer)
        assert error["id"] == number
        assert error["error"]["code"] == -32603
        assert error["error"]["data"] == {"reason": "too_many_requests"}
    assert peer.unanswered_count == PENDING_MAX == 1024
    peer.answer(17, b"{}")
    assert isinstance(peer.receive(request(5000)), RequestReceived)


@pytest.mark.rule("LIM-02")
def test_our_own_calls_have_the_same_limit() -> None:
    """LIM-02: our caller waits until `can_call`."""
    peer = Peer(pending_max=2)
    first, _ = peer.call("x", None)
    second, _ = peer.call("x", None)
    rooms = [peer.can_call]
    with pytest.raises(LocalProtocolError, match="2 calls are pending"):
        peer.call("x", None)
    peer.receive(b'{"jsonrpc":"2.0","id":%d,"result":1}' % first)
    rooms.append(peer.can_call)
    peer.call("x", None)
    rooms.append(peer.can_call)
    peer.abandon(second)
    rooms.append(peer.can_call)
    assert rooms == [False, True, False, True]
    assert not isinstance(
        peer.receive(b'{"jsonrpc":"2.0","id":%d,"result":1}' % second), CallAnswered
    )


def test_the_end_of_the_connection_fails_all_calls() -> None:
    """Ours: their ids in order, and nothing is pending after it."""
    peer = Peer()
    calls = [peer.call("x", None)[0] for _ in range(20)]
    assert peer.fail_all() == calls
    assert peer.fail_all() == []
    assert peer.can_call


@pytest.mark.rule("V1-GEN-05")
def test_a_null_id_is_a_request_in_v1() -> None:
    """V1: discouraged, not forbidden; answered with the same null."""
    peer = Peer()
    assert isinstance(peer.receive(request(None)), RequestReceived)
    assert parsed(peer.answer(None, b"{}"))["id"] is None


@pytest.mark.rule("V2-GEN-01", "V2-GEN-03")
def test_a_null_id_is_refused_once_v2_is_agreed() -> None:
    """V2: bad ids get -32600 with id null."""
    peer = Peer()
    peer.set_version(2)
    for frame in (request(None), b'{"jsonrpc":"2.0","id":1.5,"method":"x"}'):
        answer = parsed(rejected(peer.receive(frame)).answer)
        assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert peer.unanswered_count == 0


def test_blank_lines_are_skipped() -> None:
    """TR-STDIO-08: neither good nor bad."""
    for frame in (b"", b"\r", b" \t"):
        assert isinstance(Peer().receive(frame), BlankSkipped)


def test_what_is_over_the_limit_of_a_frame_is_not_sent() -> None:
    """LIM-03, seen from the sender: the peer would hang up; nothing changes but the error."""
    limit = 200
    peer = Peer(frame_bytes_max=limit)
    long, fits = b'"%b"' % (b"x" * limit), b'"%b"' % (b"x" * 100)
    for send in (lambda: peer.call("x", long), lambda: peer.notify("x", long)):
        with pytest.raises(LocalProtocolError, match=r"x is too long.*frame_bytes = 200"):
            send()
    assert peer.pending_count == 0
    assert peer.call("x", fits)[0] == 1
    assert peer.notify("x", fits)
    peer.receive(b'{"jsonrpc":"2.0","id":"a","method":"x"}')
    with pytest.raises(LocalProtocolError, match="the answer is too long"):
        peer.answer("a", long)
    assert peer.is_unanswered("a")
    error = json.loads(peer.refuse("a", -32603, "x", long))["error"]
    assert error == {"code": -32603, "message": "Internal error (too long to be sent)"}


def test_a_large_result_goes_out_as_it_is() -> None:
    """Ours: the same frame, in parts that need no copy."""
    peer = Peer()
    peer.receive(b'{"jsonrpc":"2.0","id":"a","method":"m"}')
    result = b'"' + b"x" * 100_000 + b'"'
    parts = tuple(peer.answer_in_parts("a", result))
    assert parts[1] is result
    assert b"".join(parts) == b'{"jsonrpc":"2.0","id":"a","result":' + result + b"}"
    assert not peer.is_unanswered("a")
    with pytest.raises(LocalProtocolError):
        peer.answer_in_parts("a", result)


@pytest.mark.parametrize("line_break", [b"\n", b"\r"])
def test_a_large_result_with_line_breaks_is_put_on_one_line(line_break: bytes) -> None:
    """TR-STDIO-02: no raw newline inside."""
    peer = Peer()
    peer.receive(b'{"jsonrpc":"2.0","id":1,"method":"m"}')
    (frame,) = peer.answer_in_parts(1, b"[1," + line_break + b"2]")
    assert frame == b'{"jsonrpc":"2.0","id":1,"result":[1, 2]}'


def test_a_large_result_over_the_limit_leaves_the_request_open() -> None:
    """LIM-03: nothing over the limit is sent."""
    peer = Peer(frame_bytes_max=1000)
    peer.receive(b'{"jsonrpc":"2.0","id":1,"method":"m"}')
    with pytest.raises(LocalProtocolError, match="frame_bytes = 1000"):
        peer.answer_in_parts(1, b'"' + b"x" * 1000 + b'"')
    assert peer.is_unanswered(1)


def test_a_large_result_in_a_batch_waits_for_the_others() -> None:
    """TR-BATCH-04: one array of answers after all entries."""
    peer = Peer(accept_batches=True)
    peer.receive(b'[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","id":2,"method":"m"}]')
    assert peer.answer_in_parts(1, b"[1]") == (b"",)
    assert b"".join(peer.answer_in_parts(2, b"[2]")).startswith(b"[{")
