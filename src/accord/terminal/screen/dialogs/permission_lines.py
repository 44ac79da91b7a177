"""A permission request as lines: why, and what would happen.

This module does not know the dialog; every text of the agent is cleaned here or in the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style
from textual.strip import Strip

from accord.client.permissions.request import PermissionRequest
from accord.terminal.model.chat import Chat
from accord.terminal.model.permissions.request_text import (
    OUTSIDE,
    Fact,
    asked_changes,
    facts_of,
    lines_left_out,
    path_words,
    whole,
)
from accord.terminal.model.text.display_text import columns, exact, exact_line, one_line
from accord.terminal.render.markdown.markdown_lines import MarkdownLines
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import fitted, indented, strip_of
from accord.terminal.screen.dialogs.permission_changes import DIFF_LINES_MAX, change_lines
from accord.terminal.screen.dialogs.text_in_view import Extent, ending_of
from accord.terminal.screen.dialogs.wrapped_text import text_lines
from accord.transcript.items.tool_call import FileDiff

TEXT_CHARACTERS_MAX = 50_000
"""The maximum length of a reason or of the tool call's text; the rest is counted."""
DIFFS_MAX = 50
TEXT_COLUMNS_MIN = 12
"""With fewer columns after a label, its text is shown below it."""
REASON_LINES_MAX = 6
"""Lines of a reason above the changes; a longer one is shown below them."""
TITLE_LINES_MAX = 2
"""Lines of a title above the details; a longer one is shown below them."""
LAST_LINE_CHARACTERS_MAX = 2000

_INDENT = 2


@dataclass(frozen=True, slots=True)
class PermissionBody:
    """The lines of a request, the places of its parts, and what would happen."""

    lines: list[Strip]
    extent: Extent
    asked: object


def body_of(
    request: PermissionRequest, chat: Chat, look: Look, limit: int = DIFF_LINES_MAX
) -> PermissionBody:
    """Render all facts, the most important first, and a bounded part of the change."""
    facts = facts_of(request, chat.folder, chat.roots)
    diffs = asked_changes(request)
    shown = [fact for fact in facts if not _is_heading(fact, diffs, look, chat)]
    # Where nothing else says what would happen, the agent's own words do: all of them, exactly.
    is_silent = all(fact.kind == "warning" for fact in facts)
    is_unnamed = (request.kind, request.command) == ("execute", None)
    is_said = (is_silent and not diffs) or is_unnamed
    words = exact_line(request.title) if is_said else _title(request)
    title = text_lines(words, look, look.palette.strong) if words else []
    is_cut = not is_said and len(title) > TITLE_LINES_MAX
    lines = [*title[:TITLE_LINES_MAX], _more_of_title(look)] if is_cut else list(title)
    ends = [*ending_of(0, len(lines))] if is_said else []
    rows, fact_ends = facts_lines(shown, look)
    ends += [len(lines) + end for end in fact_ends]
    lines += rows
    if is_cut:
        lines += [Strip.blank(0), strip_of(("Full title:", look.palette.dim)), *title]
    call, said = request.tool_call, []
    if request.reason:
        said += [Strip.blank(0), *_said(request.reason, look)]
    text = []
    if call is not None and call.text and call.text.strip() != (request.reason or "").strip():
        shown_text = text_lines(whole(call.text), look, look.palette.text, indent=_INDENT)
        exactly = indented(shown_text, (" " * _INDENT, Style.null()))
        text = [Strip.blank(0), *(exactly if is_said else _said(call.text, look))]
    if is_said:
        ends += [*ending_of(len(lines), len(lines) + len(said))]
        lines += said
        ends += [*ending_of(len(lines), len(lines) + len(text))]
        lines += text
        said = text = []
    is_long = bool(diffs) and len(said) > REASON_LINES_MAX
    lines += [] if is_long else said
    left_out = sum(fact.left_out for fact in facts)
    if is_said and call is not None:
        left_out += lines_left_out(call.text)
    changes: list[int] = []
    for diff in diffs[:DIFFS_MAX]:
        changed, first, more_lines = change_lines(diff, look, chat, limit)
        # A change need not be scrolled through before it is allowed.
        ends += [] if changes else [len(lines) + 1]
        changes.append(len(lines) + 1 + first)
        lines += [Strip.blank(0), *changed]
        left_out += more_lines
    if len(diffs) > DIFFS_MAX:
        more = f"and changes to {len(diffs) - DIFFS_MAX} more files, listed above"
        lines += [Strip.blank(0), strip_of((more, look.palette.warning))]
    lines += [*(said if is_long else []), *text]
    ends_with = _last_line(request.command) if request.command is not None else ""
    extent = Extent(tuple(ends), tuple(changes), ends_with, left_out)
    asked = facts, call.text if is_said and call is not None else ""
    return PermissionBody(fitted(lines, look.width), extent, asked)


