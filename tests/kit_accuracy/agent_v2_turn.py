"""One prompt's work in version 2: the same tools, said in the words of that version."""

from __future__ import annotations

import base64
import difflib
import os
import secrets
import subprocess
from typing import TYPE_CHECKING, Any

from tests.kit_accuracy.agent_v1_turn import OPTIONS, Turn
from tests.kit_accuracy.line_peer import Json, RpcError, Withdrawn
from tests.kit_accuracy.prompt_reading import read_request

if TYPE_CHECKING:
    from tests.kit_accuracy.agent_v2 import AgentV2, SessionV2


class TurnV2(Turn):
    """The work between `running` and `idle`."""

    agent: AgentV2
    session: SessionV2
    message_id = ""
    last_message_id = ""

    def echo(self, blocks: list[Json]) -> None:
        said = {"sessionUpdate": "user_message", "messageId": self.message_id, "content": blocks}
        self.session.history.append(said)
        if self.broken == "V2-PROMPT-05":
            said = {**said, "messageId": "msg-" + secrets.token_hex(6)}
        self.agent.update(self.session, said)

    def run(self, blocks: list[Json]) -> str:
        try:
            self.check()
            self.entitle(blocks)
            self.serve(blocks)
            self.check()
        except Withdrawn:
            running = any(call["status"] == "in_progress" for call in self.open_calls.values())
            for own_id in self.work.calls:
                self.agent.peer.notify("$/cancel_request", {"requestId": own_id})
            for call in list(self.open_calls.values()):
                self.patch(call, status="cancelled")
            if self.broken == "V2-CANCEL-03b":
                self.chunk("I stopped.", "msg-" + secrets.token_hex(6))
            return "error" if running and self.broken == "V2-CANCEL-04" else "cancelled"
        return "end_turn"

    def missing_file(self, blocks: list[Json]) -> str:
        """The first file of a prompt that cannot be opened."""
        links = [str(each["uri"]) for each in blocks if each["type"] == "resource_link"]
        paths = [each.removeprefix("file://") for each in links if each.startswith("file://")]
        text = "\n".join(each["text"] for each in blocks if each["type"] == "text")
        request = read_request(text)
        if request.kind == "read":
            paths.append(self.resolve(request.path)[0])
        return next((each for each in paths if not os.path.exists(each)), "")

    def entitle(self, blocks: list[Json]) -> None:
        if not self.session.title:
            words = " ".join(block.get("text", "") for block in blocks).split()
            self.session.title = " ".join(words[:8])[:80] or "Conversation"
            title = {"sessionUpdate": "session_info_update", "title": self.session.title}
            self.agent.update(self.session, title)

    def chunk(self, piece: str, message_id: str, kind: str = "agent_message_chunk") -> None:
        again = message_id == self.last_message_id
        self.last_message_id = message_id
        if self.broken != "V2-UPS-01" and not (again and self.broken == "V2-UPS-01b"):
            super().chunk(piece, message_id, kind)
            return
        content = {"type": "text", "text": piece}
        self.agent.update(self.session, {"sessionUpdate": kind, "content": content})

    def keep(self, kind: str, text: str, message_id: str) -> None:
        content = [{"type": "text", "text": text}]
        kept = {"sessionUpdate": "agent_message", "messageId": message_id, "content": content}
        self.session.history.append(kept)

    def call(self, title: str, kind: str, path: str = "", **more: Any) -> Json:
        call: Json = {"toolCallId": "call-" + secrets.token_hex(6), "title": title, "kind": kind}
        call |= {"status": "pending", **more}
        if self.broken == "V2-UPS-11" and kind == "execute":
            call["kind"] = "shell"
        if path:
            call["locations"] = [{"path": path}]
        self.open_calls[call["toolCallId"]] = call
        self.agent.update(self.session, {"sessionUpdate": "tool_call_update", **call})
        return call

    def patch(self, call: Json, **changes: Any) -> None:
        call |= changes
        update = {"sessionUpdate": "tool_call_update", "toolCallId": call["toolCallId"], **changes}
        self.agent.update(self.session, update)
        if changes.get("status") in ("completed", "failed", "cancelled"):
            del self.open_calls[call["toolCallId"]]
            self.session.history.append({"sessionUpdate": "tool_call_update", **call})

    def permitted(self, call: Json) -> bool:
        raw = call["rawInput"]
        if "command" in raw:
            subject = {"type": "command", "command": raw["command"], "cwd": self.session.cwd}
            subject["toolCallId"] = call["toolCallId"]
            if self.broken == "V2-PERM-06":
                subject["cwd"] = "."
        else:
            asked = {key: call[key] for key in ("toolCallId", "title", "kind", "rawInput")}
            subject = {"type": "tool_call", "toolCall": asked}
        params = {"sessionId": self.session.id, "title": call["title"] + "?", "subject": subject}
        if self.broken == "V2-PERM-02" and subject["type"] == "tool_call":
            del params["title"]
        self.agent.say_state(self.session, {"state": "requires_action"})
        work = None if self.broken == "V2-CANCEL-06" else self.work
        try:
            result = self.agent.peer.call(
                "session/request_permission", {**params, "options": OPTIONS}, work
            )
        except RpcError:
            result = {}
        self.check()
        if self.broken != "V2-PROMPT-09":
            self.agent.say_state(self.session, {"state": "running"})
        outcome = result.get("outcome")
        outcome = outcome if isinstance(outcome, dict) else {}
        chosen = outcome.get("optionId") if outcome.get("outcome") == "selected" else None
        if chosen == "allow" or (self.broken == "V2-PERM-08" and chosen not in (None, "reject")):
            return True
        self.patch(call, status="failed")
        self.finish("I did not do that, because it was not permitted.")
        return False

    def offers(self, *path: str) -> bool:
        return False

    def diff(self, path: str, old: str | None, new: str) -> Json:
        change = {"operation": "add" if old is None else "modify", "path": path, "fileType": "text"}
        ahead, behind = ("a", "b") if self.broken == "V2-UPS-18" else ("", "")
        lines = [f"diff --git {ahead}{path} {behind}{path}\n"]
        if old is None:
            lines.append("new file mode 100644\n")
        before = "/dev/null" if old is None else ahead + path
        hunks = difflib.unified_diff(
            (old or "").splitlines(keepends=True),
            new.splitlines(keepends=True),
            before,
            behind + path,
        )
        lines += [
            line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
            for line in hunks
        ]
        patch = {"format": "git_patch", "text": "".join(lines)}
        return {"type": "diff", "changes": [change], "patch": patch}

    def moved(self, old: str, new: str) -> Json:
        change = {"operation": "move", "oldPath": old, "path": new}
        if self.broken == "V2-UPS-21":
            del change["oldPath"]
        return {"type": "diff", "changes": [change]}

    def show_plan(self, entries: list[Json]) -> Json:
        key = "id" if self.broken == "V2-CFG-08" else "planId"
        plan = {"type": "items", key: "main", "entries": entries}
        update = {"sessionUpdate": "plan_update", "plan": plan}
        self.agent.update(self.session, update)
        return update

    def terminal_id(self, command: str) -> str:
        return "term-1" if self.broken == "V2-UPS-12" else "term-" + secrets.token_hex(6)

    def interrupted(self, seconds: float) -> bool:
        """Whether the running command has to end, now or within these seconds."""
        return self.work.cancelled.wait(seconds)

    def run_here(self, call: Json, command: str) -> tuple[str, int | None]:
        terminal = {"sessionUpdate": "terminal_update", "terminalId": self.terminal_id(command)}
        opened = {**terminal, "command": command, "cwd": self.session.cwd}
        self.agent.update(self.session, opened)
        content = [{"type": "terminal", "terminalId": terminal["terminalId"]}]
        self.patch(call, status="in_progress", content=content)
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=self.session.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        stopped = False
        while process.poll() is None and not stopped:
            if self.interrupted(0.02):
                os.killpg(process.pid, 9)
                stopped = True
        process.wait()
        assert process.stdout is not None
        output = process.stdout.read()
        data = base64.b64encode(output).decode()
        if output:
            chunk = {**terminal, "sessionUpdate": "terminal_output_chunk", "data": data}
            self.agent.update(self.session, chunk)
        status = {"signal": "SIGKILL"} if stopped else {"exitCode": process.returncode}
        self.agent.update(self.session, {**terminal, "exitStatus": status})
        ended = {**opened, "output": {"data": data}, "exitStatus": status}
        self.session.history.append(ended)
        if stopped:
            raise Withdrawn
        self.patch(call, status="completed" if process.returncode == 0 else "failed")
        return output.decode("utf-8", "replace"), process.returncode
