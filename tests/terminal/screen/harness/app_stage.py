"""The whole app on a stage: real screens, a desk whose sessions open without an agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from textual.pilot import Pilot

from accord.client.connection.capabilities import AgentCapabilities
from accord.client.permissions.permissions import Permissions
from accord.terminal.engine.chat_controller import Desk
from accord.terminal.engine.chat_slots import Seat
from accord.terminal.engine.launch_options import Order
from accord.terminal.model.chat import Chat
from accord.terminal.model.prompt.draft import Draft
from accord.terminal.model.settings import Settings
from accord.terminal.screen.app import AccordApp
from accord.transcript import Transcript
from tests.hang_limit import HANG_SECONDS
from tests.terminal.screen.harness.stage import ALL, WIDE, Clock

SECONDS_MAX = HANG_SECONDS


class StagedDesk(Desk):
    """Opens sessions that nobody is behind, and writes down what is asked of an agent."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.time = Clock()
        super().__init__(
            permissions=Permissions(), settings=settings or Settings(), clock=self.time
        )
        self.asked: list[tuple[Any, ...]] = []

    async def _open(self, seat: Seat, *, again: bool = False) -> None:
        await self.may_start.wait()
        chat = seat.chat
        chat.agent_name = "The Tester"
        chat.adopt(Transcript("v1"), f"s{len(self.chats)}", keep=again)
        chat.set_problem(None)
        chat.set_phase("ready")

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
    desk = StagedDesk(settings)
    order = Order(command=("agent",), folder="/home/me/project")
    app = AccordApp(desk, order, **more)
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
    """What was asked of the desk."""
    assert isinstance(app.desk, StagedDesk)
    return app.desk.asked
