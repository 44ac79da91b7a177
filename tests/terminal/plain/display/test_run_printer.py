"""The printer: what a turn does, line by line."""

from __future__ import annotations

import io
from base64 import b64encode
from typing import Any

import pytest

from accord import PermissionRequest
from accord.schema import v2
from accord.schema.codec import decode, encode
from accord.terminal.plain.display.chat_and_run_printer import DIFF_LINES_MAX
from accord.terminal.plain.display.run_printer import TurnPrinter
from accord.transcript import Transcript


class Screen(io.StringIO):
    """A terminal that is none."""

    encoding = "utf-8"


class Shown:
    """What a printer shows of updates in the words of v2."""

    def __init__(self, **options: Any) -> None:
        self._out = Screen()
        self.printer = TurnPrinter(self._out, **options)
        self.transcript = Transcript("v2")

    def update(self, **fields: Any) -> None:
        kind: Any = v2.SessionUpdate
        update: Any = decode(kind, encode(fields))
        change = self.transcript.apply(update)
        assert change is not None
        self.printer.show(change)

    def call(self, call_id: str = "t", **fields: Any) -> None:
        self.update(sessionUpdate="tool_call_update", toolCallId=call_id, **fields)

    @property
    def lines(self) -> list[str]:
        self.printer.pause()
        return [line for line in self._out.getvalue().splitlines() if line]


def test_a_call_is_named_when_it_begins_and_again_when_its_name_changes() -> None:
    """opencode: the first name is the tool's, the second says what it does."""
    shown = Shown()
    shown.call(title="bash", status="pending")
    shown.call(title="echo hi", status="in_progress")
    shown.call(status="in_progress")
    shown.call(status="completed")
    assert shown.lines == ["  ▸ bash", "  ▸ echo hi", "    ● completed"]


def test_a_failed_call_says_why() -> None:
    """Ours: a cross alone helps nobody."""
    shown = Shown()
    text = {"type": "content", "content": {"type": "text", "text": "no such file\n"}}
    shown.call(title="Read x", status="failed", content=[text])
    assert shown.lines == ["  ▸ Read x", "    ✕ failed", "      no such file"]


def test_a_long_diff_is_cut_and_says_so() -> None:
    """Ours: everything has a bound."""
    shown = Shown()
    patch = "@@ -0,0 +1 @@\n" + "".join(f"+{number}\n" for number in range(DIFF_LINES_MAX * 2))
    diff = {
        "type": "diff",
        "patch": {"format": "git_patch", "text": patch},
        "changes": [{"operation": "modify", "path": "/a"}],
    }
    shown.call(title="Edit", content=[diff])
    shown.call(status="in_progress")
    assert len(shown.lines) == DIFF_LINES_MAX + 3
    assert shown.lines[-1].strip() == f"({DIFF_LINES_MAX + 1} more lines)"


def test_a_diff_has_every_line_that_changed_and_all_that_is_in_it() -> None:
    """Ours: who reviews a change sees what it really contains."""
    shown = Shown()
    diff = {
        "type": "diff",
        "path": "/a.sql",
        "oldText": "-- a\nb\n",
        "newText": "++ b\x1b[8m\x0cb\n",
    }
    shown.call(title="Edit", status="in_progress", content=[diff])
    assert [line.strip() for line in shown.lines[1:]] == [
        *("/a.sql", "@@ line 1 @@", "--- a", "-b", "+++ b⟨U+001B⟩[8m⟨U+000C⟩b")
    ]


def test_output_comes_in_whole_lines_and_a_bad_end_is_shown() -> None:
    """Ours: chunks are cut anywhere."""
    shown = Shown()
    for text in ("one\ntw", "o\nthr", "ee"):
        data = b64encode(text.encode()).decode()
        shown.update(sessionUpdate="terminal_output_chunk", terminalId="t", data=data)
    shown.update(sessionUpdate="terminal_update", terminalId="t", exitStatus={"exitCode": 3})
    assert [line.strip() for line in shown.lines] == ["one", "two", "three", "(exit code 3)"]


def printed(shown: Shown, terminal_id: str, text: str) -> None:
    data = b64encode(text.encode()).decode()
    shown.update(sessionUpdate="terminal_output_chunk", terminalId=terminal_id, data=data)


