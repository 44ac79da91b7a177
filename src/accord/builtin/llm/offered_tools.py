"""The tools that a model is offered in a step: ours that the mode allows, and the MCP servers'."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic_ai.tools import ToolDefinition

from accord.builtin.llm import user_questions
from accord.builtin.mode_permissions import LOOKING, PLAN, decision
from accord.builtin.tools.tool_definitions import TOOLS
from accord.builtin.tools.toolbox import Toolbox

MCP_TOOLS_MAX: Final = 128
NAME_CHARACTERS_MAX: Final = 64
DESCRIPTION_CHARACTERS_MAX: Final = 2000

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
# Tools that the client does not see as tool calls.
WITHOUT_CARD: Final = frozenset({"plan", user_questions.NAME})


@dataclass(frozen=True)
class Offered:
    """One tool.  With a `server` it is one of an MCP server's, called by `method` there."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    kind: str
    method: str
    server: str | None = None

    @property
    def has_card(self) -> bool:
        """Whether the client sees it as a tool call."""
        return self.name not in WITHOUT_CARD

    def definition(self) -> ToolDefinition:
        """The tool in the model library's type."""
        return ToolDefinition(
            name=self.name,
            description=self.description[:DESCRIPTION_CHARACTERS_MAX],
            parameters_json_schema=dict(self.parameters),
        )


def offered_tools(tools: Toolbox, *, looking_only: bool = False) -> dict[str, Offered]:
    """The tools by name, without those that the mode refuses."""
    mode = tools.context.mode
    found: dict[str, Offered] = {}
    for spec in TOOLS:
        if spec.name == "leave_plan" and mode != PLAN:
            continue
        if spec.name == "task" and (looking_only or tools.run_task is None):
            continue
        if looking_only and spec.kind not in LOOKING:
            continue
        if decision(mode, spec.kind) != "refuse":
            found[spec.name] = Offered(
                spec.name, spec.description, spec.parameters, spec.kind, spec.method
            )
    if not looking_only and tools.context.turn.session.features.elicit_form:
        about = (user_questions.DESCRIPTION, user_questions.PARAMETERS)
        found[user_questions.NAME] = Offered(
            user_questions.NAME, *about, "think", user_questions.NAME
        )
    if not looking_only and tools.context.workspace.mcp is not None:
        for tool in list(tools.context.workspace.mcp.tools)[:MCP_TOOLS_MAX]:
            name = _free_name(f"{tool.server}__{tool.name}", found)
            purpose = tool.description or tool.title or tool.name
            text = f"{purpose} (tool {tool.name} of the MCP server {tool.server})"
            schema = tool.input_schema or {"type": "object", "properties": {}}
            found[name] = Offered(name, text, schema, "other", tool.name, tool.server)
    return found


def _free_name(wanted: str, taken: Mapping[str, object]) -> str:
    """A unique name that every provider accepts."""
    name = _NOT_IN_NAMES.sub("_", wanted)[:NAME_CHARACTERS_MAX]
    number = 2
    free = name
    while free in taken:
        end = f"_{number}"
        free = name[: NAME_CHARACTERS_MAX - len(end)] + end
        number += 1
    return free
