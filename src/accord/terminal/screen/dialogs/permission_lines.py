"""A permission request as lines: why, and what would happen.

Must not know the dialog; every text of the agent is cleaned here or in the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.style import Style
from textual.strip import Strip

from accord.client.asking import PermissionRequest
from accord.terminal.model.asked_changes import asked_changes
from accord.terminal.model.chat import Chat
from accord.terminal.model.text.cleaning import one_line
from accord.terminal.model.text.diff_lines import FileChange, change_of
from accord.terminal.model.words.permission_words import Fact, facts_of
from accord.terminal.render.block import fitted, indented, strip_of, wrapped
from accord.terminal.render.diff import diff_lines, more_line, summary_line
from accord.terminal.render.look import Look
from accord.terminal.render.markdown import MarkdownLines
from accord.transcript.tool_call import FileDiff

TEXT_CHARACTERS_MAX = 50_000
"""Of a reason, or of what the tool call says; the rest is counted."""

DIFF_LINES_MAX = 2000
"""Lines of the change of one file; of more it is said how many there are."""
QUICK_LINES_MAX = 100
"""Of a longer change the beginning is shown at once, and the rest a moment later."""
DIFFS_MAX = 50

_INDENT = 2


def body_of(
    request: PermissionRequest, chat: Chat, look: Look, limit: int = DIFF_LINES_MAX
) -> list[Strip]:
    """All that is known, the most important first; of a change so many lines."""
    lines = text_lines(_title(request), look, look.palette.strong) if _title(request) else []
    facts = facts_of(request, chat.folder, chat.roots)
    lines += facts_lines(facts, look)
    call = request.tool_call
    if request.reason:
        lines += [Strip.blank(0), *_said(request.reason, look)]
    diffs = asked_changes(request)
    for diff in diffs[:DIFFS_MAX]:
        lines += [Strip.blank(0), *_diff(diff, look, chat, limit)]
    if len(diffs) > DIFFS_MAX:
        more = f"and {len(diffs) - DIFFS_MAX} files more"
        lines += [Strip.blank(0), strip_of((more, look.palette.warning))]
    if call is not None and call.text and call.text.strip() != (request.reason or "").strip():
        lines += [Strip.blank(0), *_said(call.text, look)]
    return fitted(lines, look.width)


def _title(request: PermissionRequest) -> str:
    """The title, where it says more than the command that stands beneath it."""
    title = one_line(request.title)
    command = None if request.command is None else one_line(request.command)
    return "" if title.removeprefix("Run ").strip("`") == command else title


def is_quick(request: PermissionRequest) -> bool:
    """Whether all of it can be drawn without anybody noticing how long that takes."""
    texts = (
        text for one in asked_changes(request) for text in (one.old_text, one.new_text, one.patch)
    )
    return sum(text.count("\n") for text in texts if text) <= QUICK_LINES_MAX


def _diff(diff: FileDiff, look: Look, chat: Chat, limit: int) -> list[Strip]:
    """What would change in one file."""
    change = _begun(change_of(diff))
    lines, _, left_out = diff_lines(change, look, limit)
    head = summary_line(change, look, chat.folder)
    return [head, *lines, *([more_line(left_out, look)] if left_out else [])]


def _begun(change: FileChange) -> FileChange:
    """The change with one line before it: what is asked about comes before what is around it."""
    lines = change.lines
    first = next((at for at, line in enumerate(lines) if line.kind in ("added", "removed")), 0)
    begin = max(first - 1, 0)
    told = tuple(line for line in lines[:begin] if line.kind != "same")
    return replace(change, lines=told + lines[begin:])


def _said(text: str, look: Look) -> list[Strip]:
    """Markdown of the agent."""
    shown = MarkdownLines(look).set(text[:TEXT_CHARACTERS_MAX])
    lines = list(shown)
    if len(text) > TEXT_CHARACTERS_MAX:
        more = f"({len(text) - TEXT_CHARACTERS_MAX:,} characters more)"
        lines.append(strip_of((more, look.palette.warning)))
    return lines


def facts_lines(facts: Sequence[Fact], look: Look) -> list[Strip]:
    """What would happen, each behind its label."""
    wide = max((len(fact.label) for fact in facts), default=0)
    lines: list[Strip] = []
    for fact in facts:
        label = f"{fact.label.ljust(wide)}  " if wide else ""
        style = _style(fact, look)
        text = fact.text
        if fact.kind == "json":
            # Arguments are many lines; beneath their label they have the whole width.
            lines.append(strip_of((label, look.palette.dim)))
            below = text_lines(text, look, style, indent=_INDENT)
            lines += indented(below, (" " * _INDENT, Style.null()))
            continue
        room = text_lines(text, look, style, indent=len(label))
        lines += indented(room, (label, look.palette.dim))
    return lines


def _style(fact: Fact, look: Look) -> Style:
    palette = look.palette
    if fact.kind == "warning" or "(outside the project" in fact.text:
        return palette.warning
    return {"command": palette.code, "path": palette.strong}.get(fact.kind, palette.text)


def text_lines(text: str, look: Look, style: Style, *, indent: int = 0) -> list[Strip]:
    """Clean text, wrapped; indentation of its own lines stays."""
    width = max(look.width - indent, 8)
    found: list[Strip] = []
    for line in text.split("\n"):
        bare = line.lstrip(" ")
        lead = " " * min(len(line) - len(bare), width // 2)
        parts = wrapped(bare, width - len(lead))
        found += [strip_of((lead + part, style)) for part in parts]
    return found


__all__ = ["body_of", "facts_lines", "is_quick", "text_lines"]
