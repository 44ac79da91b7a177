"""What a v1 agent says in a turn, for tests of what a draft client hears."""

from typing import Any

from accord.translate.message import AGENT
from tests.translate.draft.open_sessions import Before

TEXT = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hm"}}
OPTIONS = [
    {"optionId": "yes", "kind": "allow_once", "name": "Yes"},
    {"optionId": "ever", "kind": "allow_always", "name": "Ever"},
    {"optionId": "no", "kind": "reject_once", "name": "No"},
]


def tool_call(status: str | None = None, **more: Any) -> Any:
    """A tool call of a v1 agent."""
    base = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Dig", "kind": "edit", **more}
    return base if status is None else {**base, "status": status}


def call_change(status: str | None = None, **more: Any) -> Any:
    """A change of it."""
    base = {"sessionUpdate": "tool_call_update", "toolCallId": "c", **more}
    return base if status is None else {**base, "status": status}


def ask_permission(scene: Before, **call: Any) -> int:
    """A question of it; its key."""
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c", **call}, "options": OPTIONS}
    return scene.wire.ask(AGENT, "session/request_permission", params)
