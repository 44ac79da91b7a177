"""The dialog that asks for a permission: why, what would happen, and the answers.

This module does not know rules, or how an answer is remembered;
`model/permissions/permission_options.py` describes both.

Invariants
    * The answer is an option that was offered, or none; Esc rejects once, or answers none.
    * Approving and refusing differ by sign and word, not by colour alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio.to_thread
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.strip import Strip

from accord.client.permissions.request import PermissionRequest
from accord.terminal.model.chat import Chat
from accord.terminal.model.permissions.permission_options import Choice, choices_of, closing
from accord.terminal.model.permissions.request_text import (
    OUTSIDE,
    Fact,
    asked_changes,
    facts_of,
    lines_left_out,
    path_words,
    who_asks,
    whole,
)
from accord.terminal.model.text.diff_lines import FileChange, change_of
from accord.terminal.model.text.display_text import columns, exact, exact_line, one_line
from accord.terminal.render.diff import diff_lines, more_line, summary_line
from accord.terminal.render.markdown.markdown_lines import MarkdownLines
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import fitted, indented, strip_of
from accord.terminal.screen.dialogs.choice_dialog import ChoiceDialog, Row
from accord.terminal.screen.dialogs.dialog import text_lines
from accord.terminal.screen.dialogs.text_in_view import Extent, ending_of
from accord.terminal.screen.widgets.scrollable_lines import Lines
from accord.transcript.items.tool_call import FileDiff

DIFF_LINES_MAX = 2000
"""The maximum number of lines of one file's change; the rest is counted."""
QUICK_LINES_MAX = 100
"""The beginning of a longer change is shown at once, and the rest a moment later."""
ROWS_MAX = 10_000
"""The maximum number of screen rows for one line of a file, which is shown in full."""


def is_quick(request: PermissionRequest) -> bool:
    """Whether all of it can be drawn without a noticeable delay."""
    texts = (
        text for one in asked_changes(request) for text in (one.old_text, one.new_text, one.patch)
    )
    return sum(text.count("\n") for text in texts if text) <= QUICK_LINES_MAX


def change_lines(
    diff: FileDiff, look: Look, chat: Chat, limit: int
) -> tuple[list[Strip], int, int]:
    """What would change in one file, where that begins, and how many lines are left out."""
    change = _begun(change_of(diff))
    lines, _, left_out = diff_lines(change, look, limit, parts_max=ROWS_MAX)
    head = summary_line(change, look, chat.folder)
    kinds = [line.kind for line in change.lines]
    first = next((at for at, kind in enumerate(kinds) if kind in ("added", "removed")), -1)
    more = [more_line(left_out, look)] if left_out else []
    return [head, *lines, *more], first + 1, left_out


def _begun(change: FileChange) -> FileChange:
    """The change with one line before it: what is asked about comes before what is around it."""
    lines = change.lines
    first = next((at for at, line in enumerate(lines) if line.kind in ("added", "removed")), 0)
    begin = max(first - 1, 0)
    told = tuple(line for line in lines[:begin] if line.kind != "same")
    return replace(change, lines=told + lines[begin:])


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


COVERED_LINES_MAX = 2
AGENT_LINES_MAX = 6
"""The maximum number of lines of an option in the agent's words, shown nowhere else in full."""
WIDTH_MIN = 8
TOO_NARROW = "Make the window wider to see the question."
UNSEEN = Extent(ends=(sys.maxsize,))


class CoverageText(Lines, can_focus=False):
    """What the answer under the cursor would cover, in full."""


class PermissionDialog(ChoiceDialog):
    """Asks for one permission."""

    def __init__(self, *asked: object) -> None:
        super().__init__(*asked)
        self.request: PermissionRequest = self.question.request
        self._choices: Sequence[Choice] = choices_of(self.request, self.chat.folder)
        self._rows = [
            Row(one.words, one.keys, one.tone, one.remark, one.is_usable, _is_quoted(one))
            for one in self._choices
        ]
        # All of what is said, where that takes a while, for the look that it was made for.
        self._whole: tuple[Look, PermissionBody] | None = None
        self._asked: object = None
        # Until something is drawn, there is a line that nobody has seen.
        self.extent = UNSEEN

    @property
    def heading(self) -> str:
        """The title: who asks."""
        return who_asks(self.request, self.chat.agent_name)

    @property
    def hint(self) -> str:
        """The keys of the dialog."""
        return "Esc: no · ↑↓ Enter · PgUp PgDn"

    @property
    def rows(self) -> Sequence[Row]:
        """The answers that the user can choose."""
        return self._rows

    def body(self, look: Look) -> list[Strip]:
        """Why, and what; of a very long change the beginning, until the rest is there."""
        if look.width < WIDTH_MIN:
            # Text would be cut off, so nothing counts as seen.
            self.extent = UNSEEN
            return text_lines(TOO_NARROW, look, look.palette.warning)
        if self._whole is not None and self._whole[0] == look:
            return self._shown(self._whole[1])
        if is_quick(self.request):
            return self._shown(body_of(self.request, self.chat, look))
        self.run_worker(self._draw_all(look), exclusive=True, group="body")
        return self._shown(body_of(self.request, self.chat, look, QUICK_LINES_MAX))

    def _shown(self, body: PermissionBody) -> list[Strip]:
        self.extent, self._asked = body.extent, body.asked
        return body.lines

    def agrees(self, row: Row) -> bool:
        """Whether the answer approves; an unknown kind counts as approval."""
        return row.tone != "reject"

    @property
    def what_must_be_read(self) -> object:
        """The lines that say what would happen."""
        return self._asked

    async def _draw_all(self, look: Look) -> None:
        lines = await anyio.to_thread.run_sync(
            body_of, self.request, self.chat, look, abandon_on_cancel=True
        )
        self._whole = look, lines
        self.redraw()

    def compose(self) -> ComposeResult:
        """The words, the answers, and what the one that was gone to covers."""
        yield from super().compose()
        yield CoverageText(lambda width: self._covered(self.look(width)))

    # ---- answering

    def pressed(self, event: events.Key) -> bool:
        """Handle n, which always refuses, even if no option has that key."""
        if super().pressed(event):
            return True
        if event.character == "n":
            self.closed()
            return True
        return False

    def chosen(self, index: int) -> None:
        """Answer with this line."""
        self.answer(self._choices[index].decision)

    def closed(self) -> None:
        """Handle Esc, which means no."""
        self.answer(closing(self.request))

    def moved(self) -> None:
        """Show what the answer under the cursor covers."""
        self.query_one(CoverageText).rebuild()
        self.call_after_refresh(self.fit)

    # ---- inside

    def _covered(self, look: Look) -> list[Strip]:
        if self.focused_row is None:
            return []
        choice, style = self._choices[self.focused_row], look.palette.dim
        # What Accord remembers is shown above in full; the agent's words are only here.
        words = choice.covers
        if self.is_cut(self.focused_row) and choice.words not in words:
            words = f"{choice.words}. {words}"
        lines_max = AGENT_LINES_MAX if _is_quoted(choice) else COVERED_LINES_MAX
        lines = text_lines(one_line(words), look, style)
        if len(lines) > lines_max:
            cut = one_line(words, look.width * lines_max - 4)
            lines = text_lines(cut, look, style)[:lines_max]
        return lines


def _is_quoted(choice: Choice) -> bool:
    """Whether the text is the agent's; Accord describes what it remembers itself."""
    return choice.decision.scope == "once"
