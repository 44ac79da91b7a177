"""How a scripted Python client goes through its steps and prints what it saw.

Knows no SDK and no version: a client derives from `Script` and has one method per step.  Standard
library only.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from tests.interop.official.seen import Json, Seen

SETTLE_SECONDS = 10
# How long an agent has to end when its input has ended; the SDK's 2 s are short on a busy machine.
EXIT_SECONDS = 60.0
ECHO = "_interop/echo"
FORM_VALUES = {"name": "Ada"}
# One block of every kind that needs no sound.
BLOCKS: list[Json] = [
    {"type": "text", "text": "blocks"},
    {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    {"type": "resource_link", "uri": "file:///link", "name": "link"},
    {"type": "resource", "resource": {"uri": "file:///text", "text": "embedded"}},
]


class Script:
    """Runs steps one after another; guards that a step's report has every update that arrived."""

    failures: tuple[type[Exception], ...] = ()

    def __init__(self) -> None:
        self.agent: Any = None
        self.session = ""
        self.answer = "allow_once"
        self.form_answer = "accept"
        self.seen = Seen("start")
        self.changed = asyncio.Condition()
        self._arrived = 0
        self._handled = 0

    def observe(self, event: Any) -> None:
        """For the SDK's raw observers: counts updates before their handlers run."""
        if event.direction == "incoming" and event.message.get("method") == "session/update":
            self._arrived += 1

    async def session_update(self, update: Any, **_: Any) -> None:
        async with self.changed:
            self._handled += 1
            self.seen.fold(plain(update))
            self.changed.notify_all()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for updates that make the condition true."""
        async with self.changed, asyncio.timeout(SETTLE_SECONDS):
            await self.changed.wait_for(condition)

    async def run(self, steps: list[str]) -> list[Json]:
        return [await self._run(step) for step in ("start", "new", *steps)]

    async def _run(self, step: str) -> Json:
        verb, _, argument = step.partition(":")
        self.seen = Seen(step)
        action: Callable[[str], Awaitable[None]] = getattr(self, f"step_{verb}")
        try:
            await action(argument)
        except self.failures as error:
            self.seen.facts["error"] = {"code": getattr(error, "code", None), "message": str(error)}
        # The SDK runs each update in a task of its own: wait for those that have arrived.
        await self.until(lambda: self._handled >= self._arrived)
        return self.seen.report()

    async def step_permission(self, kind: str) -> None:
        """How the permission requests of the following steps are answered."""
        self.answer = kind

    async def step_form(self, action: str) -> None:
        """How forms are answered: `accept` fills them in."""
        self.form_answer = action

    async def step_prompt(self, text: str) -> None:
        await self.send_prompt([{"type": "text", "text": text}])

    async def step_blocks(self, _: str) -> None:
        await self.send_prompt(BLOCKS)

    async def send_prompt(self, blocks: list[Json]) -> None:
        raise NotImplementedError

    async def send_cancel(self) -> None:
        raise NotImplementedError

    async def step_cancel(self, text: str) -> None:
        """Prompt, and cancel as soon as the agent has said something."""
        turn = asyncio.create_task(self.step_prompt(text))
        await self.until(lambda: any(k.startswith("agent_message") for k in self.seen.kinds))
        await self.send_cancel()
        await turn


def plain(model: Any) -> Json:
    """A value of the SDK as it is on the wire."""
    result: Json = model.model_dump(by_alias=True, mode="json", exclude_unset=True)
    return result


def split_command(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Steps and the agent's command, which stand before and after `--`."""
    split = arguments.index("--")
    return arguments[:split], arguments[split + 1 :]


def remote_url(command: list[str]) -> str | None:
    """The URL of an agent that is served already, if one stands in place of a command."""
    is_url = len(command) == 1 and command[0].startswith(("http:", "https:", "ws:", "wss:"))
    return command[0] if is_url else None


async def remote_transport(url: str) -> Any:
    """The SDK's own client transport for a URL."""
    if url.startswith("http"):
        from acp.http.client import create_http_stream

        return create_http_stream(url)
    from acp.ws.client import create_websocket_stream

    return await create_websocket_stream(url)


def print_report(reports: list[Json], exit_code: int | None) -> None:
    print(json.dumps({"steps": reports, "exit": exit_code}))
