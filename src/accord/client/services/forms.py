"""Forms of an agent: their fields, and whether an answer fits.

It must not know how a form is drawn, or which version asked: it takes the structs of either.

Always holds
    * A field of an unknown type stays unknown; it is never shown as another type.
    * A default that does not fit its field is ignored.
    * A pattern runs in a process of its own with a bound on its time, since `re` cannot be
      interrupted and blocks the whole process.  That costs some 20 ms, and happens only when a
      person has sent a form.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import anyio

from accord.errors import SpawnFailed
from accord.machine.own_command_line import own_code
from accord.machine.redacted_logs import logger
from accord.schema.struct import UNSET, UnknownVariant

FormValue: TypeAlias = str | int | float | bool | list[str]
INTEGER_MIN, INTEGER_MAX = -(2**63), 2**63 - 1
_log = logger("accord.client")
PATTERN_CHARACTERS_MAX = 1_000
VALUE_CHARACTERS_MAX = 100_000
CPU_SECONDS_MAX = 1
"""CPU time of one match."""

WALL_SECONDS_MAX = 10.0
"""How long to wait for a match on a busy machine."""

# JSON Schema means: found anywhere.  ASCII, because `\\d` and `\\w` mean that in ECMA-262.
_PROGRAM = f"""
import json, re, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, ({CPU_SECONDS_MAX}, {CPU_SECONDS_MAX}))
except (ImportError, ValueError, OSError):
    pass
pattern, value = json.load(sys.stdin)
try:
    found = re.search(pattern, value, re.ASCII)
except (re.error, RecursionError, OverflowError):
    sys.exit(4)
