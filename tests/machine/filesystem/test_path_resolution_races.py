"""An attacker who swaps links while we read and write gets nothing.

The other way, resolving the path and comparing its beginning, loses this in some of a hundred
tries.  Counts are bounded; no time is measured.
"""

import ctypes
import errno
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from accord.machine.errors import FileFailure
from accord.machine.filesystem import openat2
from accord.machine.filesystem.local_files import LocalFiles
from tests.hang_limit import HANG_SECONDS

TRIES = 1500
AT_FDCWD = -100
RENAME_EXCHANGE = 2


@pytest.fixture(params=["openat2", "walk"], autouse=True)
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of opening must hold."""
    if request.param == "walk":

        def missing(*_: object, **__: object) -> int:
            raise OSError(errno.ENOSYS, "not here")

        monkeypatch.setattr(openat2, "open_resolved", missing)


class Attacker(threading.Thread):
    """Lets `root/door` be, in turn, a directory inside and a link to the directory outside."""

    def __init__(self, root: Path, outside: Path) -> None:
        super().__init__(daemon=True)
        self.swaps = 0
        self._door, self._other = os.fsencode(root / "door"), os.fsencode(root / "other")
        os.symlink(outside, self._other)
        self._stop_asked = threading.Event()
        try:
            self._rename = ctypes.CDLL(None).renameat2
        except AttributeError:
            pytest.skip("the system cannot exchange two names at once")

    def run(self) -> None:
        while not self._stop_asked.is_set():
            if self._rename(AT_FDCWD, self._door, AT_FDCWD, self._other, RENAME_EXCHANGE) == 0:
                self.swaps += 1

    def stop(self) -> None:
        self._stop_asked.set()
        self.join(HANG_SECONDS)


@pytest.fixture
def quick_switching() -> Iterator[None]:
    """Let threads change places as often as the interpreter can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.rule("V1-SESS-13", "V1-SESS-18")
@pytest.mark.usefixtures("quick_switching")
def test_swapping_a_directory_for_a_link_never_gets_out(tmp_path: Path) -> None:
    """Spec: root checks resist link escapes; issue: no race between check and use."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "door").mkdir(parents=True)
    outside.mkdir()
    (root / "door" / "file.txt").write_text("inside")
    (outside / "file.txt").write_text("secret")
    files = LocalFiles([root])
    attacker = Attacker(root, outside)
    attacker.start()
    path = root / "door" / "file.txt"
    seen: dict[str, int] = {}
    try:
        for number in range(TRIES):
            try:
                if number % 3 == 0:
                    files.write_text(path, "inside")
                    outcome = "written"
                else:
                    outcome = files.read_text(path)
            except FileFailure:
                outcome = "refused"
            seen[outcome] = seen.get(outcome, 0) + 1
    finally:
        attacker.stop()
    assert set(seen) <= {"inside", "written", "refused"}, seen
    assert attacker.swaps > 0
    assert seen.get("inside", 0) + seen.get("written", 0) > 0
    assert (outside / "file.txt").read_text() == "secret"
    assert os.listdir(outside) == ["file.txt"]


@pytest.mark.rule("V1-SESS-13", "V1-SESS-18")
@pytest.mark.usefixtures("quick_switching")
def test_swapping_the_target_of_a_link_never_gets_out(tmp_path: Path) -> None:
    """Spec: the same with a link that points inside and outside in turn."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "inner").mkdir(parents=True)
    outside.mkdir()
    (root / "inner" / "file.txt").write_text("inside")
    (outside / "file.txt").write_text("secret")
    (root / "door").symlink_to("inner")
    stop = threading.Event()

    def attack() -> None:
        targets = ["inner", str(outside), str(root / "inner"), "../outside"]
        number = 0
        while not stop.is_set():
            os.symlink(targets[number % 4], root / "next")
            os.rename(root / "next", root / "door")
            number += 1

    attacker = threading.Thread(target=attack, daemon=True)
    attacker.start()
    files = LocalFiles([root])
    outcomes = set()
    try:
        for number in range(TRIES):
            try:
                if number % 3 == 0:
                    files.write_text(root / "door" / "file.txt", "inside")
                elif number % 7 == 0:
                    files.delete(root / "door" / "doomed.txt")
                else:
                    outcomes.add(files.read_text(root / "door" / "file.txt"))
            except FileFailure:
                outcomes.add("refused")
    finally:
        stop.set()
        attacker.join(HANG_SECONDS)
    assert outcomes <= {"inside", "refused"}
    assert (outside / "file.txt").read_text() == "secret"
    assert os.listdir(outside) == ["file.txt"]


@pytest.mark.usefixtures("quick_switching")
def test_a_reader_never_sees_half_a_write(tmp_path: Path) -> None:
    """Issue: writes are atomic."""
    files = LocalFiles([tmp_path])
    path = tmp_path / "file.txt"
    versions = ["a" * 100_000, "b" * 50_000]
    files.write_text(path, versions[0])
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            files.write_text(path, versions[number % 2])
            number += 1

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        assert all(files.read_text(path) in versions for _ in range(300))
    finally:
        stop.set()
        writer.join(HANG_SECONDS)
    assert os.listdir(tmp_path) == ["file.txt"]
