"""What a ready-made proxy knows of its conversation: the version, the sessions, how to speak up.

Must not know what any of the proxies is for.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Final

from accord.errors import RequestError
from accord.jsonrpc.codes import INTERNAL_ERROR
from accord.machine.redaction import Redactor
from accord.protocol.negotiation import Chosen, judge_answer
from accord.proxy.message import Message, Response
from accord.proxy.proxy import Proxy

OPENING: Final = ("session/new", "session/load", "session/resume", "session/fork")
"""The requests by which a client comes to a session, with the folder that it works in."""
NOT_THE_DRAFT: Final = (
    "this proxy does not speak the 2026-02 draft; put `accord translate` between it and the agent"
)
SESSIONS_MAX: Final = 4096
"""Sessions that are remembered; the oldest are forgotten first."""


@dataclass(slots=True)
class Agreed:
    """Filled from what passes; `watch` makes a proxy tell it."""

    version: int = 1
    takes_resources: bool = False
    folders: dict[str, str] = field(default_factory=dict)
    # What is said to the user may quote the agent.
    redactor: Redactor | None = None

    def watch(self, proxy: Proxy) -> None:
        """Learn from the messages of this proxy."""
        proxy.on_response("initialize")(self._initialized)
        for method in OPENING:
            proxy.on_response(method, of="client")(self._opened)

    def _initialized(self, response: Response) -> None:
        result = response.result
        if not isinstance(result, dict):
            return
        chosen = judge_answer(result, (1, 2))
        if isinstance(chosen, Chosen) and chosen.dialect == "draft":
            # Watching words that it does not know, it would let pass what it is there to stop.
            raise RequestError(INTERNAL_ERROR, NOT_THE_DRAFT)
        if "agentCapabilities" in result or "capabilities" not in result:
            self.version = 1
            found = _at(result, "agentCapabilities", "promptCapabilities", "embeddedContext")
            self.takes_resources = found is True
        else:
            self.version = 2
            found = _at(result, "capabilities", "session", "prompt", "embeddedContext")
            self.takes_resources = isinstance(found, dict)

    def _opened(self, response: Response) -> None:
        asked, result = response.request.params, response.result
        given = result.get("sessionId") if isinstance(result, dict) else None
        session_id = given if given is not None else asked.get("sessionId")
        cwd = asked.get("cwd")
        if isinstance(session_id, str) and isinstance(cwd, str):
            self.folders.pop(session_id, None)
            self.folders[session_id] = cwd
            if len(self.folders) > SESSIONS_MAX:
                del self.folders[next(iter(self.folders))]

    def say(self, message: Message, session_id: str, text: str) -> None:
        """Say something to the user in a session, as its agent does."""
        if self.redactor is not None:
            text = self.redactor.text(text)
        block = {"type": "text", "text": text}
        update: dict[str, Any]
        if self.version == 1:
            update = {"sessionUpdate": "agent_message_chunk", "content": block}
        else:
            update = {
                "sessionUpdate": "agent_message",
                "messageId": f"proxy-{os.urandom(8).hex()}",
                "content": [block],
            }
        message.client.notify("session/update", {"sessionId": session_id, "update": update})


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


__all__ = ["Agreed"]
