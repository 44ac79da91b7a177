"""The agent that the kit plays for a client, in v1, v2 or the draft.

Must not know: any rule.  Whatever the client asks that a check does not handle itself is answered
as an agent would that has everything it offered.

What always holds: every wait has a bound.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

from accord.conformance.frames.raw_peer import Frame, Message, NotReady, RawPeer, Reply, Unanswered
from accord.conformance.rule_definition import Version
from accord.conformance.time_limits import AFTER_TURN_SECONDS

SESSION = "kit-1"
# Requests of the client that the checks answer themselves.
MANUAL = frozenset(
    {"initialize", "session/new", "session/load", "session/resume", "session/prompt"}
)
MODES = ("ask", "code")
# The number that each version goes by in `initialize`; the 2026-02 draft calls itself 1 too.
NUMBERS: dict[Version, int] = {"1": 1, "2": 2, "draft": 1}
# In `initialize`: the keys of an agent's capabilities, and of its name and version.
OFFERED_AS: dict[Version, tuple[str, str]] = {
    "1": ("agentCapabilities", "agentInfo"),
    "2": ("capabilities", "info"),
    "draft": ("capabilities", "agentInfo"),
}
# The capabilities that every usable agent must offer.
BASELINE: dict[Version, Message] = {"1": {}, "2": {"session": {}}, "draft": {}}
CREATED = "2026-02-04T12:00:00Z"


@dataclass(frozen=True, slots=True)
class Offer:
    """The content of the kit's answer to `initialize`."""

    capabilities: Any = field(default_factory=dict)
    auth_methods: Any = None
    protocol_version: int | None = None
    info: Any = field(default_factory=lambda: {"name": "accord-check", "version": "1"})
    # Members beside those of the protocol.
    more: Message = field(default_factory=dict)

    def answer(self, version: Version) -> Message:
        """Return the result of `initialize`."""
        capabilities, info = OFFERED_AS[version]
        made: Message = {"protocolVersion": self.protocol_version or NUMBERS[version]}
        made |= {capabilities: self.capabilities, info: self.info}
        if self.auth_methods is not None:
            made["authMethods"] = self.auth_methods
        return made | self.more


