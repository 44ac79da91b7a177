"""One turn of the agent of version 1: it reads the request, uses its tools and says what it did."""

from __future__ import annotations

import hashlib
import os
import secrets
import subprocess
import time
from typing import TYPE_CHECKING, Any

from tests.kit_accuracy import optional_messages
from tests.kit_accuracy.line_peer import Json, RpcError, Withdrawn, Work
from tests.kit_accuracy.prompt_reading import Request, read_request

if TYPE_CHECKING:
    from tests.kit_accuracy.agent_v1 import Agent, Session

OPTIONS = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]
CLEANUP_SECONDS = 5.0


class Turn:
    """The work of one prompt; `run` returns its stop reason."""

    def __init__(self, agent: Agent, session: Session, work: Work) -> None:
        self.agent, self.session, self.work = agent, session, work
        self.broken = agent.broken
        self.late: Json | None = None
        self.after_result: list[Json] = []
        self.rejected = False
        self.cut_off = False
        """Whether the turn was cancelled while it wrote text."""
        self.unanswered = False
        """Whether the turn was cancelled while it waited for a permission."""
        self.open_calls: dict[str, Json] = {}

    def run(self, blocks: list[Json]) -> str:
        try:
            self.check()
            self.remember(blocks)
            optional_messages.before_work(self)
            self.serve(blocks)
            optional_messages.after_work(self)
            if self.broken != "V1-CAP-05b":
                self.check()
        except Withdrawn:
            for call in list(self.open_calls.values()):
                self.patch(call, status="failed")
            unseen = self.broken == "V1-CANCEL-05b" and self.unanswered
            return "end_turn" if unseen else "cancelled"
        return "end_turn"

    def check(self, seconds: float = 0) -> None:
        """Raise when the turn is cancelled, within these seconds."""
        if self.work.cancelled.wait(seconds) if seconds else self.work.cancelled.is_set():
            raise Withdrawn

    def remember(self, blocks: list[Json]) -> None:
        message_id = "msg-" + secrets.token_hex(6)
        for block in blocks:
            said = {
                "sessionUpdate": "user_message_chunk",
                "content": block,
                "messageId": message_id,
            }
            self.session.history.append(said)
        if not self.session.title:
            words = " ".join(block.get("text", "") for block in blocks).split()
            self.session.title = " ".join(words[:8])[:80] or "Conversation"
            title = {"sessionUpdate": "session_info_update", "title": self.session.title}
            if self.broken == "V1-SESS-23":
                self.agent.peer.notify("session/update", {"update": title})
                return
            self.agent.update(self.session, title)

    def serve(self, blocks: list[Json]) -> None:
        for name in self.session.unreachable:
            self.say(f"The MCP server {name} could not be started.\n")
        self.session.unreachable.clear()
        text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
        for block in blocks:
            if block["type"] == "image":
                size = len(block["data"]) * 3 // 4
                self.say(f"I see an image ({block['mimeType']}, about {size} bytes). ")
            elif block["type"] in ("resource", "resource_link"):
                uri = block.get("uri") or block["resource"]["uri"]
                self.say(f"I looked at {uri}. ")
        request = read_request(text)
        if self.broken == "V1-CMD-03" and text.startswith("/") and len(blocks) > 1:
            request = Request("say", text=text)
        getattr(self, "do_" + request.kind)(request)

    def say(self, text: str, kind: str = "agent_message_chunk") -> None:
        message_id = "msg-" + secrets.token_hex(6)
        pieces = [text[start : start + 24] for start in range(0, len(text), 24)]
        self.stream(pieces, message_id, 0, kind)

    def stream(
        self, pieces: list[str], message_id: str, pause: float, kind: str = "agent_message_chunk"
    ) -> None:
        said = ""
        try:
            for piece in pieces:
                if self.broken == "V1-CAP-05b":
                    time.sleep(pause)
                else:
                    self.check(pause)
                self.chunk(piece, message_id, kind)
                said += piece
        except Withdrawn:
            self.cut_off = True
            raise
        finally:
            if said:
                self.keep(kind, said, message_id)

    def chunk(self, piece: str, message_id: str, kind: str = "agent_message_chunk") -> None:
        content = {"type": "text", "text": piece}
        update = {"sessionUpdate": kind, "content": content, "messageId": message_id}
        self.agent.update(self.session, update)

    def keep(self, kind: str, text: str, message_id: str) -> None:
        content = {"type": "text", "text": text}
        kept = {"sessionUpdate": kind, "content": content, "messageId": message_id}
        self.session.history.append(kept)

    def finish(self, text: str) -> None:
        """Say the last words of the turn."""
        if self.broken == "V1-PROMPT-09":
            content = {"type": "text", "text": text}
            self.late = {"sessionUpdate": "agent_message_chunk", "content": content}
        else:
            self.say(text)

    # Tool calls

    def call(self, title: str, kind: str, path: str = "", **more: Any) -> Json:
        call: Json = {"toolCallId": "call-" + secrets.token_hex(6), "title": title, "kind": kind}
        call["status"] = "pending"
        if self.broken == "V1-TOOL-02":
            call["toolCallId"] = f"call-{len(self.open_calls) + 1}"
        if self.broken == "V1-TOOL-02b":
            call["toolCallId"] = "call-" + hashlib.sha256(title.encode()).hexdigest()[:12]
        if self.broken == "TR-STDIO-03b":
            with self.agent.peer.writing:
                self.agent.peer.writer.write(f"tool call: {title}\n".encode())
        if path:
            shown = os.path.relpath(path, self.session.cwd) if self.broken == "V1-TOOL-10" else path
            call["locations"] = [{"path": shown}]
        call |= more
        self.open_calls[call["toolCallId"]] = call
        self.agent.update(self.session, {"sessionUpdate": "tool_call", **call})
        return call

    def patch(self, call: Json, **changes: Any) -> None:
        call |= changes
        update = {"sessionUpdate": "tool_call_update", "toolCallId": call["toolCallId"], **changes}
        if self.broken == "V1-PROMPT-09b" and changes.get("status") == "completed":
            self.after_result.append(update)
        else:
            self.agent.update(self.session, update)
        if changes.get("status") in ("completed", "failed"):
            del self.open_calls[call["toolCallId"]]
            kept = {"sessionUpdate": "tool_call", **call}
            content = [each for each in call.get("content", []) if each["type"] != "terminal"]
            self.session.history.append({**kept, "content": content})
            if self.broken == "V1-TOOL-13":
                again = {"sessionUpdate": "tool_call_update", "toolCallId": call["toolCallId"]}
                self.agent.update(self.session, {**again, "status": "in_progress"})

    def permitted(self, call: Json) -> bool:
        asked = {key: call[key] for key in ("toolCallId", "title", "kind", "status", "rawInput")}
        params = {"sessionId": self.session.id, "toolCall": asked, "options": OPTIONS}
        try:
            result = self.agent.peer.call("session/request_permission", params, self.work)
        except RpcError:
            result = {}
        except Withdrawn:
            self.unanswered = True
            raise
        self.check()
        outcome = result.get("outcome")
        outcome = outcome if isinstance(outcome, dict) else {}
        chosen = outcome.get("outcome") == "selected"
        if chosen and (outcome.get("optionId") == "allow" or self.broken == "V1-PERM-06"):
            return True
        self.rejected = True
        self.patch(call, status="failed", content=[text_item("This was not permitted.")])
        self.finish("I did not do that, because it was not permitted.")
        return False

    def offers(self, *path: str) -> bool:
        told: Any = self.agent.client
        for key in path:
            told = told.get(key) if isinstance(told, dict) else None
        return told is True or self.broken == "V1-CAP-08"

    def resolve(self, path: str) -> tuple[str, bool]:
        """The absolute path, and whether it is inside the roots of the session."""
        whole = os.path.normpath(os.path.join(self.session.cwd, path))
        if self.broken == "V1-SESS-04" and not os.path.exists(whole):
            elsewhere = [os.path.join(each, path) for each in self.session.roots]
            whole = next((each for each in elsewhere if os.path.exists(each)), whole)
        real = whole if self.broken == "V1-SESS-13" else os.path.realpath(whole)
        granted = [self.session.cwd, *self.session.roots]
        if self.broken == "V1-SESS-05" and self.session.roots:
            granted = self.session.roots
        roots = [os.path.realpath(each) for each in granted]
        return whole, any(real == each or real.startswith(each + os.sep) for each in roots)

    def fetch(self, path: str) -> str:
        if self.offers("fs", "readTextFile"):
            params = {"sessionId": self.session.id, "path": path}
            try:
                return str(self.agent.peer.call("fs/read_text_file", params, self.work)["content"])
            except KeyError:
                return ""
            except RpcError as error:
                raise OSError(error.message) from error
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def store(self, path: str, text: str) -> None:
        if self.offers("fs", "readTextFile" if self.broken == "V1-FS-01" else "writeTextFile"):
            params = {"sessionId": self.session.id, "path": path, "content": text}
            try:
                self.agent.peer.call("fs/write_text_file", params, self.work)
            except RpcError as error:
                raise OSError(error.message) from error
            return
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    # What can be asked for

    def do_say(self, request: Request) -> None:
        self.finish("Hello. I can read, write and run things here. You said: " + request.text[:200])

    def do_help(self, request: Request) -> None:
        self.finish("I can read files, change them, run commands, and make plans.")

    def do_slow(self, request: Request) -> None:
        pieces = [f"This is sentence {number} of a long text. " for number in range(1, 101)]
        self.stream(pieces, "msg-" + secrets.token_hex(6), 0.1)

    def do_plan(self, request: Request) -> None:
        steps = ("Look at the files", "Make the change", "Run the tests")
        for done in range(len(steps) + 1):
            self.check(0.02)
            entries = []
            for at, step in enumerate(steps):
                status = "completed" if at < done else "in_progress" if at == done else "pending"
                entries.append({"content": step, "priority": "medium", "status": status})
            shown = self.show_plan(entries)
        self.session.history.append(shown)
        self.finish("That is the plan.")

    def show_plan(self, entries: list[Json]) -> Json:
        if self.broken == "V1-PLAN-02" and entries[0]["status"] == "completed":
            entries = [each for each in entries if each["status"] == "in_progress"]
        plan = {"sessionUpdate": "plan", "entries": entries}
        self.agent.update(self.session, plan)
        return plan

    def do_mode(self, request: Request) -> None:
        if self.broken == "V1-MODE-03b":
            self.agent.say_mode(self.session)
        self.session.mode = "ask" if self.session.mode == "code" else "code"
        if self.broken != "V1-MODE-03b":
            self.agent.say_mode(self.session)
        self.finish(f"I am in the mode {self.session.mode} now.")

    def do_recall(self, request: Request) -> None:
        server = next((each for each in self.session.servers if "recall" in each.tools), None)
        if server is None:
            self.finish("I have no such tool.")
            return
        call = self.call(f"recall of {server.name}", "other", rawInput={})
        self.patch(call, status="in_progress")
        result = server.call("tools/call", {"name": "recall", "arguments": {}})
        texts = [str(each.get("text", "")) for each in result.get("content", [])]
        self.patch(call, status="completed", content=[text_item("\n".join(texts))])
        self.finish("It says: " + " ".join(texts))

    def do_read(self, request: Request) -> None:
        path, inside = self.resolve(request.path)
        call = self.call(f"Read {request.path}", "read", path, rawInput={"path": path})
        if not inside:
            self.patch(
                call, status="failed", content=[text_item("That is outside of this session.")]
            )
            self.finish("I do not read outside of the session's folders.")
            return
        self.patch(call, status="in_progress")
        try:
            text = self.fetch(path)
        except OSError as error:
            self.patch(call, status="failed", content=[text_item(f"It cannot be read: {error}")])
            self.finish(f"I could not read {request.path}.")
            return
        self.patch(call, status="completed", content=[text_item(text[:2000])])
        self.finish(f"In {request.path} is: {text[:500]}")

    def do_edit(self, request: Request) -> None:
        self.change(request, lambda old: request.text + "\n")

    def do_replace(self, request: Request) -> None:
        self.change(request, lambda old: (old or "").replace(request.text, request.other))

    def change(self, request: Request, make: Any) -> None:
        path, inside = self.resolve(request.path)
        call = self.call(f"Change {request.path}", "edit", path, rawInput={"path": path})
        if not inside:
            self.patch(
                call, status="failed", content=[text_item("That is outside of this session.")]
            )
            self.finish("I do not write outside of the session's folders.")
            return
        if not self.permitted(call):
            return
        self.patch(call, status="in_progress")
        try:
            old: str | None = self.fetch(path)
        except OSError:
            old = None
        new = make(old)
        try:
            self.store(path, new)
        except OSError as error:
            self.patch(call, status="failed", content=[text_item(f"It cannot be written: {error}")])
            self.finish(f"I could not write {request.path}.")
            return
        shown = request.path if self.broken == "V1-TOOL-10" else path
        self.patch(call, status="completed", content=[self.diff(shown, old, new)])
        self.finish(f"I changed {request.path}.")

    def diff(self, path: str, old: str | None, new: str) -> Json:
        return {"type": "diff", "path": path, "oldText": old, "newText": new}

    def do_rename(self, request: Request) -> None:
        old, inside = self.resolve(request.path)
        new, also = self.resolve(request.other)
        call = self.call(f"Rename {request.path}", "move", old, rawInput={"from": old, "to": new})
        if not self.permitted(call):
            return
        self.patch(call, status="in_progress")
        try:
            if not (inside and also):
                raise OSError("outside of this session")
            os.rename(old, new)
        except OSError as error:
            self.patch(call, status="failed", content=[text_item(str(error))])
            self.finish(f"I could not rename {request.path}.")
            return
        self.patch(call, status="completed", content=[self.moved(old, new)])
        self.finish(f"I renamed {request.path}.")

    def moved(self, old: str, new: str) -> Json:
        return text_item(f"{old} is {new} now.")

    # Commands

    def do_run(self, request: Request) -> None:
        command = request.text
        call = self.call(f"Run {command}", "execute", rawInput={"command": command})
        if not self.permitted(call):
            return
        run = self.run_in_terminal if self.offers("terminal") else self.run_here
        try:
            output, code = run(call, command)
        except RpcError as error:
            self.patch(call, status="failed", content=[text_item(error.message)])
            self.finish("The terminal could not be used.")
            return
        self.finish(f"The command ended with {code}: {output[:500]}")

    def working_directory(self) -> str:
        return os.getcwd() if self.broken == "V1-SESS-03" else self.session.cwd

    def run_here(self, call: Json, command: str) -> tuple[str, int | None]:
        self.patch(call, status="in_progress")
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=self.working_directory(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        while process.poll() is None:
            if self.work.cancelled.wait(0.02):
                os.killpg(process.pid, 9)
                process.wait()
                raise Withdrawn
        assert process.stdout is not None
        output = process.stdout.read().decode("utf-8", "replace")
        status = "completed" if process.returncode == 0 else "failed"
        self.patch(call, status=status, content=[text_item(output[:2000])])
        return output, process.returncode

    def run_in_terminal(self, call: Json, command: str) -> tuple[str, int | None]:
        peer = self.agent.peer
        named: Json = {"sessionId": self.session.id}
        start = {"command": "/bin/sh", "args": ["-c", command], "cwd": self.working_directory()}
        created = peer.call("terminal/create", {**named, **start, "outputByteLimit": 100_000})
        named = {**named, "terminalId": created.get("terminalId")}
        if self.broken == "V1-SESS-23b":
            del named["sessionId"]
        content = [{"type": "terminal", "terminalId": created.get("terminalId")}]
        if self.broken == "V1-TOOL-09":
            self.patch(call, status="in_progress")
        else:
            self.patch(call, status="in_progress", content=content)
        released = False
        try:
            ended = peer.call("terminal/wait_for_exit", named, self.work)
            output = str(peer.call("terminal/output", named, self.work).get("output", ""))
            code = ended.get("exitCode")
            if self.broken == "V1-TOOL-09":
                peer.call("terminal/release", named, seconds=CLEANUP_SECONDS)
                released = True
                self.patch(call, content=content)
            self.patch(call, status="completed" if code == 0 else "failed", rawOutput=output)
        except Withdrawn:
            peer.call("terminal/kill", named, seconds=CLEANUP_SECONDS)
            raise
        finally:
            kept = self.broken == "V1-TERM-07" and self.work.cancelled.is_set()
            if not kept and not released:
                peer.call("terminal/release", named, seconds=CLEANUP_SECONDS)
        return output, code


def text_item(text: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": text}}
