"""The model's message history of a session, stored beside the session's log.

What always holds
    * Every tool call that a model made has a result before the model is asked again.
    * A stored history is loaded whole, or dropped whole with a notice.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)

from accord.agent.session.agent_session import AgentSession

KEPT_AS = "model_history"
CUT_SHORT = "This call was interrupted; it is unknown how far it got."
CHARACTERS_PER_TOKEN = 4
PICTURE_TOKENS = 1_500


class History:
    """The messages of one session."""

    def __init__(self, session: AgentSession, messages: list[ModelMessage] | None = None) -> None:
        self._session = session
        self.messages: list[ModelMessage] = messages or []
        # Stored bytes that could not be read.
        self.is_damaged = False

    @classmethod
    async def open(cls, session: AgentSession) -> History:
        """Load the stored history, with every tool call answered."""
        kept = await session.kept(KEPT_AS)
        history = cls(session)
        if kept:
            try:
                history.messages = list(ModelMessagesTypeAdapter.validate_json(kept))
            except ValueError:
                history.is_damaged = True
        history.mend()
        return history

    async def keep(self) -> None:
        """Store the history; shielded, because it must contain what the user has seen."""
        with anyio.CancelScope(shield=True):
            await self._session.keep(KEPT_AS, ModelMessagesTypeAdapter.dump_json(self.messages))

    def add_prompt(self, content: Sequence[UserContent]) -> None:
        """Add a prompt of the user."""
        one = content[0] if len(content) == 1 and isinstance(content[0], str) else list(content)
        self.messages.append(ModelRequest(parts=[UserPromptPart(content=one)]))

    def add(self, message: ModelMessage) -> None:
        """Add an answer of the model or results of tools."""
        self.messages.append(message)

    def add_partial(self, text: str) -> None:
        """What a model said before it was stopped.  Its unfinished tool calls never happened."""
        if text:
            self.messages.append(ModelResponse(parts=[TextPart(content=text)]))

    def mend(self) -> None:
        """Answer the tool calls of the last message, if they were not."""
        if self.messages:
            last = self.messages[-1]
            if isinstance(last, ModelResponse):
                calls = [part for part in last.parts if isinstance(part, ToolCallPart)]
                self.add_results(calls, [])

    def add_results(self, calls: Sequence[ToolCallPart], results: Sequence[ToolReturnPart]) -> None:
        """Add results of tools; calls without one get a placeholder."""
        answered = {result.tool_call_id for result in results}
        parts: list[ModelRequestPart] = list(results)
        parts.extend(
            ToolReturnPart(call.tool_name, CUT_SHORT, call.tool_call_id, outcome="interrupted")
            for call in calls
            if call.tool_call_id not in answered
        )
        if parts:
            self.messages.append(ModelRequest(parts=parts))

    def take_back_prompt(self) -> None:
        """Forget the prompt that was just added, since no request with it can succeed."""
        if self.messages and isinstance(self.messages[-1], ModelRequest):
            self.messages.pop()


def occupied_tokens(messages: Sequence[ModelMessage]) -> int:
    """Tokens of the messages: the model's last count plus an estimate of what came since."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, ModelResponse) and message.usage.input_tokens:
            counted = message.usage.input_tokens + message.usage.output_tokens
            return counted + estimated_tokens(messages[index + 1 :])
    return estimated_tokens(messages)


def estimated_tokens(messages: Sequence[ModelMessage]) -> int:
    """An estimate of the tokens of the messages."""
    return sum(_tokens(part) for message in messages for part in message.parts)


def _tokens(part: ModelRequestPart | ModelResponsePart) -> int:
    match part:
        case ToolCallPart():
            return len(part.args_as_json_str()) // CHARACTERS_PER_TOKEN
        case ToolReturnPart():
            return len(part.model_response_str()) // CHARACTERS_PER_TOKEN
        case UserPromptPart(content=list() as pieces):
            return sum(
                len(piece) // CHARACTERS_PER_TOKEN if isinstance(piece, str) else PICTURE_TOKENS
                for piece in pieces
            )
        case _:
            content = getattr(part, "content", "")
            return len(content) // CHARACTERS_PER_TOKEN if isinstance(content, str) else 0
