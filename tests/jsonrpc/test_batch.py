"""Arrays of messages: refused in v1, processed in v2 and behind the option."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accord.errors import LocalProtocolError
from accord.jsonrpc import (
    Batch,
    CallAnswered,
    FrameRejected,
    NotificationReceived,
    Peer,
    RequestReceived,
)
from accord.jsonrpc.batch import BATCH_ENTRIES_MAX

REQUEST = b'{"jsonrpc":"2.0","id":%d,"method":"x"}'
NOTIFICATION = b'{"jsonrpc":"2.0","method":"y"}'


def batch_of(peer: Peer, *entries: bytes) -> Batch:
    """What the peer makes of an array of these entries."""
    event = peer.receive(b"[" + b", ".join(entries) + b"]")
    assert isinstance(event, Batch)
    return event


def parsed(frame: bytes | None) -> Any:
    """The answer as a plain value."""
    assert frame
    return json.loads(frame)


@pytest.mark.rule("V1-GEN-14")
def test_in_v1_an_array_is_answered_once_and_has_no_effect() -> None:
    """V1: one -32600 with id null each, and then a normal request works."""
    peer = Peer()
    for entries in ([], [REQUEST % 1], [NOTIFICATION], [REQUEST % 1, NOTIFICATION, b"5"]):
        event = peer.receive(b"[" + b",".join(entries) + b"]")
        assert isinstance(event, FrameRejected)
        answer = parsed(event.answer)
        assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert peer.unanswered_count == 0
    assert isinstance(peer.receive(REQUEST % 1), RequestReceived)


@pytest.mark.rule("V2-GEN-06")
def test_arrays_are_processed_from_the_agreement_on_v2_on() -> None:
    """V2 pages: and no longer once v1 is agreed."""
    peer = Peer()
    assert isinstance(peer.receive(b"[" + REQUEST % 1 + b"]"), FrameRejected)
    peer.set_version(2)
    batch_of(peer, REQUEST % 1, NOTIFICATION)
    assert [answer["id"] for answer in parsed(peer.answer(1, b"{}"))] == [1]
    peer.set_version(1)
    assert isinstance(peer.receive(b"[" + REQUEST % 1 + b"]"), FrameRejected)


def test_an_array_behind_a_byte_order_mark_is_read() -> None:
    """Ours: bad input is an event, never an exception."""
    event = Peer(version=2).receive(b"\xef\xbb\xbf [" + NOTIFICATION + b"]")
    assert isinstance(event, Batch)
    assert event.entries == (NOTIFICATION,)


def test_the_answers_of_a_batch_are_bounded_together() -> None:
    """Ours: what does not fit into one frame is refused, and what is held has the same bound."""
    peer = Peer(version=2, frame_bytes_max=2000)
    batch_of(peer, REQUEST % 1, REQUEST % 2, REQUEST % 3)
    batch_of(peer, REQUEST % 4, REQUEST % 5)
    peer.receive(REQUEST % 6)
    half = b'"' + b"x" * 600 + b'"'
    assert peer.answer(1, half) == b""
    with pytest.raises(LocalProtocolError, match="too long to be sent together"):
        peer.answer(2, half)
    with pytest.raises(LocalProtocolError, match="too long to be sent together"):
        list(peer.answer_in_parts(4, half))
    assert len(parsed(peer.answer(6, half))["result"]) == 600
    assert peer.refuse(2, -32603, "y" * 900) == b""
    array = peer.answer(3, b"{}")
    assert len(array) <= 2000
    assert ["error" in answer for answer in parsed(array)] == [False, True, False]
    # The array is on its way, and its place is free.
    assert peer.answer(4, half) == b""
    assert len(parsed(peer.answer(5, half))) == 2


def test_an_open_request_knows_whether_its_batch_is_answered() -> None:
    """Ours: what belongs behind an answer waits for the array."""
    peer = Peer(version=2)
    batch_of(peer, REQUEST % 1, REQUEST % 2)
    peer.receive(REQUEST % 3)
    batch = peer.batch_of(1)
    assert batch is not None
    assert peer.batch_of(3) is None
    peer.answer(1, b"{}")
    assert batch.waiting_count == 1
    peer.answer(2, b"{}")
    assert batch.waiting_count == 0


@pytest.mark.rule("TR-BATCH-02")
def test_an_empty_array_is_refused() -> None:
    """TR-BATCH-02: at least one value."""
    event = Peer(accept_batches=True).receive(b"[]")
    assert isinstance(event, FrameRejected)
    assert parsed(event.answer)["id"] is None


def test_a_batch_has_a_bound() -> None:
    """Ours: the answers of a batch are held until the last is there."""
    peer = Peer(accept_batches=True)
    assert len(batch_of(peer, *[NOTIFICATION] * BATCH_ENTRIES_MAX).events) == BATCH_ENTRIES_MAX
    event = peer.receive(b"[" + b",".join([NOTIFICATION] * (BATCH_ENTRIES_MAX + 1)) + b"]")
    assert isinstance(event, FrameRejected)
    assert parsed(event.answer)["error"]["code"] == -32600


@pytest.mark.rule("TR-BATCH-03", "TR-BATCH-04")
def test_one_array_answers_all_requests_after_the_last() -> None:
    """TR-BATCH-04: one answer per request, none for notifications, matched by id."""
    peer = Peer(accept_batches=True)
    batch = batch_of(peer, REQUEST % 1, NOTIFICATION, b'{"id":"1","method":"\\ud83d"}')
    assert [type(event) for event in batch.events] == [
        RequestReceived,
        NotificationReceived,
        RequestReceived,
    ]
    assert batch.answer is None
    alone = peer.receive(REQUEST % 9)
    assert isinstance(alone, RequestReceived)
    assert peer.answer("1", b"2") == b""
    assert parsed(peer.answer(9, b"{}"))["id"] == 9
    answers = parsed(peer.refuse(1, -32601, "no such method"))
    assert [answer["id"] for answer in answers] == ["1", 1]
    assert peer.unanswered_count == 0


@pytest.mark.rule("TR-BATCH-05", "V1-GEN-04")
def test_a_batch_of_notifications_is_not_answered() -> None:
    """TR-BATCH-05: no empty array."""
    batch = batch_of(Peer(accept_batches=True), NOTIFICATION, NOTIFICATION, b'{"method":5}')
    assert batch.answer is None


@pytest.mark.rule("TR-BATCH-06")
def test_each_bad_entry_has_its_own_error_and_the_others_run() -> None:
    """TR-BATCH-06: -32600 with id null for each, scalars, arrays and objects alike."""
    peer = Peer(accept_batches=True)
    batch = batch_of(peer, b"1", REQUEST % 1, b"[]", b"{}", b"{}", b'[{"id":3,"method":"x"}]')
    assert batch.answer is None
    assert [type(event) for event in batch.events].count(FrameRejected) == 5
    answers = parsed(peer.answer(1, b"{}"))
    assert [answer["id"] for answer in answers] == [None] * 5 + [1]
    assert {answer["error"]["code"] for answer in answers[:5]} == {-32600}


@pytest.mark.rule("TR-BATCH-06")
@pytest.mark.parametrize(
    "bad",
    [b'{"jsonrpc":"2.0","id":5}', b'{"id":5,"method":5}', b'{"id":5,"method":"x","result":1}'],
)
def test_a_bad_entry_is_answered_without_its_id(bad: bytes) -> None:
    """TR-BATCH-06: alone it would be answered with it."""
    peer = Peer(version=2)
    (answer,) = parsed(batch_of(peer, bad).answer)
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    alone = peer.receive(bad)
    assert isinstance(alone, FrameRejected)
    assert parsed(alone.answer)["id"] == 5


@pytest.mark.rule("TR-BATCH-06")
def test_a_batch_of_nothing_good_is_answered_at_once() -> None:
    """TR-BATCH-06: and the ready answers are in the array, not in the events."""
    batch = batch_of(Peer(accept_batches=True), b"1", b"2")
    assert [answer["id"] for answer in parsed(batch.answer)] == [None, None]
    for event in batch.events:
        assert isinstance(event, FrameRejected)
        assert event.answer is None


def test_an_id_twice_in_a_batch_is_refused_once() -> None:
    """V2-GEN-02 broken by the peer: the first is left alone."""
    peer = Peer(accept_batches=True)
    batch_of(peer, REQUEST % 1, REQUEST % 1)
    answers = parsed(peer.answer(1, b"{}"))
    assert ["error" in answer for answer in answers] == [True, False]


def test_answers_to_our_calls_may_come_in_an_array() -> None:
    """JSON-RPC 2.0 section 6, though we send no batch ourselves."""
    peer = Peer(accept_batches=True)
    first, _ = peer.call("a", b"{}")
    second, _ = peer.call("b", b"{}")
    batch = batch_of(
        peer, b'{"jsonrpc":"2.0","id":%d,"result":1}' % second, b'{"id":%d,"result":2}' % first
    )
    assert [event.id for event in batch.events if isinstance(event, CallAnswered)] == [
        second,
        first,
    ]
    assert batch.answer is None


def test_a_batch_ends_a_run_of_noise() -> None:
    """TR-STDIO-08: behind something good the next bad line is answered again."""
    peer = Peer(accept_batches=True)
    peer.receive(b"xx")
    batch_of(peer, NOTIFICATION)
    event = peer.receive(b"xx")
    assert isinstance(event, FrameRejected)
    assert event.count == 1
