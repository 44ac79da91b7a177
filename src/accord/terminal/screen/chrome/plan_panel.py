"""The agent's plan above the prompt, as one line or in full.

This module does not know how a plan is sent.

Invariants
    * The panel is hidden without a plan, and when the turn is over and no step is open; the
      conversation still has the plan.
    * An unknown status, priority or form is shown in the agent's word.
    * The panel never takes more than `LINES_MAX` lines; the rest is scrolled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from accord.terminal.model.chat import Chat
from accord.terminal.model.text.display_text import one_line, path_words
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.markdown.markdown_lines import MarkdownLines
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import wrapped
from accord.terminal.screen.widget_themes import palette_for
from accord.terminal.screen.widgets.clickable_line import Part, PartsLine, fit
from accord.transcript import Plan
from accord.transcript.items.plan import PlanEntry

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController

LINES_MAX = 8
ROOM_MIN = 28
"""The minimum height of a screen that shows a plan in full."""
_TOGGLE = "toggle"
_WORD_COLUMNS_MAX = 16

_MARKS = {"completed": "✓", "in_progress": "▶", "pending": "○", "cancelled": "◌"}
_PRIORITIES = {"high": "! ", "medium": "", "low": ""}


class PlanPanel(Widget):
    """Shows the plans in full while the agent works and there is room, else one line.

    The user's choice holds until the plan is finished.
    """

    DEFAULT_CSS = """
    PlanPanel { height: auto; layout: vertical; display: none; background: $surface; }
    PlanPanel.-shown { display: block; }
    """

    def __init__(self, chat: Chat, controller: ChatController) -> None:
        super().__init__()
        self._chat = chat
        self._controller = controller
        self._drawn: tuple[object, ...] = ()
        self._wish: bool | None = None
        self._was_over = False
        self._over: tuple[object, ...] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the plan is shown in full."""
        if self._wish is not None:
            return self._wish
        # An open question needs the room.
        is_working = self._chat.is_busy and not self._chat.needs_answer
        return is_working and not self._was_over and self.app.size.height >= ROOM_MIN

    def compose(self) -> ComposeResult:
        """Lay out the summary line and the steps."""
        yield _PlanLine(self._chat, self)
        yield _PlanBody(self._chat)

    def on_mount(self) -> None:
        """Show the current plan."""
        self.refresh_chat()

    def toggle(self) -> bool:
        """Switch between the full plan and one line; return whether it is shown in full."""
        self._see_end()
        self._wish = not self.is_open
        self._drawn = ()
        self.refresh_chat()
        return self.is_open

    def _see_end(self) -> bool:
        """Whether the turn and the plans are over; this also resets the user's choice."""
        plans = self._chat.transcript.plans
        told = tuple(map(_content, plans))
        # The next turn does not bring back a finished plan.
        is_over = not any(map(_has_open_steps, plans)) and (
            not self._chat.is_busy or told == self._over
        )
        if is_over:
            self._over = told
        if is_over != self._was_over:
            self._was_over, self._wish = is_over, None
        return is_over

    def refresh_chat(self) -> None:
        """Show the latest plans."""
        plans = self._chat.transcript.plans
        is_over = self._see_end()
        # An update replaces the whole plan, so comparing parts by identity is enough.
        is_open = self.is_open
        is_shown = (is_open or not is_over) and not all(map(_is_empty, plans))
        now = (*(_content(plan) for plan in plans), is_open, is_shown)
        if now == self._drawn:
            return
        self._drawn = now
        self.set_class(is_shown, "-shown")
        self.query_one(_PlanLine).renew()
        self.query_one(_PlanBody).show(plans if is_open else ())


def _content(plan: Plan) -> object:
    return (plan.plan_id, plan.form, plan.entries, plan.markdown, plan.uri)


def _is_empty(plan: Plan) -> bool:
    return plan.form == "items" and not plan.entries


def _has_open_steps(plan: Plan) -> bool:
    """Whether a plan has open steps; a plan in text form counts as open."""
    ended = ("completed", "cancelled")
    return plan.form != "items" or any(entry.status not in ended for entry in plan.entries)


class _PlanLine(PartsLine):
    """The progress of the plan in one line."""

    DEFAULT_CSS = """
    _PlanLine { padding: 0 1; background: $surface; }
    """

    def __init__(self, chat: Chat, panel: PlanPanel) -> None:
        super().__init__()
        self._chat = chat
        self._panel = panel

    def parts(self, width: int) -> list[Part]:
        """`▸ Plan 2/5 · what is done now`."""
        palette = self.palette
        plans = [plan for plan in self._chat.transcript.plans if not _is_empty(plan)]
        plan = self._chat.transcript.plan
        if plan is None or _is_empty(plan):
            plan = plans[-1] if plans else None
        if plan is None:
            return []
        mark = "▾" if self._panel.is_open else "▸"
        others = f" · {len(plans)} plans" if len(plans) > 1 else ""
        step = _step(plan, self._chat.folder)
        return fit(
            [
                Part(f"{mark} ", palette.accent, target=_TOGGLE),
                Part(_count(plan), palette.strong, target=_TOGGLE),
                Part(f" · {step}" if step else "", palette.dim, 2, 12, _TOGGLE),
                Part(others, palette.dim, 1, target=_TOGGLE),
            ],
            width,
        )

    def pressed(self, target: str) -> None:
        """Fold or unfold the plan."""
        self._panel.toggle()


