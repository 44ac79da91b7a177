"""The peer against peers that break the rules: no crash, no hang, no storm of answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.jsonrpc import (
    CallAnswered,
    CallFailed,
    Event,
    FrameRejected,
    NotificationReceived,
    Peer,
    RequestReceived,
    StrayAnswer,
)
from accord.jsonrpc.pending_calls import ABANDONED_MAX

REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"x"}'


def rejected(event: Event) -> FrameRejected:
    """The event, which must be this one."""
    assert isinstance(event, FrameRejected)
    return event


def failed(event: Event) -> CallFailed:
    """The event, which must be this one."""
    assert isinstance(event, CallFailed)
    return event


def answer_to(event: Event) -> tuple[Any, int] | None:
    """Id and code of the answer that is due, if one is."""
    answer = rejected(event).answer
    if answer is None:
        return None
    message = json.loads(answer)
    return message["id"], message["error"]["code"]


@pytest.mark.rule("TR-STDIO-08", "V2-GEN-03")
def test_of_bad_lines_in_a_row_only_the_first_is_answered() -> None:
    """TR-STDIO-08: request, 2,000 bad lines, request, one bad line, request: two -32700."""
    peer = Peer()
    answers = []
    lines = [REQUEST, *[b"xx"] * 2000, REQUEST, b"", b"xx", b" \r", REQUEST]
    for line in lines:
        event = peer.receive(line)
        if isinstance(event, RequestReceived):
            answers.append((json.loads(peer.answer(event.id, b"{}"))["id"], 0))
        elif isinstance(event, FrameRejected) and (answer := answer_to(event)):
            answers.append(answer)
    assert answers == [(1, 0), (None, -32700), (1, 0), (None, -32700), (1, 0)]


@pytest.mark.rule("TR-STDIO-08")
def test_bad_lines_are_counted_until_something_good_comes() -> None:
    """TR-STDIO-08: reported locally; bare values are answered -32600."""
    peer = Peer()
    events = [rejected(peer.receive(line)) for line in (b"42", b"null", b"\xff", b"{}", b"{")]
    assert [event.count for event in events] == [1, 2, 3, 4, 5]
    assert [event.answer is not None for event in events] == [True, False, False, False, False]
    assert answer_to(events[0]) == (None, -32600)


@pytest.mark.parametrize(
    "good",
    [
        REQUEST,
        b'{"jsonrpc":"2.0","method":"x"}',
        b'{"method":"x"}',
        b'{"method":5}',
        b'{"id":5}',
        b'{"id":5,"result":1}',
        b'{"id":99,"error":"x"}',
        b'{"id":1,"method":"x","result":1}',
        b'{"method":"x","result":1}',
        b'{"result":1}',
    ],
)
def test_any_message_ends_a_run_of_noise(good: bytes) -> None:
    """Ours: a frame with a message's members does not count as noise, even if it is refused."""
    peer = Peer()
    assert rejected(peer.receive(b"xx")).count == 1
    peer.receive(good)
    assert rejected(peer.receive(b"xx")).count == 1


def test_an_array_neither_ends_a_run_of_noise_nor_counts_as_noise() -> None:
    """V1-GEN-14 wants an answer to each; TR-STDIO-08 wants no storm around it."""
    peer = Peer()
    assert rejected(peer.receive(b"xx")).count == 1
    assert answer_to(peer.receive(b"[]")) == (None, -32600)
    assert answer_to(peer.receive(b"[1]")) == (None, -32600)
    assert answer_to(peer.receive(b"xx")) is None


@pytest.mark.rule("V1-GEN-04", "V1-CREQ-01")
@pytest.mark.parametrize(
    "frame",
    [
        b'{"jsonrpc":"2.0","method":5}',
        b'{"jsonrpc":"2.0","method":null,"params":1}',
        b'{"jsonrpc":"2.0","result":1}',
        b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"x"}}',
        b'{"jsonrpc":"2.0","id":[1],"result":1}',
        b'{"jsonrpc":"2.0","id":1.5,"error":"x"}',
    ],
)
def test_bad_notifications_and_answers_are_never_answered(frame: bytes) -> None:
    """V1: silence, and then a normal request works."""
    peer = Peer()
    assert answer_to(peer.receive(frame)) is None
    assert isinstance(peer.receive(REQUEST), RequestReceived)


