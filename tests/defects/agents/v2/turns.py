"""What the small agent of v2 does in a turn; files and terminals are its own."""

import base64
from pathlib import Path
from typing import Any

from tests.defects.agents.v1.turns import OPTIONS, Turns
from tests.defects.stdio_jsonrpc import HOLD, Call, Json, Refused, Work, new_name, output_of

KEPT = ("user_message", "agent_message_chunk", "tool_call_update", "plan_update", "terminal_update")


def patch_of(path: str, old: str, new: str) -> Json:
    head = f"diff --git {path} {path}\n--- {path}\n+++ {path}\n@@ -1 +1 @@\n"
    return {"format": "git_patch", "text": f"{head}-{old.rstrip()}\n+{new.rstrip()}\n"}


class TurnsV2(Turns):
    """Overrides what is said in other words than in v1."""

    def update(self, session: Json, what: str, **fields: Any) -> None:
        what = "tool_call_update" if what == "tool_call" else what
        update = {"sessionUpdate": what, **fields}
        if what in KEPT:
            self.remember(session, update)
        self.notify("session/update", {"sessionId": session["id"], "update": update})

    def state(self, session: Json, name: str, **fields: Any) -> None:
        session["state"] = {"state": name, **fields}
        self.tell_state(session)

    def tell_state(self, session: Json) -> None:
        more = {"background": session["background"]} if "background" in session else {}
        self.update(session, "state_update", **session["state"], **more)

    def progress(self, session: Json, call: str, status: str, **fields: Any) -> None:
        final = status in ("completed", "failed", "cancelled")
        if final and call in session["able"]:
            session["able"].discard(call)
            fields["capabilities"] = None
        self.update(session, "tool_call_update", toolCallId=call, status=status, **fields)
        if final:
            session["open"].pop(call, None)

    def settle(self, session: Json, status: str = "failed") -> None:
        for call in list(session["open"]):
            self.progress(session, call, status)

    # Questions.

    def waiting(self, session: Json, call: Call) -> Work:
        """Ask the user while nothing else goes on."""
        self.state(session, "requires_action")
        answer = yield call
        self.state(session, "running")
        return answer

    def ask(self, session: Json, call: str) -> Work:
        return (yield from self.permit(session, self.subject(session, call)))

    def subject(self, _session: Json, call: str) -> Json:
        return {"type": "tool_call", "toolCall": {"toolCallId": call}}

    def permit(self, session: Json, subject: Json) -> Work:
        params = {"sessionId": session["id"], "title": "May I?", "subject": subject}
        asking = Call("session/request_permission", {**params, "options": OPTIONS})
        answer = yield from self.waiting(session, asking)
        return self.approved(answer.get("outcome", {}))

    def asking(self, session: Json, mode: str) -> Json:
        scope: Json = {"sessionId": session["id"], "mode": mode, "message": "Who are you?"}
        if mode == "url":
            return {**scope, "elicitationId": new_name(), "url": "https://example.org/"}
        wanted = {"type": "object", "properties": {"name": {"type": "string"}}}
        return {**scope, "requestedSchema": wanted}

    def do_elicit(self, session: Json, _rest: str) -> Work:
        if not self.can("elicitation", "form"):
            self.say(session, "I would ask, but you have no forms.")
            return
        asking = Call("elicitation/create", self.asking(session, "form"))
        try:
            answer = yield from self.waiting(session, asking)
        except Refused:
            self.state(session, "running")
            answer = {}
        self.say(session, self.reply_to(answer.get("action")))

    def reply_to(self, action: Any) -> str:
        return {"accept": "Hello.", "decline": "As you like."}.get(action, "Never mind.")

    def do_browse(self, session: Json, _rest: str) -> Work:
        if not self.can("elicitation", "url"):
            self.say(session, "I would show you a page, but you have no way.")
            return
        page = self.asking(session, "url")
        yield from self.waiting(session, Call("elicitation/create", page))
        self.notify("elicitation/complete", {"elicitationId": page["elicitationId"]})
        self.say(session, "Thank you.")

    # Work.

    def do_long(self, session: Json, _rest: str) -> Work:
        self.say(session, "working on it")
        self.send({"id": self.new_id(), "method": "_defects/hello", "params": {}})
        able: Json = {"capabilities": {"cancel": {}}}
        call = self.open_call(session, "Long work", "execute", **able)
        session["able"].add(call)
        self.progress(session, call, "in_progress")
        yield HOLD

    def do_edit(self, session: Json, rest: str) -> Work:
        name, _, text = rest.partition(" ")
        path = Path(session["roots"][0], name or "notes.txt")
        old = path.read_text() if path.is_file() else ""
        diff = self.diff(str(path), old, text)
        call = self.open_call(session, f"Write {path.name}", "edit", content=[diff])
        try:
            self.inside(session, str(path))
            allowed = yield from self.ask(session, call)
        except Refused:
            allowed = False
        if not allowed:
            self.progress(session, call, "failed")
            self.say(session, "not written")
            return
        self.progress(session, call, "in_progress")
        path.write_text(text)
        self.progress(session, call, "completed")
        self.say(session, "written")

    do_permission = do_edit

    def diff(self, path: str, old: str, new: str) -> Json:
        changes = [{"operation": "modify", "path": path}]
        return {"type": "diff", "changes": changes, "patch": patch_of(path, old, new)}

    def do_rename(self, session: Json, _rest: str) -> Work:
        old, new = (str(Path(session["roots"][0], name)) for name in ("notes.txt", "renamed.txt"))
        text = f"diff --git {old} {new}\nrename from {old}\nrename to {new}\n"
        diff = {"type": "diff", "changes": [self.move(old, new)]}
        patch = {"patch": {"format": "git_patch", "text": text}}
        call = self.open_call(session, "Rename", "move", content=[{**diff, **patch}])
        self.progress(session, call, "in_progress")
        Path(old).rename(new)
        self.progress(session, call, "completed")
        yield from ()

    def move(self, old: str, new: str) -> Json:
        return {"operation": "move", "oldPath": old, "path": new}

    def do_read(self, session: Json, rest: str) -> Work:
        path = Path(session["roots"][0], rest or "notes.txt")
        places = [{"path": str(path), "line": 1}]
        call = self.open_call(session, f"Read {path.name}", "read", locations=places)
        self.progress(session, call, "in_progress")
        try:
            text = self.inside(session, rest).read_text()
        except (Refused, OSError):
            self.progress(session, call, "failed")
            self.say(session, "I cannot read it.")
            return
        self.progress(session, call, "completed")
        self.say(session, text)
        yield from ()

    def terminal_id(self) -> str:
        return f"terminal-{new_name()[:8]}"

    def show_terminal(self, session: Json, command: str) -> str:
        name = self.terminal_id()
        where = {"command": command, "cwd": session["roots"][0]}
        self.update(session, "terminal_update", terminalId=name, **where)
        return name

    def do_terminal(self, session: Json, rest: str) -> Work:
        command = rest or "pwd"
        call = self.open_call(session, f"Run {command}", "execute")
        subject = {"type": "command", "command": command, "cwd": session["roots"][0]}
        if not (yield from self.permit(session, subject)):
            self.progress(session, call, "failed")
            return
        name = self.show_terminal(session, command)
        shown = [{"type": "terminal", "terminalId": name}]
        self.progress(session, call, "in_progress", content=shown)
        cwd = session["roots"][0]
        output = output_of(command.split(), cwd)
        data = base64.b64encode(output).decode()
        status = {"output": {"data": data}, "exitStatus": {"exitCode": 0}}
        self.update(session, "terminal_update", terminalId=name, **status)
        self.progress(session, call, "completed")
        self.say(session, output.decode())

    def do_background(self, session: Json, _rest: str) -> Work:
        name = self.show_terminal(session, "sleep 60")
        session["background"] = [{"type": "terminal", "terminalId": name}]
        self.say(session, "It runs.")
        yield from ()

    def do_plan(self, session: Json, _rest: str) -> Work:
        for status in ("pending", "completed"):
            entry = {"content": "Look", "priority": "high", "status": status}
            self.update(session, "plan_update", plan=self.plan([entry]))
        yield from ()

    def plan(self, entries: list[Json]) -> Json:
        return {"type": "items", "planId": "main", "entries": entries}

    def do_crash(self, session: Json, _rest: str) -> Work:
        self.say(session, "oh")
        yield from self.fall()

    def fall(self) -> Work:
        if self.client is not None:
            raise Refused(-32603, "Internal error")
        yield from ()
