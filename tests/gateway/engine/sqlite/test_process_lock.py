"""One process uses a gateway's file, until it ends, however it ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from accord.errors import StoreError
from accord.gateway.engine.sqlite.process_lock import lock, unlock
from tests.hang_limit import HANG_SECONDS

HOLDER = """
import sys
from pathlib import Path
from accord.gateway.engine.sqlite.process_lock import lock

descriptor = lock(Path(sys.argv[1]))
print("has it", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_told_who_has_the_file(tmp_path: Path) -> None:
    """Issue 17: a clear sentence; and kill -9 frees it."""
    path = tmp_path / "new" / "gateway.sqlite3"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "has it\n"
        with pytest.raises(StoreError) as raised:
            lock(path)
        assert str(raised.value) == (
            f"{path} is in use by another gateway (pid {other.pid}): stop that one first, or choose"
            " another file for this one"
        )
        assert raised.value.reason == "store_in_use"
        other.kill()
        other.wait(HANG_SECONDS)
    unlock(lock(path))
    unlock(lock(path))


def test_a_lock_without_a_number_is_one_all_the_same(tmp_path: Path) -> None:
    """Ours: the other process may not have written it yet."""
    path = tmp_path / "g"
    descriptor = lock(path)
    os.ftruncate(descriptor, 0)
    with pytest.raises(StoreError, match="in use by another gateway: stop"):
        lock(path)
    unlock(descriptor)


def test_a_place_without_a_folder_is_explained(tmp_path: Path) -> None:
    """Ours: as a store explains it."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"or choose a writable folder") as raised:
        lock(tmp_path / "file" / "g")
    assert raised.value.reason == "store_unreachable"


def test_a_lock_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    """Ours: a link in its place must not empty another file."""
    (tmp_path / "mine").write_text("text")
    (tmp_path / ".g.lock").symlink_to("mine")
    with pytest.raises(StoreError):
        lock(tmp_path / "g")
    assert (tmp_path / "mine").read_text() == "text"


def test_a_disk_that_is_full_frees_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the number does not fit; the next attempt is not refused because of this one."""

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(StoreError) as raised:
            lock(tmp_path / "g")
        assert raised.value.reason == "store_full"
    unlock(lock(tmp_path / "g"))
