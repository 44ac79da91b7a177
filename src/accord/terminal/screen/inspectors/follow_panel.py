"""The follow panel: the file that the agent is working on, live, at its line.

Invariants
    * The file is read in a thread, at most once a second and when the call changes; what did not
      change is not drawn again.
    * Of a file outside the session's folders only the name is shown.
    * A pinned panel stays with its file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from anyio import to_thread
from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.strip import Strip
from textual.widget import Widget

from accord.machine.console.control_characters import visible
from accord.machine.errors import FileFailure
from accord.terminal.model.changes.file_change import FileChange
from accord.terminal.model.changes.hunks import lines_of
from accord.terminal.model.changes.journal import FILE_BYTES_MAX
from accord.terminal.model.changes.undo_redo import JournalFiles, Unreadable
from accord.terminal.model.chat import Chat
from accord.terminal.model.followed_file import Followed, changed_lines, followed
from accord.terminal.model.labels.tool_calls import call_state
from accord.terminal.model.text.display_text import one_line, path_words
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.syntax_colours import Code
from accord.terminal.render.text_runs import Run, cut, strip_of
from accord.terminal.screen.widget_themes import palette_for
from accord.terminal.screen.widgets.clickable_line import Part, PartsLine, fit
from accord.terminal.screen.widgets.line_list import LineList

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController

READ_SECONDS = 1.0
"""How often the file is read while the agent works."""

FILES_MAX = 4
"""Changed files that are listed below."""

LOW_LINES = 12
"""A panel with fewer lines shows only the file."""

LINE_CHARACTERS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Page:
    """A file prepared for drawing."""

    path: str
    stamp: object
    lines: tuple[tuple[Run, ...], ...] = ()
    marked: frozenset[int] = frozenset()
    # The first line that is marked.
    line: int | None = None
    # Why there is nothing to see.
    why: str = ""


def read_page(files: JournalFiles, path: str, place: Followed | None, palette: Palette) -> Page:
    """Read a file and colour it.  It blocks: call it in a thread."""
    stamp = files.stamp(path)
    try:
        text = files.read(path)
    except Unreadable as error:
        return Page(path, stamp, why=error.reason)
    if text is None:
        return Page(path, stamp, why="the file no longer exists")
    is_here = place is not None and place.path == path
    ranges = changed_lines(text, place.diff, place.line) if place is not None and is_here else ()
    clean = [
        visible(line[:LINE_CHARACTERS_MAX]).replace("\n", " ").rstrip() for line in lines_of(text)
    ]
    name = path.replace("\\", "/").rpartition("/")[2]
    runs = Code(name, palette).runs(clean)
    marked = frozenset(number for one in ranges for number in one if number < len(clean))
    return Page(path, stamp, tuple(map(tuple, runs)), marked, min(marked, default=None))


class FollowPanel(Widget, can_focus=False):
    """Guards the invariants of this module."""

    DEFAULT_CSS = """
    FollowPanel { layout: vertical; background: $surface; border-left: vkey $border; }
    FollowPanel #page { height: 1fr; }
    FollowPanel #touched { height: auto; max-height: 4; }
    FollowPanel FollowTitle, FollowPanel TouchedTitle { background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p,space", "pin", "pin", show=False),
        Binding("enter,o", "open", "open", show=False),
    ]

    def __init__(self, chat: Chat, controller: ChatController) -> None:
        super().__init__()
        self.chat = chat
        self._controller = controller
        self.is_pinned = False
        self.page: Page | None = None
        self._place: Followed | None = None
        # The file that is shown: where the agent works, or the one that was chosen.
        self._path: str | None = None
        self._files: tuple[tuple[str, ...], JournalFiles] | None = None
        self._is_reading = False
        self._asked: object = None
        self._read_at = 0.0
        self._changes: tuple[FileChange, ...] = ()
        self._revision = -1

    def compose(self) -> ComposeResult:
        """What is done, the file, and what was changed so far."""
        yield FollowTitle(self)
        yield LineList(self._line, has_cursor=False, id="page")
        yield TouchedTitle(self)
        yield LineList(self._touched, id="touched")

    def on_mount(self) -> None:
        """Begin as the chat is, also where nothing happens anymore; mounted it is a bit later."""
        self.call_later(self.refresh_chat)

    # ---- what is shown

    @property
    def palette(self) -> Palette:
        """The colours of the theme that is on."""
        return palette_for(self.app.theme)

    def refresh_chat(self) -> None:
        """Follow the agent to its current file."""
        if not self.is_mounted:
            return
        place = followed(self.chat)
        if place is not None and not self.is_pinned:
            self._path = self._absolute(place.path)
        self._place = place
        self._list_changes()
        told = None if place is None else place.stamp
        stamp = (self._path, told, self._revision, self.app.theme)
        is_due = self.chat.is_busy and monotonic() - self._read_at >= READ_SECONDS
        if self._path is not None and (stamp != self._asked or is_due) and not self._is_reading:
            self._is_reading, self._read_at = True, monotonic()
            is_new, self._asked = stamp != self._asked, stamp
            self.run_worker(self._read(is_new=is_new), group="follow")
        self.query_one(FollowTitle).renew()

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.chat.folder, path))

    def _disk(self) -> JournalFiles:
        roots = tuple(self._controller.roots(self.chat))
        if self._files is None or self._files[0] != roots:
            self._files = (roots, JournalFiles(roots, FILE_BYTES_MAX))
        return self._files[1]

    async def _read(self, *, is_new: bool) -> None:
        try:
            path, place, old = self._path, self._place, self.page
            if path is None:
                return
            try:
                files = self._disk()
            except FileFailure as error:
                self._show(Page(path, None, why=error.reason))
                return
            stamp = await to_thread.run_sync(files.stamp, path)
            if not is_new and old is not None and (old.path, old.stamp) == (path, stamp):
                return
            place = None if place is None else _at(place, self._absolute(place.path))
            self._show(await to_thread.run_sync(read_page, files, path, place, self.palette))
        finally:
            self._is_reading = False
        # Read again what changed during the read.
        self.call_later(self.refresh_chat)

    def _show(self, page: Page) -> None:
        if not self.is_mounted:
            return
        old, self.page = self.page, page
        lines = self.query_one("#page", LineList)
        lines.set_count(len(page.lines))
        is_other = old is None or old.path != page.path
        if page.line is not None and (is_other or (old is not None and old.line != page.line)):
            self.call_after_refresh(self._show_mark)
        elif is_other:
            lines.scroll_home(animate=False)
        self.query_one(FollowTitle).renew()

    def _line(self, index: int, width: int) -> Strip:
        page, palette = self.page, self.palette
        if page is None or index >= len(page.lines):
            return Strip.blank(width)
        digits = len(str(len(page.lines)))
        is_marked = index in page.marked
        head = f"{'▌' if is_marked else ' '}{index + 1:>{digits}} "
        style = palette.accent if is_marked else palette.line_number
        strip = strip_of((head, style), *page.lines[index]).crop_extend(0, width, None)
        if not is_marked:
            return strip
        return Strip(Segment.apply_style(strip, None, palette.selected))

    # ---- the changed files

    def _list_changes(self) -> None:
        journal = self._controller.journal(self.chat)
        if journal.revision == self._revision:
            return
        self._revision = journal.revision
        self._changes = tuple(reversed(journal.changes))
        files = self.query_one("#touched", LineList)
        files.set_count(len(self._changes))
        self.query_one(TouchedTitle).renew()
        self._fit_files()

    def _fit_files(self) -> None:
        """A low panel is for the file; the list gets a part of it at most."""
        rows = min(len(self._changes), FILES_MAX, max(self.size.height // 5, 1))
        files = self.query_one("#touched", LineList)
        files.display = bool(self._changes)
        files.styles.height = rows
        if not self.is_pinned:
            self.call_after_refresh(self._show_mark)
        self.query_one(TouchedTitle).display = bool(self._changes) and self.size.height >= LOW_LINES

    def on_resize(self) -> None:
        """The marked line stays in sight."""
        self._fit_files()

    def _show_mark(self) -> None:
        if self.page is not None and self.page.line is not None:
            self.query_one("#page", LineList).show_line(self.page.line, middle=True)

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """The changed files, the newest first."""
        return self._changes

    def _touched(self, index: int, width: int) -> Strip:
        palette = self.palette
        change = self._changes[index]
        counts = f"+{change.added} −{change.removed}"
        path = path_words(change.place, self.chat.folder)
        room = max(width - len(counts) - 13, 4)
        state = "" if change.state == "pending" else f"  {change.state}"
        return strip_of(
            (f" {counts:<10} ", palette.dim), (cut(path, room), palette.text), (state, palette.dim)
        )

    def on_line_list_clicked(self, event: LineList.Clicked) -> None:
        """Show the file that was clicked, and stay there."""
        event.stop()
        if event.lines.id == "touched" and event.index < len(self._changes):
            self.is_pinned = True
            self._path = self._changes[event.index].place
            self.refresh_chat()

    # ---- what can be done

    def action_pin(self) -> None:
        """Pin or unpin the file."""
        self.is_pinned = not self.is_pinned
        self.refresh_chat()

    def action_open(self) -> None:
        """Open the file in the editor, at the line."""
        from accord.terminal.screen.external_editor import open_in_editor

        if self._path is None:
            return
        line = None if self.page is None or self.page.line is None else self.page.line + 1
        roots = self._controller.roots(self.chat)
        why = open_in_editor(self.app, self._path, line, roots, self._controller.settings.editor)
        if why:
            self.app.notify(why, severity="error", markup=False)

    def title_parts(self, width: int) -> list[Part]:
        """Where the agent works, and what it does there."""
        palette, place = self.palette, self._place
        if self._path is None:
            return fit(
                [Part(" The file that the agent is working on appears here.", palette.dim)], width
            )
        name = path_words(self._path, self.chat.folder)
        parts = [Part(f" {name}", palette.strong, least=8, target="open")]
        page = self.page
        if page is not None and page.path == self._path and page.line is not None:
            parts.append(Part(f":{page.line + 1}", palette.accent))
        if page is not None and page.path == self._path and page.why:
            parts.append(Part(f"  {page.why}", palette.warning, weight=1, least=8))
        if place is not None and self._absolute(place.path) == self._path:
            state = call_state(place.call, self.chat)
            title = one_line(place.call.title or place.call.kind)
            parts.append(Part(f"  {title}", palette.text, weight=2, least=6))
            parts.append(Part(f"  {state.word}", palette.dim, weight=3))
        word = " pinned " if self.is_pinned else " pin "
        pin = Part(word, palette.waiting if self.is_pinned else palette.dim, target="pin")
        fitted = fit(parts, max(width - pin.cells - 1, 1))
        gap = width - pin.cells - sum(part.cells for part in fitted)
        return [*fitted, Part(" " * max(gap, 0), palette.text), pin]


def _at(place: Followed, path: str) -> Followed:
    return Followed(path, place.line, place.call, place.diff, place.stamp)


class FollowTitle(PartsLine):
    """The head of the panel."""

    def __init__(self, panel: FollowPanel) -> None:
        super().__init__()
        self._panel = panel

    def parts(self, width: int) -> list[Part]:
        """The title of the panel; see `FollowPanel.title_parts`."""
        return self._panel.title_parts(width)

    def pressed(self, target: str) -> None:
        """Pin it, or open the file."""
        self.call_next(self._panel.run_action, target)


class TouchedTitle(PartsLine):
    """How many files were changed."""

    def __init__(self, panel: FollowPanel) -> None:
        super().__init__()
        self._panel = panel

    def parts(self, width: int) -> list[Part]:
        """A count, and where more can be done with them."""
        count = len(self._panel.changes)
        words = f" {count} changed file{'s' if count != 1 else ''}"
        return fit([Part(words, self.palette.dim)], width)
