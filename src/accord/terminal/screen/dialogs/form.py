"""A form that the agent wants filled in.

This module does not know what answers fit; the form itself does.

Invariants
    * Before anything is sent, the user sees every value and can change it.
    * Declining and closing are possible at any time; neither sends a value.
    * Addresses in the agent's text are plain text: nothing in a form opens on a click.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from accord.client.services.forms import FormRequest
from accord.machine.console.control_characters import visible
from accord.terminal.model.text.display_text import columns, one_line
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import fitted, indented, strip_of
from accord.terminal.screen.dialogs.dialog import Dialog, text_lines
from accord.terminal.screen.dialogs.form_fields import FieldBox, Picker
from accord.terminal.screen.widgets.button import Button
from accord.terminal.screen.widgets.scrollable_lines import Lines

HEAD_LINES_MAX = 4
"""Visible lines of the agent's description; more scrolls."""

FIELDS_LINES_MIN = 3
SMALL_ROOM = 15
"""With at most this many lines, the text above the fields gets two of them."""


class FormDialog(Dialog):
    """A form, followed by a review of the values."""

    DEFAULT_CSS: ClassVar[str] = f"""
    FormDialog > .-head {{ max-height: {HEAD_LINES_MAX}; margin: 0 0 1 0; }}
    FormDialog > .-fields {{ height: auto; scrollbar-size-vertical: 1; }}
    FormDialog > .-review {{ display: none; }}
    FormDialog > .-buttons {{ height: 1; }}
    FormDialog .-sending {{ display: none; }}
    FormDialog.-reviewing > .-fields {{ display: none; }}
    FormDialog.-reviewing > .-review {{ display: block; }}
    FormDialog.-reviewing .-sending {{ display: block; }}
    FormDialog.-reviewing .-editing {{ display: none; }}
    """

    def __init__(self, *asked: object) -> None:
        super().__init__(*asked)  # type: ignore[arg-type]
        self.request: FormRequest = self.question.request
        self.is_reviewing = False
        self._values: dict[str, object] = {}
        # The field that had the focus last.
        self._last: Widget | None = None
        self._is_touched = False
        self._is_closing = False

    @property
    def heading(self) -> str:
        """The title: who asks."""
        return f"{one_line(self.chat.agent_name) or 'The agent'} asks you to fill in a form"

    @property
    def hint(self) -> str:
        """The keys of the dialog."""
        if self._is_closing:
            return "Esc again: close and discard your input"
        if self.is_reviewing:
            return "^S: send · Esc: edit · ^N: decline"
        return "Tab: next · ^S: review · ^N: decline · Esc: close"

    def compose(self) -> ComposeResult:
        """Why, the fields or what would be sent, and what can be done."""
        request = self.request
        head = Lines(lambda width: self._head(self.look(width)))
        head.add_class("-head")
        yield head
        given: Mapping[str, object] = request.values or request.defaults
        with VerticalScroll(classes="-fields", can_focus=False):
            for field in request.fields:
                yield FieldBox(field, given.get(field.name), request.errors.get(field.name))
        review = Lines(lambda width: self._review(self.look(width)))
        review.add_class("-review")
        yield review
        with Horizontal(classes="-buttons"):
            for words, action, tone, place in (
                ("Review", "review", "", "-editing"),
                ("✓ Send", "send", "allow", "-sending"),
                ("Edit", "edit", "", "-sending"),
                ("✗ Decline", "decline", "reject", ""),
                ("Close", "close", "", ""),
            ):
                yield (button := Button(words, action, tone))
                button.add_class(place) if place else None

    def _head(self, look: Look) -> list[Strip]:
        request, palette = self.request, look.palette
        lines = text_lines(visible(request.message).strip(), look, palette.text)
        if request.title:
            lines += text_lines(one_line(request.title), look, palette.heading)
        if request.description:
            lines += text_lines(visible(request.description).strip(), look, palette.dim)
        return fitted(lines, look.width)

    def _review(self, look: Look) -> list[Strip]:
        palette = look.palette
        lines = [strip_of(("This will be sent to the agent:", palette.strong))]
        for box in self.query(FieldBox):
            label = f"  {box.label}: "
            value = self._values.get(box.field.name)
            said, style = _shown(value, box), palette.text
            if value is None:
                said, style = "(nothing)", palette.dim
            if columns(label) > look.width // 2:
                lines += text_lines(label.rstrip(), look, palette.dim)
                label = "    "
            below = text_lines(said, look, style, indent=columns(label))
            lines += indented(below, (label, palette.dim))
        return fitted(lines, look.width)

    # ---- what it takes of the screen

    def fit(self) -> None:
        """Have the fields, or what would be sent, scroll."""
        super().fit()
        for head in self.query_children(".-head"):
            head.styles.max_height = HEAD_LINES_MAX if self.room > SMALL_ROOM else 2
        middle = [*self.query_children(".-fields"), *self.query_children(".-review")]
        others = sum(
            child.outer_size.height + child.styles.margin.height
            for child in self.children
            if child not in middle
        )
        left = max(self.room - others - self.gutter.height, FIELDS_LINES_MIN)
        for part in middle:
            part.styles.max_height = left

    @property
    def _places(self) -> list[Widget]:
        """What Tab goes through, in order."""
        return [one for one in self.screen.focus_chain if self in one.ancestors]

    def opened(self) -> None:
        """Return the focus to the last field."""
        if self.has_focus:
            places = self._places
            if self._last in places:
                self.screen.set_focus(self._last)
            elif places:
                self.screen.set_focus(places[0])

    def _go(self, step: int) -> None:
        places = self._places
        focused = self.screen.focused
        if not places:
            return
        at = places.index(focused) + step if focused in places else min(step, 0)
        # From the form itself forward to the first, backward to the last.
        self.screen.set_focus(places[at % len(places)])

    # ---- keys

    def pressed(self, event: events.Key) -> bool:
        """Handle keys that work in every field."""
        key = event.key
        if key != "escape":
            self._is_closing = False
        if key in ("tab", "shift+tab", "down", "up"):
            self._go(1 if key in ("tab", "down") else -1)
        elif key == "escape":
            self._escape()
        elif key == "ctrl+s":
            self.act("send" if self.is_reviewing else "review")
        elif key == "ctrl+n":
            self.act("decline")
        elif self.has_focus and (event.is_printable or key == "enter"):
            # The guard was up when it appeared; from here on it can be filled in.
            self._go(1)
        else:
            return False
        return True

    def _escape(self) -> None:
        if self.is_reviewing:
            self.act("edit")
        elif self._is_touched and not self._is_closing:
            self._is_closing = True
        else:
            self.act("close")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Handle a click on a button."""
        event.stop()
        self.act(event.action)

    def act(self, action: str) -> None:
        """Run the action of a button, unless it is too early."""
        if self.is_early:
            return
        match action:
            case "review":
                self.run_worker(self._to_review(), exclusive=True)
            case "send" if self.is_reviewing:
                self.answer(self._values)
            case "edit":
                self._show(reviewing=False)
            case "decline":
                self.answer(False)
            case "close":
                self.answer(None)
            case _:
                pass

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes on to the next field, and from the last to the button behind it."""
        event.stop()
        if not self.is_early:
            self._go(1)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Check the field that was edited."""
        event.stop()
        self._touched(event.input)

    def on_picker_changed(self, event: Picker.Changed) -> None:
        """Check the field whose value was chosen."""
        event.stop()
        self._touched(event.picker)

    def _touched(self, control: Widget) -> None:
        if not control.has_focus:
            return
        self._is_touched, self._is_closing = True, False
        self._show_hint()
        box = control.parent
        if isinstance(box, FieldBox) and box.problem is not None:
            box.check()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Check the field that lost the focus."""
        super().on_descendant_blur(event)
        self._last = event.widget
        box = event.widget.parent
        if isinstance(box, FieldBox):
            box.check()

    # ---- reviewing

    def _filled_in(self) -> dict[str, object]:
        values = {box.field.name: box.value for box in self.query(FieldBox)}
        return {name: value for name, value in values.items() if value is not None}

    async def _to_review(self) -> None:
        values = self._filled_in()
        problems = await self.request.check(values)
        first: FieldBox | None = None
        for box in self.query(FieldBox):
            problem = problems.get(box.field.name)
            if problem is not None and not box.field.is_known:
                problem = "Unknown kind of required field; you can only decline the form."
            box.show_problem(problem)
            first = box if problem is not None and first is None else first
        if first is not None:
            self.screen.set_focus(first.control or self)
            first.scroll_visible(animate=False)
            self.call_after_refresh(self.fit)
            return
        self._values = values
        self._show(reviewing=True)

    def _show(self, *, reviewing: bool) -> None:
        self.is_reviewing = reviewing
        self._is_closing = False
        # A second Enter was not meant to send.
        self.raise_guard()
        self.set_class(reviewing, "-reviewing")
        for lines in self.query_children(Lines).results():
            lines.rebuild()
        self._show_hint()
        self.call_after_refresh(self._arrive)

    def _arrive(self) -> None:
        self.fit()
        places = self._places
        if places:
            self.screen.set_focus(places[0])


def _shown(value: object, box: FieldBox) -> str:
    """A value as the label that the user chose."""
    if isinstance(value, bool):
        return "Yes" if value else "No"
    words = {choice.value: one_line(choice.title) for choice in box.field.choices}
    if isinstance(value, list):
        return ", ".join(words.get(one, one_line(str(one))) for one in value) or "(none chosen)"
    return words.get(value, visible(value)) if isinstance(value, str) else str(value)
