"""What is told of a chat: everything once, in words; silence and waiting at longer steps."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from accord.schema import v2
from accord.schema.codec import decode, encode
from accord.terminal.model.chat import Chat, Problem
from accord.terminal.plain.display.chat_updates import (
    HISTORY_SHOWN_MAX,
    TOLD_CHARACTERS_MAX,
    ChatUpdates,
)
from accord.transcript.items.tool_call import Location, ToolCall
from tests.terminal.plain.line_conversation import paper_printer

COMMANDS_A_TERMINAL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Told:
    """A chat whose time stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 0.0
        self.chat = Chat("/project", clock=lambda: self.now)
        self.chat.adopt(self.chat.transcript, "s")
        self.chat.set_phase("ready")
        self.paper, self.printer = paper_printer("/project")
        self.teller = ChatUpdates(self.chat, self.printer)

    def update(self, **fields: Any) -> None:
        kind: Any = v2.SessionUpdate
        change = self.chat.transcript.apply(decode(kind, encode(fields)))
        if change is not None:
            self.chat.listen(change)

    def tell(self) -> str:
        """What is told now."""
        before = len(self.paper.text)
        self.teller.tell()
        self.printer.pause()
        return self.paper.text[before:]

    def wait(self) -> float | None:
        return self.teller.wait

    def goes_by(self, seconds: float) -> str:
        self.now += seconds
        return self.tell()


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_what_is_said_in_place_of_something_is_told_whole() -> None:
    """Protocol (v2): a message may be replaced; half of one text and half of another is none."""
    told = Told()

    def say(words: str) -> None:
        told.update(sessionUpdate="agent_message", messageId="m", content=[text(words)])
        told.teller.tell()

    say("First words")
    say("First words, and more")
    say("Something else, which is longer than that")
    say("Short")
    told.printer.pause()
    lines = [line for line in told.paper.text.splitlines() if line]
    between = "The message was replaced by:"
    other = "Something else, which is longer than that"
    assert lines[-5:] == ["First words, and more", between, other, between, "Short"]


def test_a_long_message_is_told_in_parts_before_what_follows_it() -> None:
    """Issue 12: a reader that is far behind must not keep a signal from being heard."""
    told, words = Told(), [f"word{number}" for number in range(40_000)]
    told.update(sessionUpdate="agent_message", messageId="m", content=[text(" ".join(words))])
    told.update(sessionUpdate="agent_message", messageId="n", content=[text("last")])
    sizes: list[int] = []
    while told.teller.tell_some():
        assert told.teller.is_behind
        sizes.append(len(told.paper.text) - sum(sizes))
    assert not told.teller.is_behind
    assert len(sizes) > 3
    assert max(sizes) < 2 * TOLD_CHARACTERS_MAX
    told.printer.pause()
    assert told.paper.text.split() == [*words, "last"]


def test_a_state_of_shortening_that_is_not_known_is_told() -> None:
    """Issue 6: unknown statuses are never dropped."""
    told = Told()
    told.update(sessionUpdate="compaction_update", compactionId="c", status="melting")
    assert "melting" in told.tell()


def test_silence_is_told_at_longer_and_longer_steps() -> None:
    """Issue 6: "agent is quiet for N s", with what it last did."""
    told = Told()
    told.chat.set_phase("working")
    told.update(sessionUpdate="tool_call_update", toolCallId="t", title="Build", status="pending")
    told.tell()
    assert told.wait() == 10
    assert told.goes_by(9) == ""
    assert "quiet for 10 s; last: Build" in " ".join(told.goes_by(1).split())
    assert told.goes_by(1) == ""
    assert "quiet for 30 s" in told.goes_by(19)
    assert "quiet for 1 m 00 s" in told.goes_by(30)
    assert "quiet for 2 m 00 s" in told.goes_by(60)
    assert told.goes_by(60) == ""
    assert "quiet for 4 m 00 s" in told.goes_by(60)
    told.update(sessionUpdate="agent_message_chunk", messageId="m", content=text("here"))
    assert "here" in told.tell()
    assert "quiet for 10 s" in told.goes_by(10)
    told.chat.set_phase("ready")
    told.tell()
    assert told.wait() is None
    assert told.goes_by(1000) == ""


def test_a_rate_limit_counts_down_in_steps() -> None:
    """Issue 6: rate limits count down."""
    told = Told()
    told.chat.set_problem(Problem("rate_limited", "Too many", "", ("retry",), retry_at=45.0))
    first = told.tell()
    assert "Too many" in first
    assert "in 45 s" in first
    assert told.wait() == 15
    assert "in 30 s" in told.goes_by(15)
    assert told.goes_by(5) == ""
    assert "in 10 s" in told.goes_by(15)
    assert "try again now: /retry" in told.goes_by(10)
    assert told.goes_by(100) == ""
    assert told.wait() is None


def test_a_plan_is_told_whole_and_then_step_by_step() -> None:
    """Issue 6: a plan that ticks, in words."""
    told = Told()

    def plan(*states: str) -> str:
        entries = [
            {"content": f"part {number}", "priority": "high", "status": state}
            for number, state in enumerate(states)
        ]
        told.update(
            sessionUpdate="plan_update",
            plan={"type": "items", "id": "main", "planId": "main", "entries": entries},
        )
        return told.tell()

    assert plan("pending", "pending").split("\n")[1:4] == [
        "The plan has 2 steps:",
        "  1. part 0",
        "  2. part 1",
    ]
    assert "Step 1 of 2: part 0" in plan("in_progress", "pending")
    assert plan("completed", "pending") == ""
    assert "Step 2 of 2: part 1 (dropped)" in plan("completed", "cancelled")
    plan("in_progress", "pending")
    assert "Steps 1 and 2 of 2 dropped" in plan("cancelled", "cancelled")


