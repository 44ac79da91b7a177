"""Editors are told the line in their own way."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.terminal.model.external_editors import chosen_editor, editor_command, has_window


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        (["vim"], ["vim", "+7", "/x/a.py"]),
        (["/usr/bin/nvim", "-R"], ["/usr/bin/nvim", "-R", "+7", "/x/a.py"]),
        (["nano"], ["nano", "+7", "/x/a.py"]),
        (["emacsclient", "-t"], ["emacsclient", "-t", "+7", "/x/a.py"]),
        (["code", "--wait"], ["code", "--wait", "-g", "/x/a.py:7"]),
        (["Code.exe"], ["Code.exe", "-g", "/x/a.py:7"]),
        (["hx"], ["hx", "/x/a.py:7"]),
        (["subl"], ["subl", "/x/a.py:7"]),
        (["zed"], ["zed", "/x/a.py:7"]),
        (["pycharm"], ["pycharm", "--line", "7", "/x/a.py"]),
        (["kate"], ["kate", "-l", "7", "/x/a.py"]),
        (["my-editor"], ["my-editor", "/x/a.py"]),
    ],
)
def test_a_file_is_opened_at_its_line(editor: list[str], words: list[str]) -> None:
    """Issue 6: open at line in $EDITOR."""
    assert editor_command(editor, "/x/a.py", 7) == words
    assert editor_command(editor, "/x/a.py") == [*editor, "/x/a.py"]
    assert editor_command(editor, "/x/a.py", 0) == [*editor, "/x/a.py"]


def test_the_editor_is_the_persons_choice(tmp_path: Path) -> None:
    """Ours: settings first, then $VISUAL, then $EDITOR, then what is there."""
    both = {"VISUAL": "code --wait", "EDITOR": "vi", "PATH": str(tmp_path)}
    assert chosen_editor(("hx",), both) == ["hx"]
    assert chosen_editor(None, both) == ["code", "--wait"]
    assert chosen_editor((), {**both, "VISUAL": "'broken"}) == ["vi"]
    assert chosen_editor(None, {"PATH": str(tmp_path)}) is None
    (tmp_path / "nano").write_text("#!/bin/sh\n")
    (tmp_path / "nano").chmod(0o755)
    assert chosen_editor(None, {"PATH": str(tmp_path)}) == ["nano"]


def test_an_editor_with_a_window_needs_no_terminal() -> None:
    """Ours: the screen stays."""
    assert has_window(["/opt/bin/code", "-w"])
    assert not has_window(["vim"])