sys.exit(0 if found else 3)
"""


async def found_in(pattern: str, value: str) -> bool | None:
    """Whether the pattern is found in the value; None when it cannot be told within the bound."""
    if len(pattern) > PATTERN_CHARACTERS_MAX or len(value) > VALUE_CHARACTERS_MAX:
        return None
    task = json.dumps([pattern, value]).encode()
    with anyio.move_on_after(WALL_SECONDS_MAX):
        try:
            done = await anyio.run_process(own_code(_PROGRAM), input=task, check=False)
        except (OSError, SpawnFailed):
            return None
        return {0: True, 3: False}.get(done.returncode)
    return None


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that may be chosen."""

    value: str
    title: str
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """One field.  `type` is string, number, integer, boolean, array, or an unknown type.

    With `choices` the value is one of them; an array is any number of them.
    """

    name: str
    type: str
    title: str | None = None
    description: str | None = None
    required: bool = False
    default: FormValue | None = None
    choices: tuple[Choice, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    pattern: str | None = None
    format: str | None = None
    is_known: bool = True

    def problem(self, value: object) -> str | None:
        """A sentence that says what is wrong with a value; the pattern is not checked here."""
        match self.type if self.is_known else None:
            case "string":
                return self._problem_of_text(value)
            case "boolean":
                return None if isinstance(value, bool) else "This must be yes or no."
            case "number" | "integer":
                return self._problem_of_number(value)
            case "array":
                return self._problem_of_list(value)
            case _:
                return "This kind of field is unknown here and cannot be filled in."

    def _problem_of_text(self, value: object) -> str | None:
        if not isinstance(value, str):
            return "This must be text."
        if self.choices and all(value != choice.value for choice in self.choices):
            return "This is not one of the choices."
        if self.min_length is not None and len(value) < self.min_length:
            return f"This must have at least {self.min_length} characters."
        if self.max_length is not None and len(value) > self.max_length:
            return f"This must have at most {self.max_length} characters."
        return _problem_of_format(value, self.format)

    def _problem_of_number(self, value: object) -> str | None:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            return "This must be a number."
        if self.type == "integer":
            if value != int(value):
                return "This must be a whole number."
            if not INTEGER_MIN <= value <= INTEGER_MAX:
                return "This number is too large."
        if self.minimum is not None and value < self.minimum:
            return f"This must be at least {self.minimum:g}."
        if self.maximum is not None and value > self.maximum:
            return f"This must be at most {self.maximum:g}."
        return None

    def _problem_of_list(self, value: object) -> str | None:
        if not isinstance(value, list):
            return "This must be a list of choices."
        known = {choice.value for choice in self.choices}
        if not all(isinstance(item, str) and item in known for item in value):
            return "This is not one of the choices."
        if self.min_items is not None and len(value) < self.min_items:
            return f"Choose at least {self.min_items}."
        if self.max_items is not None and len(value) > self.max_items:
            return f"Choose at most {self.max_items}."
        return None


def _problem_of_format(value: str, wanted: str | None) -> str | None:
    """Check a format; unknown formats accept everything."""
    match wanted:
        case "email":
            name, _, host = value.rpartition("@")
            good = bool(name and host) and not any(map(str.isspace, value))
            return None if good else "This must be an e-mail address."
        case "uri":
            return None if _is_uri(value) else "This must be a full URL."
        case "date":
            return None if _is_date(value) else "This must be a date: YYYY-MM-DD."
        case "date-time":
            good = _is_moment(value)
            return None if good else "This must be a date and time, as 2026-01-31T12:00:00Z."
        case _:
            return None


def _is_uri(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(parts.scheme and (parts.netloc or parts.path)) and not any(map(str.isspace, value))


def _is_date(value: str) -> bool:
    try:
        dt.date.fromisoformat(value)
    except ValueError:
        return False
    return len(value) == len("2026-01-31")


def _is_moment(value: str) -> bool:
    try:
        moment = dt.datetime.fromisoformat(value)
    except ValueError:
        return False
    return moment.tzinfo is not None and value[10:11] in ("T", "t")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormRequest:
    """A form to show, with a message.

    It belongs to a session, perhaps to one of its tool calls, or to a request of ours.  If an
    answer did not fit, the form comes again with that answer in `values` and the reasons in
    `errors`.
    """

    message: str
    fields: tuple[FormField, ...]
    title: str | None = None
    description: str | None = None
    session_id: str | None = None
    tool_call_id: str | None = None
    request_id: str | int | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def defaults(self) -> dict[str, FormValue]:
        """The values to fill in at first."""
        return {one.name: one.default for one in self.fields if one.default is not None}

    async def check(self, values: Mapping[str, object]) -> dict[str, str]:
        """The errors by field; empty when the answer may be sent."""
        fields = {one.name: one for one in self.fields}
        errors = {name: "There is no such field." for name in values if name not in fields}
        for name, one in fields.items():
            if name not in values:
                if one.required:
                    errors[name] = "This is required."
                continue
            problem = one.problem(values[name]) or await _problem_of_pattern(one, values[name])
            if problem is not None:
                errors[name] = problem
        return errors


async def _problem_of_pattern(one: FormField, value: object) -> str | None:
    if one.pattern is None or not isinstance(value, str):
        return None
    found = await found_in(one.pattern, value)
    if found is None:
        _log.warning("the pattern of field %r cannot be checked here", one.name)
    return f"This must fit {one.pattern}" if found is False else None


def read_form(wire: Any) -> FormRequest:
    """Read a form from the struct of either version."""
    schema = wire.requested_schema
    required = set(_given(schema.required) or ())
    properties = _given(schema.properties) or {}
    return FormRequest(
        message=wire.message,
        title=_given(schema.title),
        description=_given(schema.description),
        fields=tuple(_field(name, shape, name in required) for name, shape in properties.items()),
        **scope_of(wire),
    )


def scope_of(wire: Any) -> dict[str, Any]:
    """The session, tool call or request that an elicitation belongs to."""
    return {
        "session_id": _given(wire.session_id),
        "tool_call_id": _given(wire.tool_call_id),
        "request_id": _given(wire.request_id),
    }


def _field(name: str, shape: Any, required: bool) -> FormField:
    if isinstance(shape, UnknownVariant):
        return FormField(name=name, type=shape.tag, required=required, is_known=False)
    kind: str = shape.__struct_config__.tag
    items = getattr(shape, "items", None)
    choices = _choices(shape) if items is None else _choices(items)
    known = not isinstance(items, UnknownVariant)
    bounds = ("minimum", "maximum", "min_length", "max_length", "min_items", "max_items")
    found = FormField(
        name=name,
        type=kind,
        title=_given(shape.title),
        description=_given(shape.description),
        required=required,
        choices=choices,
        pattern=_given(getattr(shape, "pattern", None)),
        format=_given(getattr(shape, "format", None)),
        is_known=known,
        default=_given(shape.default),
        **{bound: _given(getattr(shape, bound, None)) for bound in bounds},
    )
    if found.default is not None and found.problem(found.default) is not None:
        return replace(found, default=None)
    return found


def _choices(shape: Any) -> tuple[Choice, ...]:
    titled: Iterable[Any] = _given(getattr(shape, "one_of", None)) or ()
    titled = titled or _given(getattr(shape, "any_of", None)) or ()
    if titled:
        return tuple(Choice(one.const, one.title, _given(one.description)) for one in titled)
    plain = _given(getattr(shape, "enum", None)) or ()
    return tuple(Choice(value, value) for value in plain)


def _given(value: Any) -> Any:
    return None if value is UNSET else value
