"""The cost of an update does not grow with what came before.  Counted, not timed."""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from accord.schema import v1, v2
from accord.transcript import TERMINAL_BYTES_MAX, Transcript
from accord.transcript.items.content import Content

if TYPE_CHECKING:
    from _typeshed import TraceFunction


def lines_run(transcript: Transcript, updates: list[object]) -> int:
    """How many lines of Python the updates took."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> TraceFunction | None:
        nonlocal count
        if "transcript" not in frame.f_code.co_filename:
            # Whatever else runs now, such as the end of something that was collected, is not ours.
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for update in updates:
            transcript.apply(update)
    finally:
        sys.settrace(before)
    return count


def v1_chunk(number: int) -> object:
    return v1.AgentMessageChunk(content=v1.TextContent(text=f"{number} "))


def v1_user_chunk(number: int) -> object:
    return v1.UserMessageChunk(content=v1.TextContent(text=f"{number} "))


def v2_chunk(number: int) -> object:
    return v2.AgentMessageChunk(message_id=f"m{number % 3}", content=v2.TextContent(text="x"))


def v2_new_message(number: int) -> object:
    content: list[v2.ContentBlock] = [v2.TextContent(text="x")]
    return v2.UserMessage(message_id=f"m{number}", content=content)


def v2_tool_chunk(number: int) -> object:
    item = v2.Content(content=v2.TextContent(text=str(number)))
    return v2.ToolCallContentChunk(tool_call_id="c", content=item)


def v2_new_tool_call(number: int) -> object:
    return v2.ToolCallUpdate(tool_call_id=f"c{number}", status="in_progress")


def v2_terminal_chunk(number: int) -> object:
    return v2.TerminalOutputChunk(terminal_id="t", data=b"x" * 100)


def v2_plan(number: int) -> object:
    if number % 2:
        return v2.PlanRemoved(plan_id=f"p{number - 1}")
    return v2.PlanUpdate(plan=v2.PlanMarkdown(plan_id=f"p{number}", content="x"))


@pytest.mark.parametrize(
    "make",
    [
        v1_chunk,
        v1_user_chunk,
        v2_chunk,
        v2_new_message,
        v2_tool_chunk,
        v2_new_tool_call,
        v2_terminal_chunk,
        v2_plan,
    ],
)
def test_the_thousandth_update_costs_what_the_tenth_did(make: object) -> None:
    """Issue: linear in the number of updates."""
    assert callable(make)
    transcript = Transcript()
    updates = [make(number) for number in range(1220)]
    lines_run(transcript, updates[:100])
    early = lines_run(transcript, updates[100:110])
    lines_run(transcript, updates[110:1200])
    late = lines_run(transcript, updates[1200:1210])
    assert late == early


def test_a_long_message_is_joined_when_somebody_looks_and_only_then() -> None:
    """Issue: never quadratic in the length of a message."""
    settled: list[int] = []

    class Counted(Content):
        def _settle(self) -> None:
            settled.append(len(self._fresh or ()))
            super()._settle()

    content = Counted()
    for _ in range(1000):
        content.append(v1.TextContent(text="x" * 10))
    assert settled == []
    assert len(content.text) == 10_000
    assert content.text is content.text
    assert len(content.blocks) == 1
    assert settled == [1000]


def test_a_terminal_holds_no_more_than_its_bound() -> None:
    """The design: 1 MiB, whatever comes."""
    transcript = Transcript()
    update = v2.TerminalOutputChunk(terminal_id="t", data=b"x" * 65536)
    for _ in range(64):
        transcript.apply(update)
    terminal = transcript.terminals[0]
    assert len(terminal.data) == TERMINAL_BYTES_MAX
    assert terminal.truncated
