"""The traffic screen: a line for each message exchanged with the agent, and one in full.

This module does not know how frames are stored or found.

Invariants
    * Only visible lines are drawn, at most ten times a second.
    * A cursor on the last message follows new ones; on another message it stays.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from anyio import to_thread
from rich.cells import cell_len
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Input, Label

from accord.machine import clock
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.amounts_and_durations import count_words, size_words
from accord.terminal.model.text.display_text import one_line
from accord.terminal.model.traffic import Item
from accord.terminal.model.traffic_filter import Filter, TrafficView, pretty
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.json_lines import JsonLines
from accord.terminal.render.text_runs import cut, strip_of
from accord.terminal.screen.widget_themes import palette_for
from accord.terminal.screen.widgets.clickable_line import Part, PartsLine, fit
from accord.terminal.screen.widgets.key_hints import Hint, Hints
from accord.terminal.screen.widgets.line_list import LineList

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController

SIZE_COLUMNS_MIN = 80
"""On a narrower screen the size is left out."""


def row_of(item: Item, width: int, palette: Palette) -> Strip:
    """One message as a line of the list."""
    time = f"{item.time:>9.3f} "
    arrow, side = ("→ ", palette.accent) if item.way == "sent" else ("← ", palette.success)
    words, style = _what(item, palette)
    state, state_style = _state(item, palette)
    size = f" {size_words(item.size):>9} " if width >= SIZE_COLUMNS_MIN else " "
    tail = f"{size}{state:>9} "
    room = max(width - len(time) - len(arrow) - len(tail), 4)
    words = cut(one_line(words), room)
    return strip_of(
        (time, palette.dim),
        (arrow, side),
        (words, style),
        (" " * (room - cell_len(words)), palette.text),
        (size, palette.dim),
        (f"{state:>9} ", state_style),
    )


def _what(item: Item, palette: Palette) -> tuple[str, Style]:
    if item.kind == "noise":
        return item.raw[:200].decode("utf-8", "replace"), palette.warning
    if item.kind == "end":
        return "— connection closed —", palette.dim
    if item.kind == "gap":
        return "a message too long to keep", palette.warning
    if item.kind == "answer":
        return f"✓ {item.method or 'an unexpected response'}", palette.dim
    if item.kind == "error":
        return f"✗ {item.method or 'an unexpected error'}", palette.error
    if item.kind == "batch":
        return "a batch of messages", palette.text
    if item.detail:
        return f"{item.method} {item.detail}", palette.text
    return item.method, palette.strong if item.kind == "request" else palette.text


def _state(item: Item, palette: Palette) -> tuple[str, Style]:
    if item.latency is not None:
        seconds = item.latency
        words = f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
        return words, palette.dim
    if item.kind == "request":
        return "waiting", palette.waiting
    return ("noise", palette.warning) if item.kind == "noise" else ("", palette.dim)


DRAW_SECONDS = 0.1

Asking: TypeAlias = Literal["", "filter", "search", "save"]
_WORDS: dict[Asking, str] = {
    "filter": "sent, received, error, waiting, method:…, session:…, or any words",
    "search": "search the list",
    "save": "a new file for accord trace; secrets are removed",
}
_HINTS = (
    Hint("Esc", "close", "leave"),
    Hint("f", "filter", "ask('filter')"),
    Hint("/", "search", "ask('search')"),
    Hint("Enter", "counterpart", "pair"),
    Hint("Space", "pause", "pause"),
    Hint("c", "copy", "copy"),
    Hint("s", "save", "ask('save')"),
    Hint("Tab", "other pane", "focus_next"),
)


class TrafficScreen(ModalScreen[None]):
    """Guards the invariants of this module."""

    DEFAULT_CSS = """
    TrafficScreen > Vertical { background: $surface; }
    TrafficScreen #frames { height: 1fr; }
    TrafficScreen #frame { height: 1fr; border-top: solid $border; }
    TrafficScreen #frame:focus { border-top: heavy $primary; }
    TrafficScreen TrafficTitle { background: $panel; }
    TrafficScreen #asking { display: none; height: 1; background: $panel; }
    TrafficScreen.-asking #asking { display: block; }
    TrafficScreen #asking Label { padding: 0 1; color: $primary; background: $panel; }
    TrafficScreen #asking Input { width: 1fr; background: $panel; }
    TrafficScreen Hints { background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", priority=True),
        Binding("q,f6", "close", show=False),
        Binding("f", "ask('filter')", show=False),
        Binding("slash", "ask('search')", show=False),
        Binding("s", "ask('save')", show=False),
        Binding("n", "again(1)", show=False),
        Binding("N", "again(-1)", show=False),
        Binding("enter,p", "pair", show=False),
        Binding("space", "pause", show=False),
        Binding("c,y", "copy", show=False),
    ]

    def __init__(self, chat: Chat, controller: ChatController) -> None:
        super().__init__()
        self.chat = chat
        self._traffic = controller.traffic(chat)
        self.view = TrafficView(self._traffic)
        self.asking: Asking = ""
        self._filter_text = ""
        self._search_text = ""
        self._is_due = False
        self._shown: tuple[int, int] | None = None
        self._json = JsonLines("", 2)

    def compose(self) -> ComposeResult:
        """The list, the chosen message, and a line to type into when something is asked."""
        with Vertical():
            yield TrafficTitle(self)
            yield LineList(self._row, id="frames")
            yield LineList(self._line, has_cursor=False, id="frame")
            with Horizontal(id="asking"):
                yield Label("", markup=False)
                yield Input(compact=True)
            yield Hints(_HINTS)

    def on_mount(self) -> None:
        """Begin at the end."""
        self._traffic.on_change = self._heard
        self.view.update()
        self.frames.focus()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.frames.set_count(len(self.view.numbers), len(self.view.numbers) - 1)
        self._show_frame()

    def on_unmount(self) -> None:
        """Stop listening to the traffic."""
        self._traffic.on_change = None

    @property
    def palette(self) -> Palette:
        """The colours of the theme that is on."""
        return palette_for(self.app.theme)

    @property
    def frames(self) -> LineList:
        """The list of frames."""
        return self.query_one("#frames", LineList)

    @property
    def item(self) -> Item | None:
        """The message under the cursor."""
        numbers, at = self.view.numbers, self.frames.cursor
        return self._traffic.item(numbers[at]) if at < len(numbers) else None

    # ---- drawing

    def refresh_chat(self) -> None:
        """Update the title after a change of the chat."""
        self.query_one(TrafficTitle).renew()

    def _heard(self) -> None:
        if not self._is_due:
            self._is_due = True
            self.set_timer(DRAW_SECONDS, self._renew)

    def _renew(self) -> None:
        self._is_due = False
        frames, item = self.frames, self.item
        was_last = frames.cursor >= frames.count - 1
        if self.view.update():
            count = len(self.view.numbers)
            at = None if item is None or was_last else self.view.index_of(item.number)
            if was_last:
                frames.set_count(count, count - 1)
            else:
                # What went at the top moves the rest up, and the view with it.
                gone = frames.cursor - (frames.cursor if at is None else at)
                frames.cursor -= gone
                frames.set_count(count)
                if gone:
                    frames.scroll_relative(y=-gone, animate=False)
        self._show_frame()
        self.query_one(TrafficTitle).renew()

    def _show_frame(self) -> None:
        item = self.item
        lines = self.query_one("#frame", LineList)
        key = (0 if item is None else item.number, lines.size.width)
        if key == self._shown:
            return
        is_other = self._shown is None or self._shown[0] != key[0]
        self._shown = key
        self._json = JsonLines("" if item is None else pretty(item), max(lines.room - 1, 2))
        lines.set_count(len(self._json))
        if is_other:
            lines.scroll_home(animate=False)

    def on_resize(self) -> None:
        """Lines are broken again."""
        self.call_after_refresh(self._show_frame)

    def _line(self, index: int, width: int) -> Strip:
        del width
        return self._json.strip(index, self.palette)

    def _row(self, index: int, width: int) -> Strip:
        item = self._traffic.item(self.view.numbers[index])
        return Strip.blank(width) if item is None else row_of(item, width, self.palette)

    def title_parts(self, width: int) -> list[Part]:
        """How many there are, and which of them are listed."""
        palette, view = self.palette, self.view
        count, shown = len(self._traffic), len(view.numbers)
        name = one_line(self.chat.agent_name or "the agent", 30)
        parts = [Part(f" Traffic with {name}", palette.strong, least=8)]
        words = f"  {count_words(count)} message{'s' if count != 1 else ''}"
        parts.append(Part(words, palette.text))
        if not view.filter.is_empty:
            text = one_line(self._filter_text, 30)
            parts.append(Part(f"  {count_words(shown)} with “{text}”", palette.accent, weight=2))
        if view.paused:
            new = self._traffic.next - 1 - (view.numbers[-1] if view.numbers else 0)
            more = f", {count_words(new)} new" if new > 0 and view.filter.is_empty else ""
            parts.append(Part(f"  paused{more}", palette.waiting, weight=3))
        if self.chat.needs_answer:
            parts.append(Part("  the agent has a question: Esc", palette.waiting, weight=9))
        if self._traffic.first > 1:
            gone = f"  ({count_words(self._traffic.first - 1)} older ones were discarded)"
            parts.append(Part(gone, palette.dim, weight=1))
        return fit(parts, width)

    # ---- moving

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """Show the message that was chosen."""
        event.stop()
        self._show_frame()

    def on_line_list_clicked(self, event: LineList.Clicked) -> None:
        """The cursor has moved there already."""
        event.stop()

    def action_pair(self) -> None:
        """Go to the response, or to its request."""
        item = self.item
        if item is None or item.pair is None:
            word = (
                "There is no response yet."
                if item and item.kind == "request"
                else "There is no matching message."
            )
            self.app.notify(word, timeout=2)
            return
        at = self.view.index_of(item.pair)
        if at is None and self._traffic.item(item.pair) is not None:
            # The filter hides it; clear the filter to show it.
            self._set_filter("")
            at = self.view.index_of(item.pair)
        if at is None:
            self.app.notify("That message is too old; it was discarded.", timeout=2)
            return
        self.frames.move_to(at)

    def action_pause(self) -> None:
        """Pause or resume the list."""
        self.view.paused = not self.view.paused
        self._renew()

    def action_copy(self) -> None:
        """The message as it went over the wire."""
        item = self.item
        if item is not None:
            self.app.copy_to_clipboard(item.raw.decode("utf-8", "replace"))
            self.app.notify(f"Copied {size_words(item.size)}.", timeout=2)

    # ---- filter, search, save

    def action_ask(self, what: Asking) -> None:
        """Let the user type."""
        self.asking = what
        line = self.query_one(Input)
        line.placeholder = _WORDS[what]
        line.value = {
            "filter": self._filter_text,
            "search": self._search_text,
            "save": os.path.join(self.chat.folder, _file_name()),
            "": "",
        }[what]
        self.query_one(Label).update(what)
        self.add_class("-asking")
        line.focus()

    def action_leave(self) -> None:
        """Leave the line that is typed into, or the screen."""
        if self.asking:
            if self.asking == "filter":
                self._set_filter("")
            self._stop_asking()
        else:
            self.dismiss()

    def action_close(self) -> None:
        """Return to the chat."""
        self.dismiss()

    def _stop_asking(self) -> None:
        self.asking = ""
        self.remove_class("-asking")
        self.frames.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """A filter works while it is typed."""
        event.stop()
        if self.asking == "filter" and event.value != self._filter_text:
            self._set_filter(event.value)

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Filter, search or save, by the text that was entered."""
        event.stop()
        asking, text = self.asking, event.value.strip()
        if asking == "search":
            self._search_text = text
            self._find(self.frames.cursor, 1)
        elif asking == "save" and text:
            await self._save(text)
        self._stop_asking()

    def _set_filter(self, text: str) -> None:
        item = self.item
        self._filter_text = text
        self.view.choose(Filter.read(text))
        count = len(self.view.numbers)
        at = None if item is None else self.view.index_of(item.number)
        self.frames.set_count(count, count - 1 if at is None else at)
        self._show_frame()
        self.query_one(TrafficTitle).renew()

    def action_again(self, step: int) -> None:
        """The next place that was searched for."""
        if self._search_text:
            self._find(self.frames.cursor + step, step)

    def _find(self, start: int, step: int) -> None:
        if not self._search_text:
            return
        at = self.view.find(self._search_text, start, step)
        if at is None:
            self.app.notify("No matches.", timeout=2)
        else:
            self.frames.move_to(at)

    async def _save(self, text: str) -> None:
        path = self._place(text)
        try:
            frames = await to_thread.run_sync(self._traffic.save, path)
        except OSError as error:
            why = f"Cannot save {one_line(path)}: {error.strerror or error}."
            self.app.notify(why, severity="error", markup=False)
            return
        told = f"{count_words(frames)} messages saved to {one_line(path)}"
        self.app.notify(f"{told}\naccord trace shows them.", markup=False)

    def _place(self, text: str) -> str:
        return os.path.join(self.chat.folder, os.path.expanduser(text))


def _file_name() -> str:
    return f"traffic-{clock.file_stamp()}.jsonl"


class TrafficTitle(PartsLine):
    """The head of the screen."""

    def __init__(self, owner: TrafficScreen) -> None:
        super().__init__()
        self._owner = owner

    def parts(self, width: int) -> list[Part]:
        """The title of the screen; see `TrafficScreen.title_parts`."""
        return self._owner.title_parts(width)
