"""A small client that keeps every rule of the 2026-02 draft which the kit can see."""

import os
from pathlib import Path
from typing import Any

from tests.defects.clients.v1.client import ClientV1
from tests.defects.stdio_jsonrpc import Call, Json, Refused, Work, bad_params

CAPABILITIES: Json = {
    "fs": {"read": True, "write": True},
    "terminal": {"create": True},
    "ui": {"permissionDialogs": True},
}
NOT_FOUND, ACCESS_DENIED = -32004, -32005


class ClientDraft(ClientV1):
    """Drives one agent by a script, and serves what the agent asks."""

    def handler(self, kind: str, method: str) -> Any:
        gone = ("elicitation/", "_accord", "terminal/output")
        return None if method.startswith(gone) else super().handler(kind, method)

    def introduction(self) -> Json:
        return {
            "protocolVersion": 1,
            "clientInfo": {"name": "correct-client", "version": "1"},
            "capabilities": CAPABILITIES,
        }

    def introduce(self) -> Work:
        yield from super().introduce()
        needed = self.agent.get("requiredClientCapabilities") or {}
        if not self.serves(needed):
            raise Refused(0, "the agent needs what we have not")

    def serves(self, needed: Json) -> bool:
        return needed.keys() <= CAPABILITIES.keys()

    def offers(self, *names: str) -> bool:
        value: Any = self.agent.get("capabilities")
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return bool(value)

    def place(self) -> Json:
        return {"workingDirectory": os.getcwd(), "mcpServers": []}

    def ask(self, blocks: list[Json] | None = None) -> Work:
        yield Call("session/prompt", {**self.here(), "content": blocks or self.blocks()})

    def step_load(self) -> Work:
        if self.offers("loadSession"):
            self.session_id = "kit-1"
            yield Call("session/load", self.here())
        yield from self.step_prompt()

    def step_mode(self) -> Work:
        yield from self.open()
        if self.offers("sessionCapabilities", "modes"):
            yield Call("session/set_mode", {**self.here(), "mode": self.wanted_mode()})
        yield from self.ask()

    def notification_session_update(self, params: Json) -> None:
        if self.waits_for_cancel and params["type"] == "agent_message_chunk":
            self.waits_for_cancel = False
            self.cancel()

    def request_session_request_permission(self, params: Json) -> Any:
        if not isinstance(params.get("operation"), str) or "resource" not in params:
            raise bad_params("operation and resource are missing")
        return self.granted(params)

    def granted(self, _params: Json) -> Json:
        return {"granted": True, "scope": "once", "remember": False}

    # Files and terminals.

    def inside(self, path: Any) -> Path:
        if not isinstance(path, str) or not path:
            raise bad_params("path is a text")
        real = os.path.realpath(os.path.join(os.getcwd(), path))
        top = os.path.realpath(os.getcwd())
        if real != top and not real.startswith(top + "/"):
            raise Refused(ACCESS_DENIED, "outside of the working folder")
        return Path(real)

    def request_fs_read_text_file(self, params: Json) -> Json:
        path = self.inside(params.get("path"))
        if not path.is_file():
            raise Refused(NOT_FOUND, "Resource not found")
        return {"content": path.read_text(), "encoding": "utf-8"}

    def request_fs_write_text_file(self, params: Json) -> Json:
        path = self.inside(params.get("path"))
        created = not path.exists()
        path.write_text(params["content"])
        return {"bytesWritten": len(params["content"].encode()), "created": created}

    def request_terminal_kill(self, params: Json) -> Json:
        super().request_terminal_kill(params)
        return {"killed": True}

    def request_terminal_release(self, params: Json) -> Json:
        super().request_terminal_release(params)
        return {"released": True}
