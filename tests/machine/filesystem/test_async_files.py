"""The async front: the same results, in the loop's thread or in another."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from accord.machine.errors import OutsideRoots
from accord.machine.filesystem import newline_style
from accord.machine.filesystem.async_files import INLINE_BYTES_MAX, Files
from tests.hang_limit import HANG_SECONDS

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("inline_bytes_max", [0, INLINE_BYTES_MAX])
async def test_the_async_front_does_the_same(inline_bytes_max: int, tmp_path: Path) -> None:
    """Ours: where the work runs makes no difference."""
    with anyio.fail_after(HANG_SECONDS):
        files = Files([tmp_path], inline_bytes_max=inline_bytes_max)
        await files.write_text(tmp_path / "a", "one\ntwo\n")
        assert await files.read_text(tmp_path / "a", line=2) == "two\n"
        await files.write_text(tmp_path / "big", "x" * 200_000)
        assert await files.read_text(tmp_path / "big") == "x" * 200_000
        await files.move(tmp_path / "a", tmp_path / "b")
        assert (await files.stat(tmp_path / "b")).size == 8
        files.overlay.set(tmp_path / "b", "unsaved")
        assert await files.read_text(tmp_path / "b") == "unsaved"
        await files.delete(tmp_path / "b")
        assert not await files.exists(tmp_path / "b")
        with pytest.raises(OutsideRoots):
            await files.read_text("/etc/passwd")
        assert files.roots.directories == (str(tmp_path),)


async def test_small_reads_stay_in_the_thread_and_big_ones_leave_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a big file must not hold up the loop."""
    readers: list[bool] = []
    real = newline_style.decode_text
    loop_thread = threading.get_ident()

    def noting(data: bytes, *, from_start: bool) -> str:
        readers.append(threading.get_ident() == loop_thread)
        return real(data, from_start=from_start)

    monkeypatch.setattr("accord.machine.filesystem.local_files.decode_text", noting)
    (tmp_path / "small").write_text("x")
    (tmp_path / "big").write_text("x" * (INLINE_BYTES_MAX + 1))
    files = Files([tmp_path])
    with anyio.fail_after(HANG_SECONDS):
        await files.read_text(tmp_path / "small")
        await files.read_text(tmp_path / "big")
    assert readers == [True, False]


async def test_a_cancelled_read_closes_what_it_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: also when the thread never started."""
    (tmp_path / "big").write_text("x" * (INLINE_BYTES_MAX + 1))
    files = Files([tmp_path])
    closed: list[int] = []
    real = os.close

    def noting(opened: int) -> None:
        closed.append(opened)
        real(opened)

    async def never(_: Callable[[], str]) -> str:
        await anyio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(to_thread, "run_sync", never)
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(files.read_text, tmp_path / "big")
            await anyio.wait_all_tasks_blocked()
            monkeypatch.setattr(os, "close", noting)
            tasks.cancel_scope.cancel()
    monkeypatch.undo()
    assert len(closed) >= 1
