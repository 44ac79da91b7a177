"""Runs of chunks become one, and nothing else changes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.schema import v2
from accord.schema.struct import Raw
from accord.store import chunk_merge
from accord.store.chunk_merge import Coalescer
from accord.transcript import Transcript


def say(text: str, key: str = "m", kind: Any = v2.AgentMessageChunk, **more: Any) -> Any:
    """One piece of a message."""
    return kind(message_id=key, content=v2.TextContent(text=text), **more)


def output(data: bytes, key: str = "t") -> v2.TerminalOutputChunk:
    """One piece of a terminal's output."""
    return v2.TerminalOutputChunk(terminal_id=key, data=data)


def coalesced(updates: list[Any]) -> list[Any]:
    """All updates of a log, merged."""
    coalescer = Coalescer()
    return coalescer.take(updates) + coalescer.rest()


def test_a_run_becomes_one_piece() -> None:
    """Issue: chunks coalesced."""
    assert coalesced([say("a"), say("b"), say("c")]) == [say("abc")]
    assert coalesced([output(b"a"), output(b"b")]) == [output(b"ab")]
    assert coalesced([]) == []


@pytest.mark.parametrize(
    "other",
    [
        say("x", "n"),
        say("x", kind=v2.AgentThoughtChunk),
        say("x", kind=v2.UserMessageChunk),
        say("x", meta={"a": Raw(b"1")}),
        v2.AgentMessageChunk(
            message_id="m", content=v2.TextContent(text="x", annotations=v2.Annotations())
        ),
        v2.AgentMessageChunk(
            message_id="m", content=v2.TextContent(text="x", meta={"a": Raw(b"1")})
        ),
        v2.AgentMessageChunk(
            message_id="m", content=v2.ImageContent(data=b"x", mime_type="image/png")
        ),
        v2.AgentMessage(message_id="m"),
        output(b"x", "m"),
        v2.TerminalOutputChunk(terminal_id="m", data=b"x", meta={"a": Raw(b"1")}),
    ],
)
def test_what_says_more_or_is_another_ends_a_run(other: Any) -> None:
    """The order, and every word besides the text, stays."""
    assert coalesced([say("a"), say("b"), other, say("c")]) == [say("ab"), other, say("c")]


def test_a_piece_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message of a hundred megabytes is not sent as one frame."""
    monkeypatch.setattr(chunk_merge, "COALESCED_CHARACTERS_MAX", 3)
    assert coalesced([say("ab"), say("c"), say("d"), say("efgh")]) == [
        say("abc"),
        say("d"),
        say("efgh"),
    ]


UPDATES = st.lists(
    st.builds(
        say,
        st.text(max_size=3),
        st.sampled_from("mn"),
        st.sampled_from((v2.AgentMessageChunk, v2.AgentThoughtChunk)),
    )
    | st.builds(output, st.binary(max_size=3), st.sampled_from("tu"))
    | st.builds(v2.AgentMessage, message_id=st.sampled_from("mn"))
)


@given(UPDATES, st.integers(1, 5))
def test_it_does_not_matter_where_the_slices_are(updates: list[Any], size: int) -> None:
    """A log is read in slices; a run may go over several."""
    coalescer, seen = Coalescer(), list[Any]()
    for start in range(0, len(updates), size):
        seen += coalescer.take(updates[start : start + size])
    assert seen + coalescer.rest() == coalesced(updates)


@given(UPDATES)
def test_a_transcript_sees_no_difference(updates: list[Any]) -> None:
    """The meaning is the same: folded, both are equal."""
    plain, merged = Transcript(), Transcript()
    for update in updates:
        plain.apply(update)
    for update in coalesced(updates):
        merged.apply(update)
    assert [(one.role, one.text) for one in merged.messages] == [
        (one.role, one.text) for one in plain.messages
    ]
