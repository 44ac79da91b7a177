"""A client and an agent that speak any version, as values: a message in, messages out.

The agent does one thing when it is prompted and notes what came of it.  The client notes what it
is asked to permit and to do, permits everything, and does nothing.  Both can be put on memory
transports, and the agent also on the pipes of a process (`speaking_agent.py`).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from accord.transport.transport import Ended, Transport

Json = dict[str, Any]
Version = Literal["v1", "v2", "draft"]
VERSIONS: tuple[Version, ...] = ("v1", "v2", "draft")
INFO = {"name": "speaker", "version": "1"}
OPERATIONS = {
    "execute": "terminal_execute",
    "edit": "file_write",
    "read": "file_read",
    "delete": "file_delete",
    "fetch": "network_access",
}
OPTIONS = [
    {"optionId": "y", "name": "Yes", "kind": "allow_once"},
    {"optionId": "n", "name": "No", "kind": "reject_once"},
]


@dataclass(frozen=True)
class Act:
    """What the agent does: `ask` for it, `tell` of it as running, or have the client do it."""

    how: Literal["ask", "tell", "serve"]
    kind: str
    target: str

    @property
    def needs_services(self) -> bool:
        """Whether a v2 agent cannot do it, because v2 has no such requests."""
        return self.how == "serve"


class Speaker:
    """Numbers requests and finds the answers to them."""

    def __init__(self, version: Version) -> None:
        self.version = version
        self._count = 0
        self._waiting: dict[int, Callable[[Json], list[Json]]] = {}

    def ask(self, method: str, params: Json, then: Callable[[Json], list[Json]]) -> Json:
        self._count += 1
        self._waiting[self._count] = then
        return {"id": self._count, "method": method, "params": params}

    def hear(self, message: Json) -> list[Json]:
        """Take a message; say what follows."""
        if "method" not in message:
            then = self._waiting.pop(message["id"], None)
            return [] if then is None else then(message)
        said = self.told(message["method"], message.get("params") or {}, message.get("id"))
        if said is None:
            error = {"code": -32601, "message": "not known"}
            return [{"id": message["id"], "error": error}] if "id" in message else []
        return said

    def told(self, method: str, params: Json, key: Any) -> list[Json] | None:
        raise NotImplementedError


class SpeakingAgent(Speaker):
    """`done` is called with whether the act was permitted, when that is known."""

    def __init__(
        self, version: Version, act: Act, done: Callable[[bool], None], *, strict: bool = False
    ) -> None:
        super().__init__(version)
        self._act = act
        self._done = done
        self._strict = strict
        self._prompt: Any = None

    def told(self, method: str, params: Json, key: Any) -> list[Json] | None:
        if method == "initialize":
            is_draft = "clientCapabilities" not in params and "info" not in params
            if self.version == "draft" and self._strict and not is_draft:
                return [{"id": key, "error": {"code": -32602, "message": "capabilities?"}}]
            return [{"id": key, "result": self._introduction()}]
        if method == "session/new":
            named = "workingDirectory" if self.version == "draft" else "cwd"
            assert named in params, params
            stamp = {"createdAt": "2026-02-04T10:00:00Z"} if self.version == "draft" else {}
            return [{"id": key, "result": {"sessionId": "s", **stamp}}]
        if method == "session/prompt":
            self._prompt = key
            begun = []
            if self.version == "v2":
                begun = [{"id": key, "result": {"messageId": "m"}}, *self._state("running")]
            return [*begun, *self._does()]
        return None

    def _introduction(self) -> Json:
        if self.version == "v1":
            return {"protocolVersion": 1, "agentCapabilities": {}}
        if self.version == "v2":
            session: Json = {"prompt": {}}
            return {"protocolVersion": 2, "info": INFO, "capabilities": {"session": session}}
        return {
            "protocolVersion": 1,
            "agentInfo": INFO,
            "capabilities": {
                "loadSession": False,
                "promptCapabilities": {"streaming": True, "cancellation": True},
                "mcpCapabilities": {"servers": False, "transport": []},
                "sessionCapabilities": {"modes": [], "configOptions": []},
            },
        }

    def _state(self, state: str) -> list[Json]:
        update = {"sessionUpdate": "state_update", "state": state}
        if state == "idle":
            update["stopReason"] = "end_turn"
        return [_told({"sessionId": "s", "update": update})]

    def _ends(self) -> list[Json]:
        if self.version == "v2":
            return self._state("idle")
        return [{"id": self._prompt, "result": {"stopReason": "end_turn"}}]

    # ---- acts

    def _does(self) -> list[Json]:
        match self._act.how:
            case "ask":
                asked = self._asked() if self.version == "draft" else self._asked_officially()
                return [self.ask("session/request_permission", asked, self._answered)]
            case "tell":
                return [*self._tells(), *self._ends()]
            case "serve":
                return [self._serves()]

    def _answered(self, answer: Json) -> list[Json]:
        result = answer.get("result") or {}
        chosen = (result.get("outcome") or {}).get("optionId")
        self._done(bool(result.get("granted")) or chosen == "y")
        return self._ends()

    def _served(self, answer: Json) -> list[Json]:
        self._done("result" in answer)
        return self._ends()

    def _asked(self) -> Json:
        act = self._act
        return {"sessionId": "s", "operation": OPERATIONS[act.kind], "resource": act.target}

    def _call(self) -> Json:
        call: Json = {"toolCallId": "c", "title": "A call", "kind": self._act.kind}
        if self._act.kind == "execute":
            call["rawInput"] = {"command": self._act.target}
        elif self._act.kind == "fetch":
            call["rawInput"] = {"url": self._act.target}
        else:
            call["locations"] = [{"path": self._act.target}]
        return call

    def _asked_officially(self) -> Json:
        params: Json = {"sessionId": "s", "options": OPTIONS}
        if self.version == "v1":
            return {**params, "toolCall": self._call()}
        subject = {"type": "tool_call", "toolCall": self._call()}
        return {**params, "title": "A call", "subject": subject}

    def _tells(self) -> list[Json]:
        if self.version != "draft":
            kind = "tool_call" if self.version == "v1" else "tool_call_update"
            update = {"sessionUpdate": kind, "status": "in_progress", **self._call()}
            return [_told({"sessionId": "s", "update": update})]
        tools = {"execute": "terminal/create", "edit": "fs/write", "read": "fs/read"}
        named = "command" if self._act.kind == "execute" else "path"
        data: Json = {
            "id": "c",
            "tool": tools[self._act.kind],
            "input": {named: self._act.target},
            "status": "in_progress",
        }
        if named == "path":
            data["location"] = {"path": self._act.target}
        return [_told({"sessionId": "s", "type": "tool_call", "data": data})]

    def _serves(self) -> Json:
        session = {} if self.version == "draft" else {"sessionId": "s"}
        target = self._act.target
        if self._act.kind == "execute":
            return self.ask("terminal/create", {**session, "command": target}, self._served)
        method = "fs/read_text_file" if self._act.kind == "read" else "fs/write_text_file"
        content = {} if self._act.kind == "read" else {"content": "new"}
        return self.ask(method, {**session, "path": target, **content}, self._served)


class SpeakingClient(Speaker):
    """Prompts once; `over` is called with nothing when the turn has ended."""

    def __init__(self, version: Version, cwd: str, over: Callable[[], None]) -> None:
        super().__init__(version)
        self._cwd = cwd
        self._over = over
        self.permissions: list[Json] = []
        self.services: list[str] = []
        self.text = ""
        self.failed: Json | None = None

    def begin(self) -> Json:
        """The first message."""
        if self.version == "v1":
            able: Json = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
            params = {"protocolVersion": 1, "clientCapabilities": able}
        elif self.version == "v2":
            params = {"protocolVersion": 2, "info": INFO, "capabilities": {}}
        else:
            able = {
                "fs": {"read": True, "write": True},
                "terminal": {"create": True},
                "ui": {"permissionDialogs": True},
            }
            params = {"protocolVersion": 1, "clientInfo": INFO, "capabilities": able}
        return self.ask("initialize", params, self._initialized)

    def _initialized(self, answer: Json) -> list[Json]:
        if "error" in answer:
            return self._ended(answer)
        params: Json = {"cwd": self._cwd, "mcpServers": []}
        if self.version == "draft":
            params = {"workingDirectory": self._cwd}
        return [self.ask("session/new", params, self._opened)]

    def _opened(self, answer: Json) -> list[Json]:
        if "error" in answer:
            return self._ended(answer)
        named = "content" if self.version == "draft" else "prompt"
        session_id = answer["result"]["sessionId"]
        params = {"sessionId": session_id, named: [{"type": "text", "text": "go"}]}
        return [self.ask("session/prompt", params, self._prompted)]

    def _prompted(self, answer: Json) -> list[Json]:
        # In v2 the turn goes on.
        return self._ended(answer) if self.version != "v2" or "error" in answer else []

    def _ended(self, answer: Json) -> list[Json]:
        self.failed = answer.get("error")
        if self.failed is None and answer["result"].get("stopReason") == "error":
            # How the draft says it of a turn that had begun.
            self.failed = answer["result"]
        self._over()
        return []

    def told(self, method: str, params: Json, key: Any) -> list[Json] | None:
        if method == "session/update":
            self._told_update(params)
            return []
        if method == "session/request_permission":
            self.permissions.append(params)
            return [{"id": key, "result": self._permits(params)}]
        if method.startswith(("fs/", "terminal/")):
            self.services.append(method)
            result = {"content": "", "encoding": "utf-8", "terminalId": "t", "exitCode": 0}
            more = {"bytesWritten": 0, "created": False, "output": "", "truncated": False}
            return [{"id": key, "result": result | more}]
        return None

    def _permits(self, params: Json) -> Json:
        if self.version == "draft":
            return {"granted": True, "scope": "once"}
        option = next(one for one in params["options"] if one["kind"] == "allow_once")
        return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}

    def _told_update(self, params: Json) -> None:
        update = params.get("update") or params.get("data") or {}
        if str(update.get("sessionUpdate", "")).startswith("user_message"):
            return
        content = update.get("content")
        blocks = content if isinstance(content, list) else [content]
        for block in blocks:
            if isinstance(block, str):
                self.text += block
            elif isinstance(block, dict):
                self.text += str(block.get("text", ""))
        if update.get("sessionUpdate") == "state_update" and update.get("state") == "idle":
            self._over()


def _told(params: Json) -> Json:
    return {"method": "session/update", "params": params}


@dataclass
class Wired:
    """A speaker on a transport."""

    speaker: Speaker
    transport: Transport
    end: Ended | None = None
    _rest: bytes = b""
    lines: list[Json] = field(default_factory=list)

    def say(self, *messages: Json) -> None:
        for message in messages:
            self.transport.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            self.lines.append(message)
            self.say(*self.speaker.hear(message))

    def ended(self, why: Ended) -> None:
        self.end = why
