"""A tool call of a model: its arguments are checked, and it is made through the toolbox.

Small models write numbers and booleans as text, which are converted.  Arguments that do not fit
become an error message for the model, which then tries again.

What always holds
    * Every call has a result; only the end of the turn passes through as an exception.
    * An announced tool call is used for the call, or ended here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_ai.messages import ToolCallPart, ToolReturnPart

from accord.agent.tools.tool_call import ToolCallHandle
from accord.agent.turn import turn_state
from accord.builtin.llm.offered_tools import ASK_USER, Offered, ask_user
from accord.builtin.llm.prompt_content import data_content
from accord.builtin.models.providers import ModelChoice
from accord.builtin.tools.tool_call import ToolResult, ended, failed
from accord.builtin.tools.toolbox import Toolbox
from accord.errors import AccordError, ConnectionLost
from accord.schema import v2

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_SWITCHES = {"true": True, "false": False}


class BadArguments(Exception):
    """The arguments do not fit, and the message says where."""


def fitted(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the tool wants them.

    Raises:
        BadArguments: something is missing, unknown or of another type.
    """
    properties: Mapping[str, Any] = schema.get("properties") or {}
    missing = [name for name in schema.get("required") or () if given.get(name) is None]
    if missing:
        raise BadArguments(f"missing: {', '.join(missing)}")
    unknown = [name for name in given if name not in properties]
    if unknown and schema.get("additionalProperties") is False:
        wanted = ", ".join(properties)
        raise BadArguments(f"unknown: {', '.join(unknown)} (known: {wanted})")
    # Null means what absence means: strict modes make models name everything.
    return {
        name: _fitted(properties.get(name, {}), value, name)
        for name, value in given.items()
        if value is not None
    }


def _fitted(schema: Mapping[str, Any], value: Any, name: str) -> Any:
    wanted = schema.get("type")
    if not isinstance(wanted, str) or wanted not in _TYPES:
        return value
    if isinstance(value, str) and wanted != "string":
        value = _read(value, wanted)
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    is_number = isinstance(value, bool) and wanted in ("integer", "number")
    if is_number or not isinstance(value, _TYPES[wanted]):
        raise BadArguments(f"{name} must be of type {wanted}")
    if "enum" in schema and value not in schema["enum"]:
        raise BadArguments(f"{name} must be one of {', '.join(map(str, schema['enum']))}")
    if "minimum" in schema and value < schema["minimum"]:
        raise BadArguments(f"{name} must be at least {schema['minimum']}")
    return value


def _read(text: str, wanted: str) -> Any:
    if wanted == "boolean":
        return _SWITCHES.get(text.strip().lower(), text)
    try:
        return int(text) if wanted == "integer" else float(text) if wanted == "number" else text
    except ValueError:
        return text


class Caller:
    """Makes the calls of one step."""

    def __init__(self, tools: Toolbox, offered: Mapping[str, Offered], choice: ModelChoice) -> None:
        self._tools = tools
        self._offered = offered
        self._choice = choice

    async def call(self, part: ToolCallPart, card: ToolCallHandle | None) -> ToolReturnPart:
        """Make one call and return its result for the model."""
        result = await self._result(part, card)
        if card is not None and not card.is_final:
            if result.ok:
                await card.start()
                await card.complete()
            else:
                await card.fail(result.text)
        return ToolReturnPart(
            part.tool_name,
            self._content(result),
            part.tool_call_id,
            outcome="success" if result.ok else "denied" if result.denied else "failed",
        )

    async def _result(self, part: ToolCallPart, card: ToolCallHandle | None) -> ToolResult:
        tool = self._offered.get(part.tool_name)
        if tool is None:
            known = ", ".join(self._offered)
            return failed(f"There is no tool {part.tool_name!r}. Available tools: {known}.")
        try:
            given = part.args_as_dict(raise_if_invalid=True)
            arguments = fitted(tool.parameters, given)
        except (ValueError, AssertionError):
            return failed("The arguments are not a JSON object. Send them again.")
        except BadArguments as error:
            return failed(ended(f"Invalid arguments: {error}"))
        turn = self._tools.context.turn
        turn_state(turn).forming = card
        try:
            return await self._run(tool, arguments)
        except ConnectionLost:
            raise
        except Exception as error:
            # Tools do not raise; a bug in one must not end the conversation.
            if turn.is_over:
                raise
            text = str(error) if isinstance(error, AccordError) else type(error).__name__
            return failed(f"The tool failed: {text}")
        finally:
            turn_state(turn).forming = None

    async def _run(self, tool: Offered, arguments: dict[str, Any]) -> ToolResult:
        if tool.server is not None:
            return await self._tools.mcp(tool.server, tool.method, arguments)
        if tool.name == ASK_USER:
            return await ask_user(self._tools.context.turn, **arguments)
        result: ToolResult = await getattr(self._tools, tool.method)(**arguments)
        return result

    def _content(self, result: ToolResult) -> Any:
        """The text of a result, and images of an MCP tool that the model accepts."""
        blocks = getattr(result.data, "blocks", None)
        if not isinstance(blocks, list):
            return result.text
        seen = [
            data_content(block.data, block.mime_type, self._choice, "picture")
            for block in blocks
            if isinstance(block, v2.ImageContent)
        ]
        pictures = [one for one in seen if not isinstance(one, str)]
        return [result.text, *pictures] if pictures else result.text
