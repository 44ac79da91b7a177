"""The built-in agent as people run it: a process on stdio, and our client in front of it."""

import os
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from accord import Client, Permissions, Reply, RequestFailed, Session
from accord.transcript import Notice
from tests.hang_limit import HANG_SECONDS

COMMAND = (sys.executable, "-m", "accord", "agent")


@asynccontextmanager
async def running(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> AsyncGenerator[Session]:
    """A session of the agent in this folder; every question is answered with yes."""
    own = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **(env or {})}
    with anyio.fail_after(HANG_SECONDS):
        async with Client.spawn(
            *COMMAND, *arguments, env=own, permissions=Permissions.allow_all()
        ) as client:
            yield await client.new_session(cwd=str(folder))


def told(reply: Reply) -> str:
    """What a person reads of a turn: the words, and what failed tool calls show."""
    failed = [call for call in reply.tool_calls if call.status == "failed"]
    return "\n".join([reply.text, *(f"{call.title}\n{call.text}" for call in failed)])


async def outcome(session: Session, text: str) -> str:
    """What a person sees of a turn, whether it ended or failed: words, notices, the error."""
    try:
        shown = told(await session.ask(text))
    except RequestFailed as error:
        shown = f"{error.message} {error.data}"
    notices = [f"{one.title} {one.description or ''}" for one in session.transcript.notices]
    return "\n".join([shown, *notices])


async def first_notice(session: Session, text: str) -> str:
    """Say something, wait until the user is told of something, and cancel."""
    async with session.prompt(text) as turn:
        async for update in turn:
            if isinstance(update.item, Notice):
                await turn.cancel()
                return f"{update.item.title} {update.item.description or ''}"
    raise AssertionError(f"no notice came: {turn.reply}")
