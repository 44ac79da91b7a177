"""The whole app on a stage: real screens, a controller whose sessions open without an agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from textual.pilot import Pilot

from accord.client.connection.capabilities import AgentCapabilities
from accord.client.permissions.permissions import Permissions
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.engine.chat_lifecycle import ChatLifecycle, ChatSlot
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.model.chat import Chat
from accord.terminal.model.prompt.unsent_prompts import Draft
from accord.terminal.model.settings import Settings
from accord.terminal.screen.app import AccordApp
from accord.transcript import Transcript
from tests.hang_limit import HANG_SECONDS
from tests.terminal.screen.harness.stage import ALL, WIDE, Clock

SECONDS_MAX = HANG_SECONDS


class StagedLifecycle(ChatLifecycle):
    """Opens sessions without an agent."""

    async def open_session(self, slot: ChatSlot, *, again: bool = False) -> None:
        await self.may_start.wait()
        chat = slot.chat
        chat.agent_name = "The Tester"
        chat.adopt(Transcript("v1"), f"s{len(self._slots.chats)}", keep=again)
        chat.set_problem(None)
        chat.set_phase("ready")


class StagedController(ChatController):
    """Opens sessions without an agent, and records what is asked of one."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.time = Clock()
        permissions = Permissions()
        super().__init__(permissions=permissions, settings=settings or Settings())
        self.lifecycle = StagedLifecycle(self._slots, permissions=permissions, clock=self.time)
        self.asked: list[tuple[Any, ...]] = []

    def capabilities(self, chat: Chat) -> AgentCapabilities | None:
        return ALL

    def send(self, chat: Chat, draft: Draft) -> None:
        self.asked.append(("send", draft.text))

    def stop(self, chat: Chat) -> None:
        self.asked.append(("stop",))

    def retry(self, chat: Chat) -> None:
        self.asked.append(("retry",))

    def restart(self, chat: Chat) -> None:
        self.asked.append(("restart",))


@asynccontextmanager
async def staged(
    size: tuple[int, int] = WIDE,
    *,
    settings: Settings | None = None,
    notifications: bool = False,
    seconds: float = SECONDS_MAX,
    **more: Any,
) -> AsyncGenerator[tuple[AccordApp, Pilot[int], Chat]]:
    """The app with one chat that is ready."""
    controller = StagedController(settings)
    launch = LaunchOptions(command=("agent",), folder="/home/me/project")
    app = AccordApp(controller, launch, **more)
    with anyio.fail_after(seconds):
        async with app.run_test(size=size, notifications=notifications) as pilot:
            await until(pilot, lambda: app.chat is not None and app.chat.phase == "ready")
            chat = app.chat
            assert chat is not None
            yield app, pilot, chat
            await app.leave()


async def until(pilot: Pilot[int], is_so: Callable[[], object]) -> None:
    """Let the app work until it is so."""
    while not is_so():
        await pilot.pause()


def asked(app: AccordApp) -> list[tuple[Any, ...]]:
    """What was asked of the controller."""
    assert isinstance(app.controller, StagedController)
    return app.controller.asked
