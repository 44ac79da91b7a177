"""The tools that a model is offered in a step: ours that the mode allows, and the MCP servers'.

One of them is here: a question to the user, where the client can show a form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic_ai.tools import ToolDefinition

from accord.agent.tools.elicitation import FormField
from accord.agent.turn import Turn
from accord.builtin.modes import LOOKING, PLAN, decision
from accord.builtin.tools.mcp_tools import offered_name
from accord.builtin.tools.tool_call import ToolResult, done, failed
from accord.builtin.tools.tool_definitions import TOOLS
from accord.builtin.tools.toolbox import Toolbox

MCP_TOOLS_MAX: Final = 128
DESCRIPTION_CHARACTERS_MAX: Final = 2000

ASK_USER: Final = "ask_user"
CHOICES_MAX: Final = 10

ASK_DESCRIPTION: Final = (
    "Ask the user a question whose answer decides what to do next, and wait for it. Give choices"
    " where there are a few. Never ask for passwords or keys."
)
ASK_PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "description": "The question, in one or two sentences."},
        "choices": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Answers to choose from; without them the user writes one.",
        },
    },
    "required": ["question"],
    "additionalProperties": False,
}

# Tools that the client does not see as tool calls.
WITHOUT_CARD: Final = frozenset({"plan", ASK_USER})


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
        about = (ASK_DESCRIPTION, ASK_PARAMETERS)
        found[ASK_USER] = Offered(ASK_USER, *about, "think", ASK_USER)
    if not looking_only and tools.context.workspace.mcp is not None:
        for tool in list(tools.context.workspace.mcp.tools)[:MCP_TOOLS_MAX]:
            name = offered_name(tool.server, tool.name, found)
            purpose = tool.description or tool.title or tool.name
            text = f"{purpose} (tool {tool.name} of the MCP server {tool.server})"
            schema = tool.input_schema or {"type": "object", "properties": {}}
            found[name] = Offered(name, text, schema, "other", tool.name, tool.server)
    return found


async def ask_user(turn: Turn, question: str, choices: Sequence[object] = ()) -> ToolResult:
    """Put the question; the result is what the user said, or that they did not."""
    offered = tuple(dict.fromkeys(str(one) for one in choices if str(one).strip()))
    if len(offered) > CHOICES_MAX:
        return failed(f"A question has at most {CHOICES_MAX} choices.")
    if not question.strip():
        return failed("The question is empty.")
    field = FormField(title="Answer", choices=offered)
    answer = await turn.ask(question, answer=field)
    if not answer.accepted:
        return failed("The user did not answer. Continue without it, or stop.", denied="user")
    return done(str(answer.values.get("answer", "")))
