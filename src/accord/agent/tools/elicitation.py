"""Ask the user to fill a form or to visit a page.

A client that cannot show a form is not asked: the caller gets an answer that says so.  Secrets
never go through a form.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from logging import WARNING
from typing import Any, Literal, NamedTuple, Protocol

from accord.agent.argument_checks import check_enum_value
from accord.agent.serving.client_answer_checks import heard
from accord.agent.serving.wire import Wire
from accord.connection import Connection
from accord.errors import LocalProtocolError, RequestCancelled
from accord.schema.codec import Invalid, decode, encode, to_python
from accord.schema.struct import Raw

CREATE = "elicitation/create"
COMPLETE = "elicitation/complete"

_ACTIONS = ("accept", "decline", "cancel")

FieldType = Literal["string", "number", "integer", "boolean"]
Value = str | int | float | bool | list[str]

_PYTHON_TYPES: dict[str, Any] = {
    "string": str,
    "number": int | float,
    "integer": int,
    "boolean": bool,
}


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of a form.  With `choices` it is a selection, with `many` of several."""

    type: FieldType = "string"
    title: str | None = None
    description: str | None = None
    default: Value | None = None
    choices: tuple[str, ...] = ()
    many: bool = False
    required: bool = True
    format: str | None = None

    def __post_init__(self) -> None:
        if self.type not in _PYTHON_TYPES:
            raise LocalProtocolError(
                f"{self.type!r} is not a type of a form field; use {', '.join(_PYTHON_TYPES)}"
            )
        if self.many and not self.choices:
            raise LocalProtocolError("a selection of several values needs choices")
        if self.format is not None:
            if self.type != "string":
                raise LocalProtocolError("only a field of type string can have a format")
            check_enum_value("StringFormat", self.format)
        if self.default is not None and not self.accepts(self.default):
            raise LocalProtocolError(f"the default {self.default!r} does not fit its own field")

    def schema(self) -> dict[str, Any]:
        """The field as the protocol's restricted JSON Schema."""
        shape: dict[str, Any] = {"type": self.type}
        if self.many:
            shape = {"type": "array", "items": {"type": "string", "enum": list(self.choices)}}
        elif self.choices:
            shape["enum"] = list(self.choices)
        extra = {
            "title": self.title,
            "description": self.description,
            "default": self.default,
            "format": self.format,
        }
        return shape | {key: value for key, value in extra.items() if value is not None}

    def accepts(self, value: object) -> bool:
        """Whether an answer is valid; the client's own check is not enough."""
        if self.many:
            return isinstance(value, list) and all(one in self.choices for one in value)
        if self.choices:
            return value in self.choices
        if isinstance(value, bool) != (self.type == "boolean"):
            return False
        # A format is only a hint for the user.
        return isinstance(value, _PYTHON_TYPES[self.type])


class Answer(NamedTuple):
    """What the user did.  `values` is filled only after `accept`."""

    action: Literal["accept", "decline", "cancel", "unsupported"]
    values: Mapping[str, Value]

    @property
    def accepted(self) -> bool:
        """Whether the user agreed."""
        return self.action == "accept"


class Asker(Protocol):
    """The side that asks: a session, or a login request that is still open."""

    @property
    def connection(self) -> Connection:
        """The connection to the client."""
        ...

    @property
    def wire(self) -> Wire:
        """The client's version, and what it can show."""
        ...

    def elicitation_scope(self) -> dict[str, Any]:
        """Return the member that names the session or request of a form."""
        ...

    def asking(self) -> AbstractContextManager[None]:
        """Enclose the wait for the answer."""
        ...

    def new_id(self, kind: str) -> str:
        """An id that is never used again."""
        ...


