"""Passes questions of MCP servers to the user through the ACP client.

Both protocols describe forms in the same restricted JSON Schema; differences are translated here.

What always holds
    * An accepted answer matches the form of the server.
    * A visited page is reported as done once, when its server says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from accord.agent.session.agent_session import session_state
from accord.agent.tools.elicitation import Answer, elicit_schema, elicit_url
from accord.errors import LocalProtocolError
from accord.machine.redacted_logs import logger
from accord.mcp.schema_validation import problem

if TYPE_CHECKING:
    import mcp_types

    from accord.agent.session.agent_session import AgentSession

OPEN_PAGES_MAX = 100
"""Open pages of one server; beyond that the oldest is forgotten."""

_log = logger("accord.mcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of a server: a form (`schema`), or a page to open (`url`)."""

    server: str
    mode: Literal["form", "url"]
    message: str
    schema: Mapping[str, Any] | None = None
    url: str | None = None


Elicit = Callable[[Question], Awaitable[Answer]]
Done = Callable[[Answer], Awaitable[None]]


def asking(session: AgentSession) -> Elicit | None:
    """Return a function that asks the user; None if the client can show neither form nor page."""
    features = session.features
    if not features.elicit_form and not features.elicit_url:
        return None

    async def elicit(question: Question) -> Answer:
        # The user must see which server asks: its own text may contain any name.
        message = f"MCP server {question.server!r} asks: {question.message}"
        if question.mode == "url":
            return await elicit_url(session_state(session), message, question.url or "")
        return await elicit_schema(session_state(session), message, question.schema or {})

    return elicit


class ServerQuestions:
    """The questions of one server."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._pages: dict[str, Answer] = {}

    async def put(self, elicit: Elicit, params: Any) -> mcp_types.ElicitResult:
        """Ask the user, and return the answer in the form of MCP.

        Raises:
            LocalProtocolError: the client cannot show the question.
        """
        from mcp_types import ElicitRequestURLParams, ElicitResult

        if isinstance(params, ElicitRequestURLParams):
            question = Question(
                server=self._server, mode="url", message=params.message, url=params.url
            )
        else:
            form = titled(params.requested_schema)
            question = Question(
                server=self._server, mode="form", message=params.message, schema=form
            )
        answer = await elicit(question)
        if answer.action == "unsupported":
            raise LocalProtocolError(f"the user cannot be shown a {question.mode} here")
        if answer.action != "accept":
            return ElicitResult(action=answer.action)
        if isinstance(params, ElicitRequestURLParams):
            self._pages[params.elicitation_id or ""] = answer
            if len(self._pages) > OPEN_PAGES_MAX:
                del self._pages[next(iter(self._pages))]
            return ElicitResult(action="accept")
        if not await fits(answer.values, params.requested_schema):
            return ElicitResult(action="cancel")
        return ElicitResult(action="accept", content=dict(answer.values))

    async def completed(self, elicitation_id: str, done: Done) -> None:
        """Report a page as done, as its server says."""
        answer = self._pages.pop(elicitation_id, None)
        if answer is None:
            return
        try:
            await done(answer)
        except LocalProtocolError as error:
            _log.debug("a page of MCP server %s: %s", self._server, error)


def titled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the form with `enumNames` replaced by titled choices."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return dict(schema)
    fields: dict[str, Any] = {}
    for name, one in properties.items():
        names = one.get("enumNames") if isinstance(one, dict) else None
        values = one.get("enum") if isinstance(one, dict) else None
        if isinstance(names, list) and isinstance(values, list) and len(names) == len(values):
            rest = {key: said for key, said in one.items() if key not in ("enum", "enumNames")}
            choices = [
                {"const": value, "title": shown} for value, shown in zip(values, names, strict=True)
            ]
            fields[name] = {**rest, "oneOf": choices}
        else:
            fields[name] = one
    return {**schema, "properties": fields}


async def fits(values: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether an answer matches the form; the client's own check is not enough."""
    return await problem(dict(schema), dict(values)) is None
