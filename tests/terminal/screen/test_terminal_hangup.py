"""A terminal that is gone."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import anyio

from accord.terminal.screen.terminal_hangup import when_gone
from tests.hang_limit import HANG_SECONDS


async def test_a_waiting_task_is_told_once_that_the_terminal_is_gone() -> None:
    """Keys are none of its business."""
    outer, inner = pty.openpty()
    gone: list[bool] = []
    is_gone = anyio.Event()

    def act() -> None:
        gone.append(True)
        is_gone.set()

    when_gone(inner, act)
    os.write(outer, b"key\n")
    assert os.read(inner, 10) == b"key\n"
    await anyio.wait_all_tasks_blocked()
    assert gone == []
    os.close(outer)
    with anyio.fail_after(HANG_SECONDS):
        await is_gone.wait()
    await anyio.wait_all_tasks_blocked()
    assert gone == [True]
    os.close(inner)


async def test_a_file_is_never_gone(tmp_path: Path) -> None:
    """A descriptor that is not a terminal is left alone."""
    with (tmp_path / "file").open("w") as file:
        when_gone(file.fileno(), lambda: None)


def test_the_program_ends_when_its_terminal_goes_though_no_signal_tells_it(tmp_path: Path) -> None:
    """Without it, it would read from nothing as quickly as it can, forever."""
    outer, inner = pty.openpty()
    # In a session of its own, of which this is not the terminal: so no signal comes.
    program = subprocess.Popen(
        [sys.executable, "-m", "accord", "chat"],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        cwd=tmp_path,
        start_new_session=True,
        env={
            **os.environ,
            "TERM": "xterm-256color",
            "HOME": str(tmp_path),
            "ACCORD_CONFIG_DIR": str(tmp_path / "config"),
            "ACCORD_STATE_DIR": str(tmp_path / "state"),
        },
    )
    os.close(inner)
    try:
        drawn = b""
        while b"Ready" not in drawn:
            assert select.select([outer], [], [], HANG_SECONDS)[0], drawn
            drawn += os.read(outer, 1 << 16)
        os.close(outer)
        assert program.wait(HANG_SECONDS) != 0
    finally:
        program.kill()
        program.wait()
