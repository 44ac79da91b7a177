"""The loop: ask, show, call tools, ask again, until the model is done or a limit is reached.

What always holds
    * The history is stored after every step, so a killed process loses at most the step.
    * When it is cut short, what the user has seen is in the history.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters

from accord.agent.session.options_and_commands import OptionValue
from accord.agent.turn import Turn
from accord.builtin.llm.answer_stream import Listener, Speaker
from accord.builtin.llm.compaction import COMPACT_AT, compact
from accord.builtin.llm.errors import ModelFailed
from accord.builtin.llm.instructions import instructions
from accord.builtin.llm.message_history import History
from accord.builtin.llm.model_request import Question, RetryPolicy, ask
from accord.builtin.llm.offered_tools import Offered, offered_tools
from accord.builtin.llm.prompt_content import readable, user_content
from accord.builtin.llm.token_usage import Accounts
from accord.builtin.llm.tool_calls import Caller
from accord.builtin.models.model_loader import LoadedModel
from accord.builtin.tools.toolbox import Toolbox

# Where the user set no limit of their own.
REQUESTS_MAX: Final = 200
TASK_REQUESTS_MAX: Final = 20
# Below this many tokens a model that thinks would have none left to answer.
THINKING_TOKENS_MIN: Final = 4_000

_LEVELS: Final[Mapping[str, Any]] = {
    "off": False,
    "low": "low",
    "medium": "medium",
    "high": "high",
}


@dataclass(frozen=True)
class Bounds:
    """Limits of a turn, from the session's options."""

    requests: int = REQUESTS_MAX
    tokens: int | None = None
    thinking: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, OptionValue]) -> Bounds:
        """Read the options; a value that is not a number means no limit."""
        requests, tokens = options.get("request_limit"), options.get("token_limit")
        thinking = options.get("thinking")
        return cls(
            _number(requests) or REQUESTS_MAX,
            _number(tokens),
            thinking if isinstance(thinking, str) else None,
        )


def _number(value: object) -> int | None:
    return int(value) if isinstance(value, str) and value.isdecimal() and int(value) else None


