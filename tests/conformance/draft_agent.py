"""A small agent of the 2026-02 draft in plain Python, which keeps its rules.

The first word of a prompt says what it does: `edit`, `long`, `read NAME`, `mcp`, or it just talks.
"""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

Json = dict[str, Any]
MODES = ["default", "plan"]
OPTIONS: Json = {"verbose": False, "model": "small"}
SESSIONS: Json = {"modes": MODES, "configOptions": [*OPTIONS]}
REQUIRED = ("protocolVersion", "clientInfo", "capabilities")


class Failure(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Agent:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.client: Json = {}
        self.sessions: dict[str, Json] = {}
        self.answers: dict[str, Json] = {}
        self.answered = threading.Condition()
        self.cancelled = threading.Event()
        self.asked = 0
        self.ready = False

    def send(self, message: Json) -> None:
        with self.lock:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def tell(self, session: str, kind: str, **data: Any) -> None:
        params = {"sessionId": session, "type": kind, "data": data}
        self.send({"method": "session/update", "params": params})

    def ask(self, method: str, **params: Any) -> Json:
        self.asked += 1
        name = f"a{self.asked}"
        self.send({"id": name, "method": method, "params": params})
        with self.answered:
            self.answered.wait_for(lambda: name in self.answers)
            return self.answers.pop(name)

    # ---- methods

    def initialize(self, params: Json) -> Json:
        if any(key not in params for key in REQUIRED):
            raise Failure(-32602, "a key is missing")
        self.client, self.ready = params["capabilities"], True
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "draft", "version": "1"},
            "capabilities": {"loadSession": True, "sessionCapabilities": SESSIONS},
        }

    def authenticate(self, params: Json) -> Json:
        return {"success": False, "error": "no such key"}

    def session_new(self, params: Json) -> Json:
        name = f"s{len(self.sessions) + 1}"
        self.sessions[name] = {
            "folder": params["workingDirectory"],
            "mode": "default",
            "options": dict(OPTIONS),
            "count": 0,
            "servers": params.get("mcpServers") or [],
        }
        return {"sessionId": name, "createdAt": "2026-02-04T12:00:00Z"}

    def find(self, params: Json) -> tuple[str, Json]:
        name = params.get("sessionId")
        if name not in self.sessions:
            raise Failure(-32000, "no such session")
        return str(name), self.sessions[str(name)]

    def session_load(self, params: Json) -> Json:
        name, session = self.find(params)
        return {
            "sessionId": name,
            "workingDirectory": session["folder"],
            "mode": session["mode"],
            "configOptions": session["options"],
            "messageCount": session["count"],
        }

    def session_set_mode(self, params: Json) -> Json:
        name, session = self.find(params)
        before, session["mode"] = session["mode"], params["mode"]
        changed = {"previousMode": before, "currentMode": params["mode"]}
        self.tell(name, "current_mode_update", **changed)
        return changed

    def session_set_config_option(self, params: Json) -> Json:
        name, session = self.find(params)
        key, value = params["key"], params["value"]
        changed = {"key": key, "previousValue": session["options"][key], "currentValue": value}
        session["options"][key] = value
        if value != changed["previousValue"]:
            self.tell(name, "config_option_update", **changed, source="user")
        return changed

    def session_prompt(self, params: Json) -> Json:
        name, session = self.find(params)
        session["count"] += 2
        verb, _, rest = params["content"][0]["text"].partition(" ")
        self.cancelled.clear()
        if verb in ("edit", "long"):
            return {"stopReason": self.work(name, session, verb)}
        said = "hello"
        if verb == "read":
            said = self.read(session, rest)
        if verb == "mcp":
            said = self.mcp(session)
        self.tell(name, "agent_message_chunk", content=said)
        return {"stopReason": "end_turn"}

    def work(self, name: str, session: Json, verb: str) -> str:
        self.asked += 1
        call = f"call{self.asked}"
        self.tell(name, "tool_call", id=call, tool=verb, input={}, status="pending")
        if verb == "edit":
            self.tell(name, "tool_call_update", id=call, status="awaiting_permission")
            answer = self.ask(
                "session/request_permission",
                sessionId=name,
                operation="file_write",
                resource="notes.txt",
                reason="to change it",
                toolCallId=call,
            )
            if not answer.get("result", {}).get("granted"):
                self.tell(name, "tool_call_update", id=call, status="denied")
                return "cancelled" if self.cancelled.is_set() else "end_turn"
        self.tell(name, "tool_call_update", id=call, status="in_progress")
        if verb == "long":
            self.cancelled.wait(60)
            self.tell(name, "tool_call_update", id=call, status="cancelled")
            return "cancelled"
        path = str(Path(session["folder"], "notes.txt"))
        if self.client.get("fs", {}).get("write"):
            self.ask("fs/write_text_file", path=path, content="one pear\n")
        self.tell(name, "tool_call_update", id=call, status="completed")
        return "end_turn"

    def read(self, session: Json, name: str) -> str:
        folder = Path(session["folder"]).resolve()
        path = (folder / name).resolve()
        if not path.is_relative_to(folder):
            return "that is outside"
        return path.read_text() if path.exists() else "there is no such file"

    def mcp(self, session: Json) -> str:
        for server in session["servers"]:
            how = server["transport"]
            lines = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall"}}\n'
            done = subprocess.run(
                [how["command"], *how["args"]], input=lines, capture_output=True, text=True
            )
            text: str = json.loads(done.stdout)["result"]["content"][0]["text"]
            return text
        return "no server"

    # ---- the wire

    def handle(self, message: Json) -> None:
        method, params = message.get("method"), message.get("params") or {}
        handler = getattr(self, str(method).replace("/", "_"), None)
        reply: Json
        try:
            if method != "initialize" and not self.ready:
                raise Failure(-32600, "initialize first")
            if str(method).startswith("_") or handler is None:
                raise Failure(-32601, "no such method")
            reply = {"result": handler(params)}
        except Failure as error:
            reply = {"error": {"code": error.code, "message": str(error)}}
        except (TypeError, KeyError, AttributeError, IndexError, ValueError):
            reply = {"error": {"code": -32602, "message": "a value of another type"}}
        self.send({"id": message["id"], **reply})

    def receive(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        if isinstance(message, dict):
            self.dispatch(message)

    def dispatch(self, message: Json) -> None:
        if message.get("method") == "session/cancel":
            self.cancelled.set()
        elif "method" in message and "id" in message:
            # What is answered at once is answered before anything else is read.
            if message["method"] == "session/prompt":
                threading.Thread(target=self.handle, args=(message,), daemon=True).start()
            else:
                self.handle(message)
        elif "id" in message:
            with self.answered:
                self.answers[str(message["id"])] = message
                self.answered.notify_all()

    def run(self) -> None:
        for line in sys.stdin.buffer:
            self.receive(line)


if __name__ == "__main__":
    Agent().run()
