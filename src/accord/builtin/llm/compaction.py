"""Replaces the history by a summary of the model when the window fills up.

What always holds
    * What the user asked for in this turn stays word for word.
    * If the model cannot write a summary the past is cut by rules instead; the turn goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.messages import ModelResponseStreamEvent as Event
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.usage import RequestUsage

from accord.agent.session.compaction import Compaction
from accord.agent.turn import Turn
from accord.builtin.llm.answer_stream import Listener
from accord.builtin.llm.errors import ModelFailed
from accord.builtin.llm.message_history import History, estimated_tokens
from accord.builtin.llm.model_request import Question, RetryPolicy, ask
from accord.builtin.llm.prompt_content import readable
from accord.builtin.llm.token_usage import Accounts
from accord.builtin.models.model_loader import LoadedModel

COMPACT_AT: Final = 0.8
# A turn that takes more of the window than this is summarised with the rest.
TURN_SHARE_MAX: Final = 0.3
RESULT_CHARACTERS_KEPT: Final = 400
PROMPTS_KEPT: Final = 20
PROMPT_CHARACTERS_KEPT: Final = 500

WANTED: Final = """\
Write down everything that is needed to continue this conversation without its beginning: what the
user wants and decided, what was found out (with paths and names), what was changed in which files,
what was run and what came out, what is still open. Plain sentences and lists, no introduction. Do
not call tools.
"""
GO_ON: Final = "[Continue from there.]"
BEFORE: Final = "[The conversation so far was summarised because it had become too long:]\n\n"


class _Summary(Listener):
    """Shows the summary as it is written."""

    def __init__(self, compaction: Compaction) -> None:
        super().__init__()
        self._compaction = compaction

    async def hear(self, event: Event) -> None:
        await super().hear(event)
        match event:
            case PartStartEvent(part=TextPart(content=text)) if text:
                await self._compaction.write(text)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                await self._compaction.write(text)
            case _:
                pass


async def compact(
    turn: Turn, loaded: LoadedModel, history: History, turn_start: int, accounts: Accounts
) -> int:
    """Shorten the history; return the new start of the turn in it."""
    past, present = history.messages[:turn_start], history.messages[turn_start:]
    room = loaded.context_window * TURN_SHARE_MAX
    whole = not past or estimated_tokens(present) > room
    told = [*past, *present] if whole else past
    async with turn.compaction() as compaction:
        try:
            summary = await _written(turn, loaded, told, compaction, accounts)
        except ModelFailed:
            summary = _by_rules(told)
            await compaction.write(summary)
        if whole:
            start = 0
            history.messages[:] = _in_the_middle(summary, present)
        else:
            start = 2
            history.messages[:] = [
                ModelRequest(parts=[UserPromptPart(content=BEFORE + summary)]),
                ModelResponse(parts=[TextPart(content="I will continue from there.")]),
                *(_uncounted(message) for message in present),
            ]
        await history.keep()
    accounts.used = estimated_tokens(history.messages)
    await accounts.tell()
    return start


async def _written(
    turn: Turn,
    loaded: LoadedModel,
    told: Sequence[ModelMessage],
    compaction: Compaction,
    accounts: Accounts,
) -> str:
    """Let the model write a summary; long results of tools are shortened first."""
    wanted = ModelRequest(parts=[UserPromptPart(content=WANTED)])
    question = Question(
        [*(_shortened(message) for message in readable(told, loaded.choice)), wanted],
        ModelRequestParameters(instruction_parts=[InstructionPart(content=WANTED)]),
        loaded.settings,
    )
    listener = _Summary(compaction)
    response = await ask(turn, loaded, question, listener, RetryPolicy(tries=2))
    await accounts.count(response, aside=True)
    return listener.said or _by_rules(told)


def _shortened(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    parts = [
        ToolReturnPart(part.tool_name, _short(part), part.tool_call_id, outcome=part.outcome)
        if isinstance(part, ToolReturnPart)
        else part
        for part in message.parts
    ]
    return ModelRequest(parts=parts)


def _short(part: ToolReturnPart) -> str:
    text = part.model_response_str()
    if len(text) <= RESULT_CHARACTERS_KEPT:
        return text
    return text[:RESULT_CHARACTERS_KEPT] + f" [… {len(text) - RESULT_CHARACTERS_KEPT:,} more]"


def _by_rules(told: Sequence[ModelMessage]) -> str:
    """What the user asked for, newest last, and the last thing that was said."""
    prompts: list[str] = []
    said = ""
    for message in told:
        for part in message.parts:
            if isinstance(part, UserPromptPart) and isinstance(part.content, str):
                prompts.append(part.content[:PROMPT_CHARACTERS_KEPT])
            elif isinstance(part, TextPart):
                said = part.content
    lines = "\n".join(f"- {prompt}" for prompt in prompts[-PROMPTS_KEPT:])
    return f"The user asked, in this order:\n{lines}\n\nThe last answer was:\n{said[:2000]}"


def _in_the_middle(summary: str, present: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The user's own words of this turn, and what was done until now as a summary."""
    asked = [
        part
        for message in present
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    return [
        ModelRequest(parts=list(asked)),
        ModelResponse(parts=[TextPart(content=BEFORE + summary)]),
        ModelRequest(parts=[UserPromptPart(content=GO_ON)]),
    ]


def _uncounted(message: ModelMessage) -> ModelMessage:
    """The message without the token count of the longer history."""
    if isinstance(message, ModelResponse):
        return replace(message, usage=RequestUsage())
    return message
