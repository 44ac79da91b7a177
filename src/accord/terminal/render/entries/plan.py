"""Render a plan: one line with its progress, which unfolds to the steps."""

from __future__ import annotations

from dataclasses import replace

from rich.style import Style
from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.terminal.model.chat import Chat
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.block import Block, CachedBlock
from accord.terminal.render.markdown.markdown_lines import MarkdownLines
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, indented, strip_of, wrapped
from accord.transcript import Plan, PlanEntry


def step_mark(status: str, look: Look) -> tuple[str, Style]:
    """The sign before a step, and its colour."""
    palette = look.palette
    if status == "completed":
        return look.mark("☑ ", "[x] "), palette.success
    if status == "in_progress":
        return look.mark("▶ ", "[>] "), palette.running
    if status == "pending":
        return look.mark("☐ ", "[ ] "), palette.dim
    return look.mark("◌ ", "[?] "), palette.dim


def step_lines(step: PlanEntry, look: Look) -> list[Strip]:
    """A step as lines, with its priority where that is high, and a status that we do not know."""
    palette = look.palette
    mark, style = step_mark(step.status, look)
    text = visible(step.content).strip()
    if step.status not in ("completed", "in_progress", "pending"):
        text += f" ({one_line(step.status)})"
    if step.priority == "high" and step.status != "completed":
        text += " (high)"
    weight = palette.dim if step.status == "completed" else palette.text
    if step.status == "in_progress":
        weight = palette.strong
    lines = wrapped(text, max(look.width - len(mark), 2))
    return indented([strip_of((line, weight)) for line in lines], (mark, style))


class PlanBlock(CachedBlock[Plan]):
    """A plan of any form."""

    __slots__ = ()

    is_foldable = True
    is_tight = True

    def guess(self, look: Look) -> int:
        del look
        return 1 if self.folded else 1 + len(self.entry.entries)

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        del chat
        palette, plan = look.palette, self.entry
        head = f"{look.fold_mark(self.folded)}Plan"
        said = _summary(plan)
        line = cut(f"{head} {said}".rstrip(), look.width, look.mark("…", "..."))
        style = palette.dim if plan.removed else palette.accent
        found = [strip_of((line[: len(head)], style), (line[len(head) :], palette.dim))]
        if not self.folded:
            inner = replace(look, width=max(look.width - 2, 2))
            found += indented(self._body(inner), ("  ", Style.null()), ("  ", Style.null()))
        return found

    def _body(self, look: Look) -> list[Strip]:
        plan = self.entry
        if plan.form == "markdown":
            return MarkdownLines(look).set(plan.markdown or "")
        if plan.form == "items":
            return [line for step in plan.entries for line in step_lines(step, look)]
        said = one_line(plan.uri or str(plan.received), None)
        return [strip_of((line, look.palette.dim)) for line in wrapped(said, look.width)]

    def text(self) -> str:
        plan = self.entry
        if plan.form == "items":
            ticks = {"completed": "x"}
            return "\n".join(
                f"- [{ticks.get(step.status, ' ')}] {one_line(step.content)}"
                for step in plan.entries
            )
        return visible(plan.markdown or plan.uri or "")


def _summary(plan: Plan) -> str:
    """The progress of a plan and its current step."""
    if plan.removed:
        return "withdrawn"
    if plan.form == "markdown":
        return one_line((plan.markdown or "").strip()[:400]).lstrip("# ")
    if plan.form == "file":
        return one_line(plan.uri or "")
    if plan.form != "items":
        return f"in an unknown form: {one_line(plan.form)}"
    steps = plan.entries
    done = sum(step.status == "completed" for step in steps)
    now = next((step for step in steps if step.status == "in_progress"), None)
    dropped = sum(step.status == "cancelled" for step in steps)
    more = f" · {dropped} dropped" if dropped else ""
    if now is not None:
        more = f" · {one_line(now.content)}"
    return f"{done}/{len(steps)} done{more}"


def plan_block(entry: Plan, chat: Chat) -> Block:
    """The block of a plan."""
    del chat
    return PlanBlock(entry, folded=True)
