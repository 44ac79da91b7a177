"""A program that follows a flood slowly: `python -m tests.client.slow_consumer CASE COUNT`.

It takes one update, does what its case says while the flood goes on, and takes the rest.  Prints
as JSON how much text it saw, how many updates that were, and how its memory grew meanwhile.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio

from accord import Client, Session, Update

AGENT = [sys.executable, str(Path(__file__).with_name("flood_agent.py"))]
CALLS = 20


def resident_bytes() -> int:
    """How much memory this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


class Case:
    """One slow consumer, and somebody who waits beside it."""

    def __init__(self, one: Session, two: Session, flood: str) -> None:
        self._one, self._two, self._flood = one, two, flood
        self.texts: list[str] = []

    async def another_ask(self) -> None:
        """A prompt of another session is waited for."""
        async with self._following():
            await self._two.ask("after")

    async def another_loop(self) -> None:
        """A prompt of another session is followed."""
        async with self._following(), self._two.prompt("after") as turn:
            async for _ in turn:
                pass

    async def many_prompts(self) -> None:
        """Another session prompts again and again, and is answered each time."""
        async with self._following():
            for _ in range(CALLS):
                await self._two.ask("hello")
                async with self._two.prompt("hello") as turn:
                    async for _ in turn:
                        pass
            await self._two.ask("after")

    async def calls_in_the_loop(self) -> None:
        """The loop itself calls the agent, and goes on."""
        async with self._one.prompt(self._flood) as turn:
            async for update in turn:
                if len(self.texts) < CALLS:
                    await self._one.set_mode("b")
                if len(self.texts) == CALLS:
                    await self._two.ask("after")
                self.texts.append(update.text)

    async def two_streams(self) -> None:
        """The session has two subscribers that take nothing while the turn is waited for."""
        streams = (self._one.updates(), self._one.updates())
        await self._one.ask(self._flood)
        for stream in streams:
            self.texts.clear()
            while stream.waiting:
                self.texts.append((await anext(stream)).text)
            stream.close()

    @asynccontextmanager
    async def _following(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            turn = await stack.enter_async_context(self._one.prompt(self._flood))
            updates = aiter(turn)
            self.texts.append((await anext(updates)).text)
            yield
            await self._take_all(updates)

    async def _take_all(self, updates: AsyncIterable[Update]) -> None:
        self.texts += [update.text async for update in updates]


async def main(name: str, flood: str) -> None:
    """Run one case."""
    async with Client.spawn(*AGENT) as client:
        case = Case(await client.new_session("/"), await client.new_session("/"), flood)
        before = resident_bytes()
        await getattr(case, name)()
        grown = resident_bytes() - before
    text = "".join(case.texts)
    print(json.dumps({"text": len(text), "updates": len(case.texts), "grown": grown}))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
