"""The review screen: changed files, their hunks, and what to do with each.

This module does not know how a hunk is undone.

Invariants
    * Only an explicit key changes a file, and every undo can be redone.
    * Files are highlighted in a thread; only visible lines are drawn.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from anyio import to_thread
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import ModalScreen
from textual.strip import Strip

from accord.errors import AccordError
from accord.terminal.model.changes.file_change import FileChange
from accord.terminal.model.changes.undo_redo import Outcome
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.amounts_and_durations import counted
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.screen.inspectors.review_rows import ReviewPage, calm, file_row, page_of
from accord.terminal.screen.widget_themes import palette_for
from accord.terminal.screen.widgets.clickable_line import Part, PartsLine, fit
from accord.terminal.screen.widgets.key_hints import Hint, Hints
from accord.terminal.screen.widgets.line_list import LineList

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController

BESIDE_COLUMNS_MIN = 90
"""The minimum width to show the files beside the diff instead of above it."""

FILES_SHARE_MAX = 6
"""Lines of the list of files on a narrow screen."""

_HINTS = (
    Hint("Esc", "close", "close"),
    Hint("a", "keep", "keep"),
    Hint("u", "undo or redo", "undo"),
    Hint("A", "keep file", "keep_file"),
    Hint("U", "undo file", "undo_file"),
    Hint("n", "next", "step(1)"),
    Hint("o", "edit", "open"),
    Hint("Tab", "files", "focus_next"),
    Hint("^A", "keep all", "keep_all"),
    Hint("^U", "undo all", "undo_all"),
)


class ReviewScreen(ModalScreen[None]):
    """Guards the invariants of this module."""

    DEFAULT_CSS = """
    ReviewScreen > Vertical { background: $surface; }
    ReviewScreen ReviewTitle { background: $panel; }
    ReviewScreen #sides { height: 1fr; layout: vertical; }
    ReviewScreen #files { height: auto; max-height: 6; }
    ReviewScreen #changes { height: 1fr; border-top: solid $border; }
    ReviewScreen #changes:focus { border-top: heavy $primary; }
    ReviewScreen.-beside #sides { layout: horizontal; }
    ReviewScreen.-beside #files { width: 34%; height: 1fr; max-height: 100%; }
    ReviewScreen.-beside #changes { width: 1fr; border-top: none; border-left: solid $border; }
    ReviewScreen.-beside #changes:focus { border-left: heavy $primary; }
    ReviewScreen Hints { background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", priority=True),
        Binding("q,f5", "close", show=False),
        Binding("a", "keep", show=False),
        Binding("u", "undo", show=False),
        Binding("A", "keep_file", show=False),
        Binding("U", "undo_file", show=False),
        Binding("ctrl+a", "keep_all", show=False, priority=True),
        Binding("ctrl+u", "undo_all", show=False, priority=True),
        Binding("n,right_square_bracket", "step(1)", show=False),
        Binding("N,left_square_bracket", "step(-1)", show=False),
        Binding("o,enter", "open", show=False),
    ]

    def __init__(self, chat: Chat, controller: ChatController) -> None:
        super().__init__()
        self.chat = chat
        self._controller = controller
        self.journal = controller.journal(chat)
        self._changes: tuple[FileChange, ...] = ()
        self._page = ReviewPage()
        self._is_drawing = False
        self._drawn: object = None

    def compose(self) -> ComposeResult:
        """The files, and the differences of one."""
        with Vertical():
            yield ReviewTitle(self)
            with Container(id="sides"):
                yield LineList(self._file_row, id="files")
                yield LineList(self._line, id="changes")
            yield Hints(_HINTS)

    def on_mount(self) -> None:
        """Begin with the newest file."""
        self.journal.watch()
        self.journal.on_change = self._changed
        self._renew()
        self.files.set_count(len(self._changes), len(self._changes) - 1)
        (self.lines if self._changes else self.files).focus()
        self._draw()

    def on_unmount(self) -> None:
        """Stop listening to the journal."""
        self.journal.on_change = None

    def on_resize(self) -> None:
        """A narrow screen has the files above."""
        self.set_class(self.size.width >= BESIDE_COLUMNS_MIN, "-beside")
        self._fit_files()
        self.call_after_refresh(self._draw)

    @property
    def palette(self) -> Palette:
        """The colours of the theme that is on."""
        return palette_for(self.app.theme)

    @property
    def files(self) -> LineList:
        """The list of files."""
        return self.query_one("#files", LineList)

    @property
    def lines(self) -> LineList:
        """The list of diff lines."""
        return self.query_one("#changes", LineList)

    @property
    def change(self) -> FileChange | None:
        """The file that is shown."""
        at = self.files.cursor
        return self._changes[at] if at < len(self._changes) else None

    @property
    def hunk(self) -> int | None:
        """The difference under the cursor."""
        return self._page.hunk_at(self.lines.cursor)

    # ---- drawing

    def refresh_chat(self) -> None:
        """Update the title after a change of the chat."""
        self.query_one(ReviewTitle).renew()

    def _changed(self) -> None:
        self.call_later(self._renew)

    def _renew(self) -> None:
        chosen = self.change
        self._changes = self.journal.changes
        at = next(
            (n for n, one in enumerate(self._changes) if chosen and one.path == chosen.path), 0
        )
        self.files.cursor = at
        self.files.set_count(len(self._changes))
        self._fit_files()
        self.query_one(ReviewTitle).renew()
        self._draw()

    def _fit_files(self) -> None:
        is_beside = self.has_class("-beside")
        rows = max(min(len(self._changes), FILES_SHARE_MAX), 1)
        self.files.styles.height = "1fr" if is_beside else rows

    def _draw(self) -> None:
        """Colour the chosen file, in a thread."""
        change, width = self.change, self.lines.size.width - 1
        key = (change, width, self.app.theme)
        if key == self._drawn or self._is_drawing or width < 2:
            return
        self._drawn, self._is_drawing = key, True
        self.run_worker(self._colour(change, width), group="review")

    async def _colour(self, change: FileChange | None, width: int) -> None:
        try:
            page = await to_thread.run_sync(page_of, change, width, self.palette)
        finally:
            self._is_drawing = False
        if not self.is_mounted:
            return
        old, hunk = self._page, self.hunk
        self._page = page
        is_other = old.path != page.path
        cursor = page.first_row(0 if is_other or hunk is None else hunk)
        if not is_other and len(old.rows) == len(page.rows):
            cursor = self.lines.cursor
        if is_other:
            self.lines.scroll_home(animate=False)
        self.lines.set_count(len(page.rows), cursor)
        # What changed while it was coloured is coloured now.
        self._draw()

    def _line(self, index: int, width: int) -> Strip:
        del width
        return self._page.rows[index][0] if index < len(self._page.rows) else Strip([])

    def _file_row(self, index: int, width: int) -> Strip:
        change = self._changes[index]
        mark = self.journal.git_mark(change)
        return file_row(change, mark, self.chat.folder, width, self.palette)

    def title_parts(self, width: int) -> list[Part]:
        """How much was changed, and where."""
        palette, changes = self.palette, self._changes
        asks = Part("  the agent has a question: Esc", palette.waiting, weight=9)
        asked = [asks] if self.chat.needs_answer else []
        if not changes:
            return fit(
                [Part(" The agent has not changed any files yet.", palette.text), *asked], width
            )
        added, removed = sum(one.added for one in changes), sum(one.removed for one in changes)
        waiting = sum(one.states.count("pending") for one in changes)
        parts = [
            Part(f" {counted(len(changes), 'changed file')}", palette.strong),
            Part(f"  +{added}", palette.success),
            Part(f" −{removed}", calm(palette.error, palette.text)),
        ]
        words = f"  {counted(waiting, 'hunk')} to review" if waiting else "  all reviewed"
        parts.append(Part(words, palette.text, weight=2))
        if self.journal.git is not None:
            label = one_line(self.journal.git.label, 30)
            parts.append(Part(f"  on {label}", palette.dim, weight=1))
        return fit([*parts, *asked], width)

    # ---- moving

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """Show the file that the cursor moved to."""
        event.stop()
        if event.lines.id == "files":
            self._draw()

    def on_line_list_clicked(self, event: LineList.Clicked) -> None:
        """The cursor has moved there already."""
        event.stop()

    def action_step(self, step: int) -> None:
        """The next difference, in this file or the next one."""
        change, hunk = self.change, self.hunk
        if change is None:
            return
        target = (0 if hunk is None else hunk) + step
        if 0 <= target < len(change.hunks):
            self.lines.move_to(self._page.first_row(target))
        elif 0 <= self.files.cursor + step < len(self._changes):
            self.files.move_to(self.files.cursor + step)

    def _next_pending(self) -> None:
        """Move to the next unreviewed hunk of this file."""
        change, hunk = self.change, self.hunk
        if change is None or hunk is None:
            return
        later = [n for n, one in enumerate(change.states) if one == "pending" and n > hunk]
        if later:
            self.lines.move_to(self._page.first_row(later[0]))

    # ---- what can be done

    @property
    def _wanted(self) -> tuple[FileChange, int | None] | None:
        """The difference under the cursor, or the file where the list of files has the focus."""
        change = self.change
        if change is None:
            return None
        return change, None if self.files.has_focus else self.hunk

    def action_keep(self) -> None:
        """Keep the selected hunk."""
        wanted = self._wanted
        if wanted is not None and self._is_known(wanted[0]):
            self.journal.keep(wanted[0].path, wanted[1])
            self._next_pending()

    def action_keep_file(self) -> None:
        """Keep all of the file."""
        if self.change is not None and self._is_known(self.change):
            self.journal.keep(self.change.path)

    def action_keep_all(self) -> None:
        """Keep all changes of all files."""
        self.journal.keep_all()

    def action_undo(self) -> None:
        """Undo or redo the selected hunk."""
        wanted = self._wanted
        if wanted is not None:
            self._switch(*wanted)

    def action_undo_file(self) -> None:
        """Undo or redo the whole file."""
        if self.change is not None:
            self._switch(self.change, None)

    def action_undo_all(self) -> None:
        """Undo everything that was not kept."""
        self._do(self.journal.undo_all)

    def _is_known(self, change: FileChange) -> bool:
        if change.why:
            self.app.notify(f"This cannot be undone: {one_line(change.why)}.", markup=False)
        return not change.why

    def _switch(self, change: FileChange, hunk: int | None) -> None:
        if not self._is_known(change):
            return
        state = change.state if hunk is None else change.states[hunk]
        work = self.journal.redo if state == "undone" else self.journal.undo
        self._do(lambda: work(change.path, hunk))

    def _do(self, work: Callable[[], Awaitable[Outcome]]) -> None:
        async def run() -> None:
            try:
                outcome = await work()
            except AccordError as error:
                self.app.notify(one_line(str(error)), severity="warning", markup=False)
                return
            if outcome.refused:
                left = counted(outcome.refused, "hunk")
                told = f"{left} not undone: these lines were changed in the meantime."
                self.app.notify(told, severity="warning", markup=False)

        self.run_worker(run(), group="undo")

    def action_open(self) -> None:
        """Open the file in the editor, at the line under the cursor."""
        from accord.terminal.screen.external_editor import open_in_editor

        change = self.change
        if change is None:
            return
        line = None if self.files.has_focus else self._page.line_at(self.lines.cursor)
        roots = self._controller.roots(self.chat)
        why = open_in_editor(self.app, change.place, line, roots, self._controller.settings.editor)
        if why:
            self.app.notify(why, severity="error", markup=False)

    def action_close(self) -> None:
        """Return to the chat."""
        self.dismiss()


class ReviewTitle(PartsLine):
    """The head of the screen."""

    def __init__(self, owner: ReviewScreen) -> None:
        super().__init__()
        self._owner = owner

    def parts(self, width: int) -> list[Part]:
        """The title of the screen; see `ReviewScreen.title_parts`."""
        return self._owner.title_parts(width)
