"""Dialogs for login methods and API keys.

Invariants
    * A key is never shown, and not kept here after it was handed over.
    * A login method of an unknown kind is shown with the agent's word.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.strip import Strip
from textual.widgets import Input

from accord.client.wire.wire_interface import AuthMethod
from accord.machine.console.control_characters import visible
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import fitted
from accord.terminal.screen.dialogs.choice_dialog import ChoiceDialog, Row
from accord.terminal.screen.dialogs.dialog import Dialog, text_lines
from accord.terminal.screen.widgets.scrollable_lines import Body

_KINDS = {"agent": "", "terminal": "in this terminal"}


class LoginDialog(ChoiceDialog):
    """Asks for one of the agent's login methods."""

    def __init__(self, *asked: object) -> None:
        super().__init__(*asked)
        self.methods: Sequence[AuthMethod] = self.question.request

    @property
    def heading(self) -> str:
        """The title: who asks."""
        return f"{one_line(self.chat.agent_name) or 'The agent'} asks you to log in"

    @property
    def hint(self) -> str:
        """The keys of the dialog."""
        return "Esc: not now · ↑↓ Enter"

    @property
    def rows(self) -> Sequence[Row]:
        """One row for each login method."""
        found: list[Row] = []
        for number, method in enumerate(self.methods, 1):
            keys = (str(number),) if number <= 9 else ()
            kind = _KINDS.get(method.kind, f"kind: {one_line(method.kind, 20)}")
            words = one_line(method.name) or one_line(method.method_id)
            found.append(Row(words, keys, "other", kind))
        return found

    def body(self, look: Look) -> list[Strip]:
        """The agent's descriptions of the methods."""
        lines = text_lines("How do you want to log in?", look, look.palette.text)
        for method in self.methods:
            if method.description:
                said = f"{one_line(method.name)}: {visible(method.description).strip()}"
                lines += text_lines(said, look, look.palette.dim)
        return fitted(lines, look.width)

    def chosen(self, index: int) -> None:
        """Log in by the chosen method."""
        self.answer(self.methods[index].method_id)


class CredentialDialog(Dialog):
    """Asks for an API key without keeping it."""

    DEFAULT_CSS = """
    CredentialDialog Input { margin: 1 0 0 0; }
    """

    @property
    def heading(self) -> str:
        """The title: who asks."""
        return f"{one_line(self.chat.agent_name) or 'The agent'} needs an API key"

    @property
    def hint(self) -> str:
        """The keys of the dialog."""
        return "Enter: send it · Esc: not now"

    def compose(self) -> ComposeResult:
        """Lay out the reason and the input."""
        yield Body(lambda width: self._why(self.look(width)))
        yield Input(
            placeholder="the key; it is not shown or stored",
            password=True,
            compact=True,
            select_on_focus=False,
        )

    def _why(self, look: Look) -> list[Strip]:
        said = visible(str(self.question.request)).strip()
        kept = "It is sent only to the agent."
        lines = text_lines(said, look, look.palette.text) if said else []
        return fitted([*lines, *text_lines(kept, look, look.palette.dim)], look.width)

    def opened(self) -> None:
        """Focus the input for the key."""
        if self.has_focus:
            self.screen.set_focus(self.query_one(Input))

    def pressed(self, event: events.Key) -> bool:
        """Close, or go to the field."""
        if event.key == "escape":
            self._close(None)
        elif self.has_focus and (event.is_printable or event.key in ("tab", "enter")):
            field = self.query_one(Input)
            self.screen.set_focus(field)
            if event.is_printable and event.character:
                field.insert_text_at_cursor(event.character)
        else:
            return False
        return True

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with the typed key."""
        event.stop()
        if event.value and not self.is_early:
            self._close(event.value)

    def _close(self, key: str | None) -> None:
        if not self.is_early:
            self.answer(key)
            self.query_one(Input).clear()