def test_every_bad_request_with_an_id_has_its_own_answer() -> None:
    """JSON-RPC 2.0 section 5: the id where it could be read."""
    peer = Peer()
    for _ in range(2):
        assert answer_to(peer.receive(b'{"id":5}')) == (5, -32600)
        assert answer_to(peer.receive(b'{"id":"5","method":5}')) == ("5", -32600)
        assert answer_to(peer.receive(b'{"id":5,"method":"x","result":1}')) == (5, -32600)
        assert answer_to(peer.receive(b'{"id":true,"method":"x"}')) == (None, -32600)
    assert peer.unanswered_count == 0


def test_an_id_that_is_open_is_refused_and_the_first_is_left_alone() -> None:
    """V2-GEN-02 broken by the peer: one request runs, and is answered once."""
    peer = Peer()
    peer.receive(REQUEST)
    assert answer_to(peer.receive(REQUEST)) == (1, -32600)
    assert isinstance(peer.receive(b'{"jsonrpc":"2.0","id":"1","method":"x"}'), RequestReceived)
    peer.answer(1, b"{}")
    assert isinstance(peer.receive(REQUEST), RequestReceived)


def test_unknown_and_second_answers_are_stray() -> None:
    """Ours: reported, without an effect on other calls."""
    peer = Peer()
    call_id, _ = peer.call("x", None)
    answer = b'{"jsonrpc":"2.0","id":%d,"result":1}' % call_id
    assert peer.receive(b'{"jsonrpc":"2.0","id":99,"result":1}') == StrayAnswer(99)
    assert isinstance(peer.receive(answer), CallAnswered)
    assert peer.receive(answer) == StrayAnswer(call_id, kind="second")
    assert peer.receive(answer.replace(b"1", b'"1"', 1)) == StrayAnswer("1", kind="second")
    assert peer.receive(
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}'
    ) == StrayAnswer(None, -32700, "?")


def test_an_answer_to_a_call_that_we_gave_up_is_late() -> None:
    """Ours: nobody made a mistake; one that is given up for good is not told from a second."""
    peer = Peer(pending_max=ABANDONED_MAX + 2)
    call_ids = [peer.call("x", None)[0] for _ in range(ABANDONED_MAX + 1)]
    for call_id in (*call_ids, 99_999):
        peer.abandon(call_id)
    answer = b'{"jsonrpc":"2.0","id":%d,"error":{"code":-32800,"message":"cancelled"}}'
    kinds = []
    for call_id in (call_ids[-1], call_ids[-1], 99_999, call_ids[0]):
        event = peer.receive(answer % call_id)
        assert isinstance(event, StrayAnswer)
        assert (event.id, event.code, event.message) == (call_id, -32800, "cancelled")
        kinds.append(event.kind)
    assert kinds == ["late", "second", "unknown", "second"]


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"result":-Infinity}',
        b'{"jsonrpc":"2.0","result":{"x":NaN},"id":1}',
        b' {"jsonrpc":"2.0","id":1.0,"error":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":"1","result":{"x":[1,2',
        b'{"jsonrpc":"2.0","id":1,"result":"half a str',
        b'{"jsonrpc":"2.0","id":1,"result":',
        b'{"jsonrpc":"2.0","id":1,"result":{"x":"\xff","y":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"id":99,"result":{}}',
        b'{"jsonrpc":"2.0","id":1,"id":null,"result":{}}',
        b'{"jsonrpc":"2.0","id":[],"id":1,"result":{},"id":[1]}',
    ],
)
def test_an_answer_that_is_no_json_or_has_two_ids_fails_its_call(line: bytes) -> None:
    """Ours: Python writes NaN, and a caller that waits for ever helps nobody."""
    peer = Peer()
    call_id, _ = peer.call("x", None)
    event = failed(peer.receive(line))
    assert (event.id, event.malformed) == (call_id, True)
    assert peer.pending_count == 0
    # The same again answers nobody, and anything but JSON is still noise.
    assert isinstance(peer.receive(line), FrameRejected | StrayAnswer)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1',
        b'{"jsonrpc":"2.0","id":1,"method":"x","result":NaN}',
        b'{"jsonrpc":"2.0","id":1,"params":NaN}',
        b'{"jsonrpc":"2.0","id":2,"result":NaN}',
        b'{"jsonrpc":"2.0","id":1.5,"result":NaN}',
        b'{"jsonrpc":"2.0","id":1e300,"result":NaN}',
        b'say {"id":1,"result":1}',
    ],
)
def test_noise_that_is_no_answer_of_a_call_settles_none(line: bytes) -> None:
    """TR-STDIO-08: it is a bad line like any other."""
    peer = Peer()
    peer.call("x", None)
    assert answer_to(peer.receive(line)) == (None, -32700)
    assert (peer.pending_count, peer.noise_count) == (1, 1)