async def elicit_form(asker: Asker, message: str, fields: Mapping[str, FormField]) -> Answer:
    """Show a form and wait.  Invalid values count as `cancel`."""
    if not fields:
        raise LocalProtocolError("a form needs at least one field")
    _check_fields(fields)
    if not asker.wire.features.elicit_form:
        return Answer("unsupported", {})
    schema = {
        "type": "object",
        "properties": {name: field.schema() for name, field in fields.items()},
        "required": [name for name, field in fields.items() if field.required],
    }
    params = {
        "mode": "form",
        **asker.elicitation_scope(),
        "message": message,
        "requestedSchema": schema,
    }
    answer = await _create(asker, params)
    if not answer.accepted:
        return answer
    values = dict(answer.values)
    missing = [name for name, field in fields.items() if field.required and name not in values]
    wrong = [
        name for name, value in values.items() if name in fields and not fields[name].accepts(value)
    ]
    if not missing and not wrong:
        return answer
    unfit = ", ".join(
        [f"{one} is missing" for one in missing] + [f"{one} is wrong" for one in wrong]
    )
    asker.connection.tolerate(f"the answer to {CREATE} is not valid for its form: {unfit}", WARNING)
    return Answer("cancel", {})


def _check_fields(fields: Mapping[str, object]) -> None:
    for name, field in fields.items():
        if not isinstance(field, FormField):
            raise LocalProtocolError(f"field {name!r} of a form must be a FormField, not {field!r}")


async def elicit_schema(asker: Asker, message: str, schema: Mapping[str, Any]) -> Answer:
    """Show a form that an MCP server, for example, describes in the protocol's schema.

    The values are not checked; that is left to the author of the form.

    Raises:
        LocalProtocolError: a client cannot show a form with this schema.
    """
    # Imported here because it is rarely needed and loads types.
    from accord.schema import v2

    try:
        shown = decode(v2.ElicitationSchema, encode(schema))
    except Invalid as error:
        raise LocalProtocolError(f"a form cannot be made from this schema: {error}") from None
    if not shown.properties:
        raise LocalProtocolError("a form needs at least one field")
    if not asker.wire.features.elicit_form:
        return Answer("unsupported", {})
    form = to_python(Raw(encode(shown)))
    params = {"mode": "form", **asker.elicitation_scope(), "message": message}
    return await _create(asker, params | {"requestedSchema": form})


async def elicit_url(asker: Asker, message: str, url: str) -> Answer:
    """Ask the user to open a page."""
    check_url(url)
    if not asker.wire.features.elicit_url:
        return Answer("unsupported", {})
    elicitation_id = asker.new_id("elicitation")
    params = {
        "mode": "url",
        **asker.elicitation_scope(),
        "message": message,
        "url": url,
        "elicitationId": elicitation_id,
    }
    answer = await _create(asker, params)
    if not answer.accepted:
        return answer
    asker.wire.open_pages.add(elicitation_id)
    return Answer("accept", {"elicitation_id": elicitation_id})


def check_url(url: str) -> None:
    """Refuse an incomplete URL, and one that contains a user name or a password."""
    # Imported here because it is rarely needed and slow.
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        whole = bool(parts.scheme and parts.hostname) and parts.port != 0
    except ValueError:
        raise LocalProtocolError(f"not a full URL: {url!r}") from None
    if not whole or any(char.isspace() or not char.isprintable() for char in url):
        raise LocalProtocolError(f"not a full URL: {url!r}")
    if "@" in parts.netloc:
        raise LocalProtocolError("a URL for the user must not contain a user name or a password")


async def complete_url(asker: Asker, answer: Answer) -> None:
    """Tell the client once that the user is done with the page."""
    elicitation_id = answer.values.get("elicitation_id")
    if not isinstance(elicitation_id, str) or elicitation_id not in asker.wire.open_pages:
        raise LocalProtocolError("this answer does not belong to an open page")
    asker.wire.open_pages.discard(elicitation_id)
    await asker.connection.notify(COMPLETE, encode({"elicitationId": elicitation_id}))


async def _create(asker: Asker, params: dict[str, Any]) -> Answer:
    try:
        with asker.asking():
            answer = await asker.connection.call(CREATE, encode(params))
    except RequestCancelled:
        return Answer("cancel", {})
    result = to_python(answer)
    result = result if isinstance(result, dict) else {}
    action, content = result.get("action"), result.get("content")
    heard(asker, CREATE, answer, is_used=action in _ACTIONS)
    if action == "accept":
        return Answer("accept", content if isinstance(content, dict) else {})
    return Answer("decline" if action == "decline" else "cancel", {})
