"""The people of a session: who is here, what they may do, and how others are let in.

This module does not know the gateway; the controller does.

Invariants
    * An address that lets somebody in is shown once, to whoever made it.
    * What only an admin may do is offered to an admin only; anybody else is told whom to ask.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from accord.client.people import ROLES, Role
from accord.errors import AccordError
from accord.terminal.model.chat import Chat
from accord.terminal.model.people import (
    ROLE_TEXTS,
    admin_words,
    invitation_use,
    invitation_words,
    member_rows,
)
from accord.terminal.screen.notifications import notify
from accord.terminal.screen.pickers.picker import NamePicker, Picker
from accord.terminal.screen.pickers.search_matches import Row
from accord.terminal.screen.widgets.key_hints import Hint, Hints

if TYPE_CHECKING:
    from accord.client.people import SessionPeople
    from accord.terminal.engine.chat_controller import ChatController

_INVITE = "invite"
_USER = "user "
_REMOVE = "remove"


class PeopleScreen(Picker[None]):
    """The people of a session.  A change takes effect at once; Esc closes."""

    heading: ClassVar[str] = "People"
    empty_text: ClassVar[str] = "Asking who is here…"
    choose_text: ClassVar[str] = "invite or change"

    def __init__(self, chat: Chat, controller: ChatController) -> None:
        super().__init__()
        self._chat = chat
        self._controller = controller

    def on_mount(self) -> None:
        """Ask for the list."""
        super().on_mount()
        self._do(self._load)

    async def _load(self) -> None:
        try:
            await self._controller.people(self._chat)
        except AccordError as error:
            self.show((), empty=f"{error}")
            return
        self.refresh_chat()

    def refresh_chat(self) -> None:
        """Show who is here now."""
        if self._chat.people is not None:
            rows = _rows(self._chat, self._chat.people)
            if tuple(rows) != self.rows.all:
                self.show(rows)

    def chosen(self, row: Row) -> None:
        """Offer the roles: for an invitation, or for a member."""
        people, refused = self._chat.people, admin_words(self._chat)
        user = row.key.removeprefix(_USER)
        is_own = people is not None and user == people.user
        if people is None or (refused is not None and not is_own):
            notify(self.app, refused or "", "warning")
        elif row.key == _INVITE:
            self.app.push_screen(RoleScreen("Invite as"), self._invite)
        else:
            roles: dict[str, Role] = {one.user: one.role for one in people.members}
            may_change = refused is None
            screen = RoleScreen(row.title, roles.get(user), may_change=may_change, may_remove=True)
            self.app.push_screen(screen, lambda choice: self._change(user, choice))

    def _invite(self, choice: str | None) -> None:
        role = _role(choice)
        if role is None:
            return

        async def invite() -> None:
            address = await self._controller.invite(self._chat, role)
            self.app.push_screen(InvitationScreen(role, address))

        self._do(invite)

    def _change(self, user: str, choice: str | None) -> None:
        if choice is not None:
            self._do(lambda: self._set_role(user, _role(choice)))

    async def _set_role(self, user: str, role: Role | None) -> None:
        await self._controller.set_role(self._chat, user, role)
        self.refresh_chat()

    def _do(self, work: Callable[[], Awaitable[None]]) -> None:
        async def safely() -> None:
            try:
                await work()
            except AccordError as error:
                self.tell_error(error)

        self.run_worker(safely(), group="people")


class RoleScreen(NamePicker):
    """The roles.  Returns one of them, `remove`, or None."""

    choose_text: ClassVar[str] = "choose"

    def __init__(
        self,
        subject: str,
        current: Role | None = None,
        *,
        may_change: bool = True,
        may_remove: bool = False,
    ) -> None:
        super().__init__()
        self._subject = subject
        rows = [
            Row(role, role, ROLE_TEXTS[role], current=role == current)
            for role in ROLES
            if may_change
        ]
        if may_remove:
            rows.append(Row(_REMOVE, "remove from the session", "may come back only if invited"))
        self.show(rows)

    def on_mount(self) -> None:
        """Set the title to whom it is about."""
        super().on_mount()
        # As content: a title that is a string is read as markup.
        self.query_one(Vertical).border_title = Content(self._subject)


class InvitationScreen(ModalScreen[None]):
    """Shows an invitation, which cannot be shown again."""

    DEFAULT_CSS = """
    InvitationScreen { align: center middle; background: $background 60%; }
    InvitationScreen > Vertical {
        width: 92%; max-width: 100; height: auto; max-height: 94%;
        border: round $border; background: $surface; padding: 0 1;
    }
    InvitationScreen Static { height: auto; }
    InvitationScreen #address { margin: 1 0; color: $text; }
    InvitationScreen Hints { background: $surface; margin: 1 0 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", priority=True),
        Binding("escape,enter", "close", priority=True),
    ]

    def __init__(self, role: Role, address: str) -> None:
        super().__init__()
        self._role: Role = role
        self._use = invitation_use(address)

    def compose(self) -> ComposeResult:
        """The command that joins, and what it is good for."""
        with Vertical() as frame:
            frame.border_title = "Invitation"
            yield Static(invitation_words(self._role), markup=False)
            yield Static(self._use, id="address", markup=False)
            yield Static(
                "Pass it on now: it is not shown again. Their key for this gateway is their own.",
                markup=False,
            )
            yield Hints([Hint("C", "copy", "copy"), Hint("Esc", "close", "close")])

    def action_copy(self) -> None:
        """Put what joins the session on the clipboard."""
        self.app.copy_to_clipboard(self._use)
        notify(self.app, "Copied.")

    def action_close(self) -> None:
        """Close, and forget the address."""
        self.dismiss(None)


def _rows(chat: Chat, people: SessionPeople) -> list[Row]:
    rows = [
        Row(_USER + one.user, title, described, current=one.user == people.user)
        for one, (title, described) in zip(people.members, member_rows(people), strict=True)
    ]
    if admin_words(chat) is None:
        rows.append(Row(_INVITE, "Invite somebody…", "makes an address that lets one person in"))
    return rows


def _role(word: str | None) -> Role | None:
    return next((role for role in ROLES if role == word), None)
