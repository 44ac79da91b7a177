"""The agent's stored sessions: find, resume, rename, fork or delete one.

This module does not know the agent; the controller does.

Invariants
    * An unsupported action says so instead of failing.
    * A title is shown as the agent stored it, not as it was typed.
    * Nothing is deleted without a confirmation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from accord.client.wire.wire_interface import SessionInfo
from accord.errors import AccordError
from accord.machine import clock
from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.amounts_and_durations import ago
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.chrome.footer import shortened
from accord.terminal.screen.pickers.picker import Picker
from accord.terminal.screen.pickers.search_matches import Row
from accord.terminal.screen.widgets.key_hints import Hint, Hints

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController

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


class SessionsScreen(Picker["Chat | None"]):
    """Returns the chat to show, or None."""

    heading: ClassVar[str] = "Sessions"
    empty_text: ClassVar[str] = "Asking the agent for its sessions…"
    choose_text: ClassVar[str] = "open"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "rename", priority=True),
        Binding("ctrl+f", "fork", priority=True),
        Binding("ctrl+d", "delete", priority=True),
    ]

    def __init__(self, chat: Chat, controller: ChatController, now: datetime | None = None) -> None:
        super().__init__()
        self._chat = chat
        self._controller = controller
        self._now = now or clock.now()
        self._sessions: dict[str, SessionInfo] = {}
        self._is_opening = False

    def hints(self) -> list[Hint]:
        """What this agent can do with sessions."""
        can = self._controller.capabilities(self._chat)
        found = [Hint("Enter", "open", "choose")]
        if can is not None and can.title:
            found.append(Hint("Ctrl+R", "rename", "rename"))
        if can is not None and can.fork:
            found.append(Hint("Ctrl+F", "fork", "fork"))
        if can is not None and can.delete:
            found.append(Hint("Ctrl+D", "delete", "delete"))
        return [*found, Hint("Esc", "close", "close")]

    def on_mount(self) -> None:
        """Ask for the list."""
        super().on_mount()
        self._do(self._load)

    async def _load(self) -> None:
        can = self._controller.capabilities(self._chat)
        if can is None:
            self.show((), empty="The agent is not running.")
            return
        if not can.listing:
            self.show((), empty="This agent does not list its sessions.")
            return
        try:
            found = await self._controller.sessions(self._chat)
        except AccordError as error:
            self.show((), empty=f"The sessions could not be listed: {one_line(str(error))}")
            return
        self._sessions = {info.session_id: info for info in found}
        self._show_sessions()

    def _show_sessions(self) -> None:
        rows = [self._row(info) for info in self._sessions.values()]
        self.show(rows, empty="There are no sessions yet.")

    def _row(self, info: SessionInfo) -> Row:
        title = one_line(info.title or "") or f"untitled {one_line(info.session_id, 16)}"
        folder = one_line(shortened(info.cwd))
        more = [one_line(shortened(one)) for one in info.additional_directories]
        return Row(
            info.session_id,
            title,
            ", ".join([folder, *more]),
            ago(info.updated_at, self._now) + (" · archived" if info.archived else ""),
            current=info.session_id == self._chat.session_id,
            words=one_line(info.session_id),
        )

    def detail(self, row: Row) -> str:
        """All of the title, which is often longer than a row, and where it is."""
        return f"{row.title} — {row.description}"

    def chosen(self, row: Row) -> None:
        """Resume the chosen session."""
        info = self._sessions.get(row.key)
        if info is None or self._is_opening:
            return
        can = self._controller.capabilities(self._chat)
        is_open = any(chat.session_id == info.session_id for chat in self._controller.chats)
        if not is_open and (can is None or not (can.load or can.resume)):
            self._refuse("This agent cannot resume sessions.")
            return

        async def open_it() -> None:
            self._is_opening = True
            try:
                self.dismiss(await self._controller.open_stored(self._chat, info))
            finally:
                self._is_opening = False

        self._do(open_it)

    # ---- what else can be done

    def _meant(self) -> SessionInfo | None:
        row = self.rows.chosen
        return None if row is None else self._sessions.get(row.key)

    def action_rename(self) -> None:
        """Ask for a new title of the session."""
        info = self._meant()
        can = self._controller.capabilities(self._chat)
        if info is None:
            return
        if can is None or not can.title:
            self._refuse("This agent cannot rename sessions.")
            return

        def take(title: str | None) -> None:
            if title is not None:
                self._do(lambda: self._rename(info, title))

        self.app.push_screen(NameScreen("New title", one_line(info.title or "")), take)

    async def _rename(self, info: SessionInfo, title: str) -> None:
        given = await self._controller.rename(self._chat, info.session_id, title)
        self._sessions[info.session_id] = replace(info, title=given)
        self._show_sessions()

    def action_fork(self) -> None:
        """Fork the chosen session."""
        info = self._meant()
        can = self._controller.capabilities(self._chat)
        if info is None:
            return
        if can is None or not can.fork:
            self._refuse("This agent cannot fork sessions.")
            return
        chats = [one for one in self._controller.chats if one.session_id == info.session_id]

        async def fork_it() -> None:
            if chats:
                self.dismiss(await self._controller.fork(chats[0]))
            else:
                self.dismiss(await self._controller.fork_stored(self._chat, info))

        self._do(fork_it)

    def action_delete(self) -> None:
        """Delete the session after a confirmation."""
        info = self._meant()
        can = self._controller.capabilities(self._chat)
        if info is None:
            return
        if can is None or not can.delete:
            self._refuse("This agent cannot delete sessions.")
            return
        if any(one.session_id == info.session_id for one in self._controller.chats):
            self._refuse("This session is open in a tab. Close the tab first.")
            return
        row = self._row(info)

        def take(is_meant: bool | None) -> None:
            if is_meant:
                self._do(lambda: self._delete(info))

        question = f"Delete “{row.title}”? This cannot be undone."
        self.app.push_screen(SureScreen(question, "delete"), take)

    async def _delete(self, info: SessionInfo) -> None:
        await self._controller.delete(self._chat, info.session_id)
        self._sessions.pop(info.session_id, None)
        self.rows.move(1)
        self._show_sessions()

    def _refuse(self, why: str) -> None:
        self.app.notify(why, severity="warning", markup=False)

    def _do(self, work: Callable[[], Awaitable[None]]) -> None:
        async def safely() -> None:
            try:
                await work()
            except AccordError as error:
                self.tell_error(error)
            if self.is_mounted:
                self.query_one(Hints).show(self.hints())

        self.run_worker(safely(), group="sessions")