def test_an_id_with_a_fraction_is_the_whole_number() -> None:
    """Ours: 1.0 is 1 where a language has one kind of number; noted."""
    peer = Peer()
    peer.call("x", None)
    event = peer.receive(b'{"id":1.0,"result":2}')
    assert isinstance(event, CallAnswered)
    notes = "the answer writes its id with a fraction", 'jsonrpc is not "2.0"'
    assert event.note == "; ".join(notes)
    assert peer.receive(b'{"jsonrpc":"2.0","id":1.0,"result":2}') == StrayAnswer(
        1, note=notes[0], kind="second"
    )


def test_unknown_members_are_refused_when_strict() -> None:
    """Issue 2: unknown root fields fail at once; `_meta` beside `params` is one too."""
    peer = Peer(strict=True)
    call_id, _ = peer.call("x", None)
    head = b'{"jsonrpc":"2.0","_meta":{},"also":1,'
    assert answer_to(peer.receive(head + b'"id":7,"method":"x"}')) == (7, -32600)
    assert rejected(peer.receive(head + b'"method":"x"}')).reason == "unknown member '_meta'"
    event = failed(peer.receive(head + b'"id":%d,"result":{}}' % call_id))
    assert event.malformed
    assert "unknown member" in event.message
    assert isinstance(peer.receive(REQUEST), RequestReceived)
    assert isinstance(Peer().receive(head + b'"id":7,"method":"x"}'), RequestReceived)
    # What needs a repair for another reason is read as ever.
    assert isinstance(peer.receive(b"\xef\xbb\xbf" + REQUEST.replace(b"1", b"8")), RequestReceived)


@pytest.mark.parametrize("bad_id", [b"[1]", b"1.5", b"{}", b"true", b"null"])
def test_an_answer_with_a_bad_id_harms_nobody(bad_id: bytes) -> None:
    """Ours: the call stays pending, and its real answer counts."""
    peer = Peer()
    call_id, _ = peer.call("x", None)
    event = peer.receive(b'{"jsonrpc":"2.0","id":%b,"result":1}' % bad_id)
    assert isinstance(event, FrameRejected | StrayAnswer)
    assert isinstance(peer.receive(b'{"jsonrpc":"2.0","id":%d,"result":1}' % call_id), CallAnswered)


def test_an_id_that_comes_back_as_a_string_is_that_id() -> None:
    """Ours: a caller must not hang because its peer turns numbers into strings."""
    peer = Peer()
    call_id, _ = peer.call("x", None)
    for bad in (f"0{call_id}", f" {call_id}", "²", "9" * 5000, "x", ""):
        frame = json.dumps({"jsonrpc": "2.0", "id": bad, "result": 1}).encode()
        assert peer.receive(frame) == StrayAnswer(bad)
    event = peer.receive(b'{"id":"%d","method":"x","result":1}' % call_id)
    assert isinstance(event, CallAnswered)
    assert event.id == call_id
    assert event.note is not None
    assert event.note.split("; ") == [
        'jsonrpc is not "2.0"',
        "the answer repeats the id as a string",
        "the answer names a method",
    ]


@pytest.mark.parametrize(
    "members",
    [
        b'"error":"boom"',
        b'"error":{}',
        b'"error":[]',
        b'"error":{"code":"x","message":1}',
        b'"result":1,"error":{"code":1,"message":"x"}',
        b'"error":null',
        b'"other":1',
        b'"method":5,"error":5',
        b'"error":"\\ud83d"',
        b'"result":"\xff"',
        b'"result":' + b"[" * 200 + b"]" * 200,
        b'"result":' + b"[" * 20_000 + b"]" * 20_000,
        b'"other":' + b"[" * 20_000 + b"]" * 20_000,
    ],
)
def test_a_malformed_answer_fails_the_call(members: bytes) -> None:
    """Ours: whatever comes with the id of a call ends the call, and nothing is sent back."""
    peer = Peer()
    call_id, _ = peer.call("x", None)
    event = failed(peer.receive(b'{"jsonrpc":"2.0","id":%d,%b}' % (call_id, members)))
    assert event.id == call_id
    assert event.malformed
    assert peer.pending_count == 0


