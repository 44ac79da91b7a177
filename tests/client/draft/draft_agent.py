"""A program that is an agent of the 2026-02 draft, in raw JSON: it shares no code with accord.

    python draft_agent.py [--strict] [--once] [--requires JSON] [--key KEY] [--log FILE]

By default it is tolerant: it answers an `initialize` that it cannot read in its own shape.
`--strict` refuses such a one with -32602.  `--key` wants a login.  `--log` gets every line that
came, and a line per start.  What it does in a turn is what the prompt says:

    hello                  thinks, plans, speaks
    write PATH TEXT        asks for permission and writes
    call METHOD JSON       calls the client and says what came back
    run JSON               a command, and everything that was sent about it
    fail                   a turn that ends with an error
    wait                   works until it is cancelled
    die                    ends the process
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]

CAPABILITIES: Json = {
    "loadSession": True,
    "mcpCapabilities": {"servers": True, "transport": ["stdio", "http"]},
    "promptCapabilities": {"streaming": True, "cancellation": True, "attachments": True},
    "sessionCapabilities": {
        "modes": ["default", "plan", "ask"],
        "configOptions": ["autoApprove", "maxTokens"],
        "persistence": True,
    },
}


class Refusal(Exception):
    """Answered as an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Agent:
    def __init__(self, words: list[str]) -> None:
        self.strict = "--strict" in words
        self.requires = json.loads(_after(words, "--requires") or "null")
        self.key = _after(words, "--key")
        self.log = _after(words, "--log")
        self.logged_in = self.key is None
        self.modes: dict[str, str] = {}
        self.options: dict[str, Any] = {}
        self.folders: dict[str, str] = {}
        self.cancelled = False
        self.outputs: list[Json] = []
        self.waiting: list[Json] = []
        self.next_id = 100

    # ---- the wire

    def send(self, message: Json) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def receive(self) -> Json:
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        if self.log:
            with open(self.log, "a", encoding="utf-8") as file:
                file.write(line)
        message: Json = json.loads(line)
        return message

    def call(self, method: str, params: Json) -> Json:
        """Call the client; what else comes meanwhile is taken too."""
        self.next_id += 1
        wanted = self.next_id
        self.send({"id": wanted, "method": method, "params": params})
        while True:
            message = self.receive()
            if "method" in message:
                self.take_meanwhile(message)
            elif message["id"] == wanted:
                return message

    def take_meanwhile(self, message: Json) -> None:
        if message["method"] == "terminal/output":
            self.outputs.append(message["params"])
            if "id" in message:
                self.send({"id": message["id"], "result": {"received": True}})
        elif message["method"] == "session/cancel":
            self.cancelled = True
        else:
            self.waiting.append(message)

    def update(self, session_id: str, kind: str, **data: Any) -> None:
        params = {"sessionId": session_id, "type": kind, "data": data}
        self.send({"method": "session/update", "params": params})

    # ---- what it serves

    def run(self) -> None:
        if self.log:
            with open(self.log, "a", encoding="utf-8") as file:
                file.write('"started"\n')
        while True:
            message = self.waiting.pop(0) if self.waiting else self.receive()
            if "id" not in message or "method" not in message:
                continue
            try:
                result = self.serve(message["method"], message.get("params") or {})
            except Refusal as refusal:
                error = {"code": refusal.code, "message": str(refusal)}
                self.send({"id": message["id"], "error": error})
            else:
                self.send({"id": message["id"], "result": result})

    def serve(self, method: str, params: Json) -> Json:
        serving: dict[str, Callable[[Json], Json]] = {
            "initialize": self.initialize,
            "authenticate": self.authenticate,
            "session/new": self.new,
            "session/load": self.load,
            "session/prompt": self.prompt,
            "session/set_mode": self.set_mode,
            "session/set_config_option": self.set_option,
            "terminal/output": lambda params: {"received": False},
        }
        if method not in serving:
            raise Refusal(-32601, f"no method {method}")
        if not self.logged_in and method not in ("initialize", "authenticate"):
            raise Refusal(-32001, "log in first")
        return serving[method](params)

    def initialize(self, params: Json) -> Json:
        own = {"protocolVersion", "clientInfo", "capabilities", "_meta"}
        if self.strict and set(params) - own:
            raise Refusal(-32602, f"unknown keys: {sorted(set(params) - own)}")
        answer: Json = {
            "protocolVersion": 1,
            "agentInfo": {"name": "drafty", "version": "0.1"},
            "capabilities": CAPABILITIES,
        }
        if self.requires:
            answer["requiredClientCapabilities"] = self.requires
        return answer

    def authenticate(self, params: Json) -> Json:
        if params["credentials"].get("apiKey") != self.key:
            return {"success": False, "error": f"wrong key {params['credentials'].get('apiKey')}"}
        self.logged_in = True
        return {"success": True}

    def new(self, params: Json) -> Json:
        session_id = f"sess_{len(self.folders)}"
        self.folders[session_id] = params["workingDirectory"]
        self.modes[session_id] = params.get("initialMode", "default")
        return {"sessionId": session_id, "createdAt": "2026-02-04T10:30:00Z"}

    def load(self, params: Json) -> Json:
        session_id = params["sessionId"]
        if session_id.startswith("/"):
            self.folders[session_id] = session_id
        if session_id not in self.folders:
            raise Refusal(-32000, "Session not found")
        self.update(session_id, "user_message_chunk", content="before", index=0, final=True)
        self.update(session_id, "agent_message_chunk", content="then", index=0, final=True)
        return {
            "sessionId": session_id,
            "workingDirectory": self.folders[session_id],
            "mode": "plan",
            "configOptions": {"autoApprove": True},
            "messageCount": 2,
        }

    def set_mode(self, params: Json) -> Json:
        before, self.modes[params["sessionId"]] = self.modes[params["sessionId"]], params["mode"]
        change = {"previousMode": before, "currentMode": params["mode"]}
        self.update(params["sessionId"], "current_mode_update", **change)
        return change

    def set_option(self, params: Json) -> Json:
        before, self.options[params["key"]] = self.options.get(params["key"]), params["value"]
        change = {"key": params["key"], "previousValue": before, "currentValue": params["value"]}
        self.update(params["sessionId"], "config_option_update", **change, source="user")
        return change

    # ---- turns

    def prompt(self, params: Json) -> Json:
        session_id = params["sessionId"]
        self.cancelled = False
        words = "".join(block.get("text", "") for block in params["content"])
        verb, _, rest = words.partition(" ")
        act = getattr(self, f"do_{verb}", None)
        if act is None:
            self.update(session_id, "agent_message_chunk", content=json.dumps(params))
        else:
            found = act(session_id, rest)
            if found is not None:
                return {"stopReason": found}
        return {"stopReason": "end_turn", "usage": {"inputTokens": 3, "outputTokens": 4}}

    def do_hello(self, session_id: str, rest: str) -> None:
        self.update(session_id, "thought_message_chunk", content="a greeting", visible=True)
        steps = [{"id": "step_1", "description": "Greet", "status": "in_progress"}]
        self.update(session_id, "plan", planId="p", steps=steps)
        self.update(session_id, "agent_message_chunk", content="Hel", index=0)
        self.update(session_id, "agent_message_chunk", content="lo.", index=1, final=True)

    def do_write(self, session_id: str, rest: str) -> None:
        path, _, text = rest.partition(" ")
        given = {"path": path, "content": text}
        call = {"id": "tc_1", "tool": "fs/write_text_file", "input": given, "status": "pending"}
        self.update(session_id, "tool_call", **call, requiresPermission=True)
        asked = {"operation": "file_write", "resource": path, "reason": "you said so"}
        answer = self.call(
            "session/request_permission", {"sessionId": session_id, **asked, "toolCallId": "tc_1"}
        )
        if not answer["result"]["granted"]:
            self.update(session_id, "tool_call_update", id="tc_1", status="denied")
            return
        self.update(session_id, "tool_call_update", id="tc_1", status="in_progress")
        answer = self.call("fs/write_text_file", given)
        if "error" in answer:
            error = answer["error"]["message"]
            self.update(session_id, "tool_call_update", id="tc_1", status="failed", error=error)
            return
        hunk = {"oldStart": 0, "oldLines": 0, "newStart": 1, "newLines": 1, "content": f"+{text}"}
        output = {"type": "diff", "path": path, "hunks": [hunk]}
        self.update(session_id, "tool_call_update", id="tc_1", status="completed", output=output)
        self.update(session_id, "agent_message_chunk", content=json.dumps(answer["result"]))

    def do_call(self, session_id: str, rest: str) -> None:
        method, _, params = rest.partition(" ")
        answer = self.call(method, json.loads(params))
        told = answer.get("result", answer.get("error"))
        self.update(session_id, "agent_message_chunk", content=json.dumps(told))

    def do_run(self, session_id: str, rest: str) -> None:
        self.outputs = []
        created = self.call("terminal/create", json.loads(rest))
        found: Json = {"created": created.get("result", created.get("error"))}
        if "result" in created:
            terminal = {"terminalId": created["result"]["terminalId"]}
            found["exit"] = self.call("terminal/wait_for_exit", terminal)["result"]
            found["released"] = self.call("terminal/release", terminal)["result"]
            for stream in ("stdout", "stderr"):
                found[stream] = "".join(
                    one["data"] for one in self.outputs if one.get("stream") == stream
                )
        self.update(session_id, "agent_message_chunk", content=json.dumps(found))

    def do_fail(self, session_id: str, rest: str) -> str:
        self.update(session_id, "agent_message_chunk", content="so far")
        return "error"

    def do_wait(self, session_id: str, rest: str) -> str:
        call = {"id": "tc_w", "tool": "think", "input": {}, "status": "in_progress"}
        self.update(session_id, "tool_call", **call)
        while not self.cancelled:
            self.take_meanwhile(self.receive())
        self.update(session_id, "tool_call_update", id="tc_w", status="cancelled")
        return "cancelled"

    def do_die(self, session_id: str, rest: str) -> None:
        os._exit(3)


def _after(words: list[str], name: str) -> str | None:
    return words[words.index(name) + 1] if name in words else None


if __name__ == "__main__":
    Agent(sys.argv[1:]).run()
