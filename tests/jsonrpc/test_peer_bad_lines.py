"""Rows of noise: answered once, counted, and over with the next good frame."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accord.jsonrpc import BlankSkipped, Event, FrameRejected, Peer


def rejected(event: Event) -> FrameRejected:
    """The event, which must be a refusal."""
    assert isinstance(event, FrameRejected)
    return event


def code_of(event: Event) -> int | None:
    """The code of the answer, if there is one."""
    answer = rejected(event).answer
    if answer is None:
        return None
    error: dict[str, Any] = json.loads(answer)["error"]
    code: int = error["code"]
    return code


def test_a_good_frame_that_somebody_else_read_ends_a_run_of_noise() -> None:
    """Ours: updates may be read by a shortcut, and noise before one is over all the same."""
    peer = Peer()
    assert rejected(peer.receive(b"xx")).count == 1
    peer.noise_count = 0
    assert rejected(peer.receive(b"xx")).count == 1


@pytest.mark.rule("TR-STDIO-08")
@pytest.mark.parametrize(
    "line", [b"more", b"7", b"  7", b"\xff", b'"text"', b"{", b"\xef\xbb\xbf7"]
)
def test_every_line_of_a_row_of_noise_is_counted(line: bytes) -> None:
    """TR-STDIO-08: answered once and counted, however a line of the row begins."""
    peer = Peer()
    assert code_of(peer.receive(b"xx")) == -32700
    for count in (2, 3):
        event = rejected(peer.receive(line))
        assert (event.count, event.answer) == (count, None)
    assert isinstance(peer.receive(b""), BlankSkipped)
    assert rejected(peer.receive(line)).count == 4
