"""An app with one screen or panel, and a controller that has only what these need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.app import App, ComposeResult
from textual.widget import Widget

from accord.terminal.model.changes.journal import Journal
from accord.terminal.model.chat import Chat
from accord.terminal.model.settings import Settings
from accord.terminal.model.traffic import Traffic
from accord.terminal.screen.widget_themes import register_themes


class StandInController:
    """A chat in a folder, with its traffic and journal, and no agent."""

    def __init__(self, folder: Path) -> None:
        self.chat = Chat(str(folder))
        self.chat.agent_name = "Tester"
        self.traffic_of = Traffic()
        self.journal_of = Journal(self.chat)
        self.settings = Settings()

    def traffic(self, chat: Chat) -> Traffic:
        return self.traffic_of

    def journal(self, chat: Chat) -> Journal:
        return self.journal_of

    def roots(self, chat: Chat) -> tuple[str, ...]:
        return (chat.folder,)


class Bench(App[None]):
    """Shows one thing."""

    def __init__(
        self, make: Callable[[], Widget] | None = None, theme: str = "accord-dark"
    ) -> None:
        super().__init__()
        self._make = make
        register_themes(self)
        self.theme = theme
        self.copied = ""
        self.told: list[str] = []

    def compose(self) -> ComposeResult:
        if self._make is not None:
            yield self._make()

    def copy_to_clipboard(self, text: str) -> None:
        self.copied = text

    def notify(self, message: str, **more: Any) -> None:
        self.told.append(message)


def picture(app: App[Any]) -> list[str]:
    """What is on the screen, line by line."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
    return [strip.text[:width] for strip in strips[:height]]


__all__ = ["Bench", "StandInController", "picture"]
