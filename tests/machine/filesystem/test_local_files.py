"""Reading, writing, moving and deleting beneath roots."""

import os
import stat
from pathlib import Path

import pytest

from accord.machine.errors import (
    AccessDenied,
    AlreadyThere,
    FileFailure,
    FileMissing,
    NotAFile,
    NotText,
    OutsideRoots,
    TooLarge,
    file_failure,
)
from accord.machine.filesystem.local_files import LocalFiles


@pytest.fixture
def files(tmp_path: Path) -> LocalFiles:
    """Files beneath an empty directory."""
    return LocalFiles([tmp_path])


@pytest.mark.rule("V1-FS-04")
def test_line_and_limit_choose_lines(files: LocalFiles, tmp_path: Path) -> None:
    """Spec: 10 lines, line 3, limit 2."""
    path = tmp_path / "ten.txt"
    path.write_bytes(b"".join(b"line %d\n" % number for number in range(1, 11)))
    assert files.read_text(path, line=3, limit=2) == "line 3\nline 4\n"
    assert files.read_text(path, line=10) == "line 10\n"
    assert files.read_text(path, line=11) == ""
    assert files.read_text(path, line=2**32 - 1, limit=2**32 - 1) == ""
    assert files.read_text(path, limit=0) == ""
    assert files.read_text(path, limit=1) == "line 1\n"
    assert files.read_text(path, line=0, limit=1) == "line 1\n"


def test_text_is_read_as_it_is(files: LocalFiles, tmp_path: Path) -> None:
    """Ours: newlines stay, a mark is left out, bytes that are not text become U+FFFD."""
    path = tmp_path / "file.txt"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n\xff\xe2\x80\xa8d")
    assert files.read_text(path) == "a\r\nb\rc\n\ufffd\u2028d"
    assert files.read_text(path, line=1, limit=1) == "a\r\n"
    path.write_bytes(b"")
    assert files.read_text(path) == ""


@pytest.mark.rule("V1-FS-05")
def test_a_missing_file_is_its_own_error(files: LocalFiles, tmp_path: Path) -> None:
    """Spec: missing gets a code of its own, so it has a class of its own."""
    for act in (files.read_text, files.stat, files.delete):
        with pytest.raises(FileMissing, match=r"none\.txt"):
            act(tmp_path / "none.txt")
        with pytest.raises(FileMissing):
            act(tmp_path / "none" / "none.txt")
    with pytest.raises(FileMissing):
        files.move(tmp_path / "none.txt", tmp_path / "other.txt")


def test_reads_are_bounded(tmp_path: Path) -> None:
    """Design: a file must fit a frame; a part of a bigger one is fine."""
    files = LocalFiles([tmp_path], bytes_max=100)
    path = tmp_path / "big.txt"
    path.write_text("123456789\n" * 11)
    with pytest.raises(TooLarge, match="100") as caught:
        files.read_text(path)
    assert caught.value.bytes_max == 100
    with pytest.raises(TooLarge):
        files.read_text(path, limit=11)
    assert len(files.read_text(path, line=11)) == 10
    files.overlay.set(path, "x" * 101)
    with pytest.raises(TooLarge):
        files.read_text(path)
    files.overlay.drop(path)
    for content in ("x" * 101, "é" * 51):
        with pytest.raises(TooLarge):
            files.write_text(path, content)


