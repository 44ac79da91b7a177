"""Writing the prompt in another program."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.app import App, SuspendNotSupported

from accord.terminal.model.prompt.content_blocks import PromptError
from accord.terminal.screen.prompt.prompt_in_editor import edit_outside


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