@dataclass(slots=True)
class Conversation:
    """One connection of the client; `version` is the kit's answer.

    The words are those of version 1; other versions have conversations of their own.
    """

    peer: RawPeer
    version: Version
    manual: frozenset[str] = MANUAL
    hello: Message = field(default_factory=dict)
    # Where the client's `initialize` has its capabilities.
    capabilities: str = "clientCapabilities"
    # The session of the kit's updates and requests.
    session_id: str = SESSION
    _seen: int = 0
    _calls: int = 0
    _turns: int = 0

    def __post_init__(self) -> None:
        for method, result in _ANSWERS.items():
            self.peer.responders[method] = _responder(result)
        for method in self.manual:
            self.peer.responders[method] = _responder(None)

    # What the client asks.

    async def request(self, *methods: str, timeout: float | None = None) -> Frame:
        """Return the next request with one of these methods, in the order of arrival.

        Raises:
            Unanswered: none came in time, or the client is gone.
        """
        frame = await self.peer.expect(
            lambda frame: frame.is_request and frame.method in methods,
            " or ".join(methods),
            since=self._seen,
            timeout=timeout,
        )
        self._seen = self.peer.frames.index(frame) + 1
        return frame

    async def reach(self, *methods: str, timeout: float | None = None) -> Frame:
        """Return the next request with one of these methods; earlier ones succeed.

        Raises:
            NotReady: none came in time, or the client is gone: it does not do what it should show.
        """
        on_the_way = [name for name in ("session/new", "session/prompt") if name not in methods]
        while True:
            try:
                frame = await self.request(*methods, *on_the_way, timeout=timeout)
            except Unanswered as error:
                raise NotReady(str(error)) from None
            if frame.method in methods:
                return frame
            if frame.method == "session/new":
                await self.reply(frame, {"sessionId": SESSION} | modes(self.version))
            else:
                await self.take(frame)

    async def take(self, prompt: Frame) -> None:
        """Answer a prompt with an empty turn."""
        await self.reply(prompt, {"stopReason": "end_turn"})

    async def rest(self) -> None:
        """Let the client finish its work, which monitors judge."""
        try:
            await self.reach(timeout=AFTER_TURN_SECONDS)
        except NotReady:
            pass

    async def notification(self, method: str, *, timeout: float | None = None) -> Frame:
        """Wait for the first notification of this method.

        Raises:
            Unanswered: none came in time, or the client is gone.
        """
        return await self.peer.expect(
            lambda frame: frame.is_notification and frame.method == method, method, timeout=timeout
        )

    async def reply(self, frame: Frame, result: Any) -> None:
        """Answer a request of the client."""
        await self.peer.send({"jsonrpc": "2.0", "id": frame.object.get("id"), "result": result})

    async def refuse(self, frame: Frame, code: int, message: str, data: Any = None) -> None:
        """Answer a request of the client with an error."""
        error: Message = {"code": code, "message": message}
        body = error if data is None else error | {"data": data}
        await self.peer.send({"jsonrpc": "2.0", "id": frame.object.get("id"), "error": body})

    # A session from its beginning to the end of a turn.

    async def initialize(self, offer: Offer) -> Frame:
        """Wait for `initialize` and answer it."""
        frame = await self.request("initialize")
        self.hello = frame.params
        await self.reply(frame, offer.answer(self.version))
        return frame

    async def session(self, **fields: Any) -> Frame:
        """Wait for the request that opens a session, and open it as `kit-1`."""
        frame = await self.request("session/new", "session/load", "session/resume")
        await self.reply(frame, self.opened_by(frame) | fields)
        return frame

    def opened_by(self, frame: Frame) -> Message:
        """Return the members of the answer about the opened session."""
        return {"sessionId": SESSION} if frame.method == "session/new" else {}

    async def prompt(self) -> Frame:
        """Wait for a prompt, and begin its turn."""
        frame = await self.request("session/prompt")
        await self.insert(frame)
        return frame

    async def insert(self, prompt: Frame) -> None:
        """Report that a prompt was inserted, if the version has that."""

    async def end_turn(self, prompt: Frame, reason: str = "end_turn") -> None:
        """End the turn of this prompt, and read what the client does then."""
        await self.finish(prompt, reason)
        with anyio.move_on_after(AFTER_TURN_SECONDS):
            await self.peer.settled()
            await self.peer.quiet()

    async def finish(self, prompt: Frame, reason: str) -> None:
        """Report the end of the turn of this prompt."""
        await self.reply(prompt, {"stopReason": reason})

    # What the kit says.

    async def update(self, kind: str, /, **fields: Any) -> None:
        update = {"sessionUpdate": kind, **fields}
        await self.peer.notify("session/update", {"sessionId": self.session_id, "update": update})

    async def say(self, text: str, message: str = "m1") -> None:
        """Send a chunk of a message."""
        content = {"type": "text", "text": text}
        await self.update("agent_message_chunk", messageId=message, content=content)

    async def call(self, method: str, timeout: float | None = None, **params: Any) -> Message:
        """Send the client a request about the session, and return its whole answer.

        Raises:
            Unanswered: none came in time, or the client is gone.
        """
        return await self.peer.answer_to(await self.ask(method, **params), timeout=timeout)

    async def ask(self, method: str, **params: Any) -> Any:
        """Send a request without waiting, and return its id."""
        return await self.peer.ask(method, {"sessionId": self.session_id, **params})

    def permission(self, call: str = "call-1", **fields: Any) -> Message:
        """Return the params of a permission request, except the session."""
        options = [
            {"optionId": "kit-yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "kit-no", "name": "Reject", "kind": "reject_once"},
        ]
        tool = {"toolCallId": call, "title": "Look around", "kind": "read"}
        return {**self.about(tool), "options": options, **fields}

    def about(self, tool: Message) -> Message:
        """Return the members of a permission request that name its call."""
        return {"toolCall": tool}

    async def alive(self, seconds: float | None = None) -> bool:
        """Whether the client still answers requests."""
        self._calls += 1
        answer = await self.peer.call("_accord.dev/alive", {"n": self._calls}, timeout=seconds)
        return "result" in answer or "error" in answer

    def can(self, *names: str) -> bool:
        """Whether the client advertised this capability."""
        value = self.offered(*names)
        return isinstance(value, dict) or value is True

    def offered(self, *names: str) -> Any:
        """Return the value at this path of the client's capabilities."""
        value: Any = self.hello.get(self.capabilities)
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return value


@dataclass(slots=True)
class ConversationV2(Conversation):
    """A connection of version 2: prompts are inserted, and states report the turn."""

    capabilities: str = "capabilities"

    async def take(self, prompt: Frame) -> None:
        await self.reply(prompt, {"messageId": "user-0"})
        await self.update("state_update", state="idle", stopReason="end_turn")

    async def insert(self, prompt: Frame) -> None:
        self._turns += 1
        name = f"user-{self._turns}"
        await self.reply(prompt, {"messageId": name})
        await self.update("user_message", messageId=name, content=prompt.params.get("prompt"))
        await self.update("state_update", state="running")

    async def finish(self, prompt: Frame, reason: str) -> None:
        await self.update("state_update", state="idle", stopReason=reason)

    def about(self, tool: Message) -> Message:
        return {"title": "May I?", "subject": {"type": "tool_call", "toolCall": tool}}

    def can(self, *names: str) -> bool:
        return isinstance(self.offered(*names), dict)


@dataclass(slots=True)
class DraftConversation(Conversation):
    """A connection of the 2026-02 draft."""

    capabilities: str = "capabilities"

    def opened_by(self, frame: Frame) -> Message:
        if frame.method != "session/load":
            return Conversation.opened_by(self, frame)
        name: Message = {"workingDirectory": "/", "mode": MODES[0], "messageCount": 0}
        return name | {"sessionId": SESSION, "configOptions": {}}

    async def update(self, kind: str, /, **fields: Any) -> None:
        params = {"sessionId": self.session_id, "type": kind, "data": fields}
        await self.peer.notify("session/update", params)

    async def say(self, text: str, message: str = "m1") -> None:
        await self.update("agent_message_chunk", content=text)


CONVERSATIONS: dict[Version, type[Conversation]] = {
    "1": Conversation,
    "2": ConversationV2,
    "draft": DraftConversation,
}


def responses(frames: list[Frame], request_id: Any) -> list[Frame]:
    """Return all responses of the client to one request."""
    return [
        frame
        for frame in frames
        if not frame.sent
        and frame.is_response
        and type(frame.object.get("id")) is type(request_id)
        and frame.object.get("id") == request_id
    ]


def error_code(answer: Message) -> int | None:
    """Return the code of an error; None for a result."""
    error = answer.get("error")
    return error.get("code") if isinstance(error, dict) else None


def _modes(names: Sequence[str]) -> Message:
    available = [{"id": mode, "name": mode.title()} for mode in names]
    return {"modes": {"currentModeId": names[0], "availableModes": available}}


def _options(names: Sequence[str]) -> Message:
    option = {
        "configId": "mode",
        "name": "Mode",
        "category": "mode",
        "type": "select",
        "currentValue": names[0],
        "options": [{"value": mode, "name": mode.title()} for mode in names],
    }
    return {"configOptions": [option]}


def _birthday(_names: Sequence[str]) -> Message:
    return {"createdAt": CREATED}


# Members of a new session: modes; in version 2 an option; in the draft its creation time.
_COMES_WITH: dict[Version, Callable[[Sequence[str]], Message]] = {
    "1": _modes,
    "2": _options,
    "draft": _birthday,
}


def modes(version: Version, names: Sequence[str] = MODES) -> Message:
    """Return the members of a session with these modes; the draft has them in `initialize`."""
    return _COMES_WITH[version](names)


# The answers of an agent that has the method.
_ANSWERS: dict[str, Message | Literal["options"]] = {
    "authenticate": {},
    "auth/login": {},
    "logout": {},
    "auth/logout": {},
    "session/list": {"sessions": []},
    "session/close": {},
    "session/delete": {},
    "session/set_mode": {},
    "providers/set": {},
    "providers/disable": {},
    "session/set_config_option": "options",
}


def always(result: Message) -> Callable[[Message], Awaitable[Reply | None]]:
    """Give every request the same answer."""

    async def respond(params: Message) -> Reply | None:
        return Reply(result)

    return respond


def _responder(result: Message | Literal["options"] | None) -> Any:
    async def respond(params: Message) -> Reply | None:
        if result is None:
            return None
        if result == "options":
            option: Message = modes("2")["configOptions"][0] | {"id": params.get("configId")}
            return Reply({"configOptions": [option | {"currentValue": params.get("value")}]})
        return Reply(result)

    return respond
