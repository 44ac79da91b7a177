"""A v1 agent's words in tests: chunks, tool calls, permissions."""

from typing import Any

from accord.translate.message import AGENT
from tests.translate.v1_agent.scripted_peers import Stage

ALLOW = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
REJECT = {"optionId": "no", "name": "No", "kind": "reject_once"}
SELECTED = {"outcome": "selected", "optionId": "yes"}


def chunk(text: str, kind: str = "agent_message_chunk", **more: Any) -> dict[str, Any]:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **more}


def tool(said: str = "tool_call", /, **more: Any) -> dict[str, Any]:
    return {"sessionUpdate": said, "toolCallId": "t1", **more}


def permission(stage: Stage, **more: Any) -> int:
    params = {"sessionId": "s1", "toolCall": {"toolCallId": "t1"}, "options": [ALLOW, REJECT]}
    return stage.ask("session/request_permission", {**params, **more}, AGENT)
