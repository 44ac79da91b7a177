"""What the upserts of v2 add up to, as the small client shows it."""

import base64
from typing import Any

from tests.defects.clients.v1.state import State
from tests.defects.stdio_jsonrpc import Json

KINDS = (
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other",
)  # fmt: skip
STATUSES = ("pending", "in_progress", "completed", "failed", "cancelled")


class StateV2(State):
    """The transcript of one session."""

    def __init__(self) -> None:
        super().__init__()
        self.terminals: dict[str, Json] = {}
        self.now: Json = {"state": "idle"}

    def shown(self) -> Json:
        terminals = [
            {"id": name, "text": self.decoded(one), "exited": one["exited"]}
            for name, one in self.terminals.items()
        ]
        return {
            **super().shown(),
            "terminals": terminals,
            "state": self.now["state"],
            "stopReason": self.reason(self.now.get("stopReason")),
            "background": self.background(self.now.get("background")),
        }

    def reason(self, value: Any) -> Any:
        return value if isinstance(value, str) else None

    def background(self, value: Any) -> Any:
        if not isinstance(value, list):
            return None
        return [one.get("terminalId") or one.get("toolCallId") for one in value]

    # Messages.

    def whole(self, role: str, update: Json) -> None:
        found = next((m for m in self.messages if self.same(m, role, update["messageId"])), None)
        if found is None:
            self.order += 1
            found = {"id": update["messageId"], "role": role, "text": "", "at": self.order}
            self.messages.append(found)
        if "content" in update:
            self.replace(found, "".join(one.get("text", "") for one in update["content"] or []))

    def replace(self, message: Json, text: str) -> None:
        message["text"] = text

    def on_user_message(self, update: Json) -> None:
        self.whole("user", update)

    def on_agent_message(self, update: Json) -> None:
        self.whole("agent", update)

    def on_agent_thought(self, update: Json) -> None:
        self.whole("thought", update)

    # Tool calls.

    def patch(self, call: Json, update: Json) -> None:
        for key, default in (("title", ""), ("kind", "other"), ("status", "pending")):
            if key in update:
                call[key] = self.read(key, update[key], default)
        if "content" in update:
            call["content"] = self.contents(call, update["content"] or [])
        if "_meta" in update:
            self.patch_meta(call, update["_meta"])

    def read(self, key: str, value: Any, default: str) -> Any:
        if value is None:
            return default
        if key == "kind" and value not in KINDS:
            return "other"
        if key == "status" and value not in STATUSES:
            return "in_progress"
        return value

    def patch_meta(self, call: Json, meta: Json | None) -> None:
        if meta is None:
            call["meta"] = {}
        else:
            merged = {**call.get("meta", {}), **meta}
            call["meta"] = {key: value for key, value in merged.items() if value is not None}

    def on_tool_call_content_chunk(self, update: Json) -> None:
        call = self.call(update["toolCallId"])
        call["content"] = call["content"] + super().contents(call, [update["content"]])

    # Terminals.

    def terminal(self, name: str) -> Json:
        return self.terminals.setdefault(name, {"pieces": [], "exited": False})

    def decoded(self, terminal: Json) -> str:
        pieces = b"".join(base64.b64decode(piece) for piece in terminal["pieces"])
        return pieces.decode("utf-8", "replace")

    def on_terminal_update(self, update: Json) -> None:
        found = self.terminal(update["terminalId"])
        if "output" in update:
            self.snapshot(found, update["output"])
        if "exitStatus" in update:
            found["exited"] = self.exited(update["exitStatus"])

    def snapshot(self, terminal: Json, output: Json | None) -> None:
        terminal["pieces"] = [output["data"]] if output else []

    def exited(self, status: Json | None) -> bool:
        return status is not None

    def on_terminal_output_chunk(self, update: Json) -> None:
        self.terminal(update["terminalId"])["pieces"].append(update["data"])

    # The rest.

    def on_state_update(self, update: Json) -> None:
        self.now = update

    def on_plan_update(self, update: Json) -> None:
        plan = update["plan"]
        self.plans[plan["planId"]] = [one["content"] for one in plan.get("entries", [])]

    def on_usage_update(self, update: Json) -> None:
        cost = update["cost"] if "cost" in update else self.usage.get("cost")
        self.usage = {"used": update["used"], "size": update["size"], "cost": cost}