class Run:
    """Answers the prompt of one turn with a model."""

    def __init__(
        self,
        turn: Turn,
        tools: Toolbox,
        loaded: LoadedModel,
        history: History,
        accounts: Accounts,
        retry: RetryPolicy,
    ) -> None:
        self._turn = turn
        self._tools = tools
        self._loaded = loaded
        self._history = history
        self._accounts = accounts
        self._retry = retry
        self._bounds = Bounds.of(turn.options)
        self._turn_start = len(history.messages)

    @classmethod
    async def open(cls, turn: Turn, tools: Toolbox, loaded: LoadedModel, retry: RetryPolicy) -> Run:
        """Start a run with the session's stored history."""
        history = await History.open(turn.session)
        if history.is_damaged:
            await turn.notice("warning", "The model's history of this session could not be read.")
        accounts = await Accounts.open(turn, loaded)
        return cls(turn, tools, loaded, history, accounts, retry)

    async def answer(self) -> str | None:
        """Answer the turn's prompt; return the stop reason."""
        self._history.add_prompt(user_content(self._turn.prompt, self._loaded.choice))
        await self._history.keep()
        self._tools.run_task = self._task
        told = await instructions(self._tools)
        try:
            return await self._steps(told)
        except ModelFailed as problem:
            if problem.failure.kind == "request_rejected" and self._is_first_step():
                self._history.take_back_prompt()
                await self._history.keep()
            raise problem.as_answer() from None

    def _is_first_step(self) -> bool:
        return len(self._history.messages) == self._turn_start + 1

    # ---- steps

    async def _steps(self, told: list[InstructionPart]) -> str | None:
        overflowed = False
        while True:
            if self._accounts.requests >= self._bounds.requests:
                return "max_turn_requests"
            if self._bounds.tokens is not None and self._accounts.written >= self._bounds.tokens:
                return "max_tokens"
            if self._accounts.fill(self._history.messages) >= COMPACT_AT:
                await self._compact()
            try:
                response, speaker, offered = await self._step(told)
            except ModelFailed as problem:
                if problem.failure.kind != "context_overflow" or overflowed:
                    raise
                # The window is smaller than expected.
                overflowed = True
                await self._compact()
                continue
            calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
            if not calls:
                return _stop_reason(response)
            await self._call_tools(calls, speaker, offered)

    async def _step(
        self, told: list[InstructionPart]
    ) -> tuple[ModelResponse, Speaker, dict[str, Offered]]:
        offered = offered_tools(self._tools)
        speaker = Speaker(self._turn, offered)
        question = self._question(self._history.messages, told, offered)
        try:
            response = await ask(self._turn, self._loaded, question, speaker, self._retry)
        except BaseException:
            # Cancelled or failed: keep what the user has seen.
            self._history.add_partial(speaker.said)
            await self._history.keep()
            raise
        self._history.add(response)
        await self._history.keep()
        await self._accounts.count(response)
        return response, speaker, offered

    async def _call_tools(
        self, calls: list[ToolCallPart], speaker: Speaker, offered: dict[str, Offered]
    ) -> None:
        """Call the tools one by one, so that the user decides about one at a time."""
        caller = Caller(self._tools, offered, self._loaded.choice)
        results: list[ToolReturnPart] = []
        try:
            for call in calls:
                card = speaker.card(call.tool_call_id)
                # Earlier results must be kept if a later call is cut short.
                results.append(await caller.call(call, card))
        finally:
            self._history.add_results(calls, results)
            await self._history.keep()

    async def _compact(self) -> None:
        self._turn_start = await compact(
            self._turn, self._loaded, self._history, self._turn_start, self._accounts
        )

    def _question(
        self,
        messages: list[ModelMessage],
        told: list[InstructionPart],
        offered: Mapping[str, Offered],
    ) -> Question:
        definitions = [tool.definition() for tool in offered.values()]
        parameters = ModelRequestParameters(
            function_tools=definitions, allow_text_output=True, instruction_parts=told
        )
        told_before = readable(messages, self._loaded.choice)
        return Question(told_before, parameters, self._settings())

    def _settings(self) -> dict[str, Any]:
        settings = dict(self._loaded.settings)
        thinking = _LEVELS.get(self._bounds.thinking or "")
        if self._bounds.tokens is not None:
            left = max(1, self._bounds.tokens - self._accounts.written)
            settings["max_tokens"] = min(left, settings.get("max_tokens", left))
            thinking = False if thinking and left < THINKING_TOKENS_MIN else thinking
        if thinking is not None:
            settings["thinking"] = thinking
        return settings

    # ---- subtasks

    async def _task(self, prompt: str, tools: Toolbox) -> str:
        """Answer a question in a second run with read-only tools."""
        told = await instructions(tools, for_task=True)
        messages: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(content=prompt)])]
        for _ in range(TASK_REQUESTS_MAX):
            if self._accounts.requests >= self._bounds.requests:
                break
            offered = offered_tools(tools, looking_only=True)
            listener = Listener()
            question = self._question(messages, told, offered)
            response = await ask(self._turn, self._loaded, question, listener, self._retry)
            await self._accounts.count(response, aside=True)
            messages.append(response)
            calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
            if not calls:
                return listener.said or "The subtask gave no answer."
            caller = Caller(tools, offered, self._loaded.choice)
            results = [await caller.call(call, None) for call in calls]
            messages.append(ModelRequest(parts=list(results)))
        return "The subtask did not finish; ask something smaller."


def _stop_reason(response: ModelResponse) -> str | None:
    if response.finish_reason == "length":
        return "max_tokens"
    return "refusal" if response.finish_reason == "content_filter" else None
