"""What a scripted client saw in one step, folded from updates as they are on the wire.

Takes v1 and v2 alike, as plain dictionaries; every scripted client prints the same keys, so that a
test can compare peers of any kind.  Standard library only: it runs beside the official SDKs.
"""

from __future__ import annotations

import base64
from typing import Any

Json = dict[str, Any]


class Seen:
    """The record of one step; `report` is what the client prints for it."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.kinds: list[str] = []
        self.facts: Json = {}
        self._text: dict[str, dict[str, str]] = {"agent": {}, "thought": {}, "user": {}}
        self._tools: dict[str, Json] = {}
        self._terminals: dict[str, Json] = {}

    def add(self, key: str, item: Any) -> None:
        """Append to a list of facts, such as permissions that were asked."""
        self.facts.setdefault(key, []).append(item)

    def keep_config(self, options: list[Json]) -> None:
        """Remember the current values; in v2 the mode is one of them."""
        values = {
            option.get("configId") or option["id"]: option["currentValue"] for option in options
        }
        self.facts["config"] = values
        if "mode" in values:
            self.facts["mode"] = values["mode"]

    def fold(self, update: Json) -> None:
        kind: str = update["sessionUpdate"]
        self.kinds.append(kind)
        match kind:
            case "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk":
                self._chunk(kind, update)
            case "agent_message" | "agent_thought" | "user_message":
                texts = [block.get("text", "") for block in update.get("content") or []]
                self._text[_role(kind)][update["messageId"]] = "".join(texts)
            case "tool_call" | "tool_call_update":
                fields = {key: value for key, value in update.items() if key != "sessionUpdate"}
                self._tools.setdefault(update["toolCallId"], {}).update(fields)
            case "tool_call_content_chunk":
                tool = self._tools.setdefault(update["toolCallId"], {})
                tool["content"] = [*tool.get("content", []), update["content"]]
            case "terminal_update" | "terminal_output_chunk":
                self._terminal(update)
            case _:
                self._fold_state(kind, update)

    def _fold_state(self, kind: str, update: Json) -> None:
        match kind:
            case "plan":
                self.facts["plan"] = _plan(update["entries"])
            case "plan_update":
                self.facts["plan"] = _plan(update["plan"]["entries"])
            case "current_mode_update":
                self.facts["mode"] = update["currentModeId"]
            case "config_option_update":
                self.keep_config(update["configOptions"])
            case "usage_update":
                self.facts["usage"] = {"used": update["used"], "size": update["size"]}
            case "session_info_update":
                self.facts["title"] = update.get("title")
            case "available_commands_update":
                names = [command["name"] for command in update["availableCommands"]]
                self.facts["commands"] = names
            case "state_update":
                self.add("states", update["state"])
                if update["state"] == "idle":
                    self.facts["stop"] = update.get("stopReason")
            case _:
                self.add("unknown", kind)

    def _chunk(self, kind: str, update: Json) -> None:
        message = update.get("messageId") or ""
        texts = self._text[_role(kind)]
        texts[message] = texts.get(message, "") + update["content"].get("text", "")

    def _terminal(self, update: Json) -> None:
        terminal = self._terminals.setdefault(update["terminalId"], {"output": ""})
        if data := update.get("data"):
            terminal["output"] += base64.b64decode(data).decode()
        if output := update.get("output"):
            terminal["output"] = base64.b64decode(output["data"]).decode()
        if status := update.get("exitStatus"):
            terminal["exit"] = status.get("exitCode")
        if "command" in update:
            terminal["command"] = update["command"]

    def report(self) -> Json:
        texts = {f"{role}_text": "".join(parts.values()) for role, parts in self._text.items()}
        terminals = list(self._terminals.values()) + self.facts.pop("terminals", [])
        return {
            "step": self.step,
            "kinds": self.kinds,
            "messages": list(self._text["agent"].values()),
            "tools": list(self._tools.values()),
            "terminals": terminals,
            **texts,
            **self.facts,
        }


def choose(options: list[Json], kind: str) -> str | None:
    """The id of the offered option of that kind; None for `cancelled` or when there is none."""
    return next((option["optionId"] for option in options if option["kind"] == kind), None)


def _role(kind: str) -> str:
    return "user" if kind.startswith("user") else "thought" if "thought" in kind else "agent"


def _plan(entries: list[Json]) -> list[list[str]]:
    return [[entry["content"], entry["status"]] for entry in entries]
