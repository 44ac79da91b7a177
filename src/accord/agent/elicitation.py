"""Questions to the user that are more than yes or no: a form, or a page to visit.

A client that cannot show a form is asked nothing: the caller gets an answer that says so, and
decides.  Secrets never go through a form.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from accord.agent.wire import Wire
from accord.connection import Connection
from accord.errors import LocalProtocolError
from accord.schema.codec import encode, to_python

CREATE = "elicitation/create"
COMPLETE = "elicitation/complete"

FieldType = Literal["string", "number", "integer", "boolean"]
Value = str | int | float | bool | list[str]


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

    def schema(self) -> dict[str, Any]:
        """The field as the protocol's restricted JSON Schema."""
        shape: dict[str, Any] = {"type": self.type}
        if self.many:
            shape = {"type": "array", "items": {"type": "string", "enum": list(self.choices)}}
        elif self.choices:
            shape["enum"] = list(self.choices)
        extra = {"title": self.title, "description": self.description, "default": self.default}
        return shape | {key: value for key, value in extra.items() if value is not None}

    def accepts(self, value: object) -> bool:
        """Whether an answer fits; the client's check is not enough."""
        if self.many:
            return isinstance(value, list) and all(one in self.choices for one in value)
        if self.choices:
            return value in self.choices
        kinds: dict[str, Any] = {
            "string": str,
            "number": int | float,
            "integer": int,
            "boolean": bool,
        }
        if isinstance(value, bool) != (self.type == "boolean"):
            return False
        return isinstance(value, kinds[self.type])


@dataclass(frozen=True, slots=True)
class Answer:
    """What the user did.  `values` is only there after `accept`."""

    action: Literal["accept", "decline", "cancel", "unsupported"]
    values: Mapping[str, Value]

    @property
    def accepted(self) -> bool:
        """Whether the user agreed."""
        return self.action == "accept"


class Asker(Protocol):
    """Who asks: a session, or a request of the client that is still open."""

    @property
    def connection(self) -> Connection:
        """Where the client is."""
        ...

    @property
    def wire(self) -> Wire:
        """What the client can show."""
        ...

    def elicitation_scope(self) -> dict[str, Any]:
        """The one key that says what the question belongs to."""
        ...

    def asking(self) -> AbstractContextManager[None]:
        """Surrounds the wait for the answer."""
        ...

    def new_id(self, kind: str) -> str:
        """An id that is never used again."""
        ...


async def elicit_form(asker: Asker, message: str, fields: Mapping[str, FormField]) -> Answer:
    """Show a form and wait.  Values that do not fit count as `cancel`."""
    if not fields:
        raise LocalProtocolError("a form needs at least one field")
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
    return Answer("cancel", {}) if missing or wrong else answer


async def elicit_url(asker: Asker, message: str, url: str) -> Answer:
    """Ask the user to open a page."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        raise LocalProtocolError(f"not a full URL: {url!r}")
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
    return Answer(answer.action, {"elicitation_id": elicitation_id} if answer.accepted else {})


async def complete_url(asker: Asker, elicitation_id: str) -> None:
    """Tell the client that what happens behind the page is done."""
    await asker.connection.notify(COMPLETE, encode({"elicitationId": elicitation_id}))


async def _create(asker: Asker, params: dict[str, Any]) -> Answer:
    with asker.asking():
        result = to_python(await asker.connection.call(CREATE, encode(params)))
    result = result if isinstance(result, dict) else {}
    action, content = result.get("action"), result.get("content")
    if action == "accept":
        return Answer("accept", content if isinstance(content, dict) else {})
    return Answer("decline" if action == "decline" else "cancel", {})
