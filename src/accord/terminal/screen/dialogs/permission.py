"""May the agent do this?  The dialog that asks for a permission.

Must not know rules, or how an answer is remembered; `permission_words` says both in words.

What always holds
    * The answer is an option that was offered, or none; Esc rejects once, or answers none.
    * Approving and refusing differ by sign and word, not by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio.to_thread
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.strip import Strip

from accord.client.asking import PermissionOption, PermissionRequest, Scope
from accord.terminal.model.text.cleaning import one_line
from accord.terminal.model.words.permission_words import (
    Choice,
    choices_of,
    closing,
    decision_for,
    remembered_words,
    scope_for,
    scopes_of,
    who_asks,
)
from accord.terminal.model.words.rule_words import SCOPES
from accord.terminal.render.block import strip_of
from accord.terminal.render.look import Look
from accord.terminal.screen.dialogs.choices import ChoiceDialog, Row, Rows, Tone
from accord.terminal.screen.dialogs.lines import Lines
from accord.terminal.screen.dialogs.permission_lines import (
    QUICK_LINES_MAX,
    PermissionBody,
    body_of,
    is_quick,
    text_lines,
)

REMEMBERED_LINES_MAX = 2

_LABELS: dict[Scope, str] = {
    "once": "once",
    "session": "session",
    "workspace": "workspace",
    "always": "always",
}


class ScopeLine(Lines, can_focus=False):
    """How long the answer is remembered, and for what."""

    def on_click(self, event: events.Click) -> None:
        """A click goes to the next."""
        event.stop()
        dialog = self.parent
        if isinstance(dialog, PermissionDialog) and not dialog.is_early:
            dialog.change_scope(1)


class PermissionDialog(ChoiceDialog):
    """Asks for one permission."""

    def __init__(self, *asked: object) -> None:
        super().__init__(*asked)
        self.request: PermissionRequest = self.question.request
        self._choices: Sequence[Choice] = choices_of(self.request)
        self._rows = [self._row(choice) for choice in self._choices]
        self.scope: Scope = "once"
        # All of what is said, where that takes a while, for the look that it was made for.
        self._whole: tuple[Look, PermissionBody] | None = None
        self._asked: object = None

    @property
    def heading(self) -> str:
        """Who asks."""
        return who_asks(self.request, self.chat.agent_name)

    @property
    def hint(self) -> str:
        """The keys."""
        more = " · s: remember" if self._can_be_remembered else ""
        return f"Esc: no{more} · ↑↓ Enter · PgUp PgDn"

    @property
    def rows(self) -> Sequence[Row]:
        """The options, as they were offered."""
        return self._rows

    def body(self, look: Look) -> list[Strip]:
        """Why, and what; of a very long change the beginning, until the rest is there."""
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
        """All but refusing: nobody knows what the agent makes of a kind of its own."""
        return row.tone != "reject"

    @property
    def what_must_be_read(self) -> object:
        """What would happen."""
        return self._asked

    async def _draw_all(self, look: Look) -> None:
        lines = await anyio.to_thread.run_sync(
            body_of, self.request, self.chat, look, abandon_on_cancel=True
        )
        self._whole = look, lines
        self.redraw()

    def compose(self) -> ComposeResult:
        """The words, the options, and what is remembered."""
        yield from super().compose()
        if self._can_be_remembered:
            yield ScopeLine(lambda width: self._scope_lines(self.look(width)))

    # ---- answering

    def chosen(self, index: int) -> None:
        """Answer with this option, remembered as long as is chosen."""
        option = self._choices[index].option
        self.answer(decision_for(self.request, option, self.scope))

    def closed(self) -> None:
        """Esc is no."""
        self.answer(closing(self.request))

    def pressed(self, event: events.Key) -> bool:
        """Also the scope."""
        if super().pressed(event):
            return True
        step = {"s": 1, "right": 1, "S": -1, "left": -1}.get(event.character or event.key, 0)
        step = step or {"right": 1, "left": -1}.get(event.key, 0)
        if step and self._can_be_remembered:
            self.change_scope(step)
        return bool(step)

    def change_scope(self, step: int) -> None:
        """Remember the answer for longer, or not as long."""
        self.scope = SCOPES[(SCOPES.index(self.scope) + step) % len(SCOPES)]
        self._redraw_scope()

    def moved(self) -> None:
        """What is remembered depends on the option."""
        self._redraw_scope()

    def _redraw_scope(self) -> None:
        for line in self.query_children(ScopeLine).results():
            line.rebuild()
        self.query_one(Rows).rebuild()
        self.call_after_refresh(self.fit)

    # ---- inside

    @property
    def _usable(self) -> list[PermissionOption]:
        return [choice.option for choice in self._choices if choice.is_usable]

    @property
    def _can_be_remembered(self) -> bool:
        return any(len(scopes_of(option)) > 1 for option in self._usable)

    @staticmethod
    def _row(choice: Choice) -> Row:
        option = choice.option
        tone: Tone = "allow" if option.allows else "reject" if option.rejects else "other"
        words = one_line(option.name) or one_line(option.kind) or "(no name)"
        remarks: list[str] = []
        if not (option.allows or option.rejects):
            remarks.append(f"unknown kind: {one_line(option.kind, 20)}")
        if choice.is_lasting:
            remarks.append("∞" if "always" in words.lower() else f"∞ {option.scope or 'always'}")
        if not choice.is_usable:
            remarks.append("offered twice, cannot be chosen")
        return Row(words, choice.keys, tone, " · ".join(remarks), choice.is_usable)

    def _about(self) -> PermissionOption | None:
        """Whose memory is shown: of the option gone to, or of the first that leaves a choice."""
        if self.focused_row is not None:
            return self._choices[self.focused_row].option
        open_ones = [option for option in self._usable if len(scopes_of(option)) > 1]
        return open_ones[0] if open_ones else None

    def _scope_lines(self, look: Look) -> list[Strip]:
        palette = look.palette
        about = self._about()
        if about is None:
            return []
        meant, possible = scope_for(about, self.scope), scopes_of(about)
        pieces: list[tuple[str, Style]] = [("Remember: ", palette.dim)]
        for scope in SCOPES:
            label = f"[{_LABELS[scope]}]" if scope == meant else f" {_LABELS[scope]} "
            is_open = scope in possible
            style = palette.strong if scope == meant else palette.text if is_open else palette.dim
            pieces.append((label, style))
        words = remembered_words(self.request, about, self.scope, self.chat.folder)
        below = text_lines(one_line(words), look, palette.dim)
        if len(below) > REMEMBERED_LINES_MAX:
            cut = one_line(words, look.width * REMEMBERED_LINES_MAX - 4)
            below = text_lines(cut, look, palette.dim)[:REMEMBERED_LINES_MAX]
        return [strip_of(*pieces).crop(0, look.width), *below]


__all__ = ["PermissionDialog", "ScopeLine"]
