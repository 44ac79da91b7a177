"""One field of a form: its label, description, input or choices, and problem.

Invariants
    * A field of an unknown type has no input.
    * Input is parsed by the field's type; invalid input is kept so that its problem can be shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from accord.client.services.forms import FormField
from accord.machine.console.control_characters import visible
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, strip_of
from accord.terminal.screen.widget_themes import palette_for
from accord.terminal.screen.widgets.scrollable_lines import Lines


class Picker(Lines, can_focus=True):
    """Choices with marks.  Guards: without `many` at most one is chosen."""

    DEFAULT_CSS: ClassVar[str] = """
    Picker { max-height: 8; }
    """

    class Changed(Message):
        """Another choice was made."""

        def __init__(self, picker: Picker) -> None:
            super().__init__()
            self.picker = picker

    def __init__(
        self, choices: Sequence[tuple[str, str]], chosen: Sequence[str] = (), *, many: bool = False
    ) -> None:
        """`choices` are values and labels; labels are made safe here."""
        super().__init__(self._rows)
        self._choices = [(value, one_line(words)) for value, words in choices]
        self._many = many
        self._at = 0
        self._chosen = {value for value in chosen if any(value == one for one, _ in choices)}

    @property
    def chosen(self) -> list[str]:
        """What is chosen, in the order of the choices."""
        return [value for value, _ in self._choices if value in self._chosen]

    def on_focus(self) -> None:
        """Show the cursor while focused."""
        self.rebuild()

    def on_blur(self) -> None:
        """Hide the list when the focus leaves."""
        self.rebuild()

    def on_key(self, event: events.Key) -> None:
        """Go up and down, choose with Space or Enter."""
        if event.key in ("up", "down") and self._choices:
            self._at = (self._at + (1 if event.key == "down" else -1)) % len(self._choices)
            top, height = self.scroll_offset.y, self.size.height
            if not top <= self._at < top + height:
                self.scroll_to(y=self._at - height // 2, animate=False)
            self.rebuild()
        elif event.key in ("space", "enter"):
            self._toggle(self._at)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        """Choose the clicked value."""
        event.stop()
        self._toggle(event.y + self.scroll_offset.y)

    def _toggle(self, index: int) -> None:
        if not 0 <= index < len(self._choices):
            return
        self._at = index
        value = self._choices[index][0]
        if value in self._chosen:
            self._chosen.discard(value)
        else:
            if not self._many:
                self._chosen.clear()
            self._chosen.add(value)
        self.rebuild()
        self.post_message(self.Changed(self))

    def _rows(self, width: int) -> list[Strip]:
        look = Look(width, palette_for(self.app.theme))
        return [self._row(index, look) for index in range(len(self._choices))]

    def _row(self, index: int, look: Look) -> Strip:
        value, words = self._choices[index]
        on = value in self._chosen
        here = index == self._at and self.has_focus
        mark = ("[x] " if on else "[ ] ") if self._many else ("(•) " if on else "( ) ")
        style = look.palette.strong if on else look.palette.text
        over = Style(reverse=True) if here else Style.null()
        return strip_of((mark, style), (cut(words, max(look.width - 4, 4)), style + over))


_WHOLE = re.compile(r"[+-]?\d+")
_YES_NO = (("yes", "Yes"), ("no", "No"))
_TYPES = {"integer": "a whole number", "number": "a number", "array": "any number of these"}
_FORMATS = {
    "email": "an e-mail address",
    "uri": "a full URL",
    "date": "YYYY-MM-DD",
    "date-time": "2026-01-31T12:00:00Z",
}


class FieldBox(Vertical):
    """One field of a form, with its label and problem."""

    DEFAULT_CSS: ClassVar[str] = """
    FieldBox { height: auto; margin: 0 0 1 0; }
    FieldBox > .-label { text-style: bold; }
    FieldBox > .-description { color: $text-muted; }
    FieldBox > .-problem { color: $error; display: none; }
    FieldBox.-wrong > .-problem { display: block; }
    FieldBox > Input { background: $panel; }
    """

    def __init__(self, field: FormField, value: object, problem: str | None) -> None:
        super().__init__()
        self.field = field
        self._value = value
        self._problem = problem

    @property
    def label(self) -> str:
        """The label of the field."""
        return one_line(self.field.title or "") or one_line(self.field.name)

    @property
    def problem(self) -> str | None:
        """The problem of the value, as of the last check."""
        return self._problem

    def compose(self) -> ComposeResult:
        """Name, purpose, where to fill it in, and what is wrong."""
        field = self.field
        must = " (required)" if field.required else ""
        limits = _limits(field)
        about = f" · {limits}" if limits else ""
        label = Content.assemble(self.label, (must, "bold"), (about, "$text-muted not bold"))
        yield Static(label, markup=False, classes="-label")
        if field.description:
            said = visible(field.description).strip()
            yield Static(Content(said), markup=False, classes="-description")
        control = self._control()
        if control is None:
            said = f"(a field of the kind {one_line(field.type, 40)}: unknown, skipped)"
            yield Static(Content(said), markup=False, classes="-description")
        else:
            yield control
        yield Static("", markup=False, classes="-problem")

    def on_mount(self) -> None:
        """Show what was wrong the last time."""
        self.show_problem(self._problem)

    @property
    def control(self) -> Widget | None:
        """Where it is filled in."""
        return next(iter(self.query("Input, Picker").results()), None)

    def _control(self) -> Widget | None:
        field, value = self.field, self._value
        chosen: tuple[str, ...] = ()
        if not field.is_known:
            return None
        if field.type == "boolean":
            if isinstance(value, bool):
                chosen = ("yes" if value else "no",)
            return Picker(_YES_NO, chosen)
        if field.type == "array" or field.choices:
            listed = value if isinstance(value, list) else [value]
            chosen = tuple(one for one in listed if isinstance(one, str))
            choices = [(one.value, _words(one.title, one.description)) for one in field.choices]
            return Picker(choices, chosen, many=field.type == "array")
        if field.type not in ("string", "number", "integer"):
            return None
        text = "" if value is None else one_line(str(value))
        hint = _FORMATS.get(field.format or "", "type here")
        return Input(text, placeholder=hint, compact=True, select_on_focus=False)

    @property
    def value(self) -> object:
        """The parsed value; None if it is empty."""
        control = self.control
        if isinstance(control, Picker):
            chosen = control.chosen
            if self.field.type == "array":
                return chosen if chosen or self.field.required else None
            if not chosen:
                return None
            return chosen[0] == "yes" if self.field.type == "boolean" else chosen[0]
        if not isinstance(control, Input) or not control.value:
            return None
        return _read(control.value, self.field.type)

    def show_problem(self, problem: str | None) -> None:
        """Show or clear the problem."""
        self._problem = problem
        self.set_class(problem is not None, "-wrong")
        said = "" if problem is None else f"✗ {one_line(problem)}"
        self.query_one(".-problem", Static).update(Content(said))

    def check(self) -> None:
        """Check the value and show its problem."""
        value = self.value
        self.show_problem(None if value is None else self.field.problem(value))


def _words(title: str, description: str | None) -> str:
    return f"{title}: {description}" if description else title


def _read(text: str, wanted: str) -> object:
    if wanted == "string":
        return text
    text = text.strip()
    if _WHOLE.fullmatch(text):
        return int(text) if len(text) < 400 else text
    try:
        return float(text)
    except ValueError:
        return text


def _limits(field: FormField) -> str:
    """A short description of the allowed values."""
    said = [_TYPES[field.type]] if field.is_known and field.type in _TYPES else []
    if field.format and not field.choices:
        said.append(_FORMATS.get(field.format, one_line(field.format, 30)))
    said += _between(field.minimum, field.maximum, "")
    said += _between(field.min_length, field.max_length, " characters")
    said += _between(field.min_items, field.max_items, " chosen")
    if field.pattern:
        said.append(f"fits {one_line(field.pattern, 40)}")
    return ", ".join(said)


def _between(low: float | None, high: float | None, unit: str) -> list[str]:
    if low is None and high is None:
        return []
    if high is None:
        return [f"at least {low:g}{unit}"]
    return [f"at most {high:g}{unit}"] if low is None else [f"{low:g} to {high:g}{unit}"]
