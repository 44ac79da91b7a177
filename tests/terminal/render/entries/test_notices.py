"""Plans, notices, compactions, messages between sessions and our own remarks, as blocks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.model.chat import Remark, Tone
from accord.terminal.render.block import OpenSession
from accord.terminal.render.conversation_colours import NONE
from accord.terminal.render.entries.notices import ERROR_LINES
from accord.terminal.render.entries.registry import block_of
from accord.transcript import Plan, SessionMessage
from tests.terminal.render.scene import Scene, a_look, check, text_of

STEPS = [
    {"content": "Read the code", "priority": "medium", "status": "completed"},
    {"content": "Fix it", "priority": "high", "status": "in_progress"},
    {"content": "Test it", "priority": "low", "status": "pending"},
    {"content": "Rest", "priority": "low", "status": "someday"},
]


def shown(entry: object, **look: Any) -> str:
    scene = Scene()
    block = block_of(entry, scene.chat)  # type: ignore[arg-type]
    block.folded = False
    return text_of(block.render(a_look(**look), scene.chat))


def test_a_plan_is_one_line_that_unfolds_to_its_steps() -> None:
    """Required: the plan in the timeline."""
    scene = Scene()
    scene.update(sessionUpdate="plan", entries=STEPS)
    assert scene.shown() == "▸ Plan 1/4 done · Fix it"
    assert scene.unfolded() == (
        "▾ Plan 1/4 done · Fix it\n  ☑ Read the code\n  ▶ Fix it (high)\n  ☐ Test it\n"
        "  ◌ Rest (someday)"
    )
    assert scene.block().text() == "- [x] Read the code\n- [ ] Fix it\n- [ ] Test it\n- [ ] Rest"


def test_plans_of_other_forms_are_shown_too() -> None:
    """Required: unknown kinds are shown generically."""
    plan = Plan("p")
    plan.show_markdown("# Goal\n\n- a")
    assert shown(plan) == "▾ Plan Goal - a\n  Goal\n\n  • a"
    plan.show_file("file:///plan.md")
    assert shown(plan) == "▾ Plan file:///plan.md\n  file:///plan.md"
    plan.show_unknown("_graph", {"a": 1})
    assert "_graph" in shown(plan)
    plan.removed = True
    assert "withdrawn" in shown(plan)


@pytest.mark.parametrize(
    ("severity", "mark"), [("info", "•"), ("warning", "!"), ("error", "✗"), ("_loud", "•")]
)
def test_a_notice_has_the_mark_of_its_severity(severity: str, mark: str) -> None:
    """Required: notices; a severity that we do not know is named."""
    scene = Scene(2)
    scene.update(sessionUpdate="notice", severity=severity, title="Low space", description="5 MB")
    first, second = scene.shown().split("\n")
    assert first.startswith(f"{mark} Low space")
    assert ("_loud" in first) is (severity == "_loud")
    assert second == "  5 MB"


def test_a_compaction_says_how_it_went_and_unfolds_its_summary() -> None:
    """Required: compaction is shown."""
    scene = Scene(2)
    scene.update(sessionUpdate="compaction_update", compactionId="c", status="in_progress")
    assert scene.shown() == "◇ Compacting the context"
    block = {"type": "text", "text": "what **was**"}
    scene.update(sessionUpdate="compaction_summary_chunk", compactionId="c", content=block)
    scene.update(sessionUpdate="compaction_update", compactionId="c", status="completed")
    assert scene.shown() == "▸ Context compacted"
    assert scene.unfolded() == "▾ Context compacted\n│ what was"


def test_a_message_of_another_session_names_it_and_leads_there() -> None:
    """Required: other sources' updates are marked."""
    scene = Scene()
    message = SessionMessage("m")
    message.sender_session_id, message.recipient_session_id = "other", "s"
    block = block_of(message, scene.chat)
    assert text_of(block.render(a_look(), scene.chat)) == "✉ Message from session other"
    assert block.target_at(0) == OpenSession("other")


@pytest.mark.parametrize(
    ("tone", "mark"), [("info", "•"), ("success", "✓"), ("warning", "!"), ("error", "✗")]
)
def test_a_remark_has_a_mark_beside_its_colour(tone: Tone, mark: str) -> None:
    """Required: nothing is told by colour alone."""
    assert shown(Remark("Stopped.", tone), palette=NONE) == f"{mark} Stopped."


def test_the_detail_of_a_remark_unfolds() -> None:
    """A refusal, for one, says what left the context, and more on demand."""
    scene = Scene()
    scene.chat.remark("The agent refused.", "warning", "Your prompt left the context.")
    assert scene.shown() == "! The agent refused. ▸ more"
    assert scene.unfolded() == "! The agent refused.\n  Your prompt left the context."
    assert scene.block().text() == "The agent refused.\nYour prompt left the context."


def test_the_end_of_what_is_known_about_a_failure_is_shown_at_once() -> None:
    """Issue 6: the last lines of stderr; here, since nothing else tells them."""
    scene = Scene()
    scene.chat.remark("It failed.", "error", "why\nand how")
    assert scene.shown() == "✗ It failed.\n  why\n  and how"
    assert not scene.block().is_foldable
    scene.chat.remark("Gone.", "error", "\n".join(map(str, range(ERROR_LINES + 2))))
    assert scene.shown() == "\n".join(["✗ Gone. ▸ more", *(f"  {n}" for n in range(2, 8))])
    assert scene.unfolded() == "\n".join(["✗ Gone.", *(f"  {n}" for n in range(8))])


@given(st.text(), st.text(), st.integers(6, 50))
def test_no_text_breaks_them(one: str, other: str, width: int) -> None:
    """Required: untrusted text is harmless wherever it stands."""
    scene = Scene()
    step = {"content": one, "priority": other, "status": other}
    scene.update(sessionUpdate="plan", entries=[step])
    scene.chat.remark(one, "info", other)
    scene.chat.remark(one, "error", other)
    markdown = Plan("p")
    markdown.show_markdown(one)
    message = SessionMessage("m")
    message.sender_session_id = other
    for entry in (*scene.chat.entries, markdown, message):
        block = block_of(entry, scene.chat)
        for folded in (True, False):
            block.folded = folded
            assert block.estimate(a_look(width)) >= 0
            check(block.render(a_look(width), scene.chat), width)
            block.text()
