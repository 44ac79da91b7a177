"""Attachments from what is dropped, pasted or named."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.terminal.model.prompt.attachments import (
    PASTED_CHARACTERS_MAX,
    attachment_of,
    image_of,
    kind_words,
    long_text,
    pasted_paths,
    size_words,
)
from accord.terminal.model.prompt.content_blocks import IMAGE_BYTES_MAX, PromptError
from accord.terminal.model.prompt.media_types import media_type_of

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("name", "data", "kind", "words"),
    [
        ("a.py", b"x", "file", "python"),
        ("README", b"x", "file", "text"),
        ("wrong.txt", PNG, "image", "png image"),
        ("photo.jpg", b"\xff\xd8\xff\xe0", "image", "jpeg image"),
        ("a.webp", b"RIFF0000WEBP", "image", "webp image"),
        ("a.wav", b"RIFF0000WAVE", "audio", "wav audio"),
        ("a.ogg", b"OggS", "audio", "ogg audio"),
        ("a.bin", b"\0", "binary", "binary"),
        ("a.pdf", b"%PDF-1.7\0", "binary", "pdf"),
        ("a.svg", b"<svg/>", "file", "svg"),
    ],
)
def test_a_file_is_known_by_its_first_bytes_and_its_name(
    tmp_path: Path, name: str, data: bytes, kind: str, words: str
) -> None:
    """Issue 6: audio and binary resources attach too, shown with type and size."""
    (tmp_path / name).write_bytes(data)
    one = attachment_of(tmp_path / name, [str(tmp_path)])
    assert (one.kind, kind_words(one), one.size) == (kind, words, len(data))
    assert (one.name, one.mark, one.path) == (name, f"@{name}", str(tmp_path / name))


def test_zip_files_with_a_name_of_their_own_keep_it() -> None:
    """Ours."""
    assert media_type_of("a.zip", b"PK\x03\x04") == "application/zip"
    assert "zip" not in media_type_of("a.docx", b"PK\x03\x04")
    assert media_type_of("a.m4a", b"\0\0\0\x20ftypM4A ") == "audio/mp4"
    assert media_type_of("nothing") == ""


def test_what_cannot_be_attached_is_said_in_a_sentence(tmp_path: Path) -> None:
    """Ours."""
    roots = [str(tmp_path)]
    (tmp_path / "sub").mkdir()
    with pytest.raises(PromptError, match="sub is a folder; choose a file in it"):
        attachment_of(tmp_path / "sub", roots)
    with pytest.raises(PromptError, match="File not found: nope"):
        attachment_of(tmp_path / "nope", roots)
    with pytest.raises(PromptError):
        attachment_of(tmp_path / "a\0b", roots)


def test_dropped_files_are_found_in_what_terminals_paste(tmp_path: Path) -> None:
    """Issue 6: terminals paste a path, each in its own way."""
    one, two = tmp_path / "a b.png", tmp_path / "c.txt"
    for path in (one, two):
        path.write_text("x")
    for text in (f"{one}\n", f"'{one}'", f'"{one}"', str(one).replace(" ", "\\ "), one.as_uri()):
        assert pasted_paths(text) == [one], text
    for text in (f"'{one}' {two}", f"{one}\n{two}", f"{one.as_uri()}\r\n{two.as_uri()}"):
        assert pasted_paths(text) == [one, two], text


def test_other_text_is_no_path(tmp_path: Path) -> None:
    """Ours: a sentence is not taken for a file, nor one name of several that is none."""
    (tmp_path / "a").write_text("x")
    for text in ("hello", "/", "/no/such", f"{tmp_path}/a or what", f"'{tmp_path}", "/x" * 9000):
        assert pasted_paths(text) == []
    assert pasted_paths(str(tmp_path)) == []
    assert pasted_paths("") == []


def test_long_text_becomes_a_mark() -> None:
    """Issue 6: paste of long text."""
    assert long_text("short\ntext", ()) is None
    lines = "\n".join("x" * 84)
    first = long_text(lines, ())
    assert first is not None
    assert (first.mark, first.data.decode()) == ("[pasted 84 lines]", lines)
    # A trailing newline does not count as another line.
    ended = long_text(lines + "\n", ())
    assert ended is not None
    assert ended.mark == first.mark
    second = long_text(lines, {first.mark})
    third = long_text(lines, {first.mark, "[pasted 84 lines, 2]"})
    assert second is not None
    assert third is not None
    assert (second.mark, third.mark) == ("[pasted 84 lines, 2]", "[pasted 84 lines, 3]")
    wide = long_text("y" * (PASTED_CHARACTERS_MAX + 1), ())
    assert wide is not None
    assert wide.mark == "[pasted 2001 characters]"


def test_a_picture_from_the_clipboard_is_one() -> None:
    """Issue 6: paste of images."""
    one = image_of(PNG, {"[image 1]"})
    assert one is not None
    assert (one.mark, one.media_type, one.data) == ("[image 2]", "image/png", PNG)
    assert image_of(b"text", ()) is None
    assert image_of(PNG + bytes(IMAGE_BYTES_MAX), ()) is None


def test_sizes_are_said_for_people() -> None:
    """Ours."""
    sizes = (1, 999, 1000, 12_345, 3_400_000, 5_000_000_000_000)
    words = ["1 byte", "999 bytes", "1.0 kB", "12 kB", "3.4 MB", "5000 GB"]
    assert [size_words(size) for size in sizes] == words
