"""A form, field by field.

Invariants
    * Nothing is sent before the user confirms at the end.
    * An invalid value is asked for again at once, with the reason.
    * A field of an unknown kind is named and skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from accord.client.services.forms import FormField, FormRequest, FormValue
from accord.terminal.model.text.display_text import one_line
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.terminal.plain.input.input_requests import Ask, Dialogue

ATTEMPTS_MAX = 10
"""Attempts for one field; then the form is closed."""

_YES = frozenset({"y", "yes", "true", "on", "1"})
_NO = frozenset({"n", "no", "false", "off", "0"})
_LEAVING: Mapping[str, bool | None] = {"/decline": False, "/close": None}


class _Left(Exception):
    """The user closed or declined the form; `answer` says which."""

    def __init__(self, answer: bool | None) -> None:
        super().__init__()
        self.answer = answer


def form(request: FormRequest, who: str, printer: ChatPrinter) -> Dialogue:
    """Ask for all values; False if declined, None if closed."""
    printer.said(f"{who} asks you to fill in a form:", request.message)
    for text in filter(None, (request.title, request.description)):
        printer.said("", text)
    printer.note("Press Enter to accept the value in brackets. /decline declines, /close closes.")
    fields = request.fields
    # Valid values are not asked for again.
    kept = {name: value for name, value in request.values.items() if name not in request.errors}
    wanted = [one for one in fields if not request.errors or one.name not in kept]
    values: dict[str, Any] = dict(kept) if request.errors else {}
    try:
        for _ in range(ATTEMPTS_MAX):
            for one in wanted:
                value = yield from _field(one, printer, request.errors.get(one.name))
                values.pop(one.name, None)
                if value is not None:
                    values[one.name] = value
            said = yield from _review(fields, values, printer)
            if said != "e":
                return {"y": values, "n": False}.get(said)
            # Once more, with the entered values as defaults.
            wanted = [replace(one, default=values.get(one.name, one.default)) for one in fields]
    except _Left as left:
        return left.answer
    return None


def _review(
    fields: Sequence[FormField], values: Mapping[str, FormValue], printer: ChatPrinter
) -> Dialogue:
    """Ask what to do with the form: y to send, n to decline, e to edit, or nothing."""
    printer.gap()
    printer.said("", "This would be sent:")
    for one in fields:
        printer.said("  ", f"{_title(one)}: {_shown(one, values.get(one.name))}")
    said = yield Ask(
        "key",
        "Send it? (y)es (e)dit (n)o, Enter: close",
        keys={"y": "yes", "e": "edit", "n": "no: declined"},
    )
    return said or ""


def _field(one: FormField, printer: ChatPrinter, error: str | None) -> Dialogue:
    """Ask for one value; None if the field is skipped."""
    _explain(one, printer)
    if not one.is_known:
        printer.note("Unknown kind of field; it is skipped.")
        return None
    remark = error or ""
    for _ in range(ATTEMPTS_MAX):
        said = yield Ask("line", _question(one), remark=remark)
        if said is None:
            raise _Left(None)
        said = said.strip()
        if said in _LEAVING:
            raise _Left(_LEAVING[said])
        if not said:
            if one.default is not None or not one.required:
                return one.default
            remark = "This is required."
            continue
        value = _read(one, said)
        problem = one.problem(value)
        if problem is None:
            return value
        remark = problem
    raise _Left(None)


def _title(one: FormField) -> str:
    return one_line(one.title or one.name)


def _explain(one: FormField, printer: ChatPrinter) -> None:
    printer.gap()
    needed = "required" if one.required else "optional"
    printer.said("", f"{_title(one)} ({needed})", "bold")
    if one.description:
        printer.said("  ", one.description)
    for number, choice in enumerate(one.choices, 1):
        more = f": {one_line(choice.description)}" if choice.description else ""
        printer.said(f"  {number}  ", f"{one_line(choice.title)}{more}")


def _question(one: FormField) -> str:
    if one.type == "array":
        how = "Numbers separated by commas"
    elif one.choices:
        how = "Number"
    elif one.type == "boolean":
        how = "yes or no"
    elif one.type in ("number", "integer"):
        how = "A number" if one.type == "number" else "A whole number"
    else:
        how = {"date": "A date", "email": "An e-mail address", "uri": "A URL"}.get(
            one.format or "", "Text"
        )
    default = "" if one.default is None else f" [{_shown(one, one.default)}]"
    return f"{how}{default}:"


def _shown(one: FormField, value: FormValue | None) -> str:
    titles = {choice.value: choice.title for choice in one.choices}
    if value is None:
        return "(skipped)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(one_line(titles.get(item, item)) for item in value) or "(none)"
    return one_line(titles.get(value, value) if isinstance(value, str) else f"{value:g}")


def _read(one: FormField, said: str) -> object:
    """Parse a value; text that cannot be parsed is returned as it is and fails validation."""
    if one.type == "array":
        return [_chosen(one, part.strip()) for part in said.split(",") if part.strip()]
    if one.choices:
        return _chosen(one, said)
    if one.type == "boolean":
        lower = said.lower()
        return True if lower in _YES else False if lower in _NO else said
    if one.type in ("number", "integer"):
        for read in (int, float):
            try:
                return read(said)
            except ValueError:
                continue
    return said


def _chosen(one: FormField, said: str) -> str:
    if said.isdecimal() and 1 <= int(said) <= len(one.choices):
        return one.choices[int(said) - 1].value
    for choice in one.choices:
        if said.lower() in (choice.value.lower(), choice.title.lower()):
            return choice.value
    return said
