"""The benchmark's agent on Accord."""

import time
from collections.abc import AsyncIterator
from typing import Any

from accord import Agent, Turn
from accord.schema import v2
from accord.schema.codec import to_raw
from accord.store import MemoryStore, SessionLog, SessionRecord
from accord.translate.diffs import diff_of
from benchmarks.workload import (
    EDITED_PATH,
    NEW_TEXT,
    OLD_TEXT,
    PLAN_STEPS,
    TEXT_40,
    AgentFigures,
    Latencies,
    chunk_text,
    replay_count,
)

# A store keeps a diff as it was made; making it is not part of a replay.
DIFF = diff_of(EDITED_PATH, OLD_TEXT, NEW_TEXT)


def replayed(index: int) -> Any:
    """The update at this place of a replayed session."""
    match index % 10:
        case 6:
            return v2.ToolCallUpdate(
                tool_call_id=f"call_{index}",
                title="Edit file",
                kind="edit",
                status="pending",
                raw_input=to_raw({"path": EDITED_PATH, "line": index}),
            )
        case 7:
            return v2.ToolCallUpdate(
                tool_call_id=f"call_{index - 1}",
                status="completed",
                content=[DIFF],
                locations=[v2.ToolCallLocation(path=EDITED_PATH, line=index)],
            )
        case 8:
            return v2.AgentThoughtChunk(message_id="thought", content=v2.TextContent(text=TEXT_40))
        case 9:
            entries = [
                v2.PlanEntry(content=step, priority="medium", status="pending")
                for step in PLAN_STEPS
            ]
            return v2.PlanUpdate(plan=v2.PlanItems(plan_id="main", entries=entries))
        case _:
            return v2.AgentMessageChunk(message_id="message", content=v2.TextContent(text=TEXT_40))


class ReplayLog:
    """A session with a long past."""

    def append(self, update: Any) -> None:
        pass

    async def replay(self) -> AsyncIterator[Any]:
        figures.begin()
        for index in range(replay_count()):
            yield replayed(index)


class ReplayStore(MemoryStore):
    """Every session that is opened again has that past, and every id names one."""

    async def get(self, session_id: str) -> SessionRecord | None:
        return await super().get(session_id) or SessionRecord(session_id, "/")

    async def open(self, session_id: str) -> SessionLog | None:
        return ReplayLog()


agent = Agent("bench", version="1", store=ReplayStore())
figures = AgentFigures()


@agent.on_prompt
async def work(turn: Turn) -> None:
    """Do what the first words of the prompt say."""
    figures.begin()
    word, *arguments = turn.text.split()
    if word == "stream":
        await stream(turn, int(arguments[0]), chunk_text(int(arguments[1])))
    elif word == "rpc":
        figures.values = await call(turn, int(arguments[0]))
    elif word == "read":
        figures.values = await read(turn, arguments[0])


async def stream(turn: Turn, count: int, text: str) -> None:
    """Chunks of one message, which is what the official SDKs' helpers send too."""
    async with turn.message() as message:
        for _ in range(count):
            await message.write(text)


async def call(turn: Turn, count: int) -> dict[str, float]:
    latencies = Latencies()
    for _ in range(count):
        started = time.perf_counter()
        await turn.read_text(EDITED_PATH)
        latencies.seconds.append(time.perf_counter() - started)
    return latencies.summary()


async def read(turn: Turn, path: str) -> dict[str, float]:
    started = time.perf_counter()
    text = await turn.read_text(path)
    return {"read_s": time.perf_counter() - started, "bytes": len(text)}


@agent.method("_bench/figures")
async def tell_figures(_: dict[str, Any]) -> dict[str, float]:
    return figures.report()


if __name__ == "__main__":
    agent.run()
