"""What happens when a line of the conversation is clicked or chosen with Enter.

Invariant: a click opens only files in the session's folders, never an address that an agent wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import App

from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.block import CopyText, OpenFile, OpenLink, OpenSession, Target
from accord.terminal.screen.notifications import notify, run_in_background

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController
    from accord.terminal.screen.chat_switcher import ChatSwitcher


class ClickTargets:
    """Opens what a line of the conversation refers to.  Guards the invariant of this module."""

    def __init__(self, app: App[Any], chats: ChatSwitcher, controller: ChatController) -> None:
        self._app = app
        self._chats = chats
        self._controller = controller

    def use(self, target: Target) -> None:
        """Open or copy a target."""
        if isinstance(target, OpenFile):
            self.open_file(target)
        elif isinstance(target, CopyText):
            self._app.copy_to_clipboard(target.text)
            notify(self._app, "Copied.")
        elif isinstance(target, OpenLink):
            # Copied, not opened: the user sees the whole address before visiting it.
            self._app.copy_to_clipboard(target.url)
            notify(self._app, f"Copied the address: {one_line(target.url)}")
        elif isinstance(target, OpenSession):
            self._open_session(target.session_id)

    def open_file(self, target: OpenFile) -> None:
        """Open a file of the session's folders in the user's editor."""
        from accord.terminal.screen.external_editor import open_in_editor

        chat = self._chats.chat
        if chat is None:
            return
        roots, editor = self._controller.roots(chat), self._controller.settings.editor
        why = open_in_editor(self._app, target.path, target.line, roots, editor)
        if why:
            notify(self._app, why, "error")

    def _open_session(self, session_id: str) -> None:
        from accord.client.wire.wire_interface import SessionInfo

        chat = self._chats.chat
        if chat is None:
            return
        for other in self._controller.chats:
            if other.session_id == session_id:
                self._chats.show_chat(other)
                return
        info = SessionInfo(session_id, chat.folder)
        run_in_background(self._app, lambda: self._controller.open_stored(chat, info))
