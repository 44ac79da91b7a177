"""How fast stored sessions are read, and what an append costs.

Fills a store with the mixed updates of a session (of fifty, forty-five are chunks of text), and
measures: appends one after the other, appends that share commits, opening and replaying the log,
and `session/load` by a client from a process of an agent, from the request until the answer.
Usage: python -m benchmarks.replay [UPDATES] [FOLDER]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio

from accord import Agent, Client
from accord.schema import v2
from accord.store import SessionRecord
from accord.store.sqlite import SqliteStore

UPDATES = 200_000
SERIAL_UPDATES = 2_000
GROUP = 500
ROUNDS = 3
SESSION = "replayed"
WORDS = "some words of an answer that a model gives "


def update(number: int) -> Any:
    """The updates of a session that answers, thinks, plans and edits."""
    turn, step = divmod(number, 50)
    match step:
        case 0:
            text = v2.TextContent(text="What does this project do?")
            return v2.UserMessage(message_id=f"prompt{turn}", content=[text])
        case 20:
            entries = [
                v2.PlanEntry(content=f"step {index}", priority="medium", status="pending")
                for index in range(4)
            ]
            return v2.PlanUpdate(plan=v2.PlanItems(plan_id="main", entries=entries))
        case 30:
            return v2.ToolCallUpdate(
                tool_call_id=f"call{turn}", title="Reading", kind="read", status="in_progress"
            )
        case 31:
            text = v2.TextContent(text=WORDS * 10)
            return v2.ToolCallUpdate(
                tool_call_id=f"call{turn}",
                status="completed",
                content=[v2.Content(content=text)],
            )
        case 32:
            text = v2.TextContent(text=WORDS)
            return v2.AgentThoughtChunk(message_id=f"thought{turn}", content=text)
    text = v2.TextContent(text=WORDS)
    return v2.AgentMessageChunk(message_id=f"message{turn}.{step // 25}", content=text)


def tell(what: str, count: int, seconds: float) -> None:
    """One line of JSON."""
    print(json.dumps({"what": what, "count": count, "per_second": round(count / seconds)}))


async def append(store: SqliteStore, count: int) -> None:
    """Fill the session, first one by one, then in groups."""
    log = await store.create(SessionRecord(SESSION, "/"))
    began = time.perf_counter()
    for number in range(SERIAL_UPDATES):
        writing = log.append(update(number))
        assert writing is not None
        await writing
    tell("append, one after the other", SERIAL_UPDATES, time.perf_counter() - began)
    updates = [update(number) for number in range(SERIAL_UPDATES, count)]
    began, commits = time.perf_counter(), store.commits
    for start in range(0, len(updates), GROUP):
        pending = [log.append(one) for one in updates[start : start + GROUP]]
        for writing in pending:
            assert writing is not None
            await writing
    tell("append, many at once", len(updates), time.perf_counter() - began)
    print(
        json.dumps(
            {"what": "updates per commit", "count": len(updates) // (store.commits - commits)}
        )
    )


async def replay(store: SqliteStore, count: int) -> None:
    """Read it, with the checks of opening."""
    began = time.perf_counter()
    log = await store.open(SESSION)
    assert log is not None
    told = 0
    async for _ in log.replay():
        told += 1
    tell(f"open and replay, told as {told}", count, time.perf_counter() - began)
    await store.release(SESSION)


async def load(path: Path, count: int, version: int) -> None:
    """The same through an agent's process and a client."""
    command = (sys.executable, "-m", "benchmarks.replay", "agent", str(path))
    async with Client.spawn(*command, versions=(version,)) as client:
        began = time.perf_counter()
        await client.load_session(SESSION, cwd="/")
        tell(f"session/load in v{version}", count, time.perf_counter() - began)


async def main(count: int, folder: Path) -> None:
    """Everything, several times where it is quick."""
    path = folder / "sessions.sqlite3"
    store = SqliteStore(path)
    await append(store, count)
    for _ in range(ROUNDS):
        await replay(store, count)
    await store.aclose()
    for version in (1, 2):
        for _ in range(ROUNDS):
            await load(path, count, version)


if __name__ == "__main__":
    if sys.argv[1:2] == ["agent"]:
        Agent("replaying", version="1.0.0", store=SqliteStore(sys.argv[2])).run()
    else:
        wanted = int(sys.argv[1]) if len(sys.argv) > 1 else UPDATES
        place = sys.argv[2] if len(sys.argv) > 2 else None
        with tempfile.TemporaryDirectory(dir=place) as scratch:
            anyio.run(main, wanted, Path(scratch))
