"""Lines, marks and newline styles as pure functions."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.machine.filesystem import newline_style
from accord.machine.filesystem.newline_style import (
    ByteBoundPassed,
    FileStyle,
    decode_text,
    encode_text,
    style_of,
    take_lines,
)

CONTENT = st.lists(
    st.sampled_from([b"a", b"\n", b"\r\n", b"\r", b"\xc3\xa9", b"\xe2\x80\xa8"])
).map(b"".join)


def lines_of(data: bytes) -> list[bytes]:
    """The lines with their newlines: the plain meaning, to compare with."""
    return [part + b"\n" for part in data.split(b"\n")[:-1]] + (
        [last] if (last := data.split(b"\n")[-1]) else []
    )


@pytest.mark.rule("V1-FS-04")
@given(
    data=CONTENT,
    line=st.none() | st.integers(0, 12),
    limit=st.none() | st.integers(0, 12),
    chunk=st.integers(1, 7),
)
def test_line_and_limit_are_a_slice_of_lines(
    data: bytes, line: int | None, limit: int | None, chunk: int
) -> None:
    """Spec: `line` is a 1-based start, `limit` a number of lines."""
    start = max((line or 1) - 1, 0)
    expected = lines_of(data)[start:] if limit is None else lines_of(data)[start : start + limit]
    source = io.BytesIO(data)
    assert take_lines(lambda _: source.read(chunk), line, limit, 10**6) == b"".join(expected)


@pytest.mark.parametrize(("line", "limit"), [(-1, None), (None, -1)])
def test_negative_counts_are_misuse(line: int | None, limit: int | None) -> None:
    """Ours: the caller's mistake raises."""
    with pytest.raises(ValueError, match="negative"):
        take_lines(io.BytesIO(b"x").read, line, limit, 10)


def test_the_bound_is_on_what_is_returned() -> None:
    """Ours: a few lines of a huge file can be read, all of it cannot."""
    data = b"0123456789\n" * 100
    assert take_lines(io.BytesIO(data).read, 50, 1, 20) == b"0123456789\n"
    with pytest.raises(ByteBoundPassed, match="20"):
        take_lines(io.BytesIO(data).read, 50, 2, 20)


def test_counting_lines_gives_up_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a start that is beyond a bound is not looked for for ever."""
    monkeypatch.setattr(newline_style, "SCAN_BYTES_MAX", 100)
    source = io.BytesIO(b"x" * 1000)
    with pytest.raises(ByteBoundPassed, match="100"):
        take_lines(lambda _: source.read(10), 5, None, 10**6)


@given(st.text(alphabet=st.sampled_from("a\n\ufeffé")), st.booleans())
def test_text_survives_writing_and_reading(content: str, bom: bool) -> None:
    """Ours: what was written is read, whatever mark the file has."""
    data = encode_text(content, FileStyle(bom=bom))
    assert decode_text(data, from_start=True) == content.removeprefix("\ufeff")


def test_a_mark_is_left_out_at_the_start_only() -> None:
    """Ours: in the middle of a file the same bytes are content."""
    assert decode_text(b"\xef\xbb\xbfa", from_start=True) == "a"
    assert decode_text(b"\xef\xbb\xbfa", from_start=False) == "\ufeffa"
    assert decode_text(b"a\xffb", from_start=True) == "a\ufffdb"


@pytest.mark.parametrize(
    ("sample", "style"),
    [
        (b"", FileStyle()),
        (b"a\nb\n", FileStyle()),
        (b"a\r\nb\r\n", FileStyle(crlf=True)),
        (b"a\r\nb\n", FileStyle()),
        (b"a\rb", FileStyle()),
        (b"\xef\xbb\xbfa\r\n", FileStyle(bom=True, crlf=True)),
        (b"\xe9t\xe9", FileStyle(utf8=False)),
        (b"cut within \xe2\x82", FileStyle(utf8=False)),
    ],
)
def test_the_style_of_a_file(sample: bytes, style: FileStyle) -> None:
    """Ours: CRLF counts where every line has it."""
    assert style_of(sample, whole=True) == style


def test_a_part_may_end_within_a_character() -> None:
    """Ours: where the sample stops says nothing about the file."""
    assert style_of(b"cut within \xe2\x82", whole=False).utf8
    assert not style_of(b"wrong \xff before \xe2\x82", whole=False).utf8


@pytest.mark.parametrize(
    ("content", "data"),
    [
        ("a\nb\n", b"a\r\nb\r\n"),
        ("a\r\nb\n", b"a\r\nb\n"),
        ("a\rb\n", b"a\rb\n"),
        ("a", b"a"),
    ],
)
def test_crlf_is_restored_only_for_text_without_any(content: str, data: bytes) -> None:
    """Ours: whoever sends carriage returns knows what he wants."""
    assert encode_text(content, FileStyle(crlf=True)) == data
    assert encode_text("\ufeffx", FileStyle(bom=True)) == b"\xef\xbb\xbfx"