def _count(plan: Plan) -> str:
    if plan.form != "items":
        return "Plan"
    entries = plan.entries
    done = sum(entry.status == "completed" for entry in entries)
    return f"Plan {done}/{len(entries)}"


def _step(plan: Plan, folder: str) -> str:
    """The current or next step in one line."""
    if plan.form == "items":
        entries = plan.entries
        now = [one for one in entries if one.status == "in_progress"]
        rest = [one for one in entries if one.status not in ("completed", "cancelled")]
        for entry in (*now[:1], *rest[:1]):
            return one_line(entry.content)
        dropped = sum(one.status == "cancelled" for one in entries)
        if not dropped:
            return "done"
        return "dropped" if dropped == len(entries) else "the rest was dropped"
    if plan.form == "markdown":
        lines = (line.strip("#*- \t") for line in (plan.markdown or "").splitlines())
        return one_line(next((line for line in lines if line), ""))
    if plan.form == "file":
        return f"in {path_words((plan.uri or '').removeprefix('file://'), folder)}"
    return f"in an unknown form ({one_line(plan.form, _WORD_COLUMNS_MAX)})"


class _PlanBody(ScrollView, can_focus=False):
    """The steps of all plans."""

    DEFAULT_CSS = """
    _PlanBody {
        height: 1; display: none; padding: 0 1; background: $surface; overflow-x: hidden;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(self, chat: Chat) -> None:
        super().__init__()
        self._chat = chat
        self._plans: Sequence[Plan] = ()
        self._strips: list[Strip] = []
        self._look: Look | None = None

    def show(self, plans: Sequence[Plan]) -> None:
        """Show these plans, or hide the list if there are none."""
        self._plans = [plan for plan in plans if not _is_empty(plan)]
        self.display = bool(self._plans)
        self._lay_out()

    def on_resize(self) -> None:
        """Wrap the lines to the new width."""
        self._lay_out()

    def notify_style_update(self) -> None:
        """Render again in the new colours."""
        super().notify_style_update()
        if self._look is not None and self._look.palette is not palette_for(self.app.theme):
            self._lay_out()

    def _lay_out(self) -> None:
        width = (self.size.width or self.app.size.width) - 3
        look = self._look = Look(max(width, 20), palette_for(self.app.theme))
        self._strips = []
        for plan in self._plans:
            if len(self._plans) > 1:
                title = f"{_count(plan)} · {one_line(plan.plan_id, look.width - 12)}"
                self._strips.append(Strip([Segment(title, look.palette.heading)]))
            self._strips += plan_lines(plan, self._chat, look)
        count = len(self._strips)
        self.styles.height = max(1, min(count, LINES_MAX))
        self.virtual_size = Size(width, count)
        self._keep_in_sight()
        self.refresh()

    def _keep_in_sight(self) -> None:
        """Scroll to the current step and the one before it."""
        if len(self._plans) == 1 and len(self._strips) > LINES_MAX:
            for at, strip in enumerate(self._strips):
                if strip.text.startswith(_MARKS["in_progress"]):
                    self.scroll_to(y=max(at - 1, 0), animate=False)
                    return

    def render_line(self, y: int) -> Strip:
        """Render one line of a step."""
        at = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if at >= len(self._strips):
            return Strip.blank(width, self.rich_style)
        return self._strips[at].crop_extend(0, width, None).apply_style(self.rich_style)


def plan_lines(plan: Plan, chat: Chat, look: Look) -> list[Strip]:
    """The lines of a plan."""
    if plan.form == "items":
        return [line for entry in plan.entries for line in _entry_lines(entry, look)]
    if plan.form == "markdown":
        return MarkdownLines(look).set(plan.markdown or "")
    text = _step(plan, chat.folder)
    lines = wrapped(f"The plan is {text}.", look.width)
    return [Strip([Segment(line, look.palette.dim)]) for line in lines]


def _entry_lines(entry: PlanEntry, look: Look) -> list[Strip]:
    palette = look.palette
    mark = _MARKS.get(entry.status, "?")
    words = _PRIORITIES.get(entry.priority)
    if words is None:
        words = f"({one_line(entry.priority, _WORD_COLUMNS_MAX)}) "
    # A dropped step is also marked in words, since its sign is unclear.
    is_plain = entry.status in _MARKS and entry.status != "cancelled"
    end = "" if is_plain else f" ({one_line(entry.status, _WORD_COLUMNS_MAX)})"
    text = f"{words}{one_line(entry.content)}{end}"
    mark_style, style = _styles(entry, palette)
    found: list[Strip] = []
    for number, line in enumerate(wrapped(text, look.width - 2)):
        first = Segment(f"{mark} ", mark_style) if number == 0 else Segment("  ", style)
        found.append(Strip([first, Segment(line, style)]))
    return found


def _styles(entry: PlanEntry, palette: Palette) -> tuple[Style, Style]:
    if entry.status == "completed":
        return palette.success, palette.dim
    if entry.status == "in_progress":
        return palette.running, palette.strong
    if entry.status == "cancelled":
        return palette.dim, palette.dim
    return palette.dim, palette.dim if entry.priority == "low" else palette.text
