"""What the small agent of v1 does in a turn: messages, tools, files, terminals, questions."""

import os
from pathlib import Path
from typing import Any

from tests.defects.agents.mcp_client import McpServer
from tests.defects.stdio_jsonrpc import (
    HOLD,
    Call,
    Json,
    Peer,
    Refused,
    Work,
    bad_params,
    new_name,
    output_of,
)

OPTIONS = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]
# What a loaded session shows again.
KEPT = ("agent_message_chunk", "tool_call", "tool_call_update", "plan")


class Turns(Peer):
    """The turns, and the state of sessions that they change."""

    def __init__(self) -> None:
        super().__init__()
        self.client: Json | None = None
        self.sessions: dict[str, Json] = {}
        self.logged_in = False
        self.mcp: dict[str, list[McpServer]] = {}
        self.restore()

    def restore(self) -> None:
        """Read what an earlier process kept."""

    def can(self, *names: str) -> bool:
        """Whether the client said that it has this; a marker counts by being an object."""
        value: Any = self.client
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return value is True or isinstance(value, dict)

    # Sessions.

    def new_session_id(self) -> str:
        return f"sess-{new_name()[:12]}"

    def new_session(self, name: str, roots: list[str]) -> Json:
        config = {"mode": "ask", "model": "small"}
        self.sessions[name] = {
            "id": name,
            "roots": roots,
            "history": [],
            "config": config,
            "turns": [],
            "open": {},
            "active": True,
            "calls": 0,
        }
        return self.sessions[name]

    def connect(self, session: Json, servers: list[Json]) -> None:
        self.mcp[session["id"]] = [McpServer(server, session["roots"][0]) for server in servers]

    def end(self) -> None:
        for servers in self.mcp.values():
            for server in servers:
                server.close()

    def setup(self, session: Json) -> Json:
        modes = [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]
        current = session["config"]["mode"]
        return {
            "modes": {"currentModeId": current, "availableModes": modes},
            "configOptions": self.options(session),
        }

    def options(self, session: Json) -> list[Json]:
        def select(name: str, category: str, *values: str) -> Json:
            return {
                "id": name,
                "name": name.title(),
                "category": category,
                "type": "select",
                "currentValue": session["config"][name],
                "options": [{"value": value, "name": value.title()} for value in values],
            }

        return [
            select("mode", "mode", "ask", "code"),
            select("model", "model", "small", "large"),
        ]

    def set_config(self, session: Json, key: Any, value: Any) -> None:
        values = {"mode": ("ask", "code"), "model": ("small", "large")}
        if key not in values or value not in values[key]:
            raise bad_params("no such option or value")
        if key == "mode":
            self.set_mode(session, value)
        else:
            session["config"][key] = value

    def set_mode(self, session: Json, mode: str) -> None:
        session["config"]["mode"] = mode
        self.update(session, "current_mode_update", currentModeId=mode)
        self.update(session, "config_option_update", configOptions=self.options(session))

    # Updates.

    def remember(self, session: Json, update: Json) -> None:
        session["history"].append(update)

    def update(self, session: Json, what: str, **fields: Any) -> None:
        update = {"sessionUpdate": what, **fields}
        if what in KEPT:
            self.remember(session, update)
        self.notify("session/update", {"sessionId": session["id"], "update": update})

    def say(self, session: Json, text: str) -> None:
        message_id = new_name()
        words = text.split(" ")
        for at, word in enumerate(words):
            piece = word if at == len(words) - 1 else word + " "
            content = {"type": "text", "text": piece}
            self.update(session, "agent_message_chunk", content=content, messageId=message_id)

    def open_call(self, session: Json, title: str, kind: str, **fields: Any) -> str:
        session["calls"] += 1
        name = f"call-{new_name()[:8]}"
        call = {"toolCallId": name, "title": title, "kind": kind, "status": "pending", **fields}
        self.update(session, "tool_call", **call)
        session["open"][name] = True
        return name

    def progress(self, session: Json, call: str, status: str, **fields: Any) -> None:
        self.update(session, "tool_call_update", toolCallId=call, status=status, **fields)
        if status in ("completed", "failed"):
            session["open"].pop(call, None)

    def settle(self, session: Json) -> None:
        for call in list(session["open"]):
            self.progress(session, call, "failed")

    # What a prompt can ask for.

    def act(self, session: Json, text: str) -> Work:
        word, _, rest = text.strip().lstrip("/").partition(" ")
        action = getattr(self, f"do_{word}", None)
        if action is None:
            self.say(session, "I have heard you.")
            return "end_turn"
        yield from action(session, rest)
        return "refusal" if word == "refuse" else "end_turn"

    def do_refuse(self, session: Json, _rest: str) -> Work:
        self.say(session, "I will not do that.")
        yield from ()

    def do_long(self, session: Json, _rest: str) -> Work:
        self.say(session, "working on it")
        call = self.open_call(session, "Long work", "execute")
        self.progress(session, call, "in_progress")
        yield HOLD

    def do_tool(self, session: Json, _rest: str) -> Work:
        place = str(Path(session["roots"][0], "note.txt"))
        call = self.open_call(session, "Look around", "read", locations=[{"path": place}])
        self.progress(session, call, "in_progress")
        content = [{"type": "content", "content": {"type": "text", "text": "seen"}}]
        self.progress(session, call, "completed", content=content)
        self.say(session, "I looked around.")
        yield from ()

    def do_stream(self, session: Json, _rest: str) -> Work:
        self.say(session, "The sea is wide and it is deep. " * 10)
        yield from ()

    def do_fail(self, session: Json, _rest: str) -> Work:
        call = self.open_call(session, "Break", "other")
        self.progress(session, call, "in_progress")
        self.progress(session, call, "failed")
        self.say(session, "The tool failed.")
        yield from ()

    def do_plan(self, session: Json, _rest: str) -> Work:
        for status in ("pending", "in_progress", "completed"):
            first = {"content": "Look", "priority": "high", "status": status}
            second = {"content": "Write", "priority": "low", "status": "pending"}
            self.update(session, "plan", entries=[first, second])
        self.say(session, "planned")
        yield from ()

    def do_mode(self, session: Json, rest: str) -> Work:
        self.set_mode(session, rest or "code")
        self.say(session, "switched")
        yield from ()

    def do_config(self, session: Json, rest: str) -> Work:
        self.set_config(session, "model", rest or "large")
        self.update(session, "config_option_update", configOptions=self.options(session))
        self.say(session, "changed")
        yield from ()

    def do_usage(self, session: Json, _rest: str) -> Work:
        cost = {"amount": 0.01, "currency": "USD"}
        self.update(session, "usage_update", used=10, size=1000, cost=cost)
        yield from ()

    def do_notice(self, session: Json, _rest: str) -> Work:
        if self.can("session", "notices"):
            self.update(session, "notice", severity="info", title="Look here")
        self.say(session, "noticed")
        yield from ()

    def do_compact(self, session: Json, _rest: str) -> Work:
        if self.can("session", "compaction"):
            summary = {"type": "text", "text": "all in short"}
            name = {"compactionId": new_name()}
            self.update(session, "compaction_update", status="in_progress", **name)
            self.update(session, "compaction_summary_chunk", content=summary, **name)
            self.update(session, "compaction_update", status="completed", **name)
        self.say(session, "compacted")
        yield from ()

    def ask(self, session: Json, call: str) -> Work:
        params = {
            "sessionId": session["id"],
            "toolCall": {"toolCallId": call},
            "options": OPTIONS,
        }
        answer = yield Call("session/request_permission", params)
        outcome = answer.get("outcome", {}) if isinstance(answer, dict) else {}
        return self.approved(outcome)

    def approved(self, outcome: Json) -> bool:
        return outcome.get("outcome") == "selected" and outcome.get("optionId") == "allow"

    def inside(self, session: Json, name: str) -> Path:
        """The place of a file, which must be in one of the roots, links followed."""
        path = Path(session["roots"][0], name)
        real = os.path.realpath(path)
        for root in session["roots"]:
            top = os.path.realpath(root)
            if real == top or real.startswith(top.rstrip("/") + "/"):
                return path
        raise Refused(-32602, "outside of the session's folders")

    def do_edit(self, session: Json, rest: str) -> Work:
        name, _, text = rest.partition(" ")
        path = Path(session["roots"][0], name or "note.txt")
        diff = {"type": "diff", "path": str(path), "newText": text or "new text\n"}
        call = self.open_call(session, f"Write {path.name}", "edit", content=[diff])
        try:
            self.inside(session, name or "note.txt")
        except Refused:
            self.progress(session, call, "failed")
            self.say(session, "That is outside of my folders.")
            return
        if not (yield from self.ask(session, call)):
            self.progress(session, call, "failed")
            self.say(session, "not written")
            return
        self.progress(session, call, "in_progress")
        yield from self.write_file(session, path, diff["newText"])
        self.progress(session, call, "completed")
        self.say(session, "written")

    do_permission = do_edit

    def write_file(self, session: Json, path: Path, text: str) -> Work:
        if self.can("fs", "writeTextFile"):
            params = {"sessionId": session["id"], "path": str(path), "content": text}
            yield Call("fs/write_text_file", params)
        else:
            path.write_text(text)

    def do_read(self, session: Json, rest: str) -> Work:
        path = Path(session["roots"][0], rest or "note.txt")
        locations = [{"path": str(path)}]
        call = self.open_call(session, f"Read {path.name}", "read", locations=locations)
        self.progress(session, call, "in_progress")
        try:
            self.inside(session, rest or "note.txt")
            if self.can("fs", "readTextFile"):
                params = {"sessionId": session["id"], "path": str(path)}
                text = (yield Call("fs/read_text_file", params))["content"]
            else:
                text = path.read_text()
        except (Refused, OSError) as error:
            self.progress(session, call, "failed")
            self.say(session, f"I cannot read it: {error}")
            return
        self.progress(session, call, "completed")
        self.say(session, text)

    def do_terminal(self, session: Json, rest: str) -> Work:
        command = rest.split() or ["pwd"]
        call = self.open_call(session, "Run " + " ".join(command), "execute")
        if not (yield from self.ask(session, call)):
            self.progress(session, call, "failed")
            return
        here = {"sessionId": session["id"]}
        if not self.can("terminal"):
            self.progress(session, call, "in_progress")
            output = output_of(command, session["roots"][0])
            self.progress(session, call, "completed")
            self.say(session, output.decode())
            return
        cwd = session["roots"][0]
        params = {**here, "command": command[0], "args": command[1:], "cwd": cwd}
        made = yield Call("terminal/create", params)
        there = {**here, "terminalId": made["terminalId"]}
        shown = [{"type": "terminal", "terminalId": made["terminalId"]}]
        self.progress(session, call, "in_progress", content=shown)
        try:
            yield Call("terminal/wait_for_exit", there)
            output = yield Call("terminal/output", there)
        finally:
            self.release(there)
        self.progress(session, call, "completed")
        self.say(session, output["output"])

    def release(self, terminal: Json) -> None:
        """Sent without waiting, so that it also goes out when the turn is cancelled."""
        self.send({"id": self.new_id(), "method": "terminal/release", "params": terminal})

    def do_elicit(self, session: Json, _rest: str) -> Work:
        if not self.can("elicitation", "form"):
            self.say(session, "I would ask, but you have no forms.")
            return
        wanted = {"type": "object", "properties": {"name": {"type": "string"}}}
        params = {
            "sessionId": session["id"],
            "mode": "form",
            "message": "Who are you?",
            "requestedSchema": wanted,
        }
        answer = yield Call("elicitation/create", params)
        if isinstance(answer, dict) and answer.get("action") == "accept":
            self.say(session, f"Hello, {(answer.get('content') or {}).get('name', 'you')}")
        else:
            self.say(session, "As you like.")

    def do_browse(self, session: Json, _rest: str) -> Work:
        if not self.can("elicitation", "url"):
            self.say(session, "I would show you a page, but you have no way.")
            return
        name = new_name()
        page = {"mode": "url", "elicitationId": name, "url": "https://example.org/login"}
        yield Call(
            "elicitation/create", {"sessionId": session["id"], "message": "Log in, please", **page}
        )
        self.notify("elicitation/complete", {"elicitationId": name})
        self.say(session, "Thank you.")

    def do_mcp(self, session: Json, rest: str) -> Work:
        tool = rest.strip()
        call = self.open_call(session, f"Use {tool or 'a tool'}", "other")
        self.progress(session, call, "in_progress")
        for server in self.mcp.get(session["id"], []):
            if text := server.call(tool):
                self.progress(session, call, "completed")
                self.say(session, text)
                return
        self.progress(session, call, "failed")
        yield from ()
