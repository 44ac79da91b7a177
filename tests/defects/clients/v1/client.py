"""A small client that keeps every rule of v1 which the kit can see.

`steps` says what it does, one word each: the purposes of a client's scenario (prompt, cancel, list,
load ...).  It asks nobody: permissions are granted, forms are declined.  Its state can be read by
the method `_accord.dev/state`, which the documentation of the kit describes.
"""

import os
from pathlib import Path
from typing import Any

from tests.defects.clients.terminals import Terminals
from tests.defects.clients.v1.state import State
from tests.defects.stdio_jsonrpc import (
    HOLD,
    Call,
    Json,
    Refused,
    Stopped,
    Task,
    Work,
    absolute,
    bad_params,
)

CAPABILITIES: Json = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}},
    "session": {"notices": {}, "compaction": {}},
}
HTTP_SERVER: Json = {"type": "http", "name": "far", "url": "http://localhost:9/", "headers": []}
IMAGE: Json = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


class ClientV1(Terminals):
    """Drives one agent by a script, and serves what the agent asks."""

    steps: tuple[str, ...] = ("prompt",)

    def __init__(self) -> None:
        super().__init__()
        self.session_id = ""
        self.agent: Json = {}
        self.opened: Json = {}
        self.state = State()
        self.waits_for_cancel = False

    def run(self) -> None:
        task = Task("", "", {}, self.script())
        self.tasks[""] = task
        self.step(task)
        super().run()

    # The script.

    def script(self) -> Work:
        try:
            yield from self.introduce()
            for step in self.steps or ("prompt",):
                yield from getattr(self, f"step_{step}")()
        except Refused as refused:
            self.failed(refused)

    def failed(self, refused: Refused) -> None:
        """Tell the user."""

    def introduce(self) -> Work:
        self.agent = yield Call("initialize", self.introduction())
        if not self.speaks(self.agent.get("protocolVersion")):
            raise Refused(0, "the agent speaks another version")

    def introduction(self) -> Json:
        return {
            "protocolVersion": 1,
            "clientCapabilities": self.capabilities(),
            "clientInfo": {"name": "correct-client", "version": "1"},
        }

    def capabilities(self) -> Json:
        return CAPABILITIES

    def speaks(self, version: Any) -> bool:
        return bool(version == 1)

    def offers(self, *names: str) -> bool:
        value: Any = self.agent.get("agentCapabilities")
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return value is True or isinstance(value, dict)

    def place(self) -> Json:
        return {"cwd": os.getcwd(), "mcpServers": []}

    def open(self, **more: Any) -> Work:
        params = {**self.place(), **more}
        try:
            self.opened = yield Call("session/new", params)
        except Refused as refused:
            if refused.error["code"] != -32000 or "login" not in self.steps:
                raise
            yield from self.log_in()
            self.opened = yield Call("session/new", params)
        self.session_id = self.opened["sessionId"]

    def log_in(self) -> Work:
        methods = [one for one in self.agent.get("authMethods", []) if self.usable(one)]
        if not methods:
            raise Refused(0, "no way to log in")
        yield Call("authenticate", {"methodId": methods[0]["id"]})

    def usable(self, method: Any) -> bool:
        return isinstance(method, dict) and "id" in method and method.get("type") != "terminal"

    def here(self) -> Json:
        return {"sessionId": self.session_id}

    def blocks(self) -> list[Json]:
        return [{"type": "text", "text": "hello"}]

    def ask(self, blocks: list[Json] | None = None) -> Work:
        yield Call("session/prompt", {**self.here(), "prompt": blocks or self.blocks()})

    def step_prompt(self) -> Work:
        if not self.session_id:
            yield from self.open()
        yield from self.ask()

    step_login = step_prompt

    def step_cancel(self) -> Work:
        self.waits_for_cancel = True
        yield from self.step_prompt()

    def step_image(self) -> Work:
        yield from self.open()
        image = [IMAGE] if self.offers("promptCapabilities", "image") else []
        yield from self.ask([*self.blocks(), *image])

    def step_roots(self) -> Work:
        offered = self.offers("sessionCapabilities", "additionalDirectories")
        yield from self.open(**({"additionalDirectories": ["/usr"]} if offered else {}))
        yield from self.ask()

    def step_mcp(self) -> Work:
        offered = self.offers("mcpCapabilities", "http")
        yield from self.open(**({"mcpServers": [HTTP_SERVER]} if offered else {}))
        yield from self.ask()

    def step_mode(self) -> Work:
        yield from self.open()
        options = self.opened.get("configOptions") or []
        if option := next((one for one in options if one.get("category") == "mode"), None):
            params = {**self.here(), "configId": option["id"], "value": self.wanted_mode()}
            yield Call("session/set_config_option", params)
        elif self.opened.get("modes"):
            yield Call("session/set_mode", {**self.here(), "modeId": self.wanted_mode()})
        yield from self.ask()

    def wanted_mode(self) -> str:
        """The last of the modes that the session has."""
        modes = self.opened.get("modes") or {}
        names = [one["id"] for one in modes.get("availableModes", []) if isinstance(one, dict)]
        return names[-1] if names else "code"

    def step_load(self) -> Work:
        if self.offers("loadSession"):
            self.session_id = "kit-1"
            yield Call("session/load", {**self.here(), **self.place()})
        yield from self.step_prompt()

    def step_resume(self) -> Work:
        if self.offers("sessionCapabilities", "resume"):
            self.session_id = "kit-1"
            yield Call("session/resume", {**self.here(), **self.place()})
        yield from self.step_prompt()

    def step_close(self) -> Work:
        yield from self.step_prompt()
        if self.offers("sessionCapabilities", "close"):
            yield Call("session/close", self.here())

    def step_delete(self) -> Work:
        if self.offers("sessionCapabilities", "delete"):
            yield Call("session/delete", {"sessionId": "kit-1"})

    def step_logout(self) -> Work:
        if self.offers("auth", "logout"):
            yield Call("logout", {})

    def step_list(self) -> Work:
        if not self.offers("sessionCapabilities", "list"):
            return
        page = yield Call("session/list", {})
        while page.get("nextCursor") is not None:
            page = yield Call("session/list", {"cursor": page["nextCursor"]})

    # What the agent says and asks.

    def notification_session_update(self, params: Json) -> None:
        update = params["update"]
        if params["sessionId"] and isinstance(update, dict):
            self.state.fold(update)
        if self.waits_for_cancel and update["sessionUpdate"] == "agent_message_chunk":
            self.waits_for_cancel = False
            self.cancel()

    def cancel(self) -> None:
        self.notify("session/cancel", self.here())
        self.state.cancel()
        for task in list(self.tasks.values()):
            if task.method == "session/request_permission":
                self.stop(task)

    def request_session_request_permission(self, params: Json) -> Work:
        options = params.get("options")
        if not isinstance(options, list) or not isinstance(params.get("toolCall"), dict):
            raise bad_params("options and toolCall are missing")
        if not all(isinstance(one, dict) and "optionId" in one for one in options):
            raise bad_params("a malformed option")
        return self.decide(params)

    def decide(self, params: Json) -> Work:
        try:
            if "cancel" in self.steps:
                yield HOLD
        except Stopped:
            return {"outcome": {"outcome": "cancelled"}}
        chosen = params["options"][0]["optionId"]
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    def request_accord_dev_state(self, _params: Json) -> Json:
        return self.state.shown()

    def request_elicitation_create(self, params: Json) -> Json:
        if params.get("mode") != "form":
            raise bad_params("only forms are supported")
        return {"action": "decline"}

    # Files.

    def inside(self, path: Any) -> Path:
        real = os.path.realpath(absolute(path, "path"))
        top = os.path.realpath(os.getcwd())
        if real != top and not real.startswith(top + "/"):
            raise Refused(-32602, "outside of the session's folders")
        return Path(real)

    def request_fs_read_text_file(self, params: Json) -> Json:
        path = self.inside(params.get("path"))
        if not path.is_file():
            raise Refused(-32002, "Resource not found", {"uri": str(path)})
        lines = path.read_text().splitlines(keepends=True)
        first = self.first_line(params)
        limit = params.get("limit")
        return {"content": "".join(lines[first : None if limit is None else first + limit])}

    def first_line(self, params: Json) -> int:
        return max(params.get("line") or 1, 1) - 1

    def request_fs_write_text_file(self, params: Json) -> Json:
        self.inside(params.get("path")).write_text(params["content"])
        return {}
