"""An agent of the 2026-02 draft that keeps the rules, or breaks the one that it is told to."""

from __future__ import annotations

import difflib
import os
import secrets
import threading
import time
from typing import Any

from tests.kit_accuracy import session_store
from tests.kit_accuracy.agent_v1 import MODELS, QUEUE_MAX, Agent, Session
from tests.kit_accuracy.agent_v1_turn import Turn
from tests.kit_accuracy.line_peer import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_FOUND,
    Json,
    Later,
    RpcError,
    Work,
    need,
)

SESSION_NOT_FOUND = -32000
RESOURCE_NOT_FOUND = -32004
NOT_SUPPORTED = -32007
MODES = ("default", "code")
OPERATIONS = {"edit": "file_write", "move": "file_write", "execute": "terminal_execute"}
TOOLS = {"edit": "fs/write_text_file", "read": "fs/read_text_file", "execute": "terminal/create"}
FINAL = ("completed", "failed", "denied", "cancelled")


class DraftTurn(Turn):
    """One turn, in the words of the draft."""

    read_failed = False

    def say_update(self, kind: str, data: Json) -> None:
        self.agent.update(self.session, {"type": kind, "data": data})

    def remember(self, blocks: list[Json]) -> None:
        for block in blocks:
            if block["type"] == "text":
                said = {"type": "user_message_chunk", "data": {"content": block["text"]}}
                self.session.history.append(said)

    def serve(self, blocks: list[Json]) -> None:
        plain = [block for block in blocks if block["type"] == "text"]
        for block in blocks:
            if block["type"] != "text":
                self.say(f"I looked at the {block['type']}. ")
        super().serve(plain)

    def run(self, blocks: list[Json]) -> str:
        reason = super().run(blocks)
        self.session.save()
        return reason

    def chunk(self, piece: str, message_id: str, kind: str = "agent_message_chunk") -> None:
        self.say_update("agent_message_chunk", {"content": piece})

    def keep(self, kind: str, text: str, message_id: str) -> None:
        self.session.history.append({"type": "agent_message_chunk", "data": {"content": text}})

    def call(self, title: str, kind: str, path: str = "", **more: Any) -> Json:
        call: Json = {"id": "call-" + secrets.token_hex(6), "tool": TOOLS.get(kind, kind)}
        call |= {"input": more.get("rawInput", {}), "status": "pending"}
        if path:
            call["location"] = {"path": path}
        self.open_calls[call["id"]] = call
        self.say_update("tool_call", dict(call))
        call["kind"], call["title"] = kind, title
        return call

    def patch(self, call: Json, **changes: Any) -> None:
        status = changes.get("status")
        if call["status"] == "pending" and status in ("completed", "failed"):
            self.patch(call, status="in_progress")
        if call["status"] == "awaiting_permission" and status == "failed":
            status = "denied"
        elif status == "failed" and self.work.cancelled.is_set():
            status = "cancelled"
        if status == call["status"]:
            return
        if self.broken == "D26-32" and call["kind"] == "read" and status == "in_progress":
            return
        data: Json = {"id": call["id"], "status": status}
        if content := changes.get("content"):
            data["output"] = _output(content[0])
        call["status"] = status
        self.read_failed = self.read_failed or (call["kind"] == "read" and status == "failed")
        if self.broken == "D26-15" and status == "cancelled":
            threading.Timer(0.2, self.say_update, ("tool_call_update", data)).start()
        else:
            self.say_update("tool_call_update", data)
        if status in FINAL:
            del self.open_calls[call["id"]]

    def permitted(self, call: Json) -> bool:
        early = self.broken == "D26-34"
        self.patch(call, status="in_progress" if early else "awaiting_permission")
        resource = call["input"].get("path") or call["input"].get("command") or call["title"]
        asked = {"operation": OPERATIONS[call["kind"]], "resource": resource}
        params = {"sessionId": self.session.id, **asked, "reason": call["title"]}
        try:
            result = self.agent.peer.call(
                "session/request_permission", {**params, "toolCallId": call["id"]}, self.work
            )
        except RpcError:
            result = {}
        self.check()
        if result.get("granted") is True:
            return True
        self.patch(call, status="failed" if early else "denied")
        self.finish("I did not do that, because it was not permitted.")
        return False

    def offers(self, *path: str) -> bool:
        return False

    def resolve(self, path: str) -> tuple[str, bool]:
        whole, inside = super().resolve(path)
        return whole, inside or (self.broken == "D26-24" and os.path.isabs(path))

    def show_plan(self, entries: list[Json]) -> Json:
        steps = [
            {"id": f"step_{at}", "description": each["content"], "status": each["status"]}
            for at, each in enumerate(entries)
        ]
        update = {"type": "plan", "data": {"planId": "main", "steps": steps}}
        self.agent.update(self.session, update)
        return update

    def do_mode(self, request: Any) -> None:
        before = self.session.mode
        self.session.mode = "code" if before == "default" else "default"
        data = {"previousMode": before, "currentMode": self.session.mode, "reason": "asked for"}
        self.say_update("current_mode_update", data)
        self.finish(f"I am in the mode {self.session.mode} now.")


