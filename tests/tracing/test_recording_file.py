"""The file: what is written is read again, and any file is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.tracing.recording_file import (
    NotARecording,
    end_line,
    frame_line,
    gap_line,
    header_line,
    read_entry,
    read_recording,
    stderr_line,
)

HEAD = header_line(started="2026-01-01T00:00:00Z", command=["a", "b"], redacted=True, program="p")


@given(st.binary(max_size=200), st.floats(min_value=0, max_value=1e6))
def test_a_frame_comes_back_to_the_byte(raw: bytes, time: float) -> None:
    """Issue 4: raw frames, as text or as base64."""
    entry = read_entry(frame_line(time, "agent", raw), 1)
    assert (entry.kind, entry.speaker, entry.raw) == ("frame", "agent", raw)
    assert entry.time == pytest.approx(time, abs=1e-6)


def test_all_kinds_of_lines_are_read() -> None:
    """docs/reference/recording-format.md."""
    lines = [
        HEAD,
        frame_line(0.5, "client", b"{}", facts={"kind": "noise"}),
        stderr_line(0.6, b"\xff"),
        gap_line(0.7, "agent", 12, "why"),
        end_line(0.8, None, "SIGTERM"),
        end_line(0.8, 3, None),
        b"\n",
        b'{"t":1}\n',
        b'{"t":0.9,"from":"agent","frame":"cut o',
    ]
    recording = read_recording(lines)
    assert recording.header.command == ("a", "b")
    assert recording.header.redacted
    kinds = [entry.kind for entry in recording.entries]
    assert kinds == ["frame", "stderr", "gap", "end", "end", "damage", "damage"]
    assert recording.entries[1].raw == b"\xff"
    assert recording.entries[2].detail == {"from": "agent", "bytes": 12, "why": "why"}
    assert recording.entries[3].detail == {"signal": "SIGTERM"}
    assert [entry.number for entry in recording.entries] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    "first", [b"", b"\n", b"{}\n", b"hello\n", b'{"format":"accord-recording","version":99}\n']
)
def test_another_file_is_refused_with_a_sentence(first: bytes) -> None:
    """Ours: people name the wrong file."""
    with pytest.raises(NotARecording, match="recording"):
        read_recording([first])


@given(st.lists(st.binary(max_size=80) | st.text(max_size=80).map(str.encode), max_size=6))
def test_any_lines_behind_the_first_are_entries(lines: list[bytes]) -> None:
    """Issue 4: a file may be cut, damaged or hostile."""
    for entry in read_recording([HEAD, *lines]).entries:
        assert entry.kind in ("frame", "stderr", "gap", "end", "damage")


@given(
    st.dictionaries(
        st.sampled_from(["t", "from", "frame", "text", "base64", "gap", "end"]),
        st.none() | st.integers() | st.text(max_size=5) | st.just({}) | st.just([]) | st.floats(),
    )
)
def test_any_members_are_an_entry(value: dict[str, object]) -> None:
    """Issue 4: the same, nearer to what is right."""
    import json

    entry = read_entry(json.dumps(value).encode(), 1)
    assert 0 <= entry.time <= 1e9
