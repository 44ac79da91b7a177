"""The smallest agent on the official Python SDK: what its start and its memory cost."""

import asyncio
from typing import Any
from uuid import uuid4

from acp import (
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    run_agent,
    update_agent_message_text,
)


class EchoAgent:
    """Says what it was told."""

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id=uuid4().hex)

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        for block in prompt:
            await self._client.session_update(session_id, update_agent_message_text(block.text))
        return PromptResponse(stop_reason="end_turn")


asyncio.run(run_agent(EchoAgent()))
