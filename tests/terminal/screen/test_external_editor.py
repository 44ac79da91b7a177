"""A file in the user's editor: only what is in the session's folders, and nothing breaks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from textual.app import App, SuspendNotSupported

from accord.terminal.model.prompt.content_blocks import PromptError
from accord.terminal.screen.external_editor import edit_outside, lend_terminal, open_in_editor
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


class Lent(App[None]):
    """An application whose terminal can be lent."""

    was_lent = False

    @contextmanager
    def suspend(self) -> Iterator[None]:
        self.was_lent = True
        yield


def _program(folder: Path, code: str) -> list[str]:
    path = folder / "editor.py"
    path.write_text(f"import os, sys\npath = sys.argv[-1]\n{code}\n")
    return [sys.executable, str(path)]


async def test_the_text_goes_out_in_a_private_file_and_comes_back(tmp_path: Path) -> None:
    """Issue 6: external editor in a suspended screen."""
    code = """
note = open(os.environ["NOTE"], "w")
modes = [oct(os.stat(one).st_mode & 0o777) for one in (path, os.path.dirname(path))]
print(path, *modes, file=note)
text = open(path, encoding="utf-8").read().rstrip()
open(path, "w", encoding="utf-8").write(text + " and 漢字\\n")
"""
    app = Lent()
    note = tmp_path / "note"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NOTE", str(note))
        assert await edit_outside(app, "one", _program(tmp_path, code)) == "one and 漢字"
    assert app.was_lent
    path, mode, folder_mode = note.read_text().split()
    assert (mode, folder_mode) == ("0o600", "0o700")
    assert not Path(path).exists()


async def test_what_goes_wrong_is_said_and_the_prompt_stays(tmp_path: Path) -> None:
    """Ours."""
    app = Lent()
    for code, words in (
        ("sys.exit(3)", "exited with code 3"),
        ("os.remove(path)", "file no longer exists"),
    ):
        with pytest.raises(PromptError, match=words):
            await edit_outside(app, "one", _program(tmp_path, code))
    with pytest.raises(PromptError, match="could not be started"):
        await edit_outside(app, "one", [str(tmp_path / "no such editor")])


async def test_a_terminal_that_cannot_be_lent_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: in a browser, for one."""

    def refuse(self: object) -> None:
        raise SuspendNotSupported

    monkeypatch.setattr(Lent, "suspend", refuse)
    with pytest.raises(PromptError, match="cannot run another program"):
        await edit_outside(Lent(), "one", ["vi"])