def _output(item: Json) -> Json:
    if item["type"] != "diff":
        return {"type": "text", "text": item["content"]["text"]}
    old = (item["oldText"] or "").splitlines()
    new = item["newText"].splitlines()
    lines = list(difflib.ndiff(old, new))
    changed = "\n".join(line[0] + line[2:] for line in lines if line[0] != "?")
    hunk = {"oldStart": 1 if old else 0, "oldLines": len(old), "newStart": 1, "newLines": len(new)}
    return {"type": "diff", "path": item["path"], "hunks": [{**hunk, "content": changed}]}


class DraftAgent(Agent):
    """All methods of the draft."""

    methods = frozenset(
        {"initialize", "authenticate", "session/new", "session/load", "session/prompt"}
        | {"session/set_mode", "session/set_config_option"}
    )
    turn_type: type[DraftTurn] = DraftTurn

    def update(self, session: Session, update: Json) -> None:
        self.peer.notify("session/update", {"sessionId": session.id, **update})

    def request(self, message: Json) -> Json | Later:
        params = message.get("params")
        if isinstance(params, dict) and not isinstance(params.get("_meta", {}), dict):
            raise RpcError(INVALID_PARAMS, "`_meta` is an object.")
        try:
            return super().request(message)
        except RpcError as error:
            if self.broken == "D26-20" and error.code == METHOD_NOT_FOUND:
                raise RpcError(NOT_SUPPORTED, "This is not supported.") from error
            raise

    def on_initialize(self, params: Json, _: Any) -> Json:
        version = need(params, "protocolVersion", int)
        info = need(params, "clientInfo", dict)
        need(info, "name", str)
        need(info, "version", str)
        self.client = need(params, "capabilities", dict)
        if not 0 <= version <= 65535:
            raise RpcError(INVALID_PARAMS, "There is no such version.")
        self.initialized = True
        prompts = {"streaming": True, "cancellation": True, "attachments": False}
        sessions = {"modes": list(MODES), "configOptions": ["model"], "persistence": True}
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "stranger", "version": "0.1"},
            "capabilities": {
                "loadSession": True,
                "mcpCapabilities": {"servers": False, "transport": []},
                "promptCapabilities": prompts,
                "sessionCapabilities": sessions,
            },
        }

    def on_authenticate(self, params: Json, _: Any) -> Json:
        need(params, "method", str)
        key = need(params, "credentials", dict).get("apiKey")
        if isinstance(key, str) and key.startswith("stranger-"):
            return {"success": True}
        return {"success": False, "error": "This key is not known."}

    def active(self, params: Json) -> Session:
        session_id = need(params, "sessionId", str)
        if session_id not in self.sessions:
            code = INVALID_PARAMS if self.broken == "D26-33b" else SESSION_NOT_FOUND
            raise RpcError(code, "There is no such session.")
        return self.sessions[session_id]

    def on_session_new(self, params: Json, request_id: Any) -> Later:
        cwd = need(params, "workingDirectory", str)
        if not os.path.isabs(cwd):
            raise RpcError(INVALID_PARAMS, "`workingDirectory` is an absolute path.")
        if params.get("mcpServers"):
            raise RpcError(NOT_SUPPORTED, "MCP servers are not supported.")
        session = Session("ses-" + secrets.token_hex(8), cwd, [], None)
        mode = params.get("initialMode")
        session.mode = mode if mode in MODES else "default"
        self.sessions[session.id] = session
        session.save()

        def work() -> None:
            created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            result: Json = {"sessionId": session.id, "createdAt": created}
            if self.broken == "D26-19":
                result["_meta"] = None
            self.peer.send({"id": request_id, "result": result})
            commands = [{"name": "help", "description": "Say what this agent can do"}]
            self.update(session, {"type": "available_commands", "data": {"commands": commands}})

        return Later(work)

    def on_session_load(self, params: Json, request_id: Any) -> Later:
        session_id = need(params, "sessionId", str)
        record = session_store.load(session_id)
        if record is None:
            code = NOT_FOUND if self.broken == "D26-33" else SESSION_NOT_FOUND
            raise RpcError(code, "There is no such session.")
        session = self.sessions.get(session_id)
        session = session or Session(session_id, record["cwd"], [], record)
        self.sessions[session_id] = session

        def work() -> Json:
            for update in list(session.history):
                self.update(session, update)
            said = [each for each in session.history if each["type"].endswith("_message_chunk")]
            return {
                "sessionId": session.id,
                "workingDirectory": session.cwd,
                "mode": session.mode,
                "configOptions": {"model": session.model},
                "messageCount": len(said),
            }

        return Later(work)

    def on_session_set_mode(self, params: Json, request_id: Any) -> Later:
        session = self.active(params)
        mode, before = need(params, "mode", str), session.mode
        if mode not in MODES:
            raise RpcError(INVALID_PARAMS, "There is no such mode.")
        session.mode = mode
        session.save()

        def work() -> None:
            result = {"previousMode": before, "currentMode": mode}
            told = {"type": "current_mode_update", "data": {**result, "reason": "asked for"}}
            if self.broken == "D26-09":
                del result["previousMode"]
            self.peer.send({"id": request_id, "result": result})
            self.update(session, told)

        return Later(work)

    def on_session_set_config_option(self, params: Json, request_id: Any) -> Json | Later:
        session = self.active(params)
        key, value, before = need(params, "key", str), params.get("value"), session.model
        if key != "model" or value not in MODELS:
            raise RpcError(INVALID_PARAMS, "There is no such option, or not with this value.")
        session.model = str(value)
        session.save()

        def work() -> None:
            result = {"key": key, "previousValue": before, "currentValue": value}
            self.peer.send({"id": request_id, "result": result})
            if self.broken != "D26-35":
                told = {"type": "config_option_update", "data": {**result, "source": "user"}}
                self.update(session, told)

        return Later(work)

    def on_session_prompt(self, params: Json, request_id: Any) -> Later:
        session = self.active(params)
        blocks = need(params, "content", list)
        for block in blocks:
            self.check_block(block)
        if len(session.works) >= QUEUE_MAX:
            raise RpcError(INVALID_REQUEST, "Too many prompts wait.")
        work = Work()
        session.works.append(work)
        if len(session.works) == 1:
            work.started.set()

        def run() -> None:
            work.started.wait()
            turn = self.turn_type(self, session, work)
            reason = turn.run(blocks)
            session.works.remove(work)
            result = {"stopReason": reason}
            if self.broken == "D26-08" and turn.read_failed:
                self.peer.fail(request_id, RESOURCE_NOT_FOUND, "The file cannot be read.")
            elif self.broken == "D26-19":
                self.peer.send({"id": request_id, "result": {**result, "_meta": None}})
            else:
                self.peer.send({"id": request_id, "result": result})
            if session.works:
                session.works[0].started.set()

        return Later(run)

    def check_block(self, block: Any) -> None:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            need(block, "text", str)
        elif kind in ("image", "audio"):
            source = need(block, "source", dict)
            if not isinstance(source.get("data", source.get("url")), str):
                raise RpcError(INVALID_PARAMS, "The source has neither data nor an address.")
        elif kind in ("resource_link", "resource"):
            need(block, "uri", str)
        else:
            raise RpcError(INVALID_PARAMS, "This type of content is not supported.")
