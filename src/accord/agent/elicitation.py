"""Questions to the user that are more than yes or no: a form, or a page to visit.

A client that cannot show a form is asked nothing: the caller gets an answer that says so, and
decides.  Secrets never go through a form.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from accord.errors import LocalProtocolError
from accord.protocol.v2.turn import Step
from accord.schema.codec import encode, to_python

if TYPE_CHECKING:
    from accord.agent.session import AgentSession

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


async def elicit_form(
    session: "AgentSession", message: str, fields: Mapping[str, FormField]
) -> Answer:
    """Show a form and wait.  Values that do not fit count as `cancel`."""
    if not fields:
        raise LocalProtocolError("a form needs at least one field")
    if not session.wire.features.elicit_form:
        return Answer("unsupported", {})
    schema = {
        "type": "object",
        "properties": {name: field.schema() for name, field in fields.items()},
        "required": [name for name, field in fields.items() if field.required],
    }
    params = {
        "mode": "form",
        "sessionId": session.id,
        "message": message,
        "requestedSchema": schema,
    }
    answer = await _create(session, params)
    if not answer.accepted:
        return answer
    values = dict(answer.values)
    missing = [name for name, field in fields.items() if field.required and name not in values]
    wrong = [
        name for name, value in values.items() if name in fields and not fields[name].accepts(value)
    ]
    return Answer("cancel", {}) if missing or wrong else answer


async def elicit_url(session: "AgentSession", message: str, url: str) -> Answer:
    """Ask the user to open a page."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        raise LocalProtocolError(f"not a full URL: {url!r}")
    if not session.wire.features.elicit_url:
        return Answer("unsupported", {})
    elicitation_id = session.new_id("elicitation")
    params = {
        "mode": "url",
        "sessionId": session.id,
        "message": message,
        "url": url,
        "elicitationId": elicitation_id,
    }
    answer = await _create(session, params)
    return Answer(answer.action, {"elicitation_id": elicitation_id} if answer.accepted else {})


async def complete_url(session: "AgentSession", elicitation_id: str) -> None:
    """Tell the client that what happens behind the page is done."""
    await session.connection.notify(COMPLETE, encode({"elicitationId": elicitation_id}))


async def _create(session: "AgentSession", params: dict[str, Any]) -> Answer:
    session.enter(Step.USER_ASKED)
    try:
        result = to_python(await session.connection.call(CREATE, encode(params)))
    finally:
        session.enter(Step.USER_ANSWERED)
    result = result if isinstance(result, dict) else {}
    action, content = result.get("action"), result.get("content")
    if action == "accept":
        return Answer("accept", content if isinstance(content, dict) else {})
    return Answer("decline" if action == "decline" else "cancel", {})
