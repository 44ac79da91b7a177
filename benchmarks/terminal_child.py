"""The program that `benchmarks.terminal` looks at: a conversation and an input.

Run in a pseudo-terminal; the file descriptor in the second argument takes lines of JSON about what
happened.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from textual.app import App, ComposeResult
from textual.widgets import Input

from accord.schema import v1
from accord.schema.codec import decode, encode
from accord.terminal.model.chat import Chat
from accord.terminal.render.look import Look
from accord.terminal.render.palette import DARK
from accord.terminal.screen.conversation import Conversation
from accord.transcript import Transcript

FRAME_SECONDS = 1 / 30
PIECE = 6
CHUNKS = 5_000
UPDATES = 20_000

PARAGRAPHS = """\
## Step {n}: what was found

The function `resolve_{n}` is called **twice** for each request, by the *router* and by the
[loader](https://example.org/{n}), which is why the cache looks as if it did nothing.

- the first call fills the cache with `None`
- the second one finds it, and asks again
  - unless the entry is younger than {n} seconds
- then both agree

```python
def resolve_{n}(name: str) -> str | None:
    \"\"\"Ask once, and remember.\"\"\"
    found = cache.get(name)
    return found if found is not None else ask(name, timeout={n})
```

| case | before | after |
|------|-------:|------:|
| cold | {n}1 ms | {n}0 ms |
| warm | {n}9 ms | 1 ms |

> Measured on one machine; the ratio is what matters.

"""


def used() -> float:
    """Seconds of CPU so far."""
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime


def resident_mb() -> float:
    """What the process has in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def markdown(size: int) -> str:
    """So many characters of Markdown, no two parts of them alike."""
    found = ""
    while len(found) < size:
        found += PARAGRAPHS.replace("{n}", str(len(found)))
    return found[:size]


def session(count: int) -> Iterator[bytes]:
    """The updates of a long session, as they come from the wire."""
    at = 0
    words = markdown(4_000)
    while True:
        at += 1
        text = {"type": "text", "text": words[at * 40 % 3900 :][:40]}
        for _ in range(12):
            yield _frame("agent_message_chunk", content=text, messageId=f"m{at}")
        for _ in range(4):
            yield _frame("agent_thought_chunk", content=text, messageId=f"t{at}")
        call = {"toolCallId": f"c{at}", "kind": "edit", "title": f"Edit src/part_{at}.py"}
        yield _frame("tool_call", **call, status="pending", rawInput={"path": f"part_{at}.py"})
        yield _frame("tool_call_update", toolCallId=f"c{at}", status="in_progress")
        diff = {
            "type": "diff",
            "path": f"/w/part_{at}.py",
            "oldText": "a\nb\n",
            "newText": "a\nc\n",
        }
        yield _frame("tool_call_update", toolCallId=f"c{at}", status="completed", content=[diff])
        yield _frame("user_message_chunk", content=text, messageId=f"u{at}")


def _frame(tag: str, **fields: object) -> bytes:
    return encode({"sessionId": "s", "update": {"sessionUpdate": tag, **fields}})


class Bench(App[None]):
    """A conversation and an input, drawn as `accord chat` draws: no more than 30 times a second."""

    CSS = "Input { dock: bottom; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, what: str, told: int) -> None:
        super().__init__()
        self.what = what
        self.told = told
        self.chat = Chat("/w")
        self.chat.adopt(Transcript("v1"), "s")
        self._is_due = False
        self._drawn = 0.0

    def compose(self) -> ComposeResult:
        yield Conversation(self.chat, Look(80, DARK))
        yield Input()

    def tell(self, what: str, **figures: float) -> None:
        os.write(self.told, json.dumps({"what": what, **figures}).encode() + b"\n")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.chat.on_change = self.changed
        self.call_after_refresh(self.begin)

    def begin(self) -> None:
        self._work = asyncio.get_running_loop().create_task(getattr(self, self.what)())

    def changed(self) -> None:
        if not self._is_due:
            self._is_due = True
            wait = max(self._drawn + FRAME_SECONDS - perf_counter(), 0)
            asyncio.get_running_loop().call_later(wait, self.draw)

    def draw(self) -> None:
        self._is_due = False
        self._drawn = perf_counter()
        self.query_one(Conversation).refresh_chat()

    def take(self, update: Any) -> None:
        change = self.chat.transcript.apply(update)
        if change is not None:
            self.chat.listen(change)

    async def painted(self) -> None:
        """Until what is there now is on the screen."""
        self.draw()
        done = asyncio.Event()
        self.call_after_refresh(done.set)
        await done.wait()

    def pieces(self) -> list[Any]:
        text = markdown(CHUNKS * PIECE)
        return [
            v1.AgentMessageChunk(content=v1.TextContent(text=text[at : at + PIECE]))
            for at in range(0, len(text), PIECE)
        ]

    async def flat_out(self) -> None:
        """All pieces, as quickly as they can be taken."""
        pieces = self.pieces()
        self.chat.set_phase("working")
        began, clock = used(), perf_counter()
        for number, piece in enumerate(pieces):
            self.take(piece)
            if number % 10 == 0:
                # Something else may happen in between, as when they come from a pipe.
                await asyncio.sleep(0)
        await self.painted()
        self.tell("streamed", cpu=used() - began, wall=perf_counter() - clock)
        self.exit()

    async def paced(self) -> None:
        """500 pieces a second."""
        pieces = self.pieces()
        self.chat.set_phase("working")
        self.tell("ready")
        began, clock = used(), perf_counter()
        for number, piece in enumerate(pieces):
            wait = clock + number / 500 - perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            self.take(piece)
        await self.painted()
        self.tell("streamed", cpu=used() - began, wall=perf_counter() - clock)
        self.exit()

    async def opened(self) -> None:
        """A long session is taken in, as it is when it is loaded; keys follow."""
        frames = [frame for _, frame in zip(range(UPDATES), session(UPDATES), strict=False)]
        await self._open(frames)

    async def opened_short(self) -> None:
        """The same with a tenth of it."""
        await self._open(
            [frame for _, frame in zip(range(UPDATES // 10), session(0), strict=False)]
        )

    async def _open(self, frames: list[bytes]) -> None:
        before = resident_mb()
        began, clock = used(), perf_counter()
        for number, frame in enumerate(frames):
            self.take(decode(v1.SessionNotification, frame).update)
            if number % 50 == 0:
                await asyncio.sleep(0)
        self.chat.loaded()
        await self.painted()
        cpu, wall = used() - began, perf_counter() - clock
        frames.clear()
        self.tell("opened", cpu=cpu, wall=wall, before_mb=before, resident_mb=resident_mb())
        self.query_one(Conversation).focus()
        self.tell("ready")

    async def on_key(self, event: Any) -> None:
        if event.key == "f10":
            self.tell("left", resident_mb=resident_mb(), cpu=used())
            self.exit()


if __name__ == "__main__":
    Bench(sys.argv[1], int(sys.argv[2])).run()