def test_files_without_a_size_are_read(tmp_path: Path) -> None:
    """Ours: the files of /proc say 0 and have content."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("needs /proc")
    files = LocalFiles(["/proc"], bytes_max=10**6)
    assert files.read_text(f"/proc/{os.getpid()}/status").startswith("Name:")
    with pytest.raises(TooLarge):
        LocalFiles(["/proc"], bytes_max=10).read_text(f"/proc/{os.getpid()}/status")


@pytest.mark.rule("V1-FS-02")
def test_writing_creates_the_file_and_its_directories(files: LocalFiles, tmp_path: Path) -> None:
    """Spec: a write makes a missing file."""
    old = os.umask(0o027)
    try:
        files.write_text(tmp_path / "a" / "b" / "c.txt", "hello\n")
    finally:
        os.umask(old)
    path = tmp_path / "a" / "b" / "c.txt"
    assert path.read_bytes() == b"hello\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(path.parent) == ["c.txt"]
    with pytest.raises(FileMissing):
        files.write_text(f"{tmp_path}/new/../x.txt", "x")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o4755, 0o664])
def test_writing_keeps_mode_bits(mode: int, files: LocalFiles, tmp_path: Path) -> None:
    """Issue: atomic writes keep mode bits."""
    path = tmp_path / "script.sh"
    path.write_text("old")
    path.chmod(mode)
    files.write_text(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_writing_keeps_the_owner_where_it_may(
    files: LocalFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a root's editor must not take files away; who may not give them drops set-uid."""
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o4755)
    real = os.fstat

    def foreign(opened: int) -> os.stat_result:
        status = real(opened)
        if "accord-" in os.readlink(f"/proc/self/fd/{opened}"):
            return status
        fields = list(status)
        fields[4] += 1
        return os.stat_result(fields)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fstat", foreign)
    monkeypatch.setattr(os, "fchown", refuse)
    files.write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),
        (b"a\r\nb\n", "x\ny\n", b"x\ny\n"),
        (b"a\nb\n", "x\r\ny\r\n", b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", "x\r\ny\n", b"x\r\ny\n"),
        (b"\xef\xbb\xbfa\n", "x\n", b"\xef\xbb\xbfx\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffx\n", b"\xef\xbb\xbfx\n"),
        (b"caf\xe9", "cafe", b"cafe"),
    ],
)
def test_writing_keeps_newlines_and_mark(
    before: bytes, content: str, after: bytes, files: LocalFiles, tmp_path: Path
) -> None:
    """Issue: atomic writes keep newlines."""
    path = tmp_path / "file.txt"
    path.write_bytes(before)
    files.write_text(path, content)
    assert path.read_bytes() == after


def test_a_write_that_would_destroy_bytes_is_refused(files: LocalFiles, tmp_path: Path) -> None:
    """Ours: the writer never saw the bytes behind U+FFFD, so it cannot mean to replace them."""
    path = tmp_path / "latin.txt"
    path.write_bytes(b"caf\xe9")
    with pytest.raises(NotText, match="not UTF-8"):
        files.write_text(path, files.read_text(path) + "!")
    with pytest.raises(NotText, match="surrogate"):
        files.write_text(path, "\ud83d")
    assert path.read_bytes() == b"caf\xe9"
    assert os.listdir(tmp_path) == ["latin.txt"]


def test_a_link_at_the_end_is_followed_and_kept(files: LocalFiles, tmp_path: Path) -> None:
    """Ours: the link stays a link, also one whose target is not there yet."""
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link").symlink_to("real.txt")
    (tmp_path / "dangling").symlink_to("new.txt")
    files.write_text(tmp_path / "link", "new")
    files.write_text(tmp_path / "dangling", "made")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    assert (tmp_path / "new.txt").read_text() == "made"


