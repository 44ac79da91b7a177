"""Conversations with a draft peer up to an open session, for tests of what comes after."""

from typing import Any

from accord.translate.draft.agent import DraftAgent
from accord.translate.draft.client import DraftClient
from accord.translate.message import AGENT, CLIENT, Json, Key
from tests.translate.draft.scripted_peers import Clock, Wire, both

FOLDER = "/srv/garden"

V1_CLIENT: Json = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"configOptions": {"boolean": {}}},
}
DRAFT_AGENT: Json = {
    "loadSession": True,
    "mcpCapabilities": {"servers": True, "transport": ["stdio", "http", "acp"]},
    "promptCapabilities": {"streaming": True, "cancellation": True, "attachments": True},
    "sessionCapabilities": {
        "modes": ["default", "plan", "ask"],
        "configOptions": ["depth"],
        "persistence": True,
    },
}
DRAFT_CLIENT: Json = {
    "fs": {"read": True, "write": True},
    "terminal": {"create": True, "maxConcurrent": 3},
    "ui": {"permissionDialogs": True},
}
V1_AGENT: Json = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "mcpCapabilities": {"http": True},
    "sessionCapabilities": {"list": {}},
}
MODES: Json = {
    "currentModeId": "default",
    "availableModes": [
        {"id": "default", "name": "Default"},
        {"id": "plan", "name": "Plan"},
        {"id": "ask", "name": "Ask", "description": "Asks for permission before changes"},
    ],
}


def options(model: str = "small", fast: bool = False) -> list[Json]:
    """The options of the v1 agent."""
    return [
        {
            "id": "model",
            "name": "Model",
            "type": "select",
            "currentValue": model,
            "options": [{"value": "small", "name": "Small"}, {"value": "7", "name": "Seven"}],
        },
        {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": fast},
    ]


class Behind:
    """A draft agent behind a v1 client."""

    def __init__(
        self,
        *,
        client: Json | None = None,
        agent: Json | None = None,
        check: Any = None,
        **switches: bool,
    ) -> None:
        self.clock = Clock()
        self.bridge = DraftAgent(self.clock.surroundings(), **switches)
        self.wire = Wire(self.bridge, both("v1", "draft"), self.clock, check=check)
        self.wire.own_side = CLIENT if self.bridge.details else None
        self.client = V1_CLIENT if client is None else client
        self.agent = DRAFT_AGENT if agent is None else agent

    def initialize(self) -> Any:
        """The first exchange; returns what the client is told."""
        wire = self.wire
        info = {"name": "pencil", "version": "3"}
        params = {"protocolVersion": 1, "clientCapabilities": self.client, "clientInfo": info}
        key = wire.ask(CLIENT, "initialize", params)
        asked = wire.one(AGENT, "initialize")
        result = {"protocolVersion": 1, "agentInfo": info, "capabilities": self.agent}
        wire.answer(AGENT, asked.key, result)
        return wire.result(CLIENT, key)

    def open(self, session_id: str = "s", folder: str = FOLDER) -> Any:
        """An open session; returns what the client is told."""
        wire = self.wire
        key = wire.ask(CLIENT, "session/new", {"cwd": folder, "mcpServers": []})
        asked = wire.one(AGENT, "session/new")
        wire.answer(AGENT, asked.key, {"sessionId": session_id, "createdAt": "then"})
        return wire.result(CLIENT, key)

    def prompt(self, text: str = "hello", session_id: str = "s") -> tuple[Key, Key]:
        """A running turn: the client's key and the agent's."""
        prompt = [{"type": "text", "text": text}]
        key = self.wire.ask(CLIENT, "session/prompt", {"sessionId": session_id, "prompt": prompt})
        return key, self.wire.request(AGENT, "session/prompt").key

    def update(self, kind: str, data: Json, session_id: str = "s") -> list[Json]:
        """What the client is told when the agent tells something."""
        params = {"sessionId": session_id, "type": kind, "data": data}
        self.wire.tell(AGENT, "session/update", params)
        return [one["update"] for one in self.wire.updates(CLIENT)]


class Before:
    """A draft client in front of a v1 agent."""

    def __init__(
        self,
        *,
        client: Json | None = None,
        agent: Json | None = None,
        check: Any = None,
        **switches: bool,
    ) -> None:
        self.clock = Clock()
        self.bridge = DraftClient(self.clock.surroundings(), **switches)
        self.wire = Wire(self.bridge, both("draft", "v1"), self.clock, check=check)
        self.client = DRAFT_CLIENT if client is None else client
        self.agent = V1_AGENT if agent is None else agent

    def initialize(self, **more: Any) -> Any:
        """The first exchange; returns what the client is told."""
        wire = self.wire
        info = {"name": "pencil", "version": "3"}
        params = {"protocolVersion": 1, "clientInfo": info, "capabilities": self.client}
        key = wire.ask(CLIENT, "initialize", params)
        asked = wire.one(AGENT, "initialize")
        result = {"protocolVersion": 1, "agentCapabilities": self.agent, **more}
        wire.answer(AGENT, asked.key, result)
        return wire.result(CLIENT, key)

    def open(self, session_id: str = "s", **more: Any) -> Any:
        """An open session; returns what the client is told."""
        wire = self.wire
        key = wire.ask(CLIENT, "session/new", {"workingDirectory": FOLDER})
        asked = wire.one(AGENT, "session/new")
        result = {"sessionId": session_id, "modes": MODES, "configOptions": options(), **more}
        wire.answer(AGENT, asked.key, {key: one for key, one in result.items() if one is not None})
        return wire.result(CLIENT, key)

    def prompt(self, text: str = "hello", session_id: str = "s") -> tuple[Key, Key]:
        """A running turn: the client's key and the agent's."""
        content = [{"type": "text", "text": text}]
        params = {"sessionId": session_id, "content": content}
        key = self.wire.ask(CLIENT, "session/prompt", params)
        return key, self.wire.request(AGENT, "session/prompt").key

    def update(self, update: Json, session_id: str = "s") -> list[Json]:
        """What the client is told when the agent tells something."""
        self.wire.tell(AGENT, "session/update", {"sessionId": session_id, "update": update})
        return self.wire.updates(CLIENT)


def behind(**settings: Any) -> Behind:
    """A draft agent behind a v1 client, with a session `s`."""
    scene = Behind(**settings)
    scene.initialize()
    scene.open()
    return scene


def before(**settings: Any) -> Before:
    """A draft client in front of a v1 agent, with a session `s`."""
    scene = Before(**settings)
    scene.initialize()
    scene.open()
    return scene
