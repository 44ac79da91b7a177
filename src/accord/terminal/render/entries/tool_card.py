"""The card of a tool call: its title, state, results, and raw values on demand.

    ✓ ✎ Edit src/app.py  write_file  done · 1.2 s
      +12 −3 src/app.py
       12 - old
       12 + new

This module does not know the widget.  `tool_body.py` renders the body.

Invariants
    * A call of any kind, status and content has a card; unknown values are shown as
      they are.
    * Output of a terminal stays on the card, whatever becomes of the terminal.
"""

from __future__ import annotations

from rich.style import Style
from textual.strip import Strip

from accord.terminal.model.chat import Chat, Entry
from accord.terminal.model.labels.amounts_and_durations import duration_words
from accord.terminal.model.labels.tool_calls import (
    STATE_SIGNS,
    CallState,
    call_name,
    call_state,
    call_title,
    kind_sign,
    kind_word,
    parent_of,
    plain_value,
)
from accord.terminal.model.text.output_lines import OutputLines
from accord.terminal.render.block import Block, CachedBlock, OpenFile
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.entries.tool_body import BODY_INDENT, Body, CachedResults, guess_body
from accord.terminal.render.json_lines import json_text
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import Run, shortened, strip_of, width_of, wrapped
from accord.transcript import Terminal, ToolCall
from accord.transcript.items.tool_call import KINDS_OF_TOOL

TITLE_LINES_MAX = 3
SECONDS_MIN = 0.1
"""Shorter durations are not shown."""
WHY_CHARACTERS_MAX = 40
"""A longer reason of a state is shown below the title."""
DETAILS = "details"
"""The part of a card that is shown on demand: raw input and output."""


def _state_styles(state: CallState, palette: Palette) -> tuple[Style, Style]:
    """The style of the sign, and that of the word."""
    signs = {
        "waiting": palette.waiting,
        "running": palette.running,
        "done": palette.success,
        "failed": palette.error,
        "denied": palette.error,
        "cancelled": palette.warning,
        "paused": palette.warning,
    }
    style = signs.get(state.name, palette.dim)
    # Success is expected, so its label is not highlighted.
    return style, palette.dim if state.name == "done" else style


class ToolCard(CachedBlock[ToolCall]):
    """One tool call.  Guards the invariants of this module."""

    __slots__ = ("_kept", "details")

    is_foldable = True
    is_tight = True

    def __init__(self, entry: ToolCall) -> None:
        super().__init__(entry, folded=True)
        # Whether the raw input and output are shown.
        self.details = False
        self._kept: CachedResults | None = None

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        call = self.entry
        state = call_state(call, chat)
        self.is_unsettled = not call.is_final and state.name != "cancelled"
        found = self._head(look, chat, state)
        if len(state.why) > WHY_CHARACTERS_MAX:
            indent = " " * BODY_INDENT
            lines = wrapped(state.why, max(look.width - BODY_INDENT, 4))
            found += [strip_of((f"{indent}{line}", look.palette.dim)) for line in lines[:6]]
        if self._kept is None:
            self._kept = CachedResults()
        body = Body(call, look, chat, self._kept, folded=self.folded, details=self.details)
        body.build()
        for strip, target in body.found:
            if target is not None:
                self.targets[len(found)] = target
            found.append(strip)
        return [
            strip if strip.cell_length <= look.width else strip.crop(0, look.width)
            for strip in found
        ]

    def _head(self, look: Look, chat: Chat, state: CallState) -> list[Strip]:
        call, palette = self.entry, look.palette
        sign_style, word_style = _state_styles(state, palette)
        state_sign, kind = STATE_SIGNS[state.name], kind_sign(call)
        begin: list[Run] = []
        if parent_of(call) is not None:
            # A call by the sub-agent of the call above.
            begin.append((f"  {look.mark('↳', '>')} ", palette.dim))
        begin += [
            (f"{look.mark(*state_sign)} ", sign_style),
            (f"{look.mark(*kind)} ", palette.accent),
        ]
        end: list[Run] = []
        name = call_name(call)
        if call.reported_kind not in KINDS_OF_TOOL:
            end.append((f"  {kind_word(call)}", palette.dim))
        if name:
            end.append((f"  {name}", palette.dim))
        is_short = 0 < len(state.why) <= WHY_CHARACTERS_MAX
        end.append((f"  {state.word}" + (f": {state.why}" if is_short else ""), word_style))
        took = self._duration(chat)
        if took is not None and took >= SECONDS_MIN:
            end.append((f" {look.mark('·', '-')} {duration_words(took)}", palette.dim))
        title: Run = (call_title(call), palette.strong)
        whole = [*begin, title, *end]
        if width_of(whole) <= look.width:
            return [strip_of(*whole)]
        return self._wrapped_head(begin, title, end, look)

    def _wrapped_head(
        self, begin: list[Run], title: Run, end: list[Run], look: Look
    ) -> list[Strip]:
        """Render a title that is too long for one line."""
        left = width_of(begin)
        room = max(look.width - left, 4)
        lines = wrapped(title[0][: room * (TITLE_LINES_MAX + 1)], room)
        if len(lines) > TITLE_LINES_MAX:
            mark = look.mark("…", "...")
            last = shortened([(lines[TITLE_LINES_MAX - 1] + " " + mark, title[1])], room, mark)
            lines = [*lines[: TITLE_LINES_MAX - 1], last[0][0]]
        found = [strip_of(*begin, (lines[0], title[1]))]
        found += [strip_of((" " * left, title[1]), (line, title[1])) for line in lines[1:]]
        rest = [(" " * max(left - 2, 0), title[1]), *end]
        return [*found, strip_of(*shortened(rest, look.width))]

    def _duration(self, chat: Chat) -> float | None:
        took = chat.duration(self.entry)
        if took is None:
            # The draft dialect reports it in milliseconds.
            told = plain_value(self.entry.meta.get("duration"))
            if isinstance(told, int | float) and not isinstance(told, bool):
                return told / 1000
        return took

    def guess(self, look: Look) -> int:
        return 1 + guess_body(self.entry, look, folded=self.folded)

    def release(self) -> None:
        self._kept = None

    def toggle(self, part: str = "") -> bool:
        if part == DETAILS:
            self.details = not self.details
            self.invalidate()
            return True
        return super().toggle(part)

    def concerns(self, entry: Entry) -> bool:
        if entry is self.entry:
            return True
        return isinstance(entry, Terminal) and entry.terminal_id in self.entry.terminal_ids

    def text(self) -> str:
        call = self.entry
        parts = [call_title(call)]
        parts += [diff.patch or f"{diff.operation} {diff.path}" for diff in call.diffs]
        parts.append(call.text)
        for terminal in self._kept.terminals.values() if self._kept else ():
            lines = OutputLines(terminal.text).lines
            parts.append("\n".join("".join(run.text for run in line) for line in lines))
        if self.details:
            parts += [
                json_text(raw) for raw in (call.raw_input, call.raw_output) if raw is not None
            ]
        return "\n".join(part for part in parts if part)

    @property
    def file(self) -> OpenFile | None:
        """Return the file of the call, to open it in an editor."""
        call = self.entry
        for place in call.locations:
            return OpenFile(place.path, place.line)
        for diff in call.diffs:
            return OpenFile(diff.path)
        return None


def tool_card_block(entry: ToolCall, chat: Chat) -> Block:
    """The card of a call."""
    del chat
    return ToolCard(entry)
