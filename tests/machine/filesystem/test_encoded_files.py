"""Text files in any encoding, by parts, and files that must be new."""

import os
from pathlib import Path

import pytest

from accord.machine.errors import (
    AlreadyThere,
    FileMissing,
    NotText,
    OutsideRoots,
    TooLarge,
)
from accord.machine.filesystem.encoded_files import (
    UnknownEncoding,
    read_part,
    text_codec,
    write_encoded,
)
from accord.machine.filesystem.local_files import LocalFiles
from accord.machine.filesystem.unsaved_text import Overlay


@pytest.mark.parametrize("name", ["utf-8", "UTF8", "latin-1", "utf_16", "cp1252", "utf-8-sig"])
def test_an_encoding_of_text_has_one_name(name: str) -> None:
    """Ours: the names of Python."""
    assert text_codec(name) == text_codec(text_codec(name))


@pytest.mark.parametrize("name", ["", "x", "hex", "base64", "rot13", "zlib", "undefined", "\0"])
def test_what_is_no_encoding_of_text_has_none(name: str) -> None:
    """Ours: codecs from bytes to bytes, and one that never works."""
    with pytest.raises(UnknownEncoding):
        text_codec(name)


@pytest.mark.parametrize(
    ("text", "start", "end", "part", "total", "truncated"),
    [
        ("", None, None, "", 0, False),
        ("", 1, 5, "", 0, False),
        ("a", None, None, "a", 1, False),
        ("a\n", None, 1, "a\n", 1, False),
        ("a\nb", 2, 2, "b", 2, False),
        ("a\nb", 1, 1, "a\n", 2, True),
        ("a\nb\n", 2, None, "b\n", 2, False),
        ("a\nb\n", 3, None, "", 2, False),
        ("a\r\nb\r\n", 1, 1, "a\r\n", 2, True),
        ("a\u2028b\n", 1, 1, "a\u2028b\n", 1, False),
        ("a\nb", 0, 0, "", 2, True),
    ],
)
def test_a_part_is_whole_lines(
    tmp_path: Path,
    text: str,
    start: int | None,
    end: int | None,
    part: str,
    total: int,
    truncated: bool,
) -> None:
    """Ours: a line ends with a newline and keeps it, and nothing else ends one."""
    path = tmp_path / "a"
    path.write_bytes(text.encode())
    found = read_part(LocalFiles([tmp_path]), str(path), "utf-8", start, end)
    assert (found.text, found.total_lines, found.truncated) == (part, total, truncated)


def test_reading_is_total_in_every_encoding(tmp_path: Path) -> None:
    """Ours: bytes that are not in it become U+FFFD; a mark at the front of UTF-8 is left out."""
    path = tmp_path / "a"
    files = LocalFiles([tmp_path])
    path.write_bytes(b"\xff\xfea\0")
    assert read_part(files, str(path), "utf-16", None, None).text == "a"
    path.write_bytes(b"a\xe9")
    assert read_part(files, str(path), "ascii", None, None).text == "a\ufffd"
    path.write_bytes(b"\xef\xbb\xbfa")
    assert read_part(files, str(path), "utf-8", None, None).text == "a"


def test_of_a_file_that_is_too_large_a_part_can_be_read(tmp_path: Path) -> None:
    """Ours: in UTF-8, where lines can be found; how many there are is then not known."""
    path = tmp_path / "a"
    path.write_text("12345\n" * 10)
    files = LocalFiles([tmp_path], bytes_max=20)
    found = read_part(files, str(path), "utf-8", 2, 3)
    assert (found.text, found.total_lines, found.truncated) == ("12345\n" * 2, None, True)
    for encoding, start in (("utf-8", None), ("latin-1", 2)):
        with pytest.raises(TooLarge):
            read_part(files, str(path), encoding, start, None)


def test_a_buffer_is_read_instead_of_its_file(tmp_path: Path) -> None:
    """Ours: it is text, whatever the file is encoded in."""
    (tmp_path / "a").write_text("disk")
    overlay = Overlay()
    overlay.set(tmp_path / "a", "one\ntwo")
    files = LocalFiles([tmp_path], overlay=overlay)
    assert read_part(files, str(tmp_path / "a"), "utf-16", 2, None).text == "two"
    write_encoded(files, str(tmp_path / "a"), "new", "utf-16")
    assert read_part(files, str(tmp_path / "a"), "utf-16", None, None).text == "new"


def test_a_write_tells_what_is_on_the_disk(tmp_path: Path) -> None:
    """Ours: the style of a UTF-8 file is kept, and counts."""
    files = LocalFiles([tmp_path])
    path = tmp_path / "new" / "a"
    stored = write_encoded(files, str(path), "é\n", "utf-8")
    assert (stored.size, stored.created) == (3, True)
    path.write_bytes(b"\xef\xbb\xbfa\r\n")
    stored = write_encoded(files, str(path), "b\n", "utf-8")
    assert path.read_bytes() == b"\xef\xbb\xbfb\r\n"
    assert (stored.size, stored.created) == (6, False)
    stored = write_encoded(files, str(path), "b\n", "latin-1")
    assert path.read_bytes() == b"b\n"


def test_what_cannot_be_stored_without_damage_is_not(tmp_path: Path) -> None:
    """Ours: as for every write."""
    files = LocalFiles([tmp_path], bytes_max=10)
    path = tmp_path / "a"
    path.write_bytes(b"a\xe9")
    for text, encoding in (("\ufffd", "utf-8"), ("é", "ascii"), ("\ud800", "utf-8")):
        with pytest.raises(NotText):
            write_encoded(files, str(path), text, encoding)
    for text, encoding in (("x" * 11, "utf-8"), ("x" * 6, "utf-16")):
        with pytest.raises(TooLarge):
            write_encoded(files, str(path), text, encoding)
    with pytest.raises(OutsideRoots):
        write_encoded(files, "/elsewhere", "x", "utf-8")
    assert path.read_bytes() == b"a\xe9"
    assert os.listdir(tmp_path) == ["a"]


def test_a_file_that_must_be_new_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: not even one that somebody makes in the same moment."""
    files = LocalFiles([tmp_path])
    path = tmp_path / "a"
    assert write_encoded(files, str(path), "one", "utf-8", overwrite=False).created
    with pytest.raises(AlreadyThere):
        write_encoded(files, str(path), "two", "utf-8", overwrite=False)
    late = tmp_path / "late"

    def race(self: LocalFiles, path: str, place: object) -> None:
        late.write_text("theirs")

    monkeypatch.setattr(LocalFiles, "_look_at", race)
    with pytest.raises(AlreadyThere):
        write_encoded(files, str(late), "ours", "utf-8", overwrite=False)
    assert late.read_text() == "theirs"
    assert sorted(os.listdir(tmp_path)) == ["a", "late"]


def test_directories_are_made_only_where_that_is_wanted(tmp_path: Path) -> None:
    """Ours."""
    files = LocalFiles([tmp_path])
    with pytest.raises(FileMissing):
        write_encoded(files, str(tmp_path / "d" / "a"), "x", "utf-8", create_parents=False)
    assert os.listdir(tmp_path) == []
