"""What a ready-made proxy knows of its conversation: the version, the sessions, how to speak up.

Must not know what any of the proxies is for.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import anyio

from accord.errors import RequestError
from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST
from accord.machine.redaction.redactor import Redactor
from accord.protocol.negotiation import Refused, judge_answer, looks_like_draft
from accord.proxy.handler_registry import ANY
from accord.proxy.message import Message, Response
from accord.proxy.proxy import Proxy
from accord.schema.method import SESSION_UPDATE

OPENING: Final = ("session/new", "session/load", "session/resume", "session/fork")
"""The requests by which a client comes to a session, with the folder that it works in."""
MAKING: Final = ("session/new", "session/fork")
"""Those whose answer names the session."""
NOT_THE_DRAFT: Final = (
    "this proxy cannot read the 2026-02 draft and passes nothing on that it cannot read; a chain"
    " translates it: accord proxy ... -- AGENT"
)
NOT_AGREED: Final = (
    "this proxy passes nothing on before the client and the agent have agreed on version 1 or 2 of"
    " the protocol by initialize"
)
Handling: TypeAlias = Callable[[Message, Any], Awaitable[Any]]
SESSIONS_MAX: Final = 4096
"""Sessions that are remembered; the oldest are forgotten first."""


@dataclass(slots=True)
class Agreed:
    """Filled from what passes; `watch` makes a proxy tell it.

    Guards: what is not of version 1 or 2 is not passed on.
    """

    # 0 until the two sides have agreed on one.
    version: int = 0
    takes_resources: bool = False
    folders: dict[str, str] = field(default_factory=dict)
    # All folders of a session, the one that it works in first.
    roots: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # What is said to the user may quote the agent.
    redactor: Redactor | None = None
    _answered: anyio.Event | None = None

    def watch(self, proxy: Proxy) -> None:
        """Learn from the messages of this proxy, and refuse what it cannot read."""
        proxy.on_request("initialize", of="client")(self._initialize)
        proxy.on_request(ANY, of="client")(self._asked)
        for method in OPENING:
            proxy.on_response(method, of="client")(self._opened)

    async def _initialize(self, message: Message, forward: Any) -> None:
        await self._wait()
        if self.version:
            # The two would speak otherwise from here on.
            raise RequestError(INVALID_REQUEST, "initialize has been answered already")
        self._answered = anyio.Event()
        try:
            self._initialized(await forward(message))
        finally:
            self._answered.set()

    async def _asked(self, message: Message) -> None:
        await self._wait()
        self.check(message)

    async def _wait(self) -> None:
        """Clients may say more before `initialize` is answered; it waits for that."""
        if self._answered is not None:
            await self._answered.wait()

    def check(self, message: Message) -> None:
        """Refuse a request that cannot be read.

        Raises:
            RequestError: no version is agreed on, or the sender speaks another one after all.
        """
        if not self.version:
            raise RequestError(INVALID_REQUEST, NOT_AGREED)
        if looks_like_draft(message.method, message.params):
            raise RequestError(INVALID_PARAMS, NOT_THE_DRAFT)

    def checked(self, handler: Handling) -> Handling:
        """The same handler of a request, for what can be read alone."""

        async def check(message: Message, forward: Any) -> Any:
            if message.sender == "client":
                await self._wait()
            self.check(message)
            return await handler(message, forward)

        return check

    def _initialized(self, result: Any) -> None:
        if not isinstance(result, dict):
            raise RequestError(INTERNAL_ERROR, "the agent's answer to initialize cannot be read")
        chosen = judge_answer(result, (1, 2))
        if isinstance(chosen, Refused):
            raise RequestError(chosen.code, chosen.message, dict(chosen.data or {}))
        if chosen.dialect == "draft":
            raise RequestError(INTERNAL_ERROR, NOT_THE_DRAFT)
        self.version = chosen.version
        if self.version == 1:
            found = _at(result, "agentCapabilities", "promptCapabilities", "embeddedContext")
            self.takes_resources = found is True
        else:
            found = _at(result, "capabilities", "session", "prompt", "embeddedContext")
            self.takes_resources = isinstance(found, dict)

    def _opened(self, response: Response) -> None:
        asked, result = response.request.params, response.result
        if response.request.method in MAKING:
            session_id = result.get("sessionId") if isinstance(result, dict) else None
        else:
            # Whatever the answer names: the client has named the session.
            session_id = asked.get("sessionId")
        cwd = asked.get("cwd")
        if isinstance(session_id, str) and isinstance(cwd, str):
            more = asked.get("additionalDirectories")
            others = [one for one in more if isinstance(one, str)] if isinstance(more, list) else []
            self._remember(session_id, (cwd, *others))

    def adopt(self, session_id: object, parent_id: str) -> None:
        """A child session that nobody opened works where its parent does."""
        is_new = isinstance(session_id, str) and session_id not in self.folders
        if is_new and parent_id in self.folders:
            self._remember(str(session_id), self.roots[parent_id])

    def _remember(self, session_id: str, roots: tuple[str, ...]) -> None:
        self.folders.pop(session_id, None)
        self.folders[session_id], self.roots[session_id] = roots[0], roots
        if len(self.folders) > SESSIONS_MAX:
            oldest = next(iter(self.folders))
            del self.folders[oldest], self.roots[oldest]

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
        message.client.notify(SESSION_UPDATE, {"sessionId": session_id, "update": update})


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


__all__ = ["Agreed"]
