"""A controller that runs, and what is seen in its chats."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from accord.client.permissions.permissions import Permissions
from accord.connection.limits import Limits
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.model.chat import Chat, Remark
from accord.transcript import Message
from tests.hang_limit import HANG_SECONDS
from tests.terminal.engine.agents import program


@asynccontextmanager
async def running_controller(limits: Limits | None = None) -> AsyncGenerator[ChatController]:
    """A controller that runs, and is gone in the end."""
    controller = ChatController(permissions=Permissions(), limits=limits)
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            await tasks.start(controller.run)
            yield controller
            controller.leave()


async def until(chat: Chat, is_so: Callable[[Chat], object]) -> None:
    """Wait until a chat is so."""
    changed = anyio.Event()

    def tell() -> None:
        changed.set()

    before = chat.on_change
    chat.on_change = tell
    try:
        while not is_so(chat):
            await changed.wait()
            changed = anyio.Event()
    finally:
        chat.on_change = before


def ready(chat: Chat) -> bool:
    return chat.phase == "ready"


def said(chat: Chat) -> list[str]:
    """What the agent said, in order."""
    return [one.text for one in chat.entries if isinstance(one, Message) and one.role == "agent"]


def shown(chat: Chat) -> list[str]:
    """What anybody said, in order."""
    return [one.text for one in chat.entries if isinstance(one, Message)]


def remarks(chat: Chat) -> str:
    return "\n".join(one.text for one in chat.entries if isinstance(one, Remark))


async def opened(controller: ChatController, work: Path, **more: object) -> Chat:
    launch = LaunchOptions(command=program(work.parent), folder=str(work), **more)  # type: ignore[arg-type]
    chat = await controller.open_chat(launch=launch)
    await until(chat, lambda chat: chat.phase in ("ready", "lost"))
    return chat