def _title(request: PermissionRequest) -> str:
    """Render the title, if it says more than the command below it."""
    title = one_line(request.title)
    command = None if request.command is None else one_line(request.command)
    return "" if title.removeprefix("Run ").strip("`") == command else title


def _more_of_title(look: Look) -> Strip:
    return strip_of((look.mark("… continued below", "... continued below"), look.palette.dim))


def _is_heading(fact: Fact, diffs: Sequence[FileDiff], look: Look, chat: Chat) -> bool:
    """Whether the heading of a change says the same, as it does of a file in the project."""
    if fact.kind != "path" or columns(fact.text) > look.width // 2 or OUTSIDE in fact.text:
        return False
    headed = diffs[:DIFFS_MAX]
    return fact.text in {path_words(diff.path, chat.folder, chat.roots) for diff in headed}


def _last_line(command: str) -> str:
    """The last line of a command that is not blank."""
    return exact(command.rstrip()[-LAST_LINE_CHARACTERS_MAX:]).rpartition("\n")[2]


def _said(text: str, look: Look) -> list[Strip]:
    """Markdown of the agent."""
    shown = MarkdownLines(look).set(text[:TEXT_CHARACTERS_MAX])
    lines = list(shown)
    if len(text) > TEXT_CHARACTERS_MAX:
        more = f"({len(text) - TEXT_CHARACTERS_MAX:,} more characters)"
        lines.append(strip_of((more, look.palette.warning)))
    return lines


def facts_lines(facts: Sequence[Fact], look: Look) -> tuple[list[Strip], list[int]]:
    """What would happen, each behind its label; and the last lines of those that matter."""
    ends: list[int] = []
    wide = max((len(fact.label) for fact in facts), default=0)
    lines: list[Strip] = []
    for fact in facts:
        begin = len(lines)
        label = f"{fact.label.ljust(wide)}  " if wide else ""
        style = _style(fact, look)
        text = fact.text
        if fact.kind == "json":
            # Arguments are many lines; below their label they have the whole width.
            lines.append(strip_of((fact.label, look.palette.dim)))
            below = text_lines(text, look, style, indent=_INDENT)
            lines += indented(below, (" " * _INDENT, Style.null()))
        elif look.width - len(label) < TEXT_COLUMNS_MIN:
            lines += [strip_of((fact.label, look.palette.dim))] if fact.label else []
            lines += text_lines(text, look, style)
        else:
            room = text_lines(text, look, style, indent=len(label))
            lines += indented(room, (label, look.palette.dim))
        if fact.kind in ("command", "json") or fact is facts[-1]:
            ends += ending_of(begin, len(lines))
    return lines, ends


def _style(fact: Fact, look: Look) -> Style:
    palette = look.palette
    if fact.kind == "warning" or "(outside the project" in fact.text:
        return palette.warning
    return {"command": palette.code, "path": palette.strong}.get(fact.kind, palette.text)
