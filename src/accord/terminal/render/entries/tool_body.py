"""Render the body of a tool call: locations, diffs, output, text and raw values.

This module does not know states and titles.  Everything is built again when the call changes,
except for what `CachedResults` caches: output, diffs and rendered Markdown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from textual.strip import Strip

from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.amounts_and_durations import counted
from accord.terminal.model.text.diff_lines import FileChange, change_of
from accord.terminal.model.text.display_text import one_line, path_words
from accord.terminal.render.block import Fold, OpenFile, Target
from accord.terminal.render.content.non_text_blocks import (
    content_lines,
    content_target,
    is_for_user,
    is_text,
)
from accord.terminal.render.diff import diff_lines, more_line, summary_line
from accord.terminal.render.entries.command_output import (
    FOLDED_LINES,
    OutputRows,
    command_lines,
    output_lines,
)
from accord.terminal.render.json_lines import json_lines, verbatim_lines
from accord.terminal.render.markdown.markdown_lines import MarkdownLines
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import (
    Run,
    fitted,
    indented,
    lines_needed,
    shortened,
    strip_of,
)
from accord.transcript import FileDiff, Terminal, ToolCall
from accord.transcript.items.tool_call import text_of_item

BODY_INDENT = 2
DIFF_LINES_FOLDED, DIFF_LINES_UNFOLDED = 16, 1000
TEXT_LINES_FOLDED, TEXT_LINES_UNFOLDED = 6, 1000
TEXT_CHARACTERS_MAX = 100_000
"""How many characters of a call's text are rendered."""
PLACES_FOLDED, PLACES_UNFOLDED = 1, 50
ITEMS_FOLDED, ITEMS_UNFOLDED = 4, 200
RAW_LINES_FOLDED = 6

_DIFFS = ("Diff", "DiffOutput")


@dataclass(slots=True)
class CachedResults:
    """Results that are reused when a call changes a little."""

    outputs: dict[str, OutputRows] = field(default_factory=dict[str, OutputRows])
    terminals: dict[str, Terminal] = field(default_factory=dict[str, Terminal])
    diffs: list[FileDiff] | None = None
    changes: list[FileChange] = field(default_factory=list[FileChange])
    # By the index of the text in the content.
    texts: dict[int, MarkdownLines] = field(default_factory=dict[int, MarkdownLines])


