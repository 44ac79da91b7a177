"""A model's answer as it streams in, shown as messages, thoughts and tool calls.

What always holds
    * A tool call is announced as soon as the model has named the tool.
    * `said` has every word that the user has seen, whatever happens to the answer.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_ai.messages import (
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
)

from accord.agent.session.message_stream import MessageStream
from accord.agent.tools.tool_call import ToolCallControl, ToolCallHandle
from accord.agent.turn import Turn, turn_state
from accord.builtin.llm.offered_tools import Offered


class Listener:
    """Collects an answer without showing it, for subtasks and summaries."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._tools = 0

    @property
    def said(self) -> str:
        """All text so far."""
        return "".join(self._texts)

    @property
    def has_heard(self) -> bool:
        """Whether the answer has begun, so that a retry would repeat it."""
        return bool(self._texts) or self._tools > 0

    async def hear(self, event: ModelResponseStreamEvent) -> None:
        """Take the next event of the stream."""
        match event:
            case PartStartEvent(part=TextPart(content=text)) if text:
                self._texts.append(text)
            case PartStartEvent(part=ToolCallPart()):
                self._tools += 1
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                self._texts.append(text)
            case _:
                pass

    async def abandon(self) -> None:
        """End announced tool calls after the answer was cut off."""

    def card(self, tool_call_id: str) -> ToolCallHandle | None:
        """The announced tool call with this id."""
        return None


class Speaker(Listener):
    """Shows the answer to the client as it comes."""

    def __init__(self, turn: Turn, offered: Mapping[str, Offered]) -> None:
        super().__init__()
        self._turn = turn
        self._offered = offered
        self._streams: dict[int, MessageStream] = {}
        self._cards: dict[str, ToolCallHandle] = {}
        self._thought = False

    @property
    def has_heard(self) -> bool:
        """Whether the answer has begun; thoughts count too."""
        return super().has_heard or self._thought

    async def hear(self, event: ModelResponseStreamEvent) -> None:
        """Show the next event of the stream."""
        await super().hear(event)
        match event:
            case PartStartEvent(index=index, part=TextPart(content=text)):
                self._streams[index] = self._turn.message()
                await self._write(index, text)
            case PartStartEvent(index=index, part=ThinkingPart(content=text)):
                self._streams[index] = self._turn.thought()
                await self._write(index, text, thought=True)
            case PartStartEvent(part=ToolCallPart() as call):
                await self._announce(call)
            case PartDeltaEvent(index=index, delta=TextPartDelta(content_delta=text)):
                await self._write(index, text)
            case PartDeltaEvent(index=index, delta=ThinkingPartDelta(content_delta=text)):
                await self._write(index, text or "", thought=True)
            case PartEndEvent(part=ToolCallPart() as call):
                await self._complete(call)
            case _:
                pass

    async def _write(self, index: int, text: str, *, thought: bool = False) -> None:
        stream = self._streams.get(index)
        if stream is not None and text:
            self._thought = self._thought or thought
            await stream.write(text)

    async def _announce(self, call: ToolCallPart) -> None:
        tool = self._offered.get(call.tool_name)
        if tool is not None and not tool.has_card:
            return
        kind = "other" if tool is None else tool.kind
        card = self._turn.tool_call(call.tool_name, kind=kind, name=call.tool_name)
        self._cards[call.tool_call_id] = card
        await card.announce()

    async def _complete(self, call: ToolCallPart) -> None:
        """Announce the call again, with its complete arguments."""
        card = self._cards.get(call.tool_call_id)
        if card is None or card.is_final:
            return
        tool = self._offered.get(call.tool_name)
        kind = "other" if tool is None else tool.kind
        turn_state(self._turn).forming = card
        self._turn.tool_call(
            call.tool_name, kind=kind, name=call.tool_name, raw_input=call.args_as_dict()
        )
        await card.announce()

    async def abandon(self) -> None:
        """Mark the announced calls as failed."""
        for card in self._cards.values():
            await ToolCallControl(card).settle("failed")
        self._cards.clear()

    def card(self, tool_call_id: str) -> ToolCallHandle | None:
        """The announced tool call with this id."""
        return self._cards.get(tool_call_id)
