"""Framings: any split of a stream gives the same frames, and every length has a bound."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.jsonrpc.envelope import notification_frame
from accord.jsonrpc.framing import (
    COPIED_BYTES_MAX,
    FRAME_BYTES_MAX,
    HEADER_BYTES_MAX,
    ContentLength,
    DetectedFraming,
    FrameTooLong,
    Framing,
    Lines,
    Splitter,
    detect,
    splitter_for,
)


def fed(splitter: Splitter, data: bytes, cuts: list[int] | None = None) -> list[bytes]:
    """All frames of a stream that is cut at these places."""
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts or []), len(data)]
    frames: list[bytes] = []
    for start, end in pairwise(edges):
        frames += splitter.feed(data[start:end])
    return frames


cut_places = st.lists(st.integers(0, 10_000), max_size=12)
line_bodies = st.lists(st.binary(max_size=30).map(lambda body: body.replace(b"\n", b"")))
stream_text = st.lists(
    st.sampled_from(
        [b"Content-Length: 5", b"content-length:3", b"\r\n", b"\n", b"{}", b"abc", b"X: y", b": "]
    )
).map(b"".join)


@given(line_bodies, cut_places)
def test_lines_are_the_same_for_every_split(bodies: list[bytes], cuts: list[int]) -> None:
    """Ours: a stream has no boundaries but the framing's own."""
    data = b"".join(body + b"\n" for body in bodies)
    assert fed(Lines(), data, cuts) == bodies


@pytest.mark.rule("TR-STDIO-09")
@given(st.lists(st.binary(max_size=30)), cut_places)
def test_bodies_are_the_same_for_every_split(bodies: list[bytes], cuts: list[int]) -> None:
    """TR-STDIO-09: the length counts bytes, whatever they are."""
    data = b"".join(ContentLength().encode(body) for body in bodies)
    assert fed(ContentLength(), data, cuts) == bodies


@given(stream_text, cut_places, st.sampled_from(["lines", "content-length", None]))
def test_noise_is_the_same_for_every_split(
    data: bytes, cuts: list[int], framing: Framing | None
) -> None:
    """Ours: also where headers and junk are mixed."""
    whole, pieces = splitter_for(framing), splitter_for(framing)
    assert fed(whole, data) == fed(pieces, data, cuts)
    assert whole.finish() == pieces.finish()
    assert whole.lost_bytes == pieces.lost_bytes


def test_a_long_line_in_small_chunks_is_joined_once() -> None:
    """Ours: memory and time are linear in the length of a line."""
    splitter = Lines()
    chunk = b"x" * 65_536
    for _ in range(256):
        assert splitter.feed(chunk) == []
    assert splitter.feed(b"\n{}\n") == [chunk * 256, b"{}"]


@pytest.mark.rule("TR-STDIO-02")
def test_lines_are_written_with_one_newline_at_the_end() -> None:
    """TR-STDIO-02: no raw newline inside, one behind."""
    assert Lines().encode(notification_frame("m", b'{"a":\n1}')).count(b"\n") == 1


@pytest.mark.rule("TR-STDIO-08")
@pytest.mark.parametrize("framing", ["lines", None])
def test_a_last_line_counts_if_it_is_whole(framing: Framing | None) -> None:
    """TR-STDIO-08: parsed without its newline; half a message is counted as lost."""
    whole, half, deep = splitter_for(framing), splitter_for(framing), splitter_for(framing)
    assert whole.feed(b'{}\n{"id"') == [b"{}"]
    assert whole.feed(b":1}") == []
    assert whole.finish() == [b'{"id":1}']
    assert whole.lost_bytes == 0
    assert half.feed(b'{"id": "\xc3') == []
    assert half.finish() == []
    assert half.lost_bytes == 9
    deep.feed(b"[" * 5000 + b"]" * 5000)
    assert deep.finish() == [b"[" * 5000 + b"]" * 5000]


def test_a_lone_surrogate_does_not_make_a_last_line_half() -> None:
    """Ours: JavaScript writes them when it cuts a string inside an emoji."""
    splitter = Lines()
    splitter.feed(b'{"text":"\\ud83d"}')
    assert splitter.finish() == [b'{"text":"\\ud83d"}']


def test_half_of_a_deep_line_is_lost() -> None:
    """Ours: what ends inside its nesting has not ended."""
    splitter = Lines()
    splitter.feed(b"[" * 5000)
    assert splitter.finish() == []
    assert splitter.lost_bytes == 5000


def test_a_blank_end_loses_nothing() -> None:
    """Ours: whitespace behind the last line is not half a message."""
    for splitter in (Lines(), ContentLength(), DetectedFraming()):
        splitter.feed(b"\r\n \r")
        assert splitter.finish() == []
        assert splitter.lost_bytes == 0


