"""Small dialogs of the session picker: a new title, and the confirmation of a deletion."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from accord.terminal.screen.widgets.key_hints import Hint, Hints

_FRAME = """
    {0} {{ align: center middle; background: $background 60%; }}
    {0} > Vertical {{
        width: 80%; max-width: 72; height: auto;
        border: round {1}; background: $surface; padding: 0 1;
    }}
    {0} Static {{ height: auto; }}
    {0} Input, {0} Input:focus {{
        border: none; height: 1; padding: 0; margin: 1 0 0 0; background: $panel;
    }}
    {0} Hints {{ margin: 1 0 0 0; background: $surface; }}
"""


class NameScreen(ModalScreen["str | None"]):
    """Asks for a name; returns it stripped, or None."""

    DEFAULT_CSS = _FRAME.format("NameScreen", "$border")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", priority=True),
        Binding("enter", "take", priority=True),
    ]

    def __init__(self, question: str, value: str = "") -> None:
        super().__init__()
        self._question = question
        self._value = value

    def compose(self) -> ComposeResult:
        """The question and a field."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield Input(self._value, compact=True)
            yield Hints([Hint("Enter", "OK", "take"), Hint("Esc", "cancel", "close")])

    def action_take(self) -> None:
        """The name, where there is one."""
        name = self.query_one(Input).value.strip()
        if name:
            self.dismiss(name)

    def action_close(self) -> None:
        """Close without a name."""
        self.dismiss(None)


class SureScreen(ModalScreen[bool]):
    """Asks to confirm something that cannot be undone; Enter alone does not confirm."""

    DEFAULT_CSS = _FRAME.format("SureScreen", "$error")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", priority=True),
        Binding("n,escape,enter", "no", priority=True),
    ]

    def __init__(self, question: str, yes: str) -> None:
        super().__init__()
        self._question = question
        self._yes = yes

    def compose(self) -> ComposeResult:
        """The question and two answers."""
        with Vertical():
            yield Static(self._question, markup=False)
            yield Hints([Hint("Y", self._yes, "yes"), Hint("N, Esc", "cancel", "no")])

    def action_yes(self) -> None:
        """Close and confirm the action."""
        self.dismiss(True)

    def action_no(self) -> None:
        """Close and cancel the action."""
        self.dismiss(False)
