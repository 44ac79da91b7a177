"""A session as a page: what becomes of every kind of thing in it."""

from __future__ import annotations

from typing import Any

import pytest

from accord.cli import session_export
from accord.cli.session_export import as_markdown
from accord.schema import v2
from accord.schema.struct import UNSET
from accord.store import SessionRecord


def page(*updates: Any) -> list[str]:
    """The lines below the head."""
    return list(as_markdown(SessionRecord("a", "/w"), updates))[3:]


def test_a_session_without_words_has_a_head() -> None:
    """Ours: it may have been opened and left."""
    lines = list(as_markdown(SessionRecord("a", "/w"), ()))
    assert lines == ["# A session without a title", "", "Session a in /w"]


def test_what_has_no_text_is_left_out() -> None:
    """A message of pictures alone, a plan that was taken back, and what is not an entry."""
    picture = v2.ImageContent(data=b"x", mime_type="image/png")
    plan = v2.PlanUpdate(plan=v2.PlanMarkdown(plan_id="1", content="gone"))
    assert (
        page(
            v2.AgentMessage(message_id="m", content=[picture]),
            plan,
            v2.PlanRemoved(plan_id="1"),
            v2.Notice(severity="info", title="now"),
        )
        == []
    )


@pytest.mark.parametrize(
    ("plan", "lines"),
    [
        (v2.PlanMarkdown(plan_id="1", content="* a\n* b"), ["* a", "* b"]),
        (v2.PlanFile(plan_id="1", uri="file:///p.md"), ["file:///p.md"]),
    ],
)
def test_a_plan_has_three_forms(plan: Any, lines: list[str]) -> None:
    """v2: tasks, text, or a file."""
    assert page(v2.PlanUpdate(plan=plan)) == ["", "### Plan", "", *lines]


@pytest.mark.parametrize(
    ("diff", "lines"),
    [
        (
            v2.Diff(changes=[], path="/w/a", old_text="1\n", new_text="2\n"),
            ["--- /w/a", "+++ /w/a", "@@ -1 +1 @@", "-1", "+2"],
        ),
        (v2.Diff(changes=[v2.DiffDelete(path="/w/a")]), ["delete /w/a"]),
    ],
)
def test_a_change_is_shown_as_far_as_it_is_known(diff: v2.Diff, lines: list[str]) -> None:
    """With both texts, with a patch, or by its name alone."""
    call = v2.ToolCallUpdate(tool_call_id="c", title=UNSET, status="failed", content=[diff])
    assert page(call) == ["", "### c (other, failed)", "", "```diff", *lines, "```"]


def test_long_results_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a page is for people; the JSON has all of it."""
    monkeypatch.setattr(session_export, "SHOWN_CHARACTERS_MAX", 3)
    text = v2.Content(content=v2.TextContent(text="12345"))
    call = v2.ToolCallUpdate(tool_call_id="c", title="Look", kind="read", content=[text])
    assert page(call)[3:] == ["```", "123", "… 2 more characters", "```"]
