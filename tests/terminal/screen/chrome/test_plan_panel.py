"""The plan above the prompt: folded, open, of any form."""

from __future__ import annotations

from typing import Any

import pytest

from accord.terminal.model.chat import Chat
from accord.terminal.screen.chrome.plan_panel import LINES_MAX, ROOM_MIN, PlanPanel
from accord.terminal.screen.widget_themes import apply_theme
from tests.terminal.screen.harness.stage import (
    CJK,
    HOSTILE,
    LONG,
    NARROW,
    WIDE,
    ControllerDouble,
    Stage,
    a_chat,
    hear,
    place_of,
)


def _task(content: str, status: str = "pending", priority: str = "medium") -> dict[str, str]:
    return {"content": content, "status": status, "priority": priority}


def _plan(chat: Chat, *entries: dict[str, str]) -> None:
    hear(chat, sessionUpdate="plan", entries=list(entries))


def _other(chat: Chat, plan: dict[str, Any]) -> None:
    hear(chat, sessionUpdate="plan_update", plan=plan)


def _stage(chat: Chat) -> tuple[Stage, PlanPanel]:
    panel = PlanPanel(chat, ControllerDouble(chat).controller)
    return Stage(panel), panel


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_plan_ticks(size: tuple[int, int]) -> None:
    """Issue: a plan panel that ticks; hidden when there is none."""
    chat = a_chat()
    chat.set_phase("working")
    app, panel = _stage(chat)
    panel._wish = False
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert not panel.display
        _plan(chat, _task("Read"), _task("Mend"))
        panel.refresh_chat()
        await pilot.pause()
        assert app.lines[0].strip() == "▸ Plan 0/2 · Read"
        _plan(chat, _task("Read", "completed"), _task("Look"), _task("Mend", "in_progress"))
        panel.refresh_chat()
        await pilot.pause()
        assert app.lines[0].strip() == "▸ Plan 1/3 · Mend"
        _plan(chat, _task("Read", "completed"))
        panel.refresh_chat()
        await pilot.pause()
        assert app.lines[0].strip() == "▸ Plan 1/1 · done"
        _plan(chat)
        panel.refresh_chat()
        await pilot.pause()
        assert not panel.display


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_it_opens_by_a_click_and_shows_all_tasks(size: tuple[int, int]) -> None:
    """Issue: unknown statuses are shown, never dropped."""
    chat = a_chat()
    _plan(
        chat,
        _task("Read", "completed", "high"),
        _task("Mend", "in_progress"),
        _task("Test", "pending", "low"),
        _task("Wait", "blocked", "urgent"),
        _task("Drop", "cancelled"),
    )
    app, panel = _stage(chat)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.click(offset=place_of(app, "Plan"))
        await pilot.pause()
        assert panel.is_open
        said = [line.strip() for line in app.lines[:6]]
        assert said[0] == "▾ Plan 1/5 · Mend"
        assert said[1:5] == ["✓ ! Read", "▶ Mend", "○ Test", "? (urgent) Wait (blocked)"]
        assert said[5] == "◌ Drop (cancelled)"
        apply_theme(app, "accord-none")
        await pilot.pause()
        assert "▶ Mend" in app.text
        panel.toggle()
        await pilot.pause()
        assert "Test" not in app.text


async def test_while_the_agent_works_all_of_it_is_seen_where_there_is_room() -> None:
    """Issue 6: a plan panel that ticks; what the user chose holds."""
    chat = a_chat()
    _plan(chat, _task("Read", "in_progress"), _task("Mend", "pending"))
    app, panel = _stage(chat)
    async with app.run_test(size=(WIDE[0], ROOM_MIN)) as pilot:
        assert not panel.is_open
        chat.set_phase("working")
        panel.refresh_chat()
        await pilot.pause()
        assert "▶ Read" in app.text
        _plan(chat, _task("Read", "completed"), _task("Mend", "in_progress"))
        panel.refresh_chat()
        await pilot.pause()
        assert "✓ Read" in app.text
        assert "▶ Mend" in app.text
        chat.set_phase("ready")
        panel.refresh_chat()
        await pilot.pause()
        assert "✓ Read" not in app.text
        assert panel.toggle()
        chat.set_phase("working")
        assert not panel.toggle()


