"""A file in the user's editor: only what is in the session's folders, and nothing breaks."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from accord.terminal.screen.file_in_editor import lend_terminal, open_in_editor
from tests.hang_limit import HANG_SECONDS
from tests.terminal.screen.harness.inspector_stage import Bench


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a file, a folder and a pipe."""
    (tmp_path / "x.py").write_text("x\n")
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


async def test_only_files_of_the_session_are_opened(project: Path) -> None:
    """Ours: an agent chose the name."""
    app = Bench()
    roots = [str(project)]
    async with app.run_test():
        assert "outside" in open_in_editor(app, "/etc/passwd", 1, roots, ("vi",))
        assert "is not a file" in open_in_editor(app, str(project / "sub"), 1, roots, ("vi",))
        assert "is not a file" in open_in_editor(app, str(project / "pipe"), 1, roots, ("vi",))
        assert "Cannot open" in open_in_editor(app, "nowhere.py", 1, roots, ("vi",))


async def test_an_editor_with_a_window_is_started_and_not_waited_for(project: Path) -> None:
    """Ours."""
    program, asked = project / "code", project / "asked"
    os.mkfifo(asked)
    program.write_text(f'#!/bin/sh\necho "$@" > {asked}\n')
    program.chmod(0o755)
    app = Bench()
    async with app.run_test():
        assert open_in_editor(app, "x.py", 3, [str(project)], (str(program),)) == ""
        with anyio.fail_after(HANG_SECONDS):
            told = await anyio.to_thread.run_sync(asked.read_text, abandon_on_cancel=True)
    assert told == f"-g {project}/x.py:3\n"


async def test_what_cannot_be_is_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a screen that is tested cannot be lent, and a program may be missing."""
    app = Bench()
    async with app.run_test() as pilot:
        assert "cannot run an editor" in await lend_terminal(app, ["true"])
        assert open_in_editor(app, "x.py", 3, [str(project)], ("vi",)) == ""
        await app.workers.wait_for_complete()
        await pilot.pause()
        missing = (str(project / "none" / "code"),)
        assert "Cannot start" in open_in_editor(app, "x.py", 3, [str(project)], missing)
        for name in ("VISUAL", "EDITOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PATH", str(project))
        assert "No editor" in open_in_editor(app, "x.py", 3, [str(project)])
    assert app.told == ["This terminal cannot run an editor."]
