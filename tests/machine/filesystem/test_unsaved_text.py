"""Unsaved buffers: reads see them, writes drop or update them."""

from pathlib import Path

import pytest

from accord.machine.errors import FileMissing, OutsideRoots
from accord.machine.filesystem.local_files import LocalFiles
from accord.machine.filesystem.unsaved_text import Overlay


@pytest.fixture
def files(tmp_path: Path) -> LocalFiles:
    """Files beneath an empty directory."""
    return LocalFiles([tmp_path])


@pytest.mark.rule("V1-FS-03")
def test_reads_see_unsaved_buffers(files: LocalFiles, tmp_path: Path) -> None:
    """Spec: reads include unsaved editor content, also through a link, also of a new file."""
    (tmp_path / "file.txt").write_text("disk")
    (tmp_path / "link").symlink_to("file.txt")
    files.overlay.set(tmp_path / "link", "one\ntwo\nthree")
    files.overlay.set(tmp_path / "new.txt", "unsaved")
    files.overlay.set("/etc/passwd", "a buffer that the agent may not see")
    assert files.read_text(tmp_path / "file.txt") == "one\ntwo\nthree"
    assert files.read_text(tmp_path / "link", line=2, limit=1) == "two\n"
    assert files.read_text(tmp_path / "new.txt") == "unsaved"
    with pytest.raises(OutsideRoots):
        files.read_text("/etc/passwd")
    with pytest.raises(FileMissing):
        files.read_text(tmp_path / "none" / "none.txt")
    assert tmp_path / "link" in files.overlay


def test_writing_drops_or_updates_the_buffer(tmp_path: Path) -> None:
    """Ours: an editor decides; without a say the disk wins."""
    plain = LocalFiles([tmp_path])
    plain.overlay.set(tmp_path / "a", "old")
    plain.write_text(tmp_path / "a", "written")
    assert len(plain.overlay) == 0
    heard: list[tuple[str, str]] = []

    def keep(path: str, text: str) -> str:
        heard.append((path, text))
        return text.upper()

    asking = LocalFiles([tmp_path], overlay=Overlay(on_write=keep))
    asking.overlay.set(tmp_path / "a", "old")
    asking.write_text(tmp_path / "a", "written")
    asking.write_text(tmp_path / "other", "not buffered")
    assert heard == [(str((tmp_path / "a").resolve()), "written")]
    assert asking.read_text(tmp_path / "a") == "WRITTEN"
    asking.move(tmp_path / "a", tmp_path / "b")
    assert asking.read_text(tmp_path / "b") == "WRITTEN"
    asking.delete(tmp_path / "b")
    assert len(asking.overlay) == 0
