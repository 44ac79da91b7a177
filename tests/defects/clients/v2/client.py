"""A small client that keeps every rule of v2 which the kit can see: the one of v1, reworded."""

import os
from typing import Any

from tests.defects.clients.v1.client import IMAGE, ClientV1
from tests.defects.clients.v2.state import StateV2
from tests.defects.stdio_jsonrpc import HOLD, Call, Json, Refused, Stopped, Work, bad_params

GONE = ("fs/", "terminal/")


class ClientV2(ClientV1):
    """Drives one agent by a script, and serves what the agent asks."""

    state: StateV2

    def __init__(self) -> None:
        super().__init__()
        self.state = StateV2()
        self.idle = False

    def handler(self, kind: str, method: str) -> Any:
        return None if method.startswith(GONE) else super().handler(kind, method)

    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        if method == "terminal/wait_for_exit":
            self.refuse(request_id, {"code": -32601, "message": "Method not found"})
        else:
            super().requested(request_id, method, params)

    def introduction(self) -> Json:
        return {
            "protocolVersion": 2,
            "info": {"name": "correct-client", "version": "1"},
            "capabilities": {"elicitation": {"form": {}}},
        }

    def speaks(self, version: Any) -> bool:
        return version in (1, 2)

    @property
    def old(self) -> bool:
        """Whether the agent speaks version 1 only."""
        return self.agent.get("protocolVersion") == 1

    def offers(self, *names: str) -> bool:
        value: Any = self.agent.get("capabilities")
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return isinstance(value, dict)

    def place(self) -> Json:
        return super().place() if self.old else {"cwd": os.getcwd()}

    def open(self, **more: Any) -> Work:
        if not self.old and not self.offers("session"):
            raise Refused(0, "the agent has no sessions")
        yield from super().open(**more)

    def log_in(self) -> Work:
        methods = [one for one in self.agent.get("authMethods", []) if self.usable(one)]
        if not methods:
            raise Refused(0, "no way to log in")
        yield Call("auth/login", {"methodId": methods[0]["methodId"]})

    def usable(self, method: Any) -> bool:
        return isinstance(method, dict) and method.get("type") == "agent"

    def ask(self, blocks: list[Json] | None = None) -> Work:
        yield Call("session/prompt", {**self.here(), "prompt": blocks or self.blocks()})
        self.idle = False
        # Until the agent is idle; the end of its output ends it as well.
        while not self.idle:
            yield HOLD

    def step_image(self) -> Work:
        yield from self.open()
        image = [IMAGE] if self.offers("session", "prompt", "image") else []
        yield from self.ask([*self.blocks(), *image])

    def step_roots(self) -> Work:
        offered = self.offers("session", "additionalDirectories")
        yield from self.open(**({"additionalDirectories": ["/usr"]} if offered else {}))
        yield from self.ask()

    def step_resume(self) -> Work:
        if not self.offers("session"):
            return
        self.session_id = "kit-1"
        yield Call("session/resume", {**self.here(), **self.place()})
        yield from self.step_prompt()

    step_load = step_resume

    def step_delete(self) -> Work:
        if self.offers("session", "delete"):
            yield Call("session/delete", {"sessionId": "kit-1"})

    def step_logout(self) -> Work:
        if self.agent.get("authMethods"):
            yield Call("auth/logout", {})

    def step_list(self) -> Work:
        if not self.offers("session"):
            return
        page = yield Call("session/list", {})
        while page.get("nextCursor") is not None:
            page = yield Call("session/list", {"cursor": page["nextCursor"]})

    def notification_session_update(self, params: Json) -> None:
        super().notification_session_update(params)
        if params["update"].get("state") == "idle":
            self.idle = True
            task = self.tasks.get("")
            if task is not None and task.asked is None:
                self.step(task)

    def cancel(self) -> None:
        self.notify("session/cancel", self.here())
        self.state.cancel()
        for task in list(self.tasks.values()):
            if task.method == "session/request_permission":
                self.stop(task)

    def request_session_request_permission(self, params: Json) -> Work:
        if not isinstance(params.get("options"), list) or "title" not in params:
            raise bad_params("options and title are missing")
        subject = params.get("subject")
        if subject is not None:
            self.apply(subject)
        return self.decide(params)

    def apply(self, subject: Any) -> None:
        if not isinstance(subject, dict):
            raise bad_params("a malformed subject")
        if subject.get("type") == "tool_call":
            call = subject.get("toolCall")
            if not isinstance(call, dict) or not isinstance(call.get("toolCallId"), str):
                raise bad_params("a malformed subject")
            self.state.on_tool_call_update(call)
        elif subject.get("type") == "command" and not isinstance(subject.get("command"), str):
            raise bad_params("a malformed subject")

    def request_elicitation_create(self, params: Json) -> Json:
        if not isinstance(params.get("requestedSchema"), dict) and params.get("mode") == "form":
            raise bad_params("requestedSchema is missing")
        return super().request_elicitation_create(params)

    def decide(self, params: Json) -> Work:
        try:
            return (yield from super().decide(params))
        except Stopped:
            return {"outcome": {"outcome": "cancelled"}}