@pytest.mark.rule("LIM-03")
def test_the_limit_of_a_frame_is_named() -> None:
    """LIM-03: the error names the limit and its number."""
    splitter = Lines()
    with pytest.raises(FrameTooLong, match=f"frame_bytes_max, {FRAME_BYTES_MAX} bytes") as caught:
        fed(splitter, b"x" * 40 * 1024 * 1024, list(range(0, 40 * 1024 * 1024, 65_536)))
    assert caught.value.frame_bytes_max == FRAME_BYTES_MAX == 33_554_432
    assert splitter.finish() == []
    assert splitter.lost_bytes == 0


@pytest.mark.rule("LIM-03")
def test_frames_before_one_that_is_too_long_are_handed_out() -> None:
    """LIM-03: nothing of the long frame is kept, and what came before it counts."""
    in_chunk, held, fitting = (Lines(frame_bytes_max=8) for _ in range(3))
    with pytest.raises(FrameTooLong) as caught:
        in_chunk.feed(b"1\n12345678\n123456789\n2\n3")
    assert caught.value.frames == [b"1", b"12345678"]
    assert in_chunk.finish() == []
    with pytest.raises(FrameTooLong) as caught:
        held.feed(b"1\n123456789")
    assert caught.value.frames == [b"1"]
    assert held.finish() == []
    assert fitting.feed(b"1234\n12345678\n1234567") == [b"1234", b"12345678"]
    assert fitting.feed(b"8\n") == [b"12345678"]


@pytest.mark.rule("LIM-03")
@pytest.mark.parametrize("digits", [b"9", b"0009", b"9" * 5_000])
def test_a_length_over_the_limit_is_refused_before_the_body(digits: bytes) -> None:
    """LIM-03: also with more digits than Python turns into a number."""
    splitter = ContentLength(frame_bytes_max=8)
    with pytest.raises(FrameTooLong) as caught:
        fed(splitter, b"Content-Length: 1\r\n\r\n1Content-Length: " + digits + b"\r\n")
    assert caught.value.frames == [b"1"]


@pytest.mark.rule("TR-STDIO-09")
def test_the_length_counts_utf_8_bytes() -> None:
    """TR-STDIO-09: a multibyte body."""
    body = '{"text":"größer 🙂"}'.encode()
    data = ContentLength().encode(body)
    assert data.startswith(b"Content-Length: %d\r\n\r\n" % len(body))
    assert ContentLength().feed(data + data) == [body, body]


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-LENGTH :2 \r\n\r\n",
        b"Content-Length: 002\n\n",
        b"Content-Type: application/json\r\nContent-Length: 2\r\nX-Content-Length: 99\r\n\r\n",
        b"\r\n\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 9\r\nContent-Length: 2\r\n\r\n",
    ],
)
def test_headers_are_read_generously(header: bytes) -> None:
    """Ours: any case, other headers, blank lines, bare newlines."""
    assert ContentLength().feed(header + b"{}" + header + b"[]") == [b"{}", b"[]"]


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (b"starting up\r\n", [b"starting up"]),
        (b"no line end", [b"no line end"]),
        (b'{"id":1}\n', [b'{"id":1}']),
        (b"Content-Length: two\r\n", [b"Content-Length: two"]),
        (b"Content-Length: -2\r\n\r\n", [b"Content-Length: -2"]),
        (b"Content-Type: text/plain\r\n\r\n", [b"Content-Type: text/plain"]),
        (b"Content-Length: 7\r\nhello there\r\n", [b"hello there"]),
    ],
)
def test_noise_comes_out_alone_and_the_next_frame_is_found(
    noise: bytes, expected: list[bytes]
) -> None:
    """Ours: the peer answers noise by one rule, and a good frame behind it is not lost."""
    data = noise + ContentLength().encode(b"{}")
    assert ContentLength().feed(data) == [*expected, b"{}"]


def test_text_without_line_ends_is_cut_into_bounded_noise() -> None:
    """Ours: no header is that long, so none is waited for; the cuts do not depend on chunks."""
    data = b"x" * (2 * HEADER_BYTES_MAX + 10) + b"\n" + ContentLength().encode(b"{}")
    expected = [b"x" * HEADER_BYTES_MAX, b"x" * HEADER_BYTES_MAX, b"x" * 10, b"{}"]
    assert fed(ContentLength(), data) == expected
    assert fed(ContentLength(), data, [100, HEADER_BYTES_MAX + 1, len(data) - 3]) == expected


def test_half_a_body_is_lost_and_a_whole_message_without_header_is_not() -> None:
    """Ours: the end of the stream loses as little as can be."""
    half, bare = ContentLength(), ContentLength()
    half.feed(b"Content-Length: 9\r\n\r\n{}")
    assert half.finish() == []
    assert half.lost_bytes == 2
    bare.feed(b'{"id":1}')
    assert bare.finish() == [b'{"id":1}']


