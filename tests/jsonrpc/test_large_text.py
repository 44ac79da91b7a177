"""A large text in parts: the same frame as in one piece, and never one that is too long."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.errors import LocalProtocolError
from accord.jsonrpc import large_text
from accord.jsonrpc.envelope import result_frame
from accord.jsonrpc.framing import FRAME_BYTES_MAX
from accord.jsonrpc.large_text import ESCAPED_BYTES_MAX, LARGE_CHARACTERS, TextResult
from accord.jsonrpc.peer import Peer

REQUEST = b'{"jsonrpc":"2.0","id":"a","method":"m"}'
ascii_text = st.text(st.characters(max_codepoint=127), max_size=60)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts so short that every text has many."""
    monkeypatch.setattr(large_text, "PART_CHARACTERS", 7)


@given(ascii_text)
def test_the_parts_are_the_frame_of_the_whole(text: str) -> None:
    """Ours: the peer cannot tell how it was encoded."""
    result = TextResult("content", text)
    parts = result.parts("a", FRAME_BYTES_MAX)
    assert parts is not None
    frame = b"".join(parts)
    assert frame == result_frame("a", result.whole())
    assert json.loads(frame)["result"] == {"content": text}


@pytest.mark.rule("LIM-03")
@given(ascii_text, st.integers(-400, 400))
def test_there_are_parts_exactly_where_the_frame_fits(text: str, spare: int) -> None:
    """LIM-03: it is certain before the first part is given out."""
    result = TextResult("content", text)
    length = len(result_frame(1, result.whole()))
    assert (result.parts(1, length + spare) is not None) == (spare >= 0)


@pytest.mark.rule("LIM-03")
@pytest.mark.parametrize("text", ["\x01" * 100, "plain" * 200])
def test_a_text_over_the_limit_leaves_the_request_open(text: str) -> None:
    """LIM-03: nothing over the limit is sent, whether it is long by itself or by its escapes."""
    peer = Peer(frame_bytes_max=400)
    peer.receive(REQUEST)
    with pytest.raises(LocalProtocolError, match="frame_bytes = 400"):
        peer.answer_in_parts("a", TextResult("content", text))
    assert peer.is_unanswered("a")


def test_an_answer_with_a_large_text_is_made_while_it_is_taken() -> None:
    """Ours: the first parts travel while the rest is encoded."""
    peer = Peer()
    peer.receive(REQUEST)
    result = TextResult("content", "line\n" * 100)
    parts = peer.answer_in_parts("a", result)
    assert not peer.is_unanswered("a")
    assert not isinstance(parts, tuple)
    assert b"".join(parts) == b'{"jsonrpc":"2.0","id":"a","result":%b}' % result.whole()
    with pytest.raises(LocalProtocolError):
        peer.answer_in_parts("a", result)


def test_a_large_text_in_a_batch_waits_for_the_others() -> None:
    """TR-BATCH-04: one array of answers after all entries."""
    peer = Peer(accept_batches=True)
    peer.receive(b"[%b]" % REQUEST)
    (frame,) = peer.answer_in_parts("a", TextResult("content", "x"))
    assert json.loads(frame) == [{"jsonrpc": "2.0", "id": "a", "result": {"content": "x"}}]


@pytest.mark.parametrize(
    ("text", "is_in_parts"),
    [
        ("x" * LARGE_CHARACTERS, True),
        ("x" * (LARGE_CHARACTERS - 1), False),
        ("ü" * LARGE_CHARACTERS, False),
        ("\ud83d" * LARGE_CHARACTERS, False),
    ],
)
def test_only_a_large_text_that_cannot_fail_halfway_goes_in_parts(
    text: str, is_in_parts: bool
) -> None:
    """Ours: half a surrogate pair is found out before anything is sent."""
    assert (TextResult.of("content", text) is not None) == is_in_parts


def test_no_ascii_character_takes_more_bytes_than_is_assumed() -> None:
    """The bound on what is still to come rests on it."""
    longest = max(len(TextResult("", chr(code)).whole()) for code in range(128))
    assert longest - len(b'{"":""}') == ESCAPED_BYTES_MAX
