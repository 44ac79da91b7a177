"""Cards of tool calls on the screen, folded, unfolded, with a terminal that goes on."""

from __future__ import annotations

from typing import Any

import pytest

from accord.terminal.model.chat import Chat
from accord.terminal.model.labels.stop_reasons_and_exit_codes import stop_words
from accord.terminal.render.conversation_colours import DARK, NONE
from accord.terminal.render.render_options import Look
from accord.terminal.screen.conversation import Conversation
from tests.terminal.screen.harness.inspector_stage import picture
from tests.terminal.screen.harness.stage import HOSTILE, NARROW, WIDE, Stage, a_chat, hear

SIZES = pytest.mark.parametrize("size", [WIDE, NARROW])


def a_conversation(chat: Chat, **look: Any) -> Conversation:
    return Conversation(chat, Look(80, look.pop("palette", DARK), **look))


def output(chat: Chat, text: str) -> None:
    chat.listen(chat.transcript.terminal_output("t", text.encode()))


def on_screen(app: Stage) -> str:
    return "\n".join(line.rstrip() for line in picture(app))


@SIZES
@pytest.mark.rule("V1-TOOL-12", "V1-TERM-08")
async def test_a_command_runs_on_its_card_and_its_output_stays(size: tuple[int, int]) -> None:
    """v1: `name` is a second label, and output stays after the terminal is released."""
    chat = a_chat()
    chat.set_phase("working")
    view = a_conversation(chat)
    app = Stage(view)
    async with app.run_test(size=size) as pilot:
        chat.listen(chat.transcript.terminal_started("t", "make test", chat.folder))
        hear(
            chat,
            sessionUpdate="tool_call",
            toolCallId="c",
            title="Run the tests",
            name="shell",
            kind="execute",
            status="in_progress",
            content=[{"type": "terminal", "terminalId": "t"}],
        )
        view.refresh_chat()
        await pilot.pause()
        assert "◐ $ Run the tests  shell  running" in on_screen(app)
        for number in range(30):
            output(chat, f"\x1b[32mtest {number}\x1b[0m\n")
            view.refresh_chat()
        await pilot.pause()
        assert "│ … 22 lines above" in on_screen(app)
        assert "│ test 29" in on_screen(app)
        chat.listen(chat.transcript.terminal_exited("t", 1))
        hear(chat, sessionUpdate="tool_call_update", toolCallId="c", status="failed")
        view.refresh_chat()
        await pilot.pause()
        shown = on_screen(app)
        assert "✗ $ Run the tests  shell  failed" in shown
        assert "│ test 29" in shown
        assert "│ exit code 1" in shown
        assert shown.count("make test") == 1


@SIZES
@pytest.mark.rule("V1-PROMPT-15")
async def test_a_refusal_is_told(size: tuple[int, int]) -> None:
    """v1: the user sees that the prompt and what follows left the context."""
    chat = a_chat()
    view = a_conversation(chat)
    app = Stage(view)
    async with app.run_test(size=size) as pilot:
        chat.remark(stop_words("refusal").text, "warning")
        view.refresh_chat()
        await pilot.pause()
        assert "It removed your prompt" in " ".join(on_screen(app).split())


async def test_a_card_unfolds_and_shows_raw_values_by_a_key() -> None:
    """Issue 6: folded output, raw input on demand."""
    chat = a_chat()
    text = "```\n" + "\n".join(f"line {number}" for number in range(12)) + "\n```"
    hear(
        chat,
        sessionUpdate="tool_call",
        toolCallId="c",
        title=HOSTILE,
        kind="_odd",
        status="_odd",
        rawInput={"pattern": HOSTILE},
        content=[{"type": "content", "content": {"type": "text", "text": text}}],
    )
    view = a_conversation(chat, palette=NONE)
    app = Stage(view)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert "… 6 more lines" in on_screen(app)
        assert view.toggle_fold()
        await pilot.pause()
        assert "line 11" in on_screen(app)
        assert view.toggle_fold("details")
        await pilot.pause()
        shown = on_screen(app)
        # What cannot be shown is written as JSON writes it.
        assert '"pattern": "\\u001b]0;owned' in shown
        assert "\x1b" not in shown
        assert "\u202e" not in shown
