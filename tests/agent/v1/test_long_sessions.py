"""What the words of v1 remember of a session does not grow with what was shown in it."""

from __future__ import annotations

from typing import Any

from accord.agent.serving.v1.tool_calls import ENDED_CALLS_KEPT
from accord.agent.serving.v1.wire import V1Wire
from accord.agent.serving.wire import Features
from accord.schema import v2
from accord.schema.codec import to_python

SESSION = "s"


def text_item(text: str) -> v2.Content:
    """Content of a tool call."""
    return v2.Content(content=v2.TextContent(text=text))


def told(wire: V1Wire, update: Any) -> list[dict[str, Any]]:
    """What a client is told of an update."""
    return [to_python(params)["update"] for params in wire.updates(SESSION, update)]


def call(number: int, status: str, content: list[Any]) -> v2.ToolCallUpdate:
    """A tool call that shows something."""
    return v2.ToolCallUpdate(tool_call_id=f"call_{number}", status=status, content=content)


def kept_bytes(wire: V1Wire) -> int:
    """How much text the calls still hold."""
    return sum(len(item.content.text) for shown in wire._calls._shown.values() for item in shown)


def test_what_old_calls_show_is_let_go() -> None:
    """Issue 3: 200 prompts in one session do not let the memory grow."""
    wire = V1Wire(Features())
    for number in range(ENDED_CALLS_KEPT + 100):
        told(wire, call(number, "completed", [text_item("x" * 1000)]))
    assert kept_bytes(wire) == ENDED_CALLS_KEPT * 1000


def test_a_call_that_was_let_go_is_still_known() -> None:
    """Ours: it is patched, not made a second time."""
    wire = V1Wire(Features())
    for number in range(ENDED_CALLS_KEPT + 1):
        told(wire, call(number, "completed", [text_item("x")]))
    (again,) = told(wire, v2.ToolCallUpdate(tool_call_id="call_0", title="late"))
    assert again["sessionUpdate"] == "tool_call_update"


def test_a_terminal_that_runs_is_not_let_go_with_its_call() -> None:
    """Ours: what a server in the background prints is shown whenever that comes."""
    wire = V1Wire(Features())
    told(wire, v2.TerminalUpdate(terminal_id="t", command="serve"))
    told(wire, call(0, "completed", [v2.Terminal(terminal_id="t")]))
    for number in range(1, ENDED_CALLS_KEPT + 5):
        told(wire, call(number, "completed", []))
    told(wire, v2.TerminalOutputChunk(terminal_id="t", data=b"ready\n"))
    (last,) = told(
        wire, v2.TerminalUpdate(terminal_id="t", exit_status=v2.TerminalExitStatus(exit_code=0))
    )
    assert last["content"][0]["content"]["text"] == "ready\n"


def test_a_terminal_that_has_ended_is_let_go_with_its_call() -> None:
    """Ours: its text is what fills the memory."""
    wire = V1Wire(Features())
    for number in range(ENDED_CALLS_KEPT + 5):
        name = f"t{number}"
        told(wire, v2.TerminalUpdate(terminal_id=name, command="x"))
        told(wire, v2.TerminalUpdate(terminal_id=name, exit_status=v2.TerminalExitStatus()))
        told(wire, call(number, "completed", [v2.Terminal(terminal_id=name)]))
    assert len(wire._calls._terminals) == ENDED_CALLS_KEPT
    wire.forget(SESSION)
    told(wire, call(1, "completed", []))