def test_output_of_a_command_is_told_by_whole_lines_as_it_stands() -> None:
    """Issue 6: terminal output live, carriage returns handled."""
    told = Told()

    def output(data: str, **more: Any) -> str:
        from base64 import b64encode

        told.update(
            sessionUpdate="terminal_output_chunk",
            terminalId="t",
            data=b64encode(data.encode()).decode(),
            **more,
        )
        return told.tell()

    told.update(sessionUpdate="terminal_update", terminalId="t", command="make")
    assert output("one\ntw").strip() == "one"
    assert output("o\n10 %\r50 %").strip() == "two"
    assert output("\r99 %\n").strip() == "99 %"
    assert output("\x1b[31mred\x1b[2J\x1b]0;title\x07 end\n").strip() == "red end"


def test_messages_are_told_on_and_what_is_no_text_in_words() -> None:
    """Issue 6: images as a placeholder with size; links; what is not for the user is folded."""
    told = Told()

    def chunk(content: dict[str, Any]) -> str:
        told.update(sessionUpdate="agent_message_chunk", messageId="m", content=content)
        return told.tell()

    assert chunk(text("Hello ")).strip() == "Hello"
    assert chunk(text("there.")).strip() == "there."
    image = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
    assert chunk(image).strip() == "[image, image/png, 5 bytes]"
    link = {"type": "resource_link", "name": "log", "uri": "file:///x/log", "size": 2000}
    assert chunk(link).strip() == "[link: log, file:///x/log, 2.0 kB]"
    assert "[weird, unknown to this client:" in chunk({"type": "weird", "x": 1})
    secret = {**text("for the model"), "annotations": {"audience": ["assistant"]}}
    assert chunk(secret).strip() == "[for the agent only: 13 characters]"
    assert told.tell() == ""


def test_a_call_of_an_unknown_kind_and_status_is_shown_with_both_words() -> None:
    """Issue 6: unknown kinds and statuses are shown generically."""
    told = Told()
    told.update(
        sessionUpdate="tool_call_update",
        toolCallId="t",
        title="Do it",
        kind="levitate",
        status="hovering",
    )
    shown = told.tell()
    assert "unknown kind: levitate" in shown
    assert "hovering" in shown


def test_denied_cancelled_and_failed_calls_are_told_apart() -> None:
    """Issue 6: waiting, denied and cancelled are shown apart."""
    told = Told()
    words = {}
    for name in ("denied", "cancelled", "failed"):
        told.update(
            sessionUpdate="tool_call_update", toolCallId=name, title=name, status="in_progress"
        )
        if name == "denied":
            told.chat.deny(name, "you said no")
        status = "cancelled" if name == "cancelled" else "failed"
        told.update(sessionUpdate="tool_call_update", toolCallId=name, status=status)
        words[name] = told.tell().split("\n")[-2].strip(" \u2715x")
    assert words == {"denied": "denied: you said no", "cancelled": "cancelled", "failed": "failed"}


def test_of_a_long_history_the_end_is_told() -> None:
    """Issue 6: a session of 20,000 updates; nobody reads all of it line by line."""
    told = Told()
    for number in range(HISTORY_SHOWN_MAX + 5):
        told.update(
            sessionUpdate="agent_message", messageId=f"m{number}", content=[text(f"n{number}.")]
        )
    told.chat.loaded()
    shown = told.tell()
    assert "(5 earlier entries not shown; /history shows all.)" in shown
    assert "n4." not in shown
    assert "n5." in shown
    assert "The session continues here." in shown
    told.update(sessionUpdate="agent_message_chunk", messageId="m0", content=text(" and more"))
    assert told.tell().strip() == "and more"


def test_a_question_that_waits_is_no_silence() -> None:
    """Issue 6: quiet is the agent, not the user."""
    told = Told()
    told.chat.set_phase("working")
    told.tell()
    told.chat.questions._waiting.append(object())  # type: ignore[arg-type]
    assert told.goes_by(500) == ""


hostile = st.text(
    st.sampled_from("ab \x1b[]0;31mH\x07\x9b\r\x08\n\t\u202e\x00`*|>#-\ud800"), max_size=40
).map(lambda one: one.replace("\ud800", ""))


def test_a_column_or_a_range_is_told_though_the_title_names_the_file() -> None:
    """Issue 15: agents of the draft report them."""
    told = Told()
    call = ToolCall("c", title="Read a.py and b.py")
    call.replace_locations([Location("/project/a.py", 3, 5, 9), Location("/project/b.py", 3)])
    told.printer.call(call, told.chat)
    assert "in a.py:3:5-9\n" in told.paper.text


@given(hostile, hostile, hostile)
def test_nothing_that_is_told_commands_the_terminal(one: str, two: str, three: str) -> None:
    """Issue 6: escape sequences never reach the terminal unfiltered; a property."""
    told = Told()
    told.update(sessionUpdate="agent_message_chunk", messageId="m", content=text(one))
    told.update(sessionUpdate="agent_thought_chunk", messageId="t", content=text(two))
    told.update(
        sessionUpdate="tool_call_update",
        toolCallId="c",
        title=one,
        kind=two,
        status="failed",
        content=[{"type": "content", "content": text(three)}],
        locations=[{"path": "/" + two}],
    )
    told.update(sessionUpdate="notice", severity=f"s{three}", title=f"t{one}", description=two)
    told.update(sessionUpdate=f"x{one}", what=two)
    told.chat.remark(one, "error", two)
    told.chat.set_problem(Problem("turn_failed", three, two, ("retry",)))
    told.tell()
    assert not COMMANDS_A_TERMINAL.search(told.paper.text)
