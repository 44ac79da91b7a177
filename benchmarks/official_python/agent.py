"""The benchmark's agent on the official Python SDK."""

import asyncio
import time
from typing import Any
from uuid import uuid4

from acp import (
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptResponse,
    plan_entry,
    run_agent,
    start_tool_call,
    tool_diff_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_plan,
    update_tool_call,
)
from acp.schema import AgentCapabilities, ToolCallLocation

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


def replayed(index: int) -> Any:
    """The update at this place of a replayed session."""
    match index % 10:
        case 6:
            return start_tool_call(
                f"call_{index}",
                "Edit file",
                kind="edit",
                status="pending",
                raw_input={"path": EDITED_PATH, "line": index},
            )
        case 7:
            return update_tool_call(
                f"call_{index - 1}",
                status="completed",
                content=[tool_diff_content(EDITED_PATH, NEW_TEXT, OLD_TEXT)],
                locations=[ToolCallLocation(path=EDITED_PATH, line=index)],
            )
        case 8:
            return update_agent_thought_text(TEXT_40)
        case 9:
            return update_plan([plan_entry(step, status="pending") for step in PLAN_STEPS])
        case _:
            return update_agent_message_text(TEXT_40)


class BenchAgent:
    """Does what the first words of a prompt say and tells what it cost when asked."""

    def __init__(self) -> None:
        self._figures = AgentFigures()

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=protocol_version,
            agent_capabilities=AgentCapabilities(load_session=True),
        )

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id=uuid4().hex)

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> LoadSessionResponse:
        self._figures.begin()
        for index in range(replay_count()):
            await self._client.session_update(session_id=session_id, update=replayed(index))
        return LoadSessionResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        self._figures.begin()
        word, *arguments = prompt[0].text.split()
        if word == "stream":
            await self._stream(session_id, int(arguments[0]), chunk_text(int(arguments[1])))
        elif word == "rpc":
            self._figures.values = await self._call(session_id, int(arguments[0]))
        elif word == "read":
            self._figures.values = await self._read(session_id, arguments[0])
        return PromptResponse(stop_reason="end_turn")

    async def _stream(self, session_id: str, count: int, text: str) -> None:
        for _ in range(count):
            await self._client.session_update(
                session_id=session_id, update=update_agent_message_text(text)
            )

    async def _call(self, session_id: str, count: int) -> dict[str, float]:
        latencies = Latencies()
        for _ in range(count):
            started = time.perf_counter()
            await self._client.read_text_file(session_id=session_id, path=EDITED_PATH)
            latencies.seconds.append(time.perf_counter() - started)
        return latencies.summary()

    async def _read(self, session_id: str, path: str) -> dict[str, float]:
        started = time.perf_counter()
        answer = await self._client.read_text_file(session_id=session_id, path=path)
        return {"read_s": time.perf_counter() - started, "bytes": len(answer.content)}

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, float]:
        return self._figures.report()

    async def cancel(self, session_id: str, **_: Any) -> None:
        pass


if __name__ == "__main__":
    asyncio.run(run_agent(BenchAgent()))