def test_bytes_that_are_not_utf_8_are_noise_in_all_other_messages() -> None:
    """TR-STDIO-08: not UTF-8 is a bad line, also where the JSON around it is sound."""
    peer = Peer()
    call_id, _ = peer.call("x", None)
    for members in (b'"method":"x"', b'"id":1,"method":"x"', b'"id":99', b'"method":"\xff"'):
        peer.receive(REQUEST)
        event = peer.receive(b'{"jsonrpc":"2.0",%b,"params":"\xff"}' % members)
        assert answer_to(event) == (None, -32700)
    assert peer.pending_count == call_id


def test_text_that_is_not_ascii_is_fine() -> None:
    """V1-GEN-01: UTF-8."""
    event = Peer().receive('{"jsonrpc":"2.0","method":"größer","params":"🙂"}'.encode())
    assert isinstance(event, NotificationReceived)
    assert event.method == "größer"
    assert bytes(event.params).decode() == '"🙂"'


@pytest.mark.rule("LIM-01")
@pytest.mark.parametrize("levels", [128, 500, 10_000, 1_000_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_what_is_nested_too_deeply_is_refused_with_its_id(
    levels: int, opening: bytes, closing: bytes
) -> None:
    """LIM-01: -32600, a notification is dropped, and then a normal request works."""
    peer = Peer()
    # With the frame's own object this is one level too many at least.
    deep = b'"params":' + opening * levels + b"1" + closing * levels
    assert answer_to(peer.receive(b'{"jsonrpc":"2.0","id":7,"method":"x",%b}' % deep)) == (
        7,
        -32600,
    )
    assert answer_to(peer.receive(b'{"jsonrpc":"2.0","method":"x",%b}' % deep)) is None
    assert isinstance(peer.receive(REQUEST), RequestReceived)


@pytest.mark.rule("LIM-01")
def test_the_limit_of_nesting_can_be_set_and_reached() -> None:
    """LIM-01: the number is a default."""
    frame = b'{"jsonrpc":"2.0","method":"x","params":%b}'
    for depth_max in (2, 128):
        inner = depth_max - 1
        good, bad = (b"[" * levels + b"]" * levels for levels in (inner, inner + 1))
        peer = Peer(depth_max=depth_max)
        assert isinstance(peer.receive(frame % good), NotificationReceived)
        assert rejected(peer.receive(frame % bad)).reason.endswith(f"than {depth_max} levels")


@given(st.sampled_from(["1.0", "", "2"]) | st.none() | st.integers() | st.just(2.0))
def test_a_wrong_version_is_tolerated_and_noted(version: object) -> None:
    """Ours: some agents leave the member out; everything else about them works."""
    peer = Peer()
    call_id, _ = peer.call("x", None)
    for members in ({"method": "x"}, {"id": 1, "method": "x"}, {"id": call_id, "result": 1}):
        event = peer.receive(json.dumps({"jsonrpc": version, **members}).encode())
        assert isinstance(event, NotificationReceived | RequestReceived | CallAnswered)
        assert event.note == 'jsonrpc is not "2.0"'


def test_a_wrong_version_is_refused_when_strict() -> None:
    """V1-GEN-01 for development: broken rules fail at once, and still nobody hangs."""
    peer = Peer(strict=True)
    call_id, _ = peer.call("x", None)
    assert answer_to(peer.receive(b'{"id":7,"method":"x"}')) == (7, -32600)
    assert answer_to(peer.receive(b'{"method":"x"}')) is None
    assert answer_to(peer.receive(b'{"id":99,"result":1}')) is None
    assert failed(peer.receive(b'{"id":%d,"result":1}' % call_id)).malformed
    assert isinstance(peer.receive(REQUEST), RequestReceived)


def test_a_notification_with_an_outcome_is_a_notification() -> None:
    """V1-GEN-10: unknown members do no harm."""
    event = Peer().receive(b'{"method":"x","params":[1],"error":"x"}')
    assert isinstance(event, NotificationReceived)
    assert event.note is not None