@pytest.mark.parametrize(
    ("head", "framing"),
    [
        (b"", None),
        (b" \r\n\n", None),
        (b"C", None),
        (b"\r\ncontent-", None),
        (b"CONTENT-Length", None),
        (b"Content-Length:", "content-length"),
        (b"  content-type: x", "content-length"),
        (b"{", "lines"),
        (b"Contents", "lines"),
        (b"\n[", "lines"),
    ],
)
def test_the_framing_is_told_by_the_first_bytes(head: bytes, framing: Framing | None) -> None:
    """Ours: either header, in any case, behind any whitespace; everything else is lines."""
    assert detect(head) == framing


@pytest.mark.rule("TR-STDIO-09")
@pytest.mark.parametrize("framing", ["lines", "content-length"])
@given(bodies=st.lists(st.just(b"{}") | st.just(b'{"a":[]}'), min_size=1), cuts=cut_places)
def test_the_detected_framing_holds_for_both_directions(
    framing: Framing, bodies: list[bytes], cuts: list[int]
) -> None:
    """TR-STDIO-09: one framing per connection."""
    known, splitter = splitter_for(framing), DetectedFraming()
    data = b"\n " + b"".join(known.encode(body) for body in bodies)
    assert fed(splitter, data, cuts) == bodies
    assert splitter.framing == framing
    assert splitter.encode(b"[]") == known.encode(b"[]")
    assert splitter.finish() == []


@pytest.mark.rule("TR-STDIO-09")
def test_the_side_that_speaks_first_keeps_to_lines() -> None:
    """TR-STDIO-09: we do not change our framing in the middle, whatever the peer does."""
    splitter = DetectedFraming()
    assert splitter.encode(b"{}") == b"{}\n"
    assert splitter.feed(b"Content-Length: 2\r\n\r\n{}") == [b"{}"]
    assert splitter.encode(b"{}") == b"{}\n"


def test_a_stream_too_short_to_tell_is_read_as_lines() -> None:
    """Ours: "Content-" and then nothing is half a line."""
    splitter = DetectedFraming()
    assert splitter.feed(b"Content-") == []
    assert splitter.finish() == []
    assert splitter.lost_bytes == 8


@pytest.mark.parametrize("framing", ["lines", "content-length", None])
def test_a_frame_in_parts_makes_the_same_bytes(framing: Framing | None) -> None:
    """Ours: a large frame is written in parts, and the peer cannot tell."""
    splitter, parts = splitter_for(framing), (b'{"a"', b":", b"1}")
    assert b"".join(splitter.encode_parts(parts)) == splitter.encode(b'{"a":1}')


@pytest.mark.parametrize("framing", ["lines", "content-length", None])
def test_a_large_frame_is_not_copied_and_an_empty_one_is_not_sent(framing: Framing | None) -> None:
    """Ours: a copy of a large frame would cost more than another write."""
    splitter = splitter_for(framing)
    small, large = b"1" * COPIED_BYTES_MAX, b"1" * (COPIED_BYTES_MAX + 1)
    assert splitter.in_parts(b"") == ()
    assert splitter.in_parts(small) == (splitter.encode(small),)
    parts = splitter.in_parts(large)
    assert b"".join(parts) == splitter.encode(large)
    assert any(part is large for part in parts)


@pytest.mark.parametrize("framing", ["lines", "content-length", None])
def test_a_line_end_is_all_that_a_framing_adds(framing: Framing | None) -> None:
    """Ours: what is sent very often is made with its line end."""
    splitter = splitter_for(framing)
    if splitter.line_end is None:
        assert framing == "content-length"
    else:
        assert splitter.encode(b"{}") == b"{}" + splitter.line_end


def test_a_line_goes_out_while_its_parts_are_made() -> None:
    """Ours: the peer reads the first ones meanwhile."""
    made: list[bytes] = []

    def parts() -> Iterator[bytes]:
        for part in (b"[", b"]"):
            made.append(part)
            yield part

    sent = Lines().encode_parts(parts())
    assert next(sent) == b"["
    assert made == [b"["]
    assert list(sent) == [b"]", b"\n"]


def test_a_line_in_thousands_of_pieces_is_one_frame() -> None:
    """Ours: a large frame arrives as the pipe has it, and another begins in its last piece."""
    splitter, line = Lines(), bytes(range(32, 127)) * 5_000
    for start in range(0, len(line), 100):
        assert splitter.feed(line[start : start + 100]) == []
    assert splitter.feed(b"end\nnext") == [line + b"end"]
    assert splitter.feed(b"\n") == [b"next"]


@given(
    st.lists(st.binary(max_size=20).map(lambda data: json.dumps(data.hex()).encode()), max_size=5)
)
def test_several_frames_are_sent_as_if_one_by_one(frames: list[bytes]) -> None:
    """Ours: gathering changes how often is written, and nothing of what."""
    for framing in (*get_args(Framing), None):
        splitter = splitter_for(framing)
        one_by_one = b"".join(map(splitter.encode, frames))
        assert splitter.encode_all(frames) == one_by_one
        assert splitter.encode_lines(b"".join(frame + b"\n" for frame in frames)) == one_by_one
