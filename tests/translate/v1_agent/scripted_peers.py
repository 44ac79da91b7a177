"""A v2 client and a v1 agent around the adapter, played by the test.

Everything that the adapter says is checked to the letter by the version it is said in, and every
request must be answered exactly once.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from accord.jsonrpc.error_codes import INTERNAL_ERROR
from accord.schema.codec import conform, decode, encode
from accord.schema.invalid import Invalid
from accord.schema.method import Method
from accord.schema.v1 import methods as v1_methods
from accord.schema.v2 import methods as v2_methods
from accord.translate.message import (
    AGENT,
    CLIENT,
    HOST,
    Approvals,
    Failure,
    Json,
    Key,
    Message,
    NothingAllowed,
    Notification,
    Request,
    Result,
    Side,
)
from accord.translate.v1_agent import V1Agent
from tests.translate.surroundings import Around

V1 = {"agent": v1_methods.AGENT_METHODS, "client": v1_methods.CLIENT_METHODS}
V2 = {"agent": v2_methods.AGENT_METHODS, "client": v2_methods.CLIENT_METHODS}
Judge = Callable[[str, Method, bool, Any], None]
ABLE: Json = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
    "auth": {"logout": {}},
}


class Stage:
    """`to_client` and `to_agent` are what the adapter has said and nobody has looked at."""

    def __init__(
        self,
        *,
        check: bool = True,
        open_words: bool = False,
        judge: Judge | None = None,
        approvals: Callable[[str], Approvals] = NothingAllowed,
        **how: Any,
    ) -> None:
        """`judge` is told of everything that is said by a method that the versions know.

        With `open_words`, words and variants that nobody knows are right, because the peers
        themselves use them.
        """
        self.around = Around()
        around = self.around.surroundings._replace(approvals=approvals)
        self.adapter = V1Agent(around, **how)
        self.to_client: list[Message] = []
        self.to_agent: list[Message] = []
        self.to_host: list[Message] = []
        self.answers: dict[Key, list[Result | Failure]] = {}
        self._check = check
        self._open_words = open_words
        self._judged = judge or _nobody
        self._keys = 1000
        # What was asked, by whom it was asked of us: the method, for checking the answer.
        self._asked: dict[tuple[Side, Key], str] = {}
        # What the adapter asks: the method and whom.
        self._open: dict[tuple[Side, Key], str] = {}

    # ---- what the two sides do

    def ask(self, method: str, params: Json | None = None, side: Side = CLIENT) -> Key:
        """A request of a side; its key."""
        self._keys += 1
        self._asked[side, self._keys] = method
        self._take(self.adapter.receive(side, Request(self._keys, method, deepcopy(params or {}))))
        return self._keys

    def tell(self, method: str, params: Json, side: Side = CLIENT) -> None:
        """A notification of a side."""
        self._take(self.adapter.receive(side, Notification(method, deepcopy(params))))

    def update(self, update: Json, session_id: str = "s1", **more: Any) -> None:
        """`session/update` of the agent."""
        params = {"sessionId": session_id, "update": update, **more}
        self.tell("session/update", params, AGENT)

    def reply(self, method: str, result: Any = None, side: Side = AGENT) -> None:
        """A side answers the oldest open request of that method."""
        key = self.opened(method, side).key
        self._take(self.adapter.receive(side, Result(key, deepcopy(result or {}))))

    def fail(
        self,
        method: str,
        code: int = INTERNAL_ERROR,
        message: str = "no",
        data: Any = None,
        side: Side = AGENT,
    ) -> None:
        """A side answers the oldest open request of that method with an error."""
        key = self.opened(method, side).key
        self._take(self.adapter.receive(side, Failure(key, code, message, data)))

    def opened(self, method: str, side: Side = AGENT) -> Request:
        """Take the oldest unanswered request of a method out of what a side was sent."""
        sent = self._sent(side)
        for message in sent:
            if isinstance(message, Request) and message.method == method:
                sent.remove(message)
                return message
        raise AssertionError(f"{method} was not asked of {side}: {sent}")

    def wait(self, seconds: float) -> None:
        """Time passes."""
        until = self.around.time + seconds
        while self.adapter.wake_at is not None and self.adapter.wake_at <= until:
            self.around.time = max(self.around.time, self.adapter.wake_at)
            self._take(self.adapter.wake())
        self.around.time = until

    def die(self) -> None:
        """The agent ends."""
        self._take(self.adapter.agent_gone("it died"))

    # ---- what was said

    def answer(self, key: Key) -> Any:
        """The result of a request of the client, which went well."""
        (answer,) = self.answers[key]
        assert isinstance(answer, Result), answer
        return answer.result

    def error(self, key: Key) -> Failure:
        """The error of a request, which failed."""
        (answer,) = self.answers[key]
        assert isinstance(answer, Failure), answer
        return answer

    def updates(self) -> list[Json]:
        """Take the updates that the client was sent."""
        found = [one for one in self.to_client if _is_update(one)]
        self.to_client = [one for one in self.to_client if not _is_update(one)]
        return [one.params["update"] for one in found if isinstance(one, Notification)]

    def said(self) -> list[Any]:
        """Take the updates as short words: their kind, and what tells most."""
        return [shorten(update) for update in self.updates()]

    def told_agent(self, method: str) -> list[Json]:
        """The notifications of a method that the agent was sent."""
        return [
            one.params
            for one in self.to_agent
            if isinstance(one, Notification) and one.method == method
        ]

    # ---- whole steps

    def start(self, agent: Json | None = None, **more: Any) -> Any:
        """`initialize`."""
        info = {"name": "client", "version": "1"}
        key = self.ask("initialize", {"protocolVersion": 2, "info": info, "capabilities": {}})
        said = {"protocolVersion": 1, "agentCapabilities": ABLE if agent is None else agent}
        self.reply("initialize", {**said, **more})
        return self.answer(key)

    def new(self, session_id: str = "s1", **more: Any) -> Any:
        """`session/new`."""
        key = self.ask("session/new", {"cwd": "/work"})
        self.reply("session/new", {"sessionId": session_id, **more})
        return self.answer(key)

    def prompt(self, text: str = "hello", session_id: str = "s1") -> Key:
        """`session/prompt`."""
        blocks = [{"type": "text", "text": text}]
        return self.ask("session/prompt", {"sessionId": session_id, "prompt": blocks})

    def working(self, **more: Any) -> Key:
        """A session with a prompt that is inserted; everything said so far is looked at."""
        self.start(**more)
        self.new()
        key = self.prompt()
        self.wait(0.05)
        self.updates()
        return key

    def decide(self, option_id: str | None) -> Request:
        """The client answers the oldest question for permission, and says what it was."""
        question = self.opened("session/request_permission", CLIENT)
        outcome = {"outcome": "cancelled"}
        if option_id is not None:
            outcome = {"outcome": "selected", "optionId": option_id}
        self._take(self.adapter.receive(CLIENT, Result(question.key, {"outcome": outcome})))
        return question

    def end(self, reason: str = "end_turn", **more: Any) -> None:
        """The agent answers its prompt."""
        self.reply("session/prompt", {"stopReason": reason, **more})

    # ---- checking

    def _sent(self, side: Side) -> list[Message]:
        return {CLIENT: self.to_client, AGENT: self.to_agent, HOST: self.to_host}[side]

    def _take(self, said: Any) -> None:
        for side, message in said:
            # Whoever is handed a message may change it, and that must not show anywhere else.
            copy = deepcopy(message)
            _spoil(message)
            self._judge(side, copy)
            if isinstance(copy, Result | Failure):
                self.answers.setdefault(copy.key, []).append(copy)
                assert len(self.answers[copy.key]) == 1, f"{copy} was answered twice"
            else:
                self._sent(side).append(copy)

    def _judge(self, side: Side, message: Message) -> None:
        book = V2 if side is CLIENT else V1
        if isinstance(message, Request):
            assert (side, message.key) not in self._open
            self._open[side, message.key] = message.method
            handler = "agent" if side is AGENT else "client"
            self._params(side, book[handler].get(message.method), message)
        elif isinstance(message, Notification):
            handler = "agent" if side is AGENT else "client"
            self._params(side, book[handler].get(message.method), message)
        else:
            asked = self._asked.pop((side, message.key))
            handler = "agent" if side is CLIENT else "client"
            method = book[handler].get(asked)
            if isinstance(message, Result) and method is not None:
                self._judged("v2" if side is CLIENT else "v1", method, True, message.result)
                if self._check:
                    _check(method.result, message.result, self._open_words)

    def _params(self, side: Side, method: Method | None, message: Request | Notification) -> None:
        if method is None:
            own = ("_", "host/") if side is HOST else ("_",)
            assert message.method.startswith(own), message.method
            return
        self._judged("v2" if side is CLIENT else "v1", method, False, message.params)
        params = message.params
        if side is HOST:
            # Where the host found a file is a word between the two of them.
            params = {name: value for name, value in params.items() if name != "at"}
        if self._check:
            _check(method.params, params, self._open_words)


def _check(wanted: Any, value: Any, is_open: bool) -> None:
    try:
        decode(wanted, encode(value), strict=not is_open)
    except Invalid as error:
        # Variants of an implementation's own are a choice.
        if "unknown variant '_" not in str(error):
            raise
        conform(wanted, value)
    if is_open:
        notes: list[str] = []
        decode(wanted, encode(value), notes=notes)
        assert all(note.startswith("unknown variant") for note in notes), notes


def shorten(update: Json) -> Any:
    """An update in a few words, for comparing a whole conversation."""
    kind = update["sessionUpdate"]
    if kind == "state_update":
        return " ".join(filter(None, (update["state"], update.get("stopReason"))))
    if kind.endswith("_chunk") and "content" in update:
        return f"{kind.removesuffix('_chunk')} {update['content'].get('text')}"
    if kind == "tool_call_update":
        return f"tool {update['toolCallId']} {update.get('status')}"
    return kind


def _nobody(version: str, method: Method, is_result: bool, value: Any) -> None:
    pass


def _is_update(message: Message) -> bool:
    return isinstance(message, Notification) and message.method == "session/update"


def _spoil(value: Any) -> None:
    if isinstance(value, Request | Notification):
        _spoil(value.params)
    elif isinstance(value, Result):
        _spoil(value.result)
    elif isinstance(value, dict):
        for one in list(value.values()):
            _spoil(one)
        value.clear()
    elif isinstance(value, list):
        for one in value:
            _spoil(one)
        value.clear()
