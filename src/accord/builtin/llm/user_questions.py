"""A question of the model to the user, where the client can show a form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from accord.agent.tools.elicitation import FormField
from accord.agent.turn import Turn
from accord.builtin.tools.tool_result import ToolResult, done, failed

NAME: Final = "ask_user"
CHOICES_MAX: Final = 10

DESCRIPTION: Final = (
    "Ask the user a question whose answer decides what to do next, and wait for it. Give choices"
    " where there are a few. Never ask for passwords or keys."
)
PARAMETERS: Final[dict[str, Any]] = {
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
