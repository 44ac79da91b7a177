"""Permission requests as text and diffs: who asks, and what would happen.

This module does not know any screen; the dialog and the line mode say the same.
`permission_options.py` has the answers.

Invariants
    * What is shown of a command or a path is all of it: characters that a terminal would not draw
      are written out, so that nothing can hide in them.
    * For a diff only a regular file is read, and no more of it than `READ_BYTES_MAX`; where that
      cannot be, all of the new text is shown as added.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from accord.client.permissions.path_and_host_patterns import beneath, place
from accord.client.permissions.request import PermissionRequest
from accord.client.permissions.tool_call_input import untold_input
from accord.machine.console.control_characters import visible
from accord.schema.codec import Invalid, to_python
from accord.terminal.model.text.display_text import exact, exact_line, one_line
from accord.transcript.items.tool_call import FileDiff

FactKind: TypeAlias = Literal["text", "command", "path", "json", "warning"]

PATHS_SHOWN_MAX = 256
"""The maximum number of paths that are shown for one request; the rest is counted."""

SHOWN_CHARACTERS_MAX = 100_000
"""The maximum length of a command or of tool arguments; the middle of a longer text is counted."""

TELLING_LINES_MIN = 6
TELLING_CHARACTERS_MIN = 500
"""A longer command is shown with its length."""

READ_BYTES_MAX = 4 * 1024 * 1024
"""The maximum size of a file with which a write is compared."""

OUTSIDE = "outside the project"
_UNREADABLE = object()
_OWN = {
    "read": "Accord asks because the agent did not ask before reading.",
    "write": "Accord asks because the agent did not ask before writing.",
    "terminal": "Accord asks because the agent did not ask before running this.",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact about what would happen."""

    label: str
    text: str
    kind: FactKind = "text"
    # Lines in the middle of the text that are not in it.
    left_out: int = 0


# ---- the request


def who_asks(request: PermissionRequest, agent_name: str) -> str:
    """A sentence that says who asks for permission."""
    if request.approved_call is not None:
        title = one_line(request.approved_call) or "another call"
        return f"Accord asks: “{title}” was allowed, but that does not cover this."
    own = _OWN.get(request.origin)
    return own or f"{one_line(agent_name) or 'The agent'} asks for permission."


def facts_of(
    request: PermissionRequest, folder: str, add_dirs: Sequence[str] = ()
) -> tuple[Fact, ...]:
    """The facts of a request; never empty."""
    found: list[Fact] = []
    if request.command is not None:
        found.append(_whole_fact("Command", request.command, "command"))
        length = length_words(request.command)
        found += [Fact("Length", length)] if length else []
        found.append(Fact("In", _folder_words(request.cwd, folder, add_dirs)))
    label = "File" if len(request.paths) == 1 else "Files"
    for path in request.paths[:PATHS_SHOWN_MAX]:
        found.append(Fact(label, path_words(path, folder, add_dirs), "path"))
        label = ""
    if len(request.paths) > PATHS_SHOWN_MAX:
        found.append(Fact("", f"and {len(request.paths) - PATHS_SHOWN_MAX} more", "warning"))
    given = _given(request)
    if url := _address(given):
        found.append(_whole_fact("Address", url, "command"))
    found += [Fact("Host", exact_line(host)) for host in request.hosts]
    if request.mcp_tool is not None:
        server, slash, tool = request.mcp_tool.partition("/")
        server, name = exact_line(server), exact_line(tool if slash else request.mcp_tool)
        words = f"{name} of {server}" if slash else name
        found.append(Fact("MCP tool", words))
    found += _arguments(request, given, everything=request.mcp_tool is not None or not found)
    call = request.tool_call
    if not found and not (call is not None and (call.diffs or call.text)):
        found.append(Fact("", "The agent does not say what exactly it would do.", "warning"))
    return tuple(found)


def _given(request: PermissionRequest) -> object:
    """The input of the tool call, as values; `_UNREADABLE` where it has none of these."""
    call = request.tool_call
    try:
        return None if call is None or call.raw_input is None else to_python(call.raw_input)
    except Invalid:
        return _UNREADABLE


def _address(given: object) -> str:
    """The page that would be fetched."""
    url = given.get("url") if isinstance(given, dict) else None
    return url if isinstance(url, str) else ""


def _arguments(request: PermissionRequest, given: object, *, everything: bool) -> list[Fact]:
    """What the tool is given; where other facts tell a part of it, the rest."""
    call = request.tool_call
    if call is None or given is None:
        return []
    if given is _UNREADABLE:
        return [Fact("Arguments", "unreadable", "warning")]
    if not everything:
        if call.diffs:
            # A change that is shown is the input of the tool that makes it.
            return []
        told = {request.title, request.reason or "", _address(given), *request.paths}
        if isinstance(given, dict):
            given = untold_input(given, request, told)
        if not given or (isinstance(given, str) and given in told):
            return []
    text = json.dumps(given, indent=2, ensure_ascii=False)
    return [_whole_fact("Arguments", text, "json")]


