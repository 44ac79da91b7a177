"""The conversation: all entries of a chat, of which those in sight are rendered.

Must not know the agent; it looks at a `Chat` when it is told to, and does what the person does
with entries: selects, folds, copies, clicks.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from accord.terminal.model.chat import Chat, Entry
from accord.terminal.render.block import Fold, Target
from accord.terminal.render.render_options import Look
from accord.terminal.screen.conversation.rows import Place, Rows
from accord.terminal.screen.conversation.rows_view import RowsView

TICK_SECONDS = 0.9
"""What shows a time is rendered again after so long, not with every piece that comes."""


class Conversation(RowsView):
    """The entries of a chat.

    Guards: the selected entry stays selected while entries come and go.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "use_selected", "Use", show=False),
    ]

    class TargetChosen(Message):
        """A line was clicked, or Enter was pressed on it, and means something."""

        def __init__(self, target: Target, entry: Entry) -> None:
            super().__init__()
            self.target = target
            self.entry = entry

    def __init__(self, chat: Chat, look: Look, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(chat, look, id=id)
        self._ticked = 0.0
        self._circumstances: object = None

    # ---- the chat

    def refresh_chat(self) -> None:
        """Take in what changed since the last time, and draw what is seen of it."""
        changes, rows = self.chat.take_changes(), self._rows
        if rows is None:
            # Not laid out yet: the rows will be made of everything there is then.
            return
        if changes.is_reset or len(self.chat.entries) < len(rows.blocks):
            chosen = self.selected
            rows.rebuild()
            self._selected = None if chosen is None else rows.index_of(chosen)
        else:
            rows.entry_changed(changes.entries)
            rows.catch_up()
        self._notice_circumstances(rows)
        if self.size:
            self._draw()

    def _notice_circumstances(self, rows: Rows) -> None:
        chat = self.chat
        around = (chat.phase, tuple(map(id, chat.questions.all)), chat.history_end)
        now = chat.clock()
        if around != self._circumstances or now - self._ticked >= TICK_SECONDS:
            self._circumstances, self._ticked = around, now
            rows.circumstances_changed()

    # ---- entries

    @property
    def selected(self) -> Entry | None:
        """The entry that is selected; None where the person selected none."""
        rows = self.rows
        if self._selected is None or self._selected >= len(rows.blocks):
            return None
        return rows.blocks[self._selected].entry

    def select(self, delta: int) -> None:
        """Select the entry so many below, or above; beyond the last, none is selected."""
        rows = self.rows
        at, step = self._selected, 1 if delta > 0 else -1
        if at is None:
            at = self._window[-1].block + 1 if self._window and step < 0 else len(rows.blocks)
            if step > 0:
                at = self._window[0].block - 1 if self._window else -1
        at += step
        while 0 <= at < len(rows.blocks) and not rows.heights[at]:
            at += step
        if at >= len(rows.blocks):
            self._selected = None
            self.action_scroll_end()
        elif at >= 0:
            self._selected = at
            self._show(at)

    def unselect(self) -> None:
        """Select no entry."""
        self._selected = None
        self._draw()

    def _foldable(self) -> int | None:
        """The selected block, or the last one in sight that can be folded."""
        if self._selected is not None:
            return self._selected
        for place in reversed(self._window):
            if self.rows.blocks[place.block].is_foldable:
                return place.block
        return None

    def toggle_fold(self, part: str = "") -> bool:
        """Fold or unfold the selected entry, or the last one in sight; whether there was one."""
        index = self._foldable()
        return index is not None and self._toggle(index, part)

    def _toggle(self, index: int, part: str) -> bool:
        rows = self.rows
        before = rows.rows(index)
        if not rows.blocks[index].toggle(part):
            return False
        rows.blocks[index].invalidate()
        if rows.rows(index) > before and self.follows:
            # What unfolds is read from its head, not from its end.
            self.follows = False
            self._leave_end()
        self._show(index)
        self.follows = self._top >= rows.end(self._room.height)
        return True

    def fold_all(self) -> None:
        """Fold everything, or unfold everything where all is folded."""
        rows = self.rows
        blocks = [block for block in rows.blocks if block.is_foldable]
        fold = any(not block.folded for block in blocks)
        for block in blocks:
            block.folded = fold
        rows.guess_again()
        self._top = Place(self._top.block, 0)
        self._draw()

    def text_of_selected(self) -> str:
        """The selected entry as text; without one, the last answer of the agent."""
        rows = self.rows
        if self._selected is not None and self._selected < len(rows.blocks):
            return rows.blocks[self._selected].text()
        for entry in reversed(self.chat.entries):
            if getattr(entry, "role", None) == "agent":
                index = rows.index_of(entry)
                return rows.blocks[index].text() if index is not None else ""
        return ""

    def action_use_selected(self) -> None:
        """What the head of the selected entry means."""
        if self._selected is not None and self._selected < len(self.rows.blocks):
            self._use(self._selected, 0)

    def _use(self, index: int, line: int) -> None:
        block = self.rows.blocks[index]
        target = block.target_at(line)
        if isinstance(target, Fold):
            self._toggle(index, target.part)
        elif target is not None:
            self.post_message(self.TargetChosen(target, block.entry))

    # ---- the mouse

    def on_click(self, event: events.Click) -> None:
        """A click means what its line does; where text was marked, it means nothing."""
        if self.text_selection is not None:
            return
        y = event.y
        if y == len(self._painted) - 1 and self._hint():
            self.action_scroll_end()
        elif 0 <= y < len(self._window):
            place = self._window[y]
            line = place.row - self.rows.gap(place.block)
            if line >= 0:
                self._use(place.block, line)


__all__ = ["Conversation"]
