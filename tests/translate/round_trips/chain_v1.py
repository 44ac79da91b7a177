"""A v1 client and a v1 agent with both translators between them: v1 to v2 and back to v1.

Must not know: what should come of it; the tests say that.
"""

from copy import deepcopy
from typing import Any

from accord.translate.chain import Chain
from accord.translate.message import (
    AGENT,
    CLIENT,
    Failure,
    Json,
    Key,
    Message,
    Notification,
    Request,
    Result,
    Side,
)
from accord.translate.v1_agent import V1Agent
from accord.translate.v2_agent import V2Agent
from tests.translate.surroundings import Around

CLIENT_CAPABILITIES: Json = {
    "session": {"configOptions": {"boolean": {}}, "compaction": {}, "notices": {}},
    "plan": {},
    "subagents": {},
    "auth": {"terminal": True},
    "elicitation": {"form": {}, "url": {}},
}
AGENT_CAPABILITIES: Json = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "mcpCapabilities": {"http": True, "sse": False},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
}


class Line:
    """What the `client` and the `agent` were sent, in order."""

    def __init__(self) -> None:
        self.around = Around()
        around = self.around.surroundings
        self.chain = Chain(V2Agent(around, unstable=True), V1Agent(around, unstable=True))
        self.sent: dict[Side, list[Message]] = {CLIENT: [], AGENT: []}
        self._keys = 1000

    def put(self, side: Side, message: Message) -> list[Message]:
        """A side says something; what the other side, and then that side, is sent for it."""
        said = [(to, deepcopy(one)) for to, one in self.chain.receive(side, deepcopy(message))]
        for to, one in said:
            self.sent[to].append(one)
        return [one for _, one in said]

    def ask(self, side: Side, method: str, params: Json) -> Key:
        """A request of a side."""
        self._keys += 1
        self.put(side, Request(self._keys, method, params))
        return self._keys

    def asked(self, side: Side, method: str) -> Request:
        """The last request of a method that a side was sent."""
        for message in reversed(self.sent[side]):
            if isinstance(message, Request) and message.method == method:
                return message
        raise AssertionError(f"{method} did not come: {self.sent[side]}")

    def answer_to(self, side: Side, key: Key) -> Result | Failure:
        """The one answer to a request of a side."""
        (found,) = (
            one for one in self.sent[side] if isinstance(one, Result | Failure) and one.key == key
        )
        return found

    def call(self, method: str, params: Json, result: Any, inside: str | None = None) -> Any:
        """A request of the client, which the agent answers: what the client hears."""
        key = self.ask(CLIENT, method, params)
        self.put(AGENT, Result(self.asked(AGENT, inside or method).key, result))
        answer = self.answer_to(CLIENT, key)
        assert isinstance(answer, Result), answer
        return answer.result

    def update(self, update: Json, session_id: str = "s") -> list[Json]:
        """An update of the agent: what the client hears of it."""
        params = {"sessionId": session_id, "update": update}
        said = self.put(AGENT, Notification("session/update", params))
        return [
            one.params["update"]
            for one in said
            if isinstance(one, Notification) and one.method == "session/update"
        ]

    def wait(self, seconds: float) -> None:
        """Time passes."""
        until = self.around.time + seconds
        while self.chain.wake_at is not None and self.chain.wake_at <= until:
            self.around.time = max(self.around.time, self.chain.wake_at)
            for to, message in self.chain.wake():
                self.sent[to].append(deepcopy(message))
        self.around.time = until

    def start(self, client: Json | None = None, agent: Json | None = None) -> Any:
        """`initialize`."""
        params = {
            "protocolVersion": 1,
            "clientInfo": {"name": "client", "version": "1"},
            "clientCapabilities": CLIENT_CAPABILITIES if client is None else client,
        }
        said = {
            "protocolVersion": 1,
            "agentInfo": {"name": "agent", "version": "1"},
            "agentCapabilities": AGENT_CAPABILITIES if agent is None else agent,
        }
        return self.call("initialize", params, said)

    def new(self, **more: Any) -> Any:
        """`session/new`."""
        result = {"sessionId": "s", **more}
        return self.call("session/new", {"cwd": "/w", "mcpServers": []}, result)

    def prompt(self, *blocks: Json) -> Key:
        """`session/prompt`, which is in the conversation when this returns."""
        said = list(blocks) or [{"type": "text", "text": "go"}]
        key = self.ask(CLIENT, "session/prompt", {"sessionId": "s", "prompt": said})
        self.wait(0.05)
        return key

    def end(self, result: Json) -> None:
        """The agent answers its prompt."""
        self.put(AGENT, Result(self.asked(AGENT, "session/prompt").key, result))


def working() -> Line:
    """A session with an open prompt."""
    line = Line()
    line.start()
    line.new()
    line.prompt()
    return line
