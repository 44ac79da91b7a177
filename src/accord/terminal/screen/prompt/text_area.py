"""The text area of the prompt: it grows, and asks its owner about every key.

This module does not know commands, files, history or any chat.

Invariants
    * The text has no control characters, because it is drawn as it is.
    * Editing keys are handled here, in order with the letters.
    * Work started by a key or paste, such as reading the clipboard, ends before the next key,
      unless it takes longer than `WORK_SECONDS_MAX`.
    * A key that neither the owner nor the text area handles goes on to the screen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import anyio
from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS  # pyright: ignore[reportPrivateUsage]
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.widgets import TextArea
from textual.worker import Worker, WorkerError

from accord.terminal.model.prompt.attachments import PASTE_CHARACTERS_MAX
from accord.terminal.model.text.display_text import columns, cut

LINES_MAX = 10
WORK_SECONDS_MAX = 1.0

# Bindings of the text area that would hide keys of the screen.
_NOT_OURS = frozenset({"cursor_page_up", "cursor_page_down", "select_line", "select_all"})
# Their effect depends on what the owner shows.
_ASKED = frozenset({"up", "down"})
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_LINE_ENDS = re.compile(r"\r\n?|[\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class _Named:
    """A key in the form of Textual's tables, which use only its value."""

    value: str


_SENT = {"\x1b\r": "alt+enter", "\x1b\n": "alt+enter"}


def clean(text: str) -> str:
    """A text with plain newlines and without control characters."""
    return _CONTROL.sub("", _LINE_ENDS.sub("\n", text[:PASTE_CHARACTERS_MAX]))


class PromptArea(TextArea, inherit_bindings=False):
    """The text of the prompt."""

    DEFAULT_CSS = f"""
    PromptArea {{
        height: auto; max-height: {LINES_MAX}; min-height: 1; width: 1fr;
        border: none; padding: 0; background: $surface; scrollbar-size-vertical: 1;
    }}
    PromptArea:focus {{ border: none; }}
    PromptArea .text-area--placeholder {{ color: $text-muted; }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            one
            for one in TextArea.BINDINGS
            if isinstance(one, Binding) and one.action not in _NOT_OURS
        ),
    ]

    def __init__(self, on_key: Callable[[str], bool], on_paste: Callable[[str], None]) -> None:
        # Returns the hint behind the text; called while the text area is created.
        self.hint: Callable[[str], str] = lambda text: ""
        super().__init__(
            soft_wrap=True, tab_behavior="focus", compact=True, highlight_cursor_line=False
        )
        teach_alt_enter()
        # A blinking cursor would redraw all the time.
        self.cursor_blink = False
        self._on_own_key = on_key
        self._on_own_paste = on_paste
        # Keys that the owner may handle itself.
        self.special_keys: frozenset[str] = frozenset()
        self._work: Worker[None] | None = None

    def edits(self, key: str, character: str | None) -> bool:
        """Whether a key only moves the cursor or edits the text."""
        if key in _ASKED or key_name(key) in self.special_keys:
            return False
        return key in self._bindings.key_to_bindings or self.check_consume_key(key, character)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work that later keys wait for."""
        self._work = self.run_worker(work, exit_on_error=False)

    async def _finish(self) -> None:
        work, self._work = self._work, None
        if work is not None:
            with anyio.move_on_after(WORK_SECONDS_MAX):
                try:
                    await work.wait()
                except WorkerError:
                    # The work failed or was cancelled.
                    pass

    async def _on_key(self, event: events.Key) -> None:
        # Textual calls the handler of the text area itself after this one, unless prevented.
        await self._finish()
        bound = self._bindings.key_to_bindings.get(event.key, ())
        is_done = self._on_own_key(key_name(event.key))
        if not is_done and bound:
            # The app would handle it only after the letters that follow.
            await self.run_action(bound[0].action)
            is_done = True
        if is_done:
            event.stop()
            event.prevent_default()
        await self._finish()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        await self._finish()
        self._on_own_paste(clean(event.text))
        await self._finish()

    def action_paste(self) -> None:
        """Paste the desktop's clipboard, which may be an image, or what was copied here."""
        self._on_own_paste("")

    def update_suggestion(self) -> None:
        """The argument hint of the typed command, dim behind the cursor."""
        row, column = self.cursor_location
        hint = self.hint(self.text) if (row, column) == self.document.end else ""
        room = self.wrap_width - columns(self.document[row][:column])
        self.suggestion = next(cut(hint, room)) if hint and room > 0 else ""

    def action_cursor_right(self, select: bool = False) -> None:
        """Move the cursor without accepting the hint behind it."""
        self.suggestion = ""
        super().action_cursor_right(select)
        self.update_suggestion()

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor; an undo calls this before the cursor is valid again."""
        if self.cursor_location[0] >= self.document.line_count:
            return Offset()
        return super().scroll_cursor_visible(center, animate)

    def put(self, text: str) -> None:
        """Insert text at the cursor, replacing the selection."""
        result = self.replace(clean(text), *self.selection, maintain_selection_offset=False)
        self.move_cursor(result.end_location)

    def show_text(self, text: str) -> None:
        """Replace the text and put the cursor at its end; undo restores it."""
        self.replace(clean(text), (0, 0), self.document.end, maintain_selection_offset=False)
        self.move_cursor(self.document.end)

    @property
    def is_on_first_line(self) -> bool:
        """Whether the cursor is in the first wrapped line."""
        return self.navigator.is_first_wrapped_line(self.cursor_location)

    @property
    def is_on_last_line(self) -> bool:
        """Whether the cursor is in the last wrapped line."""
        return self.navigator.is_last_wrapped_line(self.cursor_location)


def teach_alt_enter() -> None:
    """Register Alt-Enter with Textual, once per process.

    Most terminals send ESC and a carriage return for it.  Textual drops the Alt, so a line break
    would send the prompt.
    """
    table = cast("dict[str, Any]", ANSI_SEQUENCES_KEYS)
    for sequence, name in _SENT.items():
        table.setdefault(sequence, (_Named(name),))


def key_name(key: str) -> str:
    """The canonical name of a key; xterm's Shift-Enter has another one."""
    return key.replace("\r", "enter")
