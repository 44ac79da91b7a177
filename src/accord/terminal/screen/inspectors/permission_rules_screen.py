"""The screen of permission rules and remembered answers: search and revoke them."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from accord.client.permissions.grants import Grant
from accord.client.permissions.permissions import Permissions
from accord.terminal.model.permissions.rule_text import Row, rows_of

_SIGNS = {"allow": ("✓ allow ", "$success"), "reject": ("✗ reject", "$error")}
_ASKS = ("? ask   ", "$warning")


class GrantsScreen(ModalScreen[None]):
    """The list.  Revoking a grant takes effect in running sessions at once."""

    DEFAULT_CSS: ClassVar[str] = """
    GrantsScreen { align: center middle; }
    GrantsScreen > Vertical {
        width: 90%; max-width: 110; height: 80%; border: round $primary; background: $surface;
        padding: 0 1; border-title-color: $text; border-title-style: bold;
        border-subtitle-color: $text-muted;
    }
    GrantsScreen Input { background: $panel; margin: 0 0 1 0; }
    GrantsScreen OptionList { height: 1fr; background: $surface; border: none; padding: 0; }
    GrantsScreen #said { height: auto; max-height: 3; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "close"),
        Binding("delete,ctrl+d", "revoke", "revoke", priority=True),
        Binding("ctrl+z", "undo", "undo", priority=True),
        Binding("down", "go(1)", show=False, priority=True),
        Binding("up", "go(-1)", show=False, priority=True),
    ]

    def __init__(self, controller: Any, folder: str | None = None) -> None:
        super().__init__()
        self.controller = controller
        self._permissions: Permissions = controller.permissions
        chats = getattr(controller, "chats", ())
        self._folder = folder or (chats[0].folder if chats else None)
        self._rows: list[Row] = []
        # The last revoked grant, for undo.
        self._revoked: Grant | None = None
        # Whether the line below says what was done, and not what is gone to.
        self._has_news = False

    def compose(self) -> ComposeResult:
        """Search, list, and what was done."""
        with Vertical() as box:
            box.border_title = Content("Permission rules")
            box.border_subtitle = Content("Del: revoke · Ctrl+Z: undo · Esc: close")
            yield Input(placeholder="search", compact=True)
            yield OptionList(compact=True)
            yield Static("", id="said", markup=False)

    def on_mount(self) -> None:
        """Fill the list when the screen opens."""
        self._fill()
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter the list by words."""
        event.stop()
        self._has_news = False
        self._fill()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Move the focus to the list."""
        event.stop()
        self.query_one(OptionList).focus()

    # ---- the list

    def _fill(self, at: int = 0) -> None:
        permissions = self._permissions
        self._rows = rows_of(
            permissions.rules, permissions.remembered(), self._folder, self.query_one(Input).value
        )
        shown = self.query_one(OptionList)
        shown.clear_options()
        shown.add_options([Option(_line(row)) for row in self._rows])
        if self._rows:
            shown.highlighted = min(at, len(self._rows) - 1)
        else:
            said = "There are no rules and no remembered answers."
            self._say(said if not self.query_one(Input).value else "No matches.")

    @property
    def chosen(self) -> Row | None:
        """The row under the cursor."""
        at = self.query_one(OptionList).highlighted
        return self._rows[at] if at is not None and at < len(self._rows) else None

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Say all of what does not fit into the line."""
        event.stop()
        row = self.chosen
        if row is not None and not self._has_news:
            fixed = " Rules are in your permissions file, on the command line or built in."
            self._say(f"{row.effect}: {row.words}, {row.place}." + ("" if row.grant else fixed))

    def _say(self, text: str) -> None:
        self.query_one("#said", Static).update(Content(text))

    # ---- what can be done

    def action_go(self, step: int) -> None:
        """Up and down also while something is searched for."""
        shown = self.query_one(OptionList)
        if self._rows:
            self._has_news = False
            at = 0 if shown.highlighted is None else shown.highlighted
            shown.highlighted = (at + step) % len(self._rows)

    def action_revoke(self) -> None:
        """Revoke the answer under the cursor."""
        row = self.chosen
        if row is None:
            return
        if row.grant is None:
            self._say("Rules are changed in your permissions file, not here.")
            return
        at = self.query_one(OptionList).highlighted or 0
        if self._permissions.revoke(row.grant.grant_id):
            self._revoked, self._has_news = row.grant, True
            self._fill(at)
            self._say(f"Revoked: {row.words}. Ctrl+Z restores it.")

    def action_undo(self) -> None:
        """Restore the last revoked answer."""
        grant, self._revoked = self._revoked, None
        if grant is None:
            self._say("Nothing to undo.")
            return
        done = self._permissions.restore(grant)
        self._has_news = True
        self._fill()
        self._say("Restored." if done else "There is a newer answer for that.")

    def action_close(self) -> None:
        """Return to the conversation."""
        self.dismiss(None)


def _line(row: Row) -> Content:
    sign, style = _SIGNS.get(row.effect, _ASKS)
    return Content.assemble((sign, style), f"  {row.words}  ", (row.place, "$text-muted"))
