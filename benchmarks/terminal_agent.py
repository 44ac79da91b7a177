"""The agent that `benchmarks.terminal` talks to: it streams what a prompt names, and has a past.

`stream COUNT RATE` sends that many pieces of one message, RATE in a second, or flat out where it
is 0.  Every session that is loaded has `BENCH_UPDATES` updates; when that begins is written to the
file `BENCH_BEGAN`, with what the client has used of the processor until then.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import anyio

from accord import Agent, Turn
from accord.schema import v2
from accord.schema.codec import to_raw
from accord.store import MemoryStore, SessionLog, SessionRecord
from accord.translate.diffs import diff_of
from benchmarks.terminal_process import cpu_seconds

PIECE = 6
# The last words of a stream, and of a session.
END = "That-was-all."

PART = """\
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
STEPS = ("Read the code", "Write the change", "Run the tests", "Report")


def markdown(size: int) -> str:
    """So many characters of Markdown, no two parts of them alike, which end with `END`."""
    found = ""
    while len(found) < size:
        found += PART.replace("{n}", str(len(found)))
    end = f"\n\n{END}"
    return found[: size - len(end)].rpartition("\n\n")[0].ljust(size - len(end)) + end


def past(count: int) -> Iterator[Any]:
    """The updates of a long session, in rounds of 21, the last of which may be cut short."""
    words = markdown(4_000)
    said = 0
    number = 0
    while said < count - 1:
        number += 1
        for update in round_of(number, words[number * 40 % 3_600 :][:320]):
            if said < count - 1:
                said += 1
                yield update
    yield v2.AgentMessageChunk(message_id="end", content=v2.TextContent(text=END))


def round_of(number: int, words: str) -> Iterator[Any]:
    """A question, thoughts, an answer, an edit with its diff, a command with its output, a plan."""

    def text(at: int) -> v2.TextContent:
        return v2.TextContent(text=words[at * 40 : at * 40 + 40])

    yield v2.UserMessageChunk(message_id=f"u{number}", content=text(0))
    for at in range(3):
        yield v2.AgentThoughtChunk(message_id=f"t{number}", content=text(at))
    for at in range(8):
        yield v2.AgentMessageChunk(message_id=f"m{number}", content=text(at))
    path = f"/w/src/part_{number}.py"
    old = "".join(f"    value_{at} = compute(x, {at})\n" for at in range(10))
    edit = v2.ToolCallUpdate(
        tool_call_id=f"e{number}",
        title=f"Edit part_{number}.py",
        kind="edit",
        status="in_progress",
        raw_input=to_raw({"path": path, "line": number}),
    )
    yield edit
    yield v2.ToolCallUpdate(
        tool_call_id=f"e{number}",
        status="completed",
        content=[diff_of(path, old, old.replace("x, 4", f"y, {number}"))],
        locations=[v2.ToolCallLocation(path=path, line=5)],
    )
    yield v2.ToolCallUpdate(
        tool_call_id=f"x{number}",
        title=f"make test PART={number}",
        kind="execute",
        status="in_progress",
        content=[v2.Terminal(terminal_id=f"p{number}")],
    )
    yield v2.TerminalUpdate(terminal_id=f"p{number}", command=f"make test PART={number}", cwd="/w")
    for at in range(2):
        line = f"tests/test_part_{number}.py::test_{at} \033[32mPASSED\033[0m\r\n"
        yield v2.TerminalOutputChunk(terminal_id=f"p{number}", data=line.encode() * 5)
    yield v2.TerminalUpdate(
        terminal_id=f"p{number}", exit_status=v2.TerminalExitStatus(exit_code=0)
    )
    yield v2.ToolCallUpdate(tool_call_id=f"x{number}", status="completed")
    entries = [
        v2.PlanEntry(
            content=f"{step} {number}",
            priority="medium",
            status="completed" if at < number % 4 else "pending",
        )
        for at, step in enumerate(STEPS)
    ]
    yield v2.PlanUpdate(plan=v2.PlanItems(plan_id="main", entries=entries))


class PastLog:
    """A session with a long past."""

    def append(self, update: Any) -> None:
        pass

    async def replay(self) -> AsyncIterator[Any]:
        # Made before the clock runs: a store has it already.
        updates = list(past(int(os.environ["BENCH_UPDATES"])))
        began = {"clock": perf_counter(), "cpu": cpu_seconds(os.getppid()), "client": os.getppid()}
        Path(os.environ["BENCH_BEGAN"]).write_text(json.dumps(began))
        for update in updates:
            yield update


class PastStore(MemoryStore):
    """Every id names a session with that past."""

    async def get(self, session_id: str) -> SessionRecord | None:
        return await super().get(session_id) or SessionRecord(session_id, os.getcwd())

    async def open(self, session_id: str) -> SessionLog | None:
        return PastLog()


agent = Agent("bench", version="1", store=PastStore())


@agent.on_prompt
async def stream(turn: Turn) -> None:
    """Send pieces of one message."""
    count, rate = map(int, turn.text.split()[1:])
    text = markdown(count * PIECE)
    began = perf_counter()
    async with turn.message() as message:
        for number in range(count):
            if rate:
                wait = began + number / rate - perf_counter()
                if wait > 0:
                    await anyio.sleep(wait)
            await message.write(text[number * PIECE :][:PIECE])


if __name__ == "__main__":
    agent.run()
