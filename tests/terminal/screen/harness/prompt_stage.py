"""A prompt and a queue on a small stage, with files of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import anyio
from textual import events
from textual.binding import Binding, BindingType
from textual.pilot import Pilot
from textual.widgets import Static

from accord.client.connection.capabilities import AgentCapabilities
from accord.terminal.model.chat import Chat
from accord.terminal.model.prompt.unsent_prompts import Draft
from accord.terminal.model.settings import Settings
from accord.terminal.screen.prompt import PromptEditor, QueuePanel
from accord.terminal.screen.prompt.text_area import PromptArea
from accord.transcript.items.options_and_commands import Command
from tests.hang_limit import HANG_SECONDS
from tests.terminal.screen.harness.stage import ControllerDouble, Stage, a_chat

PLAIN = AgentCapabilities()
COMMANDS = [
    Command("plan", "Make a plan first", "what to plan"),
    Command("compact", "Sum up the conversation"),
    Command("web_search", "Look into the net", "words"),
]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


class PromptController(ControllerDouble):
    """A controller that also sends."""

    def __init__(self, chat: Chat, can: AgentCapabilities | None = PLAIN) -> None:
        super().__init__(chat, can=can)
        self.sent: list[Draft] = []

    def roots(self, chat: Chat) -> tuple[str, ...]:
        return (chat.folder,)

    def send(self, chat: Chat, draft: Draft) -> None:
        self.sent.append(draft)

    def send_queued_now(self, chat: Chat, index: int) -> None:
        self.asked.append(("now", chat.queue.pop(index)))


class PromptStage(Stage):
    """The queue and the prompt below a conversation."""

    CSS = "#conversation { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop"),
        Binding("shift+tab", "cycle_mode", priority=True),
    ]

    def __init__(
        self,
        folder: Path,
        can: AgentCapabilities | None = PLAIN,
        *,
        settings: Settings | None = None,
        session_id: str = "s1",
        theme: str = "accord-dark",
    ) -> None:
        self.chat = a_chat(session_id, folder=str(folder))
        self.controller = PromptController(self.chat, can)
        self.controller.settings = settings or Settings()
        self.editor = PromptEditor(self.chat, self.controller.controller)
        self.panel = QueuePanel(self.chat, self.controller.controller)
        super().__init__(Static("…", id="conversation"), self.panel, self.editor, theme=theme)
        self.said: list[Draft] = []
        self.told: list[str] = []

    def on_mount(self) -> None:
        self.editor.focus()

    def on_prompt_editor_submitted(self, event: PromptEditor.Submitted) -> None:
        self.said.append(event.draft)

    def on_prompt_editor_scroll_asked(self, event: PromptEditor.ScrollAsked) -> None:
        self.ran.append(f"scroll {event.pages}")

    def action_stop(self) -> None:
        self.ran.append("stop")

    def action_cycle_mode(self) -> None:
        self.ran.append("cycle_mode")

    def notify(self, message: str, **more: Any) -> None:
        self.told.append(message)

    @property
    def area(self) -> PromptArea:
        return self.editor.query_one(PromptArea)

    @property
    def typed(self) -> str:
        """The text of the prompt."""
        return self.area.text

    def advertise(self, commands: Sequence[Command]) -> None:
        """The agent has these commands."""
        known = self.chat.transcript.commands
        assert isinstance(known, list)
        known[:] = commands
        self.chat.changed()

    def renew(self) -> None:
        """What the pane does when the chat changed."""
        self.panel.refresh_chat()
        self.editor.refresh_chat()


async def typing(pilot: Pilot[None], text: str) -> None:
    """Type some letters."""
    names = {" ": "space", "/": "slash", "@": "at", ".": "full_stop", "_": "underscore"}
    await pilot.press(*(names.get(letter, letter) for letter in text))


async def paste(pilot: Pilot[None], text: str) -> None:
    """Let the terminal paste something."""
    app = pilot.app
    assert isinstance(app, PromptStage)
    app.area.post_message(events.Paste(text))
    await pilot.pause()


async def until(pilot: Pilot[None], is_so: Callable[[], object]) -> None:
    """Wait for what a thread does."""
    with anyio.fail_after(HANG_SECONDS):
        while not is_so():
            await pilot.pause()