def test_a_failing_write_leaves_the_old_file_and_no_other(
    files: LocalFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: atomic; a full disk costs nothing that was there."""
    path = tmp_path / "file.txt"
    path.write_text("old")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(FileFailure, match="No space left"):
            files.write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_a_file_that_may_not_be_written_is_not_replaced(
    files: LocalFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the directory would allow the rename, the file's own mode does not."""
    path = tmp_path / "readonly.txt"
    path.write_text("old")
    real = os.open

    def refuse(name: str, flags: int, *args: int, **kwargs: int) -> int:
        if flags & os.O_RDWR:
            raise PermissionError(13, "Permission denied")
        return real(name, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(AccessDenied):
        files.write_text(path, "new")
    assert path.read_text() == "old"


def test_a_running_program_can_be_replaced(
    files: LocalFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: its name can be given to a new file, though it cannot be opened for writing."""
    path = tmp_path / "program"
    path.write_text("old")
    real = os.open

    def busy(name: str, flags: int, *args: int, **kwargs: int) -> int:
        if flags & os.O_RDWR:
            raise OSError(26, "Text file busy")
        return real(name, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", busy)
    files.write_text(path, "new")
    assert path.read_text() == "new"


def test_synced_writes_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: `fsync=True` reaches the disk before the name changes."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    LocalFiles([tmp_path], fsync=True).write_text(tmp_path / "x", "y")
    assert len(synced) == 1


def test_deleting(files: LocalFiles, tmp_path: Path) -> None:
    """Ours: of a link the link; of a directory nothing."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "out").symlink_to("/etc/passwd")
    (tmp_path / "sub").mkdir()
    files.delete(tmp_path / "link")
    files.delete(tmp_path / "out")
    for directory in (tmp_path / "sub", tmp_path):
        with pytest.raises(NotAFile):
            files.delete(directory)
    assert sorted(os.listdir(tmp_path)) == ["file", "sub"]


def test_moving(files: LocalFiles, tmp_path: Path) -> None:
    """Ours: nothing is replaced unless that is asked for."""
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").write_text("x")
    (tmp_path / "l").symlink_to("a")
    files.move(tmp_path / "a", tmp_path / "new" / "a")
    with pytest.raises(AlreadyThere, match="b"):
        files.move(tmp_path / "new" / "a", tmp_path / "b")
    files.move(tmp_path / "new" / "a", tmp_path / "b", overwrite=True)
    files.move(tmp_path / "d", tmp_path / "e")
    files.move(tmp_path / "l", tmp_path / "m")
    assert (tmp_path / "b").read_text() == "a"
    assert (tmp_path / "e" / "x").read_text() == "x"
    assert (tmp_path / "m").is_symlink()
    (tmp_path / "f").mkdir()
    for target in ("e", "f", "."):
        with pytest.raises(AlreadyThere):
            files.move(tmp_path / "new", tmp_path / target)
    with pytest.raises(AlreadyThere, match="not empty"):
        files.move(tmp_path / "f", tmp_path / "e", overwrite=True)
    with pytest.raises(OutsideRoots):
        files.move(tmp_path / "b", tmp_path.parent / "stolen")


def test_moving_works_without_hard_links(
    files: LocalFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: some file systems have none."""

    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    (tmp_path / "a").write_text("a")
    files.move(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "a"


def test_stat_and_exists(files: LocalFiles, tmp_path: Path) -> None:
    """Ours: links are followed while they stay; outside is neither there nor missing."""
    (tmp_path / "file").write_text("four")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    info = files.stat(tmp_path / "link")
    assert (info.kind, info.size) == ("file", 4)
    assert info.modified_ns == (tmp_path / "file").stat().st_mtime_ns
    assert files.stat(tmp_path).kind == "directory"
    assert files.stat(tmp_path / "pipe").kind == "other"
    assert files.exists(tmp_path / "file")
    assert not files.exists(tmp_path / "none")
    with pytest.raises(OutsideRoots):
        files.exists("/etc/passwd")


def test_an_unknown_number_keeps_the_systems_words() -> None:
    """Ours: nothing is hidden behind `error`."""
    assert str(file_failure("/x", OSError(28, "No space left"))) == "/x: No space left"
    assert str(file_failure("/x", OSError())) == "/x: input/output error"


def test_a_write_goes_where_it_was_allowed_or_nowhere(tmp_path: Path) -> None:
    """Ours: links may be changed between the question and the write."""
    root = tmp_path.resolve()
    (root / "notes").mkdir()
    (root / "link").symlink_to(root / "notes")
    files = LocalFiles([root])
    files.write_text(root / "link" / "a", "x", at=str(root / "notes" / "a"))
    with pytest.raises(AccessDenied, match="it led to"):
        files.write_text(root / "link" / "a", "y", at=str(root / "other" / "a"))
    assert (root / "notes" / "a").read_text() == "x"
