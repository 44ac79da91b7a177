"""The panel of queued prompts: show, edit, remove and reorder them.

This module does not know how a prompt is sent.

Invariants
    * It is shown while prompts are queued, in at most `ROWS_MAX` lines and a heading.
    * Everything works by keys and by mouse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip
from textual.widget import Widget

from accord.terminal.model.chat import Chat
from accord.terminal.model.prompt.unsent_prompts import Draft
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.text_runs import cut
from accord.terminal.screen.prompt.prompt_editor import PromptEditor
from accord.terminal.screen.widget_themes import palette_for
from accord.terminal.screen.widgets.clickable_line import Part, fit

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController

ROWS_MAX = 5
_KEYS = "Enter edit · s send now · Del remove · Alt-↑↓ move"


class QueuePanel(Widget, can_focus=False):
    """The list of queued prompts."""

    DEFAULT_CSS = """
    QueuePanel { display: none; height: auto; padding: 0 1; background: $surface; }
    QueuePanel.-shown { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", show=False),
        Binding("down", "choose(1)", show=False),
        Binding("enter,e", "edit", show=False),
        Binding("s", "send_now", show=False),
        Binding("delete,backspace,d", "remove", show=False),
        Binding("alt+up,shift+up,K", "move(-1)", show=False),
        Binding("alt+down,shift+down,J", "move(1)", show=False),
    ]

    def __init__(self, chat: Chat, controller: ChatController) -> None:
        super().__init__()
        self._chat = chat
        self._controller = controller
        self._at = 0
        self._drawn: tuple[Draft, ...] = ()
        self._dragged: int | None = None

    def on_mount(self) -> None:
        """Show the current queue."""
        self.refresh_chat()

    def refresh_chat(self) -> None:
        """Show the current queue."""
        queue = tuple(self._chat.queue)
        if queue == self._drawn:
            return
        self._drawn = queue
        had_focus = self.has_focus
        self._at = min(self._at, max(len(queue) - 1, 0))
        self.set_class(bool(queue), "-shown")
        self.can_focus = bool(queue)
        self.styles.height = 1 + min(len(queue), ROWS_MAX)
        if not queue and had_focus:
            self._editor().focus()
        self.refresh()

    # ---- drawing

    @property
    def _first(self) -> int:
        """The first visible row; the selected one is always visible."""
        return max(0, min(self._at - ROWS_MAX // 2, len(self._drawn) - ROWS_MAX))

    def render_line(self, y: int) -> Strip:
        """Render the heading or a prompt."""
        width = self.content_size.width
        parts = self._heading(width) if y == 0 else self._row(self._first + y - 1, width)
        strip = Strip([Segment(part.text, part.style) for part in parts])
        is_chosen = self.has_focus and y > 0 and self._first + y - 1 == self._at
        if is_chosen:
            palette = palette_for(self.app.theme)
            strip = strip.extend_cell_length(width).apply_style(palette.selected)
        return strip.crop_extend(0, width, None).apply_style(self.rich_style)

    def _heading(self, width: int) -> list[Part]:
        palette = palette_for(self.app.theme)
        count = len(self._drawn)
        waits = "1 queued prompt" if count == 1 else f"{count} queued prompts"
        found = [Part(waits, palette.strong)]
        if self.has_focus:
            found.append(Part(_KEYS, palette.dim, weight=1, least=20))
        return _spaced(fit(found, width, 2), width, palette.dim)

    def _row(self, index: int, width: int) -> list[Part]:
        if index >= len(self._drawn):
            return []
        palette = palette_for(self.app.theme)
        draft = self._drawn[index]
        buttons = [
            Part("now", palette.accent, target="now"),
            Part("edit", palette.accent, target="edit"),
            Part("↑", palette.accent, target="up"),
            Part("↓", palette.accent, target="down"),
            Part("×", palette.error, target="remove"),
        ]
        tail: list[Part] = []
        for button in buttons:
            tail += [Part("  ", palette.dim), button]
        number = Part(f"{index + 1}. ", palette.dim)
        more = len(draft.attachments)
        note = f" (+{more})" if more else ""
        room = width - number.cells - sum(part.cells for part in tail) - len(note)
        words = cut(one_line(draft.summary), max(room, 4))
        text = Part(words, palette.text)
        gap = Part(" " * max(room - text.cells, 0), palette.dim)
        return [number, text, Part(note, palette.dim), gap, *tail]

    # ---- the mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start dragging a row."""
        index = self._index_at(event)
        if index is not None:
            self._dragged = self._at = index
            self.refresh()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move the dragged row with the mouse."""
        index = self._index_at(event)
        if self._dragged is not None and event.button and index not in (None, self._dragged):
            assert index is not None
            self._shift(self._dragged, index)
            self._dragged = index

    def on_mouse_up(self) -> None:
        """Stop dragging the row."""
        self._dragged = None

    def on_click(self, event: events.Click) -> None:
        """Run the button at the end of a row."""
        index = self._index_at(event)
        offset = event.get_content_offset(self)
        if index is None or offset is None:
            return
        event.stop()
        self._at = index
        at = 0
        for part in self._row(index, self.content_size.width):
            at += part.cells
            if offset.x < at:
                self._press(part.target)
                return

    def _press(self, target: str) -> None:
        if target == "now":
            self.action_send_now()
        elif target == "edit":
            self.action_edit()
        elif target == "remove":
            self.action_remove()
        elif target in ("up", "down"):
            self.action_move(-1 if target == "up" else 1)

    def _index_at(self, event: events.MouseEvent) -> int | None:
        offset = event.get_content_offset(self)
        if offset is None or offset.y == 0:
            return None
        index = self._first + offset.y - 1
        return index if index < len(self._chat.queue) else None

    # ---- actions

    def action_choose(self, step: int) -> None:
        """Move the cursor to another row."""
        self._at = min(max(self._at + step, 0), max(len(self._chat.queue) - 1, 0))
        self.refresh()

    def action_edit(self) -> None:
        """Edit the selected prompt."""
        self._editor().take_queued(self._at)

    def action_remove(self) -> None:
        """Remove the prompt from the queue."""
        if self._at < len(self._chat.queue):
            del self._chat.queue[self._at]
            self._chat.changed()
            self.refresh_chat()

    def action_send_now(self) -> None:
        """Send the prompt now, into the running turn."""
        if self._at >= len(self._chat.queue):
            return
        if self._chat.phase == "ready":
            self._controller.send(self._chat, self._chat.queue.pop(self._at))
        else:
            self._controller.send_queued_now(self._chat, self._at)
        self._chat.changed()
        self.refresh_chat()

    def action_move(self, step: int) -> None:
        """Move the prompt up or down."""
        self._shift(self._at, self._at + step)

    def _shift(self, index: int, to: int) -> None:
        queue = self._chat.queue
        if 0 <= index < len(queue) and 0 <= to < len(queue):
            queue.insert(to, queue.pop(index))
            self._at = to
            self._chat.changed()
            self.refresh_chat()

    def _editor(self) -> PromptEditor:
        found = [one for one in self.screen.query(PromptEditor) if one.chat is self._chat]
        return found[0]

    def on_focus(self) -> None:
        """Highlight the selected row."""
        self.refresh()

    def on_blur(self) -> None:
        """Remove the highlight of the row."""
        self.refresh()


def _spaced(parts: Sequence[Part], width: int, style: object) -> list[Part]:
    """The left parts and the right parts of a row."""
    if len(parts) < 2:
        return list(parts)
    free = max(width - sum(part.cells for part in parts), 1)
    return [parts[0], Part(" " * free, parts[1].style), *parts[1:]]
