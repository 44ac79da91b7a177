"""The panes of all chats, one of them in front.

This module does not know agents; the controller does.

Invariant: keys that are typed while another chat comes to the front go to its prompt.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from textual.widgets import ContentSwitcher

from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.model.chat import Chat
from accord.terminal.render.content.image_lines import image_mode
from accord.terminal.render.render_options import Look
from accord.terminal.screen.chat_pane import ChatPane
from accord.terminal.screen.chrome.footer import Footer
from accord.terminal.screen.chrome.tab_bar import TabBar
from accord.terminal.screen.key_queue import KeyQueue
from accord.terminal.screen.widget_themes import palette_for


class ChatSwitcher(ContentSwitcher):
    """Owns the panes.  Guards the invariant of this module.

    `on_chat_change` is called whenever something in a chat changed.
    """

    def __init__(
        self,
        controller: ChatController,
        keys: KeyQueue,
        tabs: TabBar,
        footer: Footer,
        on_chat_change: Callable[[Chat], None],
    ) -> None:
        super().__init__(id="panes")
        self._controller = controller
        self._keys = keys
        self._tab_bar = tabs
        self._footer = footer
        self._on_chat_change = on_chat_change
        self._panes: dict[int, ChatPane] = {}
        self._active: Chat | None = None
        self._side_by_side = controller.settings.side_by_side

    @property
    def chat(self) -> Chat | None:
        """The chat in front."""
        return self._active

    @property
    def pane(self) -> ChatPane | None:
        """The pane of the chat in front."""
        return None if self._active is None else self._panes.get(id(self._active))

    @property
    def panes(self) -> list[ChatPane]:
        """The panes that are mounted."""
        return [pane for pane in self._panes.values() if pane.is_mounted]

    async def sync(self) -> None:
        """Mount a pane for each new chat, and remove those of closed ones."""
        chats = self._controller.chats
        for chat in chats:
            if id(chat) not in self._panes:
                follow = self._controller.settings.follow
                pane = ChatPane(chat, self._controller, self.look, follow=follow)
                pane.id = f"pane-{id(chat)}"
                self._panes[id(chat)] = pane
                chat.on_change = lambda chat=chat: self._on_chat_change(chat)  # type: ignore[misc]
                await self.mount(pane)
                self.show_chat(chat)
        there = {id(chat) for chat in chats}
        for key in [one for one in self._panes if one not in there]:
            await self._panes.pop(key).remove()
        if self._active is not None and id(self._active) not in there:
            self._active = None
            if chats:
                self.show_chat(chats[-1])
        self._tab_bar.set_class(len(chats) < 2, "-alone")
        self._tab_bar.refresh_chat()

    def show_chat(self, chat: Chat) -> None:
        """Bring a chat to the front."""
        pane = self._panes.get(id(chat))
        if pane is None:
            return
        # Keys from here on are for the prompt of this chat.
        self._keys.hold()
        self._active = chat
        self.current = pane.id
        self._footer.show(chat)
        self._tab_bar.show(chat)
        pane.refresh_chat()
        self.app.call_after_refresh(self._focus, pane)

    def _focus(self, pane: ChatPane) -> None:
        pane.take_focus()
        # Released later: the app sets the focus only after its current message.
        self.app.call_later(self._keys.release)

    # ---- how conversations are drawn

    @property
    def look(self) -> Look:
        """How conversations are drawn now."""
        return Look(
            width=self.app.size.width,
            palette=palette_for(self.app.theme),
            side_by_side=self._side_by_side,
            images=image_mode(self._controller.settings.images, os.environ),
        )

    def toggle_side_by_side(self) -> bool:
        """Switch between inline and side-by-side diffs; return whether they are side by side."""
        self._side_by_side = not self._side_by_side
        self.redraw()
        return self._side_by_side

    def redraw(self) -> None:
        """Draw all conversations again."""
        for pane in self.panes:
            pane.set_look(self.look)
