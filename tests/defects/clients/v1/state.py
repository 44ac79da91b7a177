"""What the updates of v1 add up to, as the small client shows it."""

from typing import Any

from tests.defects.stdio_jsonrpc import Json

FINAL = ("completed", "failed", "cancelled")


def whole(entries: list[Any], key: str) -> list[Json]:
    """The entries that have this key; malformed ones are dropped."""
    return [one for one in entries if isinstance(one, dict) and key in one]


class State:
    """The transcript of one session."""

    def __init__(self) -> None:
        self.messages: list[Json] = []
        self.calls: dict[str, Json] = {}
        self.plans: dict[str, list[str]] = {}
        self.commands: list[str] = []
        self.title: str | None = None
        self.usage: Json = {}
        self.compactions: dict[str, Json] = {}
        self.order = 0

    def shown(self) -> Json:
        return {
            "messages": self.messages,
            "toolCalls": list(self.calls.values()),
            "plans": [{"id": name, "entries": list(one)} for name, one in self.plans.items()],
            "commands": self.commands,
            "title": self.title,
            "usage": self.usage,
            "compactions": list(self.compactions.values()),
        }

    def fold(self, update: Json) -> None:
        handler = getattr(self, f"on_{update.get('sessionUpdate')}", None)
        if handler is not None:
            handler(update)

    def cancel(self) -> None:
        for call in self.calls.values():
            if call["status"] not in FINAL:
                call["status"] = "cancelled"

    # Messages.

    def chunk(self, role: str, update: Json) -> None:
        name = update.get("messageId")
        text = update["content"].get("text", "")
        last = self.messages[-1] if self.messages else None
        found = next((one for one in self.messages if self.same(one, role, name)), None)
        if name is None and last is not None and last["role"] == role and last["id"] is None:
            found = last
        if found is None:
            self.order += 1
            found = {"id": name, "role": role, "text": "", "at": self.order}
            self.messages.append(found)
        found["text"] += text

    def same(self, message: Json, role: str, name: Any) -> bool:
        return name is not None and message["id"] == name and message["role"] == role

    def on_user_message_chunk(self, update: Json) -> None:
        self.chunk("user", update)

    def on_agent_message_chunk(self, update: Json) -> None:
        self.chunk("agent", update)

    def on_agent_thought_chunk(self, update: Json) -> None:
        self.chunk("thought", update)

    # Tool calls.

    def call(self, name: str) -> Json:
        if name not in self.calls:
            self.calls[name] = self.new_call(name)
        return self.calls[name]

    def new_call(self, name: str) -> Json:
        return {"id": name, "title": "", "kind": "other", "status": "pending", "content": []}

    def on_tool_call(self, update: Json) -> None:
        self.patch(self.call(update["toolCallId"]), update)

    def on_tool_call_update(self, update: Json) -> None:
        self.patch(self.call(update["toolCallId"]), update)

    def patch(self, call: Json, update: Json) -> None:
        for key in ("title", "kind", "name"):
            if update.get(key) is not None:
                call[key] = update[key]
        status = update.get("status")
        if status is not None and self.may_become(call["status"], status):
            call["status"] = status
        if update.get("content") is not None:
            call["content"] = self.contents(call, update["content"])

    def may_become(self, before: str, _after: str) -> bool:
        return before not in ("completed", "failed")

    def contents(self, _call: Json, content: list[Json]) -> list[str]:
        return [one.get("content", {}).get("text", one["type"]) for one in whole(content, "type")]

    # The rest.

    def on_plan(self, update: Json) -> None:
        self.plans["main"] = [one["content"] for one in whole(update["entries"], "content")]

    def on_available_commands_update(self, update: Json) -> None:
        self.commands = [one["name"] for one in whole(update["availableCommands"], "name")]

    def on_session_info_update(self, update: Json) -> None:
        if "title" in update:
            self.title = update["title"]

    def on_usage_update(self, update: Json) -> None:
        self.usage = {"used": update["used"], "size": update["size"], "cost": update.get("cost")}

    def compaction(self, name: str) -> Json:
        if name not in self.compactions:
            self.order += 1
            made: Json = {"id": name, "status": "in_progress", "summary": [], "at": self.order}
            self.compactions[name] = made
        return self.compactions[name]

    def on_compaction_update(self, update: Json) -> None:
        found = self.compaction(update["compactionId"])
        found["status"] = update["status"]
        if "summary" in update:
            found["summary"] = [block["text"] for block in update["summary"] or []]

    def on_compaction_summary_chunk(self, update: Json) -> None:
        self.compaction(update["compactionId"])["summary"].append(update["content"]["text"])