@pytest.mark.parametrize("statuses", [("completed", "completed"), ("completed", "cancelled")])
async def test_a_finished_plan_folds_away_with_its_turn(statuses: tuple[str, ...]) -> None:
    """Issue 14: also where the user had opened it; the key brings it back until the next turn."""
    chat = a_chat()
    chat.set_phase("working")
    _plan(chat, _task("Read", "in_progress"), _task("Mend"))
    app, panel = _stage(chat)
    async with app.run_test(size=(WIDE[0], ROOM_MIN - 1)) as pilot:
        assert panel.toggle()
        chat.set_phase("ready")
        panel.refresh_chat()
        await pilot.pause()
        assert "▶ Read" in app.text, "something of it is still to be done"
        chat.set_phase("working")
        _plan(chat, *(_task("Read", status) for status in statuses))
        panel.refresh_chat()
        await pilot.pause()
        assert "▾ Plan" in app.text
        chat.set_phase("ready")
        panel.refresh_chat()
        await pilot.pause()
        assert not panel.display
        assert panel.toggle()
        await pilot.pause()
        assert "▾ Plan" in app.text
        assert not panel.toggle()
        assert not panel.display
        await pilot.resize_terminal(WIDE[0], ROOM_MIN)
        chat.set_phase("working")
        panel.refresh_chat()
        await pilot.pause()
        assert not panel.display, "the next turn does not bring it back"
        _plan(chat, _task("Look", "in_progress"))
        panel.refresh_chat()
        await pilot.pause()
        assert "▶ Look" in app.text


@pytest.mark.parametrize(
    ("statuses", "words"),
    [
        (("completed", "completed"), "▸ Plan 2/2 · done"),
        (("completed", "cancelled"), "▸ Plan 1/2 · the rest was dropped"),
        (("cancelled", "cancelled"), "▸ Plan 0/2 · dropped"),
    ],
)
async def test_how_a_plan_ended_is_said(statuses: tuple[str, str], words: str) -> None:
    """Ours: a plan that was given up is not done."""
    chat = a_chat()
    chat.set_phase("working")
    _plan(chat, *(_task("step", status) for status in statuses))
    app, _ = _stage(chat)
    async with app.run_test(size=NARROW) as pilot:
        await pilot.pause()
        assert app.lines[0].strip() == words


async def test_a_long_plan_is_scrolled_to_what_is_done_now() -> None:
    """Contract: it never takes more than its lines."""
    chat = a_chat()
    tasks = [_task(f"step {number}", "completed") for number in range(40)]
    tasks[30] = _task("step 30", "in_progress")
    _plan(chat, *tasks)
    app, panel = _stage(chat)
    async with app.run_test(size=NARROW) as pilot:
        panel.toggle()
        await pilot.pause()
        await pilot.pause()
        assert panel.size.height == LINES_MAX + 1
        assert "▶ step 30" in app.text


async def test_other_forms_and_several_plans() -> None:
    """Protocol: plans in Markdown, in a file, and of forms to come."""
    chat = a_chat()
    app, panel = _stage(chat)
    async with app.run_test(size=NARROW) as pilot:
        _other(chat, {"type": "markdown", "planId": "m", "content": "# First\n\n* look **well**"})
        panel.toggle()
        await pilot.pause()
        assert app.lines[0].strip() == "▾ Plan · First"
        assert "look well" in app.text
        _other(chat, {"type": "file", "planId": "f", "uri": "file:///home/me/project/PLAN.md"})
        panel.refresh_chat()
        await pilot.pause()
        assert app.lines[0].strip() == "▾ Plan · in PLAN.md · 2 plans"
        assert "The plan is in PLAN.md." in app.text
        _other(chat, {"type": "_graph", "planId": "g", "nodes": []})
        panel.refresh_chat()
        await pilot.pause()
        assert "an unknown form (_graph)" in app.text
        for plan_id in ("m", "f", "g"):
            hear(chat, sessionUpdate="plan_removed", planId=plan_id)
        panel.refresh_chat()
        await pilot.pause()
        assert not panel.display


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_no_task_breaks_the_panel(size: tuple[int, int]) -> None:
    """Issue: everything an agent sends is untrusted."""
    chat = a_chat()
    _plan(chat, _task(HOSTILE, HOSTILE, HOSTILE), _task(LONG), _task(CJK))
    app, panel = _stage(chat)
    async with app.run_test(size=size) as pilot:
        panel.toggle()
        await pilot.pause()
        assert "[red]bold[/red]" in app.text
        assert "\x1b" not in app.text
        assert "\u202e" not in app.text
