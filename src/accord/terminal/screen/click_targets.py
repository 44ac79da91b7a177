"""What every part of the app stands on: the chat in front, and what a line of it can be used for.

Must not know which key it was, nor how the screen is put together.

What always holds: what cannot be done says why; nothing fails.  Nothing that an agent wrote is
opened by a click, but files of the session's folders.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from textual.notifications import SeverityLevel

from accord.errors import AccordError
from accord.machine.console.control_characters import visible
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.block import CopyText, OpenFile, OpenLink, OpenSession, Target
from accord.terminal.screen.conversation import Conversation
from accord.terminal.screen.key_queue import KeyOrderApp

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import Desk
    from accord.terminal.model.chat import Chat
    from accord.terminal.screen.chat_pane import ChatPane

TOLD_SECONDS = 6.0


class TargetsApp(KeyOrderApp):
    """The chat in front is said by the app that is made of this."""

    desk: Desk

    @property
    def chat(self) -> Chat | None:
        """The chat in front."""
        raise NotImplementedError

    @property
    def pane(self) -> ChatPane | None:
        """Its pane."""
        raise NotImplementedError

    def show_chat(self, chat: Chat) -> None:
        """Bring a chat to the front."""
        raise NotImplementedError

    def set_side_by_side(self, wanted: bool | None) -> bool:
        """Show diffs so, or None for the other way; how they are shown now."""
        raise NotImplementedError

    async def leave(self, code: int = 0) -> None:
        """End the agents, then the program."""
        raise NotImplementedError

    def tell(self, text: str, severity: SeverityLevel = "information") -> None:
        """A sentence for a moment; what an agent said in it is made visible."""
        self.notify(visible(text), severity=severity, markup=False, timeout=TOLD_SECONDS)

    async def try_to(self, work: Awaitable[object]) -> bool:
        """Do it, and say why where it cannot be done."""
        try:
            await work
        except (AccordError, OSError) as error:
            self.tell(str(error), "error")
            return False
        return True

    def _soon(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do it beside the keys: an agent may take its time."""

        async def run() -> None:
            await self.try_to(work())

        self.run_worker(run(), exit_on_error=False)

    # ---- what a line of the conversation can be used for

    def on_conversation_target_chosen(self, event: Conversation.TargetChosen) -> None:
        """A line was clicked, or Enter was pressed on it."""
        event.stop()
        self.use(event.target)

    def use(self, target: Target) -> None:
        """Do what a line means."""
        if isinstance(target, OpenFile):
            self._open_file(target)
        elif isinstance(target, CopyText):
            self.copy_to_clipboard(target.text)
            self.tell("Copied.")
        elif isinstance(target, OpenLink):
            # Never opened by a click on what an agent wrote: copied, so that it is seen whole.
            self.copy_to_clipboard(target.url)
            self.tell(f"Copied the address: {one_line(target.url)}")
        elif isinstance(target, OpenSession):
            self._open_session(target.session_id)

    def action_open_editor(self) -> None:
        """The file of the entry, in the editor."""
        pane = self.pane
        entry = None if pane is None else pane.conversation.selected
        for place in getattr(entry, "locations", None) or getattr(entry, "diffs", None) or ():
            self._open_file(OpenFile(place.path, getattr(place, "line", None)))
            return
        self.tell("The selected entry names no file.")

    def _open_file(self, target: OpenFile) -> None:
        from accord.terminal.screen.external_editor import open_in_editor

        if self.chat is not None:
            roots = self.desk.roots(self.chat)
            why = open_in_editor(self, target.path, target.line, roots, self.desk.settings.editor)
            if why:
                self.tell(why, "error")

    def _open_session(self, session_id: str) -> None:
        from accord.client.wire.wire import SessionInfo

        chat = self.chat
        if chat is None:
            return
        for other in self.desk.chats:
            if other.session_id == session_id:
                self.show_chat(other)
                return
        info = SessionInfo(session_id, chat.folder)
        self._soon(lambda: self.desk.open_stored(chat, info))


__all__ = ["TargetsApp"]
