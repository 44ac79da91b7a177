"""The tools that show a plan, leave plan mode and run a subtask."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from accord.agent.tools.always_answers import Act
from accord.agent.tools.permission_request import PermissionOption
from accord.builtin.modes import ASK, AUTO_EDIT, PLAN
from accord.builtin.tools.tool_call import ToolFailed, ToolResult, done, failed, permit, shown
from accord.schema import v2

if TYPE_CHECKING:
    from accord.agent.tools.tool_call import ToolCallHandle
    from accord.builtin.tools.tool_call import ToolContext

ENTRIES_MAX = 100

_CODE = re.compile(r"`+([^`]+)`+")
_STATUSES = ("pending", "in_progress", "completed", "cancelled")
_PRIORITIES = ("high", "medium", "low")

LEAVING_OPTIONS = (
    PermissionOption(ASK, "Start, and ask before each change", "allow_once"),
    PermissionOption(AUTO_EDIT, "Start, and edit without asking", "allow_once"),
    PermissionOption("stay", "Keep planning", "reject_once"),
)


async def show_plan(context: ToolContext, entries: Sequence[str | Mapping[str, str]]) -> ToolResult:
    """Show the whole current plan."""
    if not entries or len(entries) > ENTRIES_MAX:
        return failed(f"A plan has between 1 and {ENTRIES_MAX} entries.")
    made: list[v2.PlanEntry] = []
    for entry in entries:
        given = {"content": entry} if isinstance(entry, str) else entry
        content = given.get("content", "")
        status, priority = given.get("status", "pending"), given.get("priority", "medium")
        if not content.strip():
            return failed("Every plan entry needs content that says what to do.")
        if status not in _STATUSES:
            return failed(f"The status of an entry is one of {', '.join(_STATUSES)}.")
        if priority not in _PRIORITIES:
            return failed(f"The priority of an entry is one of {', '.join(_PRIORITIES)}.")
        # Editors show an entry as plain text.
        plain = _CODE.sub(r"\1", content)
        made.append(v2.PlanEntry(content=plain, priority=priority, status=status))
    handle = await context.turn.plan(*made)
    open_ = sum(one.status in ("pending", "in_progress") for one in made)
    number = f"{len(made)} {'entry' if len(made) == 1 else 'entries'}"
    return done(f"The plan is shown: {number}, {open_} still open.", handle)


async def leave_plan(context: ToolContext, plan: str, *, is_said: bool = False) -> ToolResult:
    """Ask to start with the plan; the user's answer chooses the mode.

    A plan that a message has shown already is not shown again.
    """
    turn = context.turn
    call = turn.tool_call(
        "Start working on the plan",
        kind="switch_mode",
        name="leave_plan",
        content=[plan] if plan.strip() and not is_said else [],
        raw_input={"plan": plan},
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        if context.mode != PLAN:
            raise ToolFailed("The session is not in plan mode.")
        if not plan.strip():
            raise ToolFailed("There is no plan to approve.")
        chosen = await permit(
            context,
            call,
            "switch_mode",
            "Leaving plan mode",
            "The plan is ready. Working on it means leaving plan mode.",
            # This answer is never remembered.
            Act((), "leaving plan mode"),
            options=LEAVING_OPTIONS,
        )
        await call.start()
        mode = ASK if chosen is None else chosen.option_id
        await turn.set_mode(mode)
        return done(f"The user approved the plan. The mode is {mode} now.")

    return await shown(call, work)


async def run_task(
    context: ToolContext, prompt: str, run_prompt: Callable[[str], Awaitable[str]] | None
) -> ToolResult:
    """Run a subtask as a tool call; it may read but not change anything."""
    first = " ".join(prompt.split())
    call = context.turn.tool_call(
        f"Task: {first[:80]}", kind="think", name="task", raw_input={"prompt": prompt}
    )

    async def work(call: ToolCallHandle) -> ToolResult:
        await call.start()
        if run_prompt is None:
            raise ToolFailed("Subtasks need a model, and none is selected.")
        if not first:
            raise ToolFailed("A subtask needs a prompt.")
        answer = await run_prompt(prompt)
        await call.show(answer[:4000] or "[no answer]")
        return done(answer)

    return await shown(call, work)