def test_output_stands_under_the_call_that_shows_the_terminal() -> None:
    """Issue 14: two commands at once; each line is found under its own."""
    shown = Shown()
    for name in ("a", "b"):
        content = [{"type": "terminal", "terminalId": f"t{name}"}]
        shown.call(name, title=f"make {name}", status="in_progress", content=content)
    for text in ("one\n", "two\n"):
        printed(shown, "ta", f"a {text}")
        printed(shown, "tb", f"b {text}")
    assert shown.lines == [
        *("  ▸ make a", "  ▸ make b"),
        *("  ▸ make a", "      a one", "  ▸ make b", "      b one"),
        *("  ▸ make a", "      a two", "  ▸ make b", "      b two"),
    ]


def test_output_that_comes_before_its_call_waits_for_it() -> None:
    """v1: an agent starts a command and then says which call it is for."""
    shown = Shown()
    shown.call("a", title="make a", status="in_progress")
    shown.call("b", title="make b", status="in_progress")
    printed(shown, "ta", "early\n")
    shown.call("a", content=[{"type": "terminal", "terminalId": "ta"}])
    printed(shown, "tb", "of no call\n")
    assert shown.lines == [
        *("  ▸ make a", "  ▸ make b", "  ▸ make a", "      early", "      of no call"),
    ]


def test_the_end_of_a_silent_command_is_no_news() -> None:
    """Ours: a call that is over is not named again for nothing."""
    shown = Shown()
    content = [{"type": "terminal", "terminalId": "t"}]
    shown.call("a", title="make", status="completed", content=content)
    shown.call("b", title="other", status="in_progress")
    shown.update(sessionUpdate="terminal_update", terminalId="t", exitStatus={"exitCode": 0})
    assert shown.lines == ["  ▸ make", "    ● completed", "  ▸ other"]


def test_a_message_that_is_replaced_is_shown_as_it_is_then() -> None:
    """Issue 14: `older` and then `CD` was shown as `olderCD`."""
    shown = Shown()
    words = [{"type": "text", "text": "CD"}]
    chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "m"}
    shown.update(**chunk, content={"type": "text", "text": "older"})
    shown.update(sessionUpdate="agent_message", messageId="m", content=words)
    shown.update(**chunk, content={"type": "text", "text": "E"})
    shown.update(sessionUpdate="agent_message", messageId="m", content=[])
    shown.update(**chunk, content={"type": "text", "text": "F"})
    assert shown.lines == [
        *("older", "The agent replaced a message:", "CDE", "The agent withdrew a message.", "F"),
    ]


def test_notices_are_shown_without_what_a_terminal_would_act_on() -> None:
    """codex: warnings about its model."""
    shown = Shown()
    shown.update(
        sessionUpdate="notice", severity="warning", title="Careful \x1b[31m", description="of it"
    )
    assert shown.lines == ["! Careful: of it"]


@pytest.mark.parametrize(("messages", "thoughts"), [(True, True), (False, True), (True, False)])
def test_messages_and_thoughts_can_be_left_out(messages: bool, thoughts: bool) -> None:
    """Ours: on a pipe the messages are written elsewhere."""
    shown = Shown(messages=messages, thoughts=thoughts)
    for kind, text in (("agent_message_chunk", "said"), ("agent_thought_chunk", "thought")):
        content = {"type": "text", "text": text}
        shown.update(sessionUpdate=kind, messageId=kind, content=content)
    assert shown.lines == [
        word for word, is_shown in (("said", messages), ("thought", thoughts)) if is_shown
    ]


def test_a_change_that_was_rewritten_is_shown_again_before_the_question() -> None:
    """Ours: an agent showed one diff, then asked with another, also after the call had ended."""
    for status in ("in_progress", "completed"):
        shown = Shown()
        diff = {"type": "diff", "path": "/w/a", "oldText": "a", "newText": "harmless"}
        shown.call(title="Edit a", kind="edit", status=status, content=[diff])
        assert "      +harmless" in shown.lines
        shown.call(content=[{**diff, "newText": "harmful"}])
        call = shown.transcript.tool_call("t")
        shown.printer.question(
            PermissionRequest("s", "Edit a", (), kind="edit", paths=("/w/a",), tool_call=call), "/w"
        )
        assert "      +harmful" in shown.lines
