"""Find the user's editor, and build the command that opens a file at a line.

This module does not start anything.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence

from accord.machine.processes.program_lookup import find_program

# Editors with a window of their own, which we do not wait for.
WINDOWED = frozenset(
    [
        "code",
        "code-insiders",
        "code-oss",
        "codium",
        "vscodium",
        "cursor",
        "windsurf",
        "zed",
        "zeditor",
        "subl",
        "sublime_text",
        "atom",
        "gvim",
        "mvim",
        "gedit",
        "gnome-text-editor",
        "kate",
        "mate",
        "pycharm",
        "idea",
        "idea64",
        "webstorm",
        "goland",
        "clion",
        "rider",
        "rubymine",
        "phpstorm",
        "fleet",
        "mousepad",
        "xed",
        "geany",
        "notepad",
        "notepad++",
    ]
)
_PLUS = frozenset(
    [
        "vi",
        "vim",
        "nvim",
        "view",
        "ex",
        "gvim",
        "mvim",
        "vimx",
        "elvis",
        "nano",
        "pico",
        "rnano",
        "emacs",
        "emacsclient",
        "mg",
        "jed",
        "joe",
        "jmacs",
        "jstar",
        "jpico",
        "ne",
        "kak",
        "micro",
        "less",
        "most",
        "more",
        "mcedit",
        "gedit",
        "gnome-text-editor",
        "xed",
        "mousepad",
        "geany",
        "e3",
        "zile",
        "amp",
    ]
)
_GOTO = frozenset(["code", "code-insiders", "code-oss", "codium", "vscodium", "cursor", "windsurf"])
_COLON = frozenset(["hx", "helix", "zed", "zeditor", "subl", "sublime_text", "atom", "lapce"])
_LINE_WORD = frozenset(
    ["pycharm", "idea", "idea64", "webstorm", "goland", "clion", "rider", "rubymine", "phpstorm"]
)
_SHORT_LINE = frozenset(["kate", "mate"])
_FALLBACKS = ("sensible-editor", "nano", "vim", "vi")
NO_EDITOR = "No editor found; set $EDITOR."


def chosen_editor(setting: Sequence[str] | None, environ: Mapping[str, str]) -> list[str] | None:
    """The editor's command: by the settings, $VISUAL, $EDITOR, or an installed one."""
    if setting:
        return list(setting)
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environ.get(name, ""))
        except ValueError:
            # A quote that is not closed.
            words = []
        if words:
            return words
    path = environ.get("PATH")
    for name in _FALLBACKS:
        if find_program(name, path):
            return [name]
    return None


def _name(editor: Sequence[str]) -> str:
    name = os.path.basename(editor[0].replace("\\", "/")).lower()
    for ending in (".exe", ".cmd", ".sh"):
        name = name.removesuffix(ending)
    return name


def has_window(editor: Sequence[str]) -> bool:
    """Whether the editor has a window of its own."""
    return _name(editor) in WINDOWED


def editor_command(editor: Sequence[str], path: str, line: int | None = None) -> list[str]:
    """The command that opens a file, at a line if the editor supports it."""
    name = _name(editor)
    if line is None or line < 1:
        return [*editor, path]
    if name in _GOTO:
        return [*editor, "-g", f"{path}:{line}"]
    if name in _COLON:
        return [*editor, f"{path}:{line}"]
    if name in _LINE_WORD:
        return [*editor, "--line", str(line), path]
    if name in _SHORT_LINE:
        return [*editor, "-l", str(line), path]
    if name in _PLUS:
        return [*editor, f"+{line}", path]
    return [*editor, path]
