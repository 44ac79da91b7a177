"""What a built-in proxy knows of its conversation: the version, the sessions, and their folders.

Must not know what any of the proxies is for.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

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
"""The requests that open a session; they name the folder that it works in."""
CREATING: Final = ("session/new", "session/fork")
"""The requests whose answer names the session."""
NOT_THE_DRAFT: Final = (
    "this proxy cannot read the 2026-02 draft, and does not forward what it cannot read; a chain"
    " translates it: accord proxy ... -- AGENT"
)
NOT_AGREED: Final = (
    "this proxy forwards nothing before the client and the agent have agreed on version 1 or 2 of"
    " the protocol in initialize"
)
Json: TypeAlias = dict[str, Any]
RequestHandler: TypeAlias = Callable[[Message, Any], Awaitable[Any]]
SESSIONS_MAX: Final = 4096
"""The oldest sessions are forgotten first."""


class VersionForm(NamedTuple):
    """What the built-in proxies must know of one version of the protocol."""

    number: int
    # Whether the answer to `session/prompt` ends the turn, and tells the usage of the session.
    answer_ends_turn: bool
    # Whether a permission request names its tool call in `subject`.
    has_subject: bool
    # Where an agent says that it takes embedded resources, and the type of that value.
    resources_at: tuple[str, ...]
    resources_type: type
    message: Callable[[Json], Json]

    def takes_resources(self, result: Json) -> bool:
        """Whether the answer to `initialize` says that prompts may embed resources."""
        found: Any = result
        for key in self.resources_at:
            found = found.get(key) if isinstance(found, dict) else None
        return isinstance(found, self.resources_type) and found is not False


def _v1_message(block: Json) -> Json:
    return {"sessionUpdate": "agent_message_chunk", "content": block}


def _v2_message(block: Json) -> Json:
    message_id = f"proxy-{os.urandom(8).hex()}"
    return {"sessionUpdate": "agent_message", "messageId": message_id, "content": [block]}


_V2: Final = VersionForm(
    number=2,
    answer_ends_turn=False,
    has_subject=True,
    resources_at=("capabilities", "session", "prompt", "embeddedContext"),
    resources_type=dict,
    message=_v2_message,
)
_V1: Final = VersionForm(
    number=1,
    answer_ends_turn=True,
    has_subject=False,
    resources_at=("agentCapabilities", "promptCapabilities", "embeddedContext"),
    resources_type=bool,
    message=_v1_message,
)
_FORMS: Final = {"v1": _V1, "v2": _V2}


@dataclass(slots=True)
class ConversationState:
    """The state of one conversation, learned from its messages.

    Guards: a request that is not of version 1 or 2 is not forwarded.
    """

    is_agreed: bool = False
    # Meaningful once the two sides have agreed on a version.
    form: VersionForm = _V2
    takes_resources: bool = False
    folders: dict[str, str] = field(default_factory=dict)
    # All folders of a session; the first is the one that it works in.
    roots: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # For messages to the user, which may quote the agent.
    redactor: Redactor | None = None
    _answered: anyio.Event | None = None

    def watch(self, proxy: Proxy) -> None:
        """Learn from the messages of this proxy, and refuse requests that it cannot read."""
        proxy.on_request("initialize", of="client")(self._initialize)
        proxy.on_request(ANY, of="client")(self._asked)
        for method in OPENING:
            proxy.on_response(method, of="client")(self._opened)

    async def _initialize(self, message: Message, forward: Any) -> None:
        await self._wait()
        if self.is_agreed:
            # The two sides would speak another version from now on.
            raise RequestError(INVALID_REQUEST, "initialize was already answered")
        self._answered = anyio.Event()
        try:
            self._initialized(await forward(message))
        finally:
            self._answered.set()

    async def _asked(self, message: Message) -> None:
        await self._wait()
        self.check(message)

    async def _wait(self) -> None:
        """Hold requests back that a client sends before `initialize` is answered."""
        if self._answered is not None:
            await self._answered.wait()

    def check(self, message: Message) -> None:
        """Refuse a request that cannot be read.

        Raises:
            RequestError: the sides have not agreed on a version, or the sender speaks another one.
        """
        if not self.is_agreed:
            raise RequestError(INVALID_REQUEST, NOT_AGREED)
        if looks_like_draft(message.method, message.params):
            raise RequestError(INVALID_PARAMS, NOT_THE_DRAFT)

    def checked(self, handler: RequestHandler) -> RequestHandler:
        """Wrap a request handler so that it gets only requests that can be read."""

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
        form = _FORMS.get(chosen.dialect)
        if form is None:
            raise RequestError(INTERNAL_ERROR, NOT_THE_DRAFT)
        self.is_agreed, self.form = True, form
        self.takes_resources = form.takes_resources(result)

    def _opened(self, response: Response) -> None:
        asked, result = response.request.params, response.result
        if response.request.method in CREATING:
            session_id = result.get("sessionId") if isinstance(result, dict) else None
        else:
            # The client has named the session, whatever the answer says.
            session_id = asked.get("sessionId")
        cwd = asked.get("cwd")
        if isinstance(session_id, str) and isinstance(cwd, str):
            more = asked.get("additionalDirectories")
            others = [one for one in more if isinstance(one, str)] if isinstance(more, list) else []
            self._remember(session_id, (cwd, *others))

    def adopt(self, session_id: object, parent_id: str) -> None:
        """Give a child session, which the client did not open, the folders of its parent."""
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
        """Send a text to the user in a session, in the agent's name."""
        if self.redactor is not None:
            text = self.redactor.text(text)
        update = self.form.message({"type": "text", "text": text})
        message.client.notify(SESSION_UPDATE, {"sessionId": session_id, "update": update})
