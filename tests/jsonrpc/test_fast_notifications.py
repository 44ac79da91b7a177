"""The shortcut takes only what the peer would take as the same notification, without a note."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.jsonrpc.events import NotificationReceived
from accord.jsonrpc.fast_notifications import notification_reader, notifications_reader
from accord.jsonrpc.peer import Peer

METHOD = "session/update"


class Params(msgspec.Struct):
    """What the notification of these tests carries."""

    name: str
    rest: msgspec.Raw = msgspec.Raw(b"null")


read = notification_reader(METHOD, Params, depth_max=8)
read_all = notifications_reader(METHOD, Params, depth_max=8)

members = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2, None]),
        "method": st.sampled_from([METHOD, "session/other", 7]),
        "params": st.fixed_dictionaries(
            {"name": st.text(max_size=3) | st.integers()},
            optional={"rest": st.recursive(st.none(), lambda inner: st.lists(inner, max_size=2))},
        )
        | st.none(),
        "id": st.none() | st.integers(0, 3),
        "result": st.just({}),
        "error": st.just({"code": 1, "message": "x"}),
    },
)


def frame_of(message: object) -> bytes:
    """As SDKs write it, without spaces."""
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


def notification(**params: Any) -> bytes:
    """A good one."""
    return frame_of({"jsonrpc": "2.0", "method": METHOD, "params": params})


@given(members, st.permutations(["jsonrpc", "method", "params", "id", "result", "error"]))
def test_what_is_taken_the_peer_would_take_as_the_same(
    message: dict[str, Any], order: list[str]
) -> None:
    """Ours: the shortcut changes how fast a notification is read, and nothing else."""
    frame = frame_of({key: message[key] for key in order if key in message})
    event = Peer(depth_max=8).receive(frame)
    together = read_all([frame, frame])
    for taken in (read(frame), *together):
        if taken is not None:
            assert isinstance(event, NotificationReceived)
            assert event.note is None
            assert event.method == METHOD
            assert msgspec.json.decode(event.params, type=Params) == taken


def test_a_good_notification_is_taken() -> None:
    """Ours: the common case must not fall through unseen."""
    assert read(notification(name="a")) == Params("a")
    assert read(notification(name="ä" * 200)) == Params("ä" * 200)


@pytest.mark.parametrize(
    "frame",
    [
        b'{"method":"session/update","jsonrpc":"2.0","params":{"name":"a"}}',
        b'{"jsonrpc":"2.0","method":"session/update","params":{"name":"a"},"id":1}',
        b'{"jsonrpc":"2.0","method":"session/update","params":{"name":"a"},"method":"x"}',
        b'{"jsonrpc":"2.0","method":"session/update","params":{"name":7}}',
        b'{"jsonrpc":"2.0","method":"session/update","params":{"name":"a"}',
        b'{"jsonrpc":"2.0","method":"session/update","params":{"name":"a"}]',
        b'{"jsonrpc":"2.0","method":"session/update","params":',
        b"",
    ],
)
def test_everything_else_is_left_to_the_peer(frame: bytes) -> None:
    """Ours: odd and bad frames have one judge."""
    assert read(frame) is None


@pytest.mark.rule("LIM-01")
def test_what_is_too_deep_is_left_to_the_peer() -> None:
    """LIM-01: the bound on nesting holds for params that are kept encoded too."""
    assert read(notification(name="a" * 20, rest=[[[[[[]]]]]])) is not None
    assert read(notification(name="a" * 20, rest=[[[[[[[]]]]]]])) is None


def test_bytes_that_are_not_utf8_are_left_to_the_peer() -> None:
    """Ours: the decoder does not look into what it leaves encoded."""
    good = notification(name="a", rest="\u00e4")
    assert read(good) is not None
    assert read(good.replace("\u00e4".encode(), b"\xff")) is None


def test_many_good_notifications_are_read_together() -> None:
    """Ours: in order, as each by itself."""
    names = ["a", "\u00e4" * 200, "c"]
    frames = [notification(name=name) for name in names]
    assert read_all(frames) == [Params(name) for name in names]


@pytest.mark.parametrize(
    "odd",
    [
        b"",
        b" ",
        b"noise",
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","method":"session/other","params":{"name":"a"}}',
        b'{"jsonrpc":"2.0","method":"session/update","params":{"name":"a"},"id":1}',
        notification(name=7),
        notification(name="a" * 20, rest=[[[[[[[]]]]]]]),
        notification(name="a", rest="\u00e4").replace("\u00e4".encode(), b"\xff"),
        notification(name="a") + b"\n" + notification(name="b"),
        notification(name="a" * 20)[:-1] + b',"x":[[[[[[[[]]]]]]]]}',
        b"[" * 100_000,
    ],
)
def test_many_are_read_up_to_the_one_that_is_odd(odd: bytes) -> None:
    """Ours: that one is for the peer to judge, and what is behind it must wait for that."""
    good = notification(name="a")
    assert read_all([good, good, odd, good]) == [Params("a")] * 2
    assert read_all([odd, good]) == []


def test_a_frame_that_is_no_line_is_read_with_the_others() -> None:
    """Ours: a frame with a length may hold line breaks."""
    good = notification(name="a")
    assert read_all([good.replace(b"{", b"{\n"), good]) == [Params("a")] * 2