def _whole_fact(label: str, text: str, kind: FactKind) -> Fact:
    return Fact(label, whole(text), kind, lines_left_out(text))


def lines_left_out(text: str) -> int:
    """How many lines `whole` leaves out."""
    half = SHOWN_CHARACTERS_MAX // 2
    return text.count("\n", half, len(text) - half) if len(text) > SHOWN_CHARACTERS_MAX else 0


def whole(text: str) -> str:
    """All of a text, exactly; of one that no person can read, the beginning and the end."""
    if len(text) <= SHOWN_CHARACTERS_MAX:
        return exact(text)
    half = SHOWN_CHARACTERS_MAX // 2
    left_out = f"⟨{len(text) - 2 * half:,} characters not shown⟩"
    return f"{exact(text[:half])}\n{left_out}\n{exact(text[-half:])}"


def length_words(text: str) -> str:
    """How long a text is, and how much of it is blank; nothing if it is seen at a glance."""
    lines = text.removesuffix("\n").split("\n")
    if len(lines) < TELLING_LINES_MIN and len(text) < TELLING_CHARACTERS_MIN:
        return ""
    blank = sum(not visible(line).strip() for line in lines)
    words = "1 line" if len(lines) == 1 else f"{len(lines):,} lines"
    if blank:
        words += f", {blank:,} of them blank"
    return f"{words}, {len(text):,} characters"


def _folder_words(cwd: str | None, folder: str, add_dirs: Sequence[str]) -> str:
    # Not every text is a path; of one that is none nothing can be said.
    placed = None if cwd is None else place(cwd, folder)
    if cwd is None or (placed is not None and placed.real == os.path.realpath(folder)):
        return f"{exact_line(folder)} (this project)"
    return path_words(cwd, folder, add_dirs)


def path_words(path: str, folder: str, add_dirs: Sequence[str] = ()) -> str:
    """A path as the user knows it: from the folder on, and marked where it is outside of all."""
    placed = place(path, folder)
    if placed is None:
        return f"{exact_line(path)} ({OUTSIDE}, as far as Accord can tell)"
    home = os.path.realpath(folder)
    shown = path
    if os.path.isabs(path) and beneath(placed.spelled, os.path.normpath(folder)):
        shown = os.path.relpath(placed.spelled, os.path.normpath(folder))
    if any(beneath(placed.real, os.path.realpath(root)) for root in (home, *add_dirs)):
        return exact_line(shown)
    really = "" if placed.real == placed.spelled else f", actually {exact_line(placed.real)}"
    return f"{exact_line(shown)} ({OUTSIDE}{really})"


def names_path(title: str, path: str) -> bool:
    """Whether a title has this path as a word of its own: `src/old.txt` does not name `src`."""
    return re.search(rf"(?<![^\s`'\"(“]){re.escape(path)}(?![^\s`'\")”,:;])", title) is not None


def described(
    request: PermissionRequest, agent_name: str, folder: str, add_dirs: Sequence[str] = ()
) -> tuple[str, ...]:
    """The question as lines of plain text, without what the tool call itself shows."""
    lines = [who_asks(request, agent_name), one_line(request.title)]
    if request.reason:
        lines += [f"Why: {visible(request.reason).strip()}"]
    for fact in facts_of(request, folder, add_dirs):
        lines.append(f"{fact.label}: {fact.text}" if fact.label else fact.text)
    return tuple(lines)


# ---- the changes


def asked_changes(request: PermissionRequest) -> Sequence[FileDiff]:
    """Return the diffs of the request, or the diff of a write with the current file."""
    if request.tool_call is not None:
        return request.tool_call.diffs
    if request.new_text is None or not request.paths:
        return ()
    path = request.paths[0]
    return (FileDiff(path, old_text=_read(path), new_text=request.new_text),)


def _read(path: str) -> str | None:
    try:
        # Never blocks, whatever kind of file it is.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            data = file.read(READ_BYTES_MAX + 1)
        return None if len(data) > READ_BYTES_MAX else data.decode("utf-8")
    except (OSError, ValueError):
        return None


__all__ = [
    "OUTSIDE",
    "Fact",
    "FactKind",
    "asked_changes",
    "described",
    "exact",
    "facts_of",
    "length_words",
    "lines_left_out",
    "names_path",
    "path_words",
    "who_asks",
    "whole",
]
