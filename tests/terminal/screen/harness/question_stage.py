"""A question on a screen of its own, for tests of the dialogs: what is seen and answered."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from textual.app import App, ComposeResult
from textual.containers import Container
from textual.pilot import Pilot
from textual.widgets import Static

from accord.client.permissions.request import OWN_OPTIONS, PermissionOption, PermissionRequest
from accord.schema.struct import Raw
from accord.terminal.model.chat import Chat
from accord.terminal.model.questions import Question, QuestionKind
from accord.terminal.screen.dialogs import Dialog, dialog_for
from accord.terminal.screen.widget_themes import apply_theme, register_themes
from accord.transcript.items.tool_call import FileDiff, ToolCall
from tests.hang_limit import Patience

FOLDER = "/nowhere/project"
# Commands to the terminal, markup of two sorts, and letters that turn the order around.
HOSTILE = "\x1b]0;owned\x07[red]bold[/red] [@click=app.quit]x[/] \u202egpj.exe \x9b31m end"


class Clock:
    """A time that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class ControllerDouble:
    """What a dialog needs of a controller."""

    def __init__(self) -> None:
        self.stopped: list[Chat] = []

    def stop(self, chat: Chat) -> None:
        self.stopped.append(chat)


class Asking(App[None]):
    """A conversation above, a place for the dialog below, a footer."""

    CSS = "#top { height: 1fr; } #asking { height: auto; max-height: 75%; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, theme: str = "accord-dark") -> None:
        super().__init__()
        register_themes(self)
        apply_theme(self, theme)
        self.early: list[Dialog.TooEarly] = []

    def compose(self) -> ComposeResult:
        yield Static("what was said", id="top")
        yield Container(id="asking")
        yield Static("footer")

    def on_dialog_too_early(self, event: Dialog.TooEarly) -> None:
        self.early.append(event)

    @property
    def text(self) -> str:
        """What stands on the screen now."""
        strips = self.screen._compositor.render_strips()
        return "\n".join("".join(one.text for one in strip).rstrip() for strip in strips)

    def place_of(self, words: str) -> tuple[int, int]:
        """Where words stand, for a click."""
        for y, line in enumerate(self.text.split("\n")):
            if words in line:
                return line.index(words), y
        raise AssertionError(f"{words!r} is not in\n{self.text}")


@dataclass
class Scene:
    """One question that is being asked."""

    app: Asking
    pilot: Pilot[None]
    chat: Chat
    clock: Clock
    question: Question
    dialog: Any
    controller: ControllerDouble

    @property
    def text(self) -> str:
        return self.app.text

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def click(self, words: str) -> None:
        await self.pilot.click(offset=self.app.place_of(words))
        await self.pilot.pause()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for what a worker does."""
        patience = Patience()
        while not is_so():
            assert patience.left, self.text
            await self.pilot.pause()

    @property
    def is_answered(self) -> bool:
        return self.question.is_answered

    async def answer(self) -> Any:
        """What was answered."""
        assert self.question.is_answered, self.text
        return await self.question.wait()


@asynccontextmanager
async def asked(
    kind: QuestionKind,
    request: Any,
    *,
    size: tuple[int, int] = (100, 30),
    theme: str = "accord-dark",
    early: bool = False,
    behind: int = 0,
    folder: str = FOLDER,
) -> AsyncGenerator[Scene]:
    """Ask; unless it is to be early, the guard is down already."""
    clock = Clock()
    chat = Chat(folder, clock=clock)
    chat.agent_name = "Demo agent"
    question = Question(kind, request, clock())
    chat.questions._waiting.append(question)
    chat.questions.count_behind = lambda: behind
    app, controller = Asking(theme), ControllerDouble()
    async with app.run_test(size=size) as pilot:
        dialog = dialog_for(question, chat, controller)
        await app.query_one("#asking").mount(dialog)
        dialog.focus()
        await pilot.pause()
        await pilot.pause()
        if not early:
            clock.now += 1
            dialog.refresh_chat()
            # What its own timer does at some moment, now.
            dialog._lower()
            await pilot.pause()
        yield Scene(app, pilot, chat, clock, question, dialog, controller)


def a_call(*diffs: FileDiff, given: Any = None, said: str = "") -> ToolCall:
    """A tool call that would change this, or was given that."""
    call = ToolCall("c1")
    call.title, call.kind = "Edit", "edit"
    if diffs:
        call.replace_content([None], lambda _: list(diffs))
    if given is not None:
        call.raw_input = Raw(json.dumps(given).encode())
    if said:
        from accord.schema import v2

        call.content.append(v2.Content(content=v2.TextContent(text=said)))
    return call


def a_request(**more: Any) -> PermissionRequest:
    """A request for a change in the project."""
    given: dict[str, Any] = {
        "session_id": "s",
        "title": "Edit src/app.py",
        "options": OWN_OPTIONS,
        "kind": "edit",
        "paths": (f"{FOLDER}/src/app.py",),
    }
    return PermissionRequest(**{**given, **more})


def option(option_id: str, kind: str, **more: Any) -> PermissionOption:
    """An option that is named like its id."""
    return PermissionOption(option_id, option_id, kind, **more)
