"""The dialog that asks for a permission.

This module does not know rules, or how an answer is remembered;
`model/permissions/permission_options.py` describes both.

Invariants
    * The answer is an option that was offered, or none; Esc rejects once, or answers none.
    * Approving and refusing differ by sign and word, not by colour alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import anyio.to_thread
from textual import events
from textual.app import ComposeResult
from textual.strip import Strip

from accord.client.permissions.request import PermissionRequest
from accord.terminal.model.permissions.permission_options import Choice, choices_of, closing
from accord.terminal.model.permissions.request_text import who_asks
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.render_options import Look
from accord.terminal.screen.dialogs.choice_dialog import ChoiceDialog, Row
from accord.terminal.screen.dialogs.permission_changes import QUICK_LINES_MAX, is_quick
from accord.terminal.screen.dialogs.permission_lines import PermissionBody, body_of
from accord.terminal.screen.dialogs.text_in_view import Extent
from accord.terminal.screen.dialogs.wrapped_text import text_lines
from accord.terminal.screen.widgets.scrollable_lines import Lines

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
