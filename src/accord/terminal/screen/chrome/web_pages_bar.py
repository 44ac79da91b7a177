"""A bar for pages that the user visited and the agent still waits for.

The agent says when a page is done.  If it never does, the user can open the page again, mark it as
done, or stop waiting.
"""

from __future__ import annotations

from typing import Any, ClassVar

import anyio.to_thread
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from accord.client.services.elicitation import UrlRequest
from accord.terminal.model.chat import Chat
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.web_browser import OpenPage, open_page


class PageButton(Static):
    """A word that can be clicked."""

    class Pressed(Message):
        """The user clicked a button of the bar."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self, words: str, action: str) -> None:
        super().__init__(Content(words), markup=False)
        self._action = action

    def on_click(self, event: events.Click) -> None:
        """Press the button that was clicked."""
        event.stop()
        self.post_message(self.Pressed(self._action))


class PagesBar(Horizontal, can_focus=True):
    """Shows the oldest pending page; hidden if there is none."""

    DEFAULT_CSS: ClassVar[str] = """
    PagesBar { height: auto; max-height: 2; display: none; background: $panel; }
    PagesBar.-waiting { display: block; layout: horizontal; }
    PagesBar:focus { background: $boost; text-style: bold; }
    PagesBar > Static { width: auto; height: 1; margin: 0 1; text-wrap: nowrap; }
    PagesBar > .-words { width: 1fr; text-overflow: ellipsis; }
    PagesBar > PageButton { color: $text; text-style: underline; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open_again", "open again"),
        Binding("d", "done", "done"),
        Binding("c", "give_up", "stop waiting"),
    ]

    # Opens a page; tests replace it.
    open_page: OpenPage = staticmethod(open_page)

    def __init__(self, chat: Chat, controller: Any) -> None:
        super().__init__()
        self.chat = chat
        self.controller = controller
        self._shown: UrlRequest | None = None

    def compose(self) -> ComposeResult:
        """Lay out the text and its buttons."""
        yield Static("", markup=False, classes="-words")
        yield PageButton("o again", "open_again")
        yield PageButton("d done", "done")
        yield PageButton("c cancel", "give_up")

    def on_mount(self) -> None:
        """Show the current page."""
        self.refresh_chat()

    @property
    def page(self) -> UrlRequest | None:
        """The page that the agent waits for."""
        return self.chat.pages[0] if self.chat.pages else None

    def refresh_chat(self) -> None:
        """Update the bar after a change of the chat."""
        page = self.page
        self.set_class(page is not None, "-waiting")
        if page is self._shown:
            return
        host = "" if page is None else one_line(page.host)
        # There are no children before it is mounted; it is updated again then.
        for words in self.query(".-words").results(Static):
            self._shown = page
            words.update(Content(f"Waiting for {host}…"))

    def on_page_button_pressed(self, event: PageButton.Pressed) -> None:
        """Handle a click on a button."""
        event.stop()
        getattr(self, f"action_{event.action}")()

    def action_open_again(self) -> None:
        """Open the page once more."""
        if self.page is not None:
            self.run_worker(self._open(self.page), exclusive=True)

    async def _open(self, page: UrlRequest) -> None:
        if not await anyio.to_thread.run_sync(self.open_page, page.url, abandon_on_cancel=True):
            self.app.copy_to_clipboard(page.url)
            self.notify("Could not open a browser; the address was copied.", markup=False)

    def action_done(self) -> None:
        """Mark the page as done."""
        if self.page is not None:
            self.chat.page_done(self.page.elicitation_id)
            self.refresh_chat()

    def action_give_up(self) -> None:
        """Stop waiting, and stop the turn that waits for the page."""
        if self.page is not None:
            self.chat.page_done(self.page.elicitation_id)
            self.refresh_chat()
            if self.chat.is_busy:
                self.controller.stop(self.chat)