class Body:
    """Builds the lines of one card.  `found` has each line with its target."""

    def __init__(
        self,
        call: ToolCall,
        look: Look,
        chat: Chat,
        kept: CachedResults,
        *,
        folded: bool,
        details: bool,
    ) -> None:
        self.call = call
        self.look = look
        self.chat = chat
        self.kept = kept
        self.folded = folded
        self.details = details
        self.found: list[tuple[Strip, Target | None]] = []
        self._indent = " " * BODY_INDENT

    def build(self) -> None:
        """Render all parts in order."""
        self._places()
        items = self._grouped()
        if self._is_refused:
            items = [(kind, said) for kind, said in items if kind != "text"]
        limit = ITEMS_FOLDED if self.folded else ITEMS_UNFOLDED
        for number, (kind, said) in enumerate(items[:limit]):
            if kind == "text":
                self._text(number, str(said))
            elif kind == "diffs":
                self._diffs()
            else:
                self._item(said)
        if len(items) > limit:
            self._say(f"{self.look.mark('…', '...')} {counted(len(items) - limit, 'more part')}")
        if self.details:
            self._raw("input", self.call.raw_input)
            self._raw("output", self.call.raw_output)
        elif not items and self.call.raw_output is not None and self._shows_result:
            self._result()

    @property
    def _is_refused(self) -> bool:
        """Whether the call was denied, so that the tool's answer only repeats the title."""
        return self.folded and self.call.tool_call_id in self.chat.denied

    @property
    def _shows_result(self) -> bool:
        return self.call.is_final and not self._is_refused

    # ---- small things

    def _add(self, strips: Iterable[Strip], target: Target | None = None) -> None:
        self.found += [(strip, target) for strip in strips]

    def _say(self, text: str, target: Target | None = None) -> None:
        runs: list[Run] = [(f"{self._indent}{text}", self.look.palette.dim)]
        self._add([strip_of(*shortened(runs, self.look.width))], target or Fold())

    @property
    def _narrow(self) -> Look:
        return replace(self.look, width=max(self.look.width - BODY_INDENT, 4))

    def _indented(self, strips: list[Strip], target: Target | None = None) -> None:
        null = self.look.palette.text
        self._add(indented(strips, (self._indent, null), (self._indent, null)), target)

    # ---- the parts

    def _places(self) -> None:
        """Render the locations of the call, unless the title or the diff has them."""
        call, folder = self.call, self.chat.folder
        places = call.locations
        if self.folded:
            known = {diff.path for diff in call.diffs}
            places = [
                place
                for place in places
                if place.path not in known
                and (place.line or path_words(place.path, folder) not in call.title)
            ]
        limit = PLACES_FOLDED if self.folded else PLACES_UNFOLDED
        for number, place in enumerate(places[:limit]):
            said = path_words(place.path, folder) or "a file"
            if place.line:
                said = f"{said}:{place.position}"
            more = len(places) - limit
            if number == limit - 1 and more > 0:
                said = f"{said} and {more} more"
            runs: list[Run] = [(f"{self._indent}{said}", self.look.palette.dim)]
            strip = strip_of(*shortened(runs, self.look.width))
            self._add([strip], OpenFile(place.path, place.line))

    def _grouped(self) -> list[tuple[str, object]]:
        """Render the content: adjacent texts joined, all diffs at the place of the first."""
        found: list[tuple[str, object]] = []
        has_diffs = False
        texts: list[str] = []
        for item in self.call.content:
            inner = getattr(item, "content", item) if type(item).__name__ == "Content" else item
            is_plain = is_text(inner) and is_for_user(inner)
            if not is_plain and texts:
                found.append(("text", "\n".join(texts)))
                texts = []
            if is_plain:
                texts.append(inner.text)  # type: ignore[union-attr]
            elif type(item).__name__ not in _DIFFS:
                found.append(("item", inner))
            elif not has_diffs:
                has_diffs = True
                found.append(("diffs", None))
        if texts:
            found.append(("text", "\n".join(texts)))
        return found

    def _item(self, item: object) -> None:
        terminal_id = getattr(item, "terminal_id", None)
        if isinstance(terminal_id, str):
            self._terminal(terminal_id)
            return
        strips = content_lines(
            item, self._narrow, folder=self.chat.folder, unfolded=not self.folded
        )
        self._indented(strips[:1], content_target(item))
        self._indented(strips[1:])

    def _terminal(self, terminal_id: str) -> None:
        terminal = self.chat.transcript.terminal(terminal_id)
        if terminal is None:
            # The terminal is gone or never existed: its last output stays.
            terminal = self.kept.terminals.get(terminal_id)
        if terminal is None:
            name = one_line(terminal_id, 40)
            self._say(f"terminal {name}: no information")
            return
        self.kept.terminals[terminal_id] = terminal
        rows = self.kept.outputs.setdefault(terminal_id, OutputRows())
        command = terminal.command or ""
        if command and one_line(command) not in one_line(self.call.title):
            self._add(command_lines(command, self.look, self._indent))
        cwd = terminal.cwd
        if cwd and cwd.rstrip("/") != self.chat.folder.rstrip("/") and not self.folded:
            self._say(f"in {path_words(cwd, self.chat.folder)}")
        strips = output_lines(terminal, rows, self.look, folded=self.folded, indent=self._indent)
        self._add(strips)

    def _diffs(self) -> None:
        diffs = self.call.diffs
        if self.kept.diffs is not diffs:
            self.kept.diffs, self.kept.changes = diffs, [change_of(diff) for diff in diffs]
        room = DIFF_LINES_FOLDED if self.folded else DIFF_LINES_UNFOLDED
        # The permission question shows the whole change.
        is_asked = self.folded and self.chat.is_asked_about(self.call)
        limit = ITEMS_FOLDED if self.folded else ITEMS_UNFOLDED
        changes = self.kept.changes
        for change in changes[:limit]:
            head = summary_line(change, self.look, self.chat.folder, self._indent)
            self._add([head], OpenFile(change.path))
            if is_asked:
                continue
            strips, targets, left_out = diff_lines(change, self.look, room, self._indent)
            self.found += list(zip(strips, targets, strict=True))
            if left_out and room:
                self._add([more_line(left_out, self.look, self._indent)], Fold())
            room = max(room - len(change.lines), 0)
        if len(changes) > limit:
            self._say(f"{self.look.mark('…', '...')} {counted(len(changes) - limit, 'more file')}")

    def _text(self, number: int, text: str) -> None:
        limit = TEXT_LINES_FOLDED if self.folded else TEXT_LINES_UNFOLDED
        look = self._narrow
        # Text that is not visible is not rendered: the source is cut roughly before.
        taken = min(limit * look.width * 4, TEXT_CHARACTERS_MAX)
        lines = self.kept.texts.get(number)
        if lines is None or lines.look != look:
            lines = self.kept.texts[number] = MarkdownLines(look)
        strips = fitted(lines.set(text[:taken].strip("\n")), look.width)
        self._indented(strips[:limit])
        left_out = max(len(strips) - limit, 0) + text.count("\n", taken)
        if left_out or len(text) > taken:
            self._add([more_line(max(left_out, 1), self.look, self._indent)], Fold())

    def _raw(self, word: str, raw: object) -> None:
        if raw is None:
            self._say(f"{word}: nothing")
            return
        self._say(f"{word}:")
        self._add(json_lines(raw, self.look, indent=self._indent))  # type: ignore[arg-type]

    def _result(self) -> None:
        """Render the raw output, if the call has no other content."""
        raw = self.call.raw_output
        assert raw is not None
        output = self.call.output
        limit = RAW_LINES_FOLDED if self.folded else TEXT_LINES_UNFOLDED
        if isinstance(output, str):
            self._add(verbatim_lines(output, self.look, limit, self._indent))
        elif output not in (None, {}, [], True, False):
            self._add(json_lines(raw, self.look, limit, self._indent))


def guess_body(call: ToolCall, look: Look, *, folded: bool) -> int:
    """Estimate the number of lines of the body."""
    found = 0
    for item in call.content[: ITEMS_FOLDED if folded else ITEMS_UNFOLDED]:
        if type(item).__name__ in _DIFFS:
            room = DIFF_LINES_FOLDED if folded else 40
        elif hasattr(item, "terminal_id"):
            room = FOLDED_LINES + 1 if folded else 40
        else:
            text = text_of_item(item)
            room = TEXT_LINES_FOLDED if folded else TEXT_LINES_UNFOLDED
            room = min(lines_needed(text, look.width), room) if text else 1
        found += room
    return found
