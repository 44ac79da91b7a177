"""A client of version 1 that sends one prompt, or does what its purpose says."""

from __future__ import annotations

import base64
import os
import signal
import socket
import subprocess
import threading
import urllib.parse
from typing import Any

from tests.kit_accuracy.bad_messages import CLIENT_CHANGES, CLIENT_TEXTS, as_it_is
from tests.kit_accuracy.client_terminals import Terminals
from tests.kit_accuracy.line_peer import (
    AUTH_REQUIRED,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NOT_FOUND,
    Json,
    Later,
    Peer,
    RpcError,
    Withdrawn,
    Work,
    as_line,
    log,
    need,
)

THINKING_SECONDS = 0.3
PERSON_SECONDS = 5.0
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


class Permission:
    """A question of the agent that is not answered yet."""

    def __init__(self, request_id: Any) -> None:
        self.request_id = request_id
        self.cancelled = threading.Event()


class Client:
    """One agent, one session, one prompt."""

    peer_type: type[Peer] = Peer

    def __init__(self, command: list[str], broken: str, purpose: str) -> None:
        self.broken, self.purpose = broken, purpose
        self.agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.agent.stdin is not None
        assert self.agent.stdout is not None
        self.peer = self.peer_type(
            self.agent.stdout, self.agent.stdin, self.request, self.notification
        )
        self.peer.before_send = CLIENT_CHANGES.get(broken, as_it_is)
        self.peer.to_text = CLIENT_TEXTS.get(broken, as_line)
        self.cwd = os.getcwd()
        self.session_id = ""
        self.terminals = Terminals(self.cwd, broken)
        self.open: dict[Any, Permission] = {}
        self.turn_cancelled = threading.Event()
        self.cancel_wanted = threading.Event()
        self.offers: Json = {}
        self.logged_in = False

    def run(self) -> int:
        threading.Thread(target=self.peer.serve, daemon=True).start()
        try:
            return self.talk()
        except RpcError as error:
            log(f"the agent refused: {error.message}")
            return 1
        except Withdrawn:
            log("the agent ended")
            return 1
        finally:
            self.terminals.end()
            assert self.agent.stdin is not None
            self.agent.stdin.close()
            try:
                self.agent.wait(3)
            except subprocess.TimeoutExpired:
                self.agent.terminate()

    def talk(self) -> int:
        if self.broken == "V1-SESS-01":
            asked = {"id": "initialize", "method": "initialize", "params": self.introduction()}
            self.peer.send(asked)
            self.open_session(None)
            self.prompt()
            return 0
        answer = self.initialize()
        if answer.get("protocolVersion") != 1:
            log("the agent speaks another version")
            return 1
        if self.broken == "V1-GEN-12" and "agentInfo" in answer:
            log("connected to " + need(need(answer, "agentInfo", dict), "name", str))
        told = answer.get("agentCapabilities")
        self.offers = told if isinstance(told, dict) else {}
        offered = _object(self.offers.get("sessionCapabilities"))
        may_list = isinstance(offered.get("list"), dict)
        if self.broken == "V1-CAP-09" and not may_list:
            self.peer.call("session/list", {})
        if self.purpose == "list":
            return self.list_all() if may_list else 1
        if self.purpose == "resume":
            return self.resume(offered)
        self.open_session(answer.get("authMethods"))
        self.prompt()
        if self.broken == "V1-AUTH-07" and self.logged_in:
            self.peer.call("logout", {})
        return 0

    def initialize(self) -> Json:
        try:
            return self.peer.call("initialize", self.introduction())
        except RpcError as error:
            if self.broken != "V1-SESS-01b":
                raise
            log(f"the agent told nothing about itself: {error.message}")
            return {"protocolVersion": 1}

    def introduction(self) -> Json:
        login = {"auth": {"terminal": True}} if self.broken == "V1-AUTH-03" else {}
        return {
            "protocolVersion": "1" if self.broken == "V1-INIT-10" else 1,
            "clientInfo": {"name": "stranger-client", "version": "1.0"},
            "clientCapabilities": {
                "fs": {"readTextFile": True, "writeTextFile": True},
                "terminal": True,
                "elicitation": {} if self.broken == "V1-ELIC-03" else {"form": {}},
                **login,
            },
        }

    def open_session(self, methods: Any) -> None:
        cwd = "." if self.broken == "V1-GEN-06" else self.cwd
        params: Json = {"cwd": cwd, "mcpServers": []}
        if self.broken == "V1-SESS-07":
            del params["mcpServers"]
        if self.broken == "V1-SESS-09":
            params["additionalDirectories"] = []
        if self.broken == "V1-SESS-26":
            content = [{"type": "text", "text": "Answer briefly."}]
            params["systemPrompt"] = {"mode": "append", "content": content}
        if self.purpose == "mcp":
            params["mcpServers"] = self.remote_servers()
        try:
            answer = self.peer.call("session/new", params)
        except RpcError as error:
            usable = self.usable_logins(methods)
            if error.code != AUTH_REQUIRED or not usable:
                raise
            self.peer.call("authenticate", {"methodId": usable[0]["id"]})
            self.logged_in = True
            if self.broken == "V1-SESS-07b":
                params = {"cwd": cwd}
            answer = self.peer.call("session/new", params)
        self.session_id = str(answer.get("sessionId"))

    def usable_logins(self, methods: Any) -> list[Json]:
        """The logins that the agent handles itself."""
        whole = whole_logins(methods, "id")
        usable = [each for each in whole if each.get("type", "agent") == "agent"]
        return whole if self.broken == "V1-AUTH-03" else usable

    def remote_servers(self) -> list[Json]:
        takes = _object(self.offers.get("mcpCapabilities"))
        kind = "http" if takes.get("http") is True else "sse"
        if takes.get(kind) is not True and self.broken != "V1-MCP-03":
            return []
        return [{"type": kind, "name": "news", "url": "http://127.0.0.1:9/mcp", "headers": []}]

    def resume(self, offered: Json) -> int:
        marker = isinstance(offered.get("resume"), dict)
        if self.broken == "V1-LOAD-07":
            marker = marker or self.offers.get("loadSession") is True
        if not marker and self.broken != "V1-LOAD-01":
            log("the agent does not resume sessions")
            return 1
        self.session_id = "kit-1"
        params: Json = {"sessionId": self.session_id, "cwd": self.cwd, "mcpServers": []}
        self.peer.call("session/resume" if marker else "session/load", params)
        self.prompt()
        return 0

    def blocks(self) -> list[Json]:
        blocks: list[Json] = [{"type": "text", "text": "hello"}]
        if self.broken == "V1-PROMPT-02":
            resource = {"uri": f"file://{self.cwd}/notes.txt", "text": "one apple\n"}
            blocks.append({"type": "resource", "resource": resource})
        takes = _object(self.offers.get("promptCapabilities"))
        if self.broken == "V1-CAP-01" and takes.get("image", True):
            blocks.append({"type": "image", "data": PIXEL, "mimeType": "image/png"})
        return blocks

    def prompt(self) -> None:
        params = {"sessionId": self.session_id, "prompt": self.blocks()}
        self.listen_for_interrupts()
        threading.Thread(target=self.cancel_when_told, daemon=True).start()
        self.peer.call("session/prompt", params, Work())

    def listen_for_interrupts(self) -> None:
        """Let SIGINT cancel the turn.

        Python runs handlers of signals on the main thread, which may begin to wait for its answer
        just then and not see the signal; the wakeup descriptor is written to in any case.
        """
        told, self.interrupts = socket.socketpair()
        self.interrupts.setblocking(False)
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.set_wakeup_fd(self.interrupts.fileno())

        def listen() -> None:
            told.recv(1)
            self.cancel_wanted.set()

        threading.Thread(target=listen, daemon=True).start()

    def cancel_when_told(self) -> None:
        self.cancel_wanted.wait()
        self.turn_cancelled.set()
        self.peer.notify("session/cancel", {"sessionId": self.session_id})
        waiting = list(self.open.values()) if self.broken != "V1-CANCEL-03" else []
        for permission in waiting[-1:] if self.broken == "V1-CANCEL-03b" else waiting:
            permission.cancelled.set()

    def list_all(self) -> int:
        params: Json = {}
        for _ in range(100):
            answer = self.peer.call("session/list", params)
            cursor = answer.get("nextCursor")
            if cursor is None and (self.broken != "V1-CLOSE-06" or not answer.get("sessions")):
                return 0
            if cursor is None:
                params = {}
                continue
            sent = urllib.parse.quote(cursor) if self.broken == "V1-CLOSE-07" else cursor
            params = {"cursor": sent}
        return 1

    # What the agent asks

    def notification(self, message: Json) -> None:
        params = _object(message.get("params"))
        if message["method"] == "session/update":
            kind = _object(params.get("update")).get("sessionUpdate")
            if kind in ("agent_message_chunk", "agent_message") and self.purpose == "cancel":
                threading.Timer(THINKING_SECONDS, self.cancel_wanted.set).start()
        elif message["method"] == "$/cancel_request":
            asked = params.get("requestId")
            permission = self.open.get(asked) if isinstance(asked, int | str) else None
            if permission is not None:
                permission.cancelled.set()

    def request(self, message: Json) -> Json | Later:
        method, params = message["method"], message.get("params", {})
        handler = self.handlers().get(method)
        if handler is None and self.broken == "V1-EXT-04":
            return {}
        if handler is None:
            raise RpcError(METHOD_NOT_FOUND, "There is no such method.", {"method": method})
        if not isinstance(params, dict):
            raise RpcError(INVALID_PARAMS, "`params` is not an object.")
        if self.broken == "V1-EXT-02":
            _check_texts(_object(params.get("_meta")))
        if method != "elicitation/create" and need(params, "sessionId", str) != self.session_id:
            raise RpcError(NOT_FOUND, "There is no such session.")
        result = handler(params, message["id"])
        return Later(result) if callable(result) else result

    def handlers(self) -> dict[str, Any]:
        return {
            "session/request_permission": self.ask,
            "fs/read_text_file": lambda params, _: self.read(params),
            "fs/write_text_file": lambda params, _: self.write(params),
            "terminal/create": lambda params, _: self.terminals.create(params),
            "terminal/output": lambda params, _: self.terminals.show(params),
            "terminal/wait_for_exit": lambda params, _: self.terminals.wait(params),
            "terminal/kill": lambda params, _: self.terminals.kill(params),
            "terminal/release": lambda params, _: self.terminals.release(params),
            "elicitation/create": lambda params, _: self.elicit(params),
        }

    def ask(self, params: Json, request_id: Any) -> Any:
        if self.broken == "V1-PERM-02b":
            need(need(params, "toolCall", dict), "title", str)
        options = need(params, "options", list)
        ids = [need(each, "optionId", str) for each in options]
        kinds = {each.get("kind"): each["optionId"] for each in options}
        chosen = kinds.get("allow_once") or kinds.get("reject_once") or (ids[0] if ids else None)
        if self.broken == "V1-PERM-03":
            chosen = "allow"
        permission = self.open[request_id] = Permission(request_id)

        def decide() -> Json | None:
            if self.broken == "V1-PERM-02":
                return None
            late = self.turn_cancelled.is_set() and self.broken != "V1-CANCEL-03"
            seconds = PERSON_SECONDS if self.purpose == "cancel" else THINKING_SECONDS
            if late or permission.cancelled.wait(seconds) or chosen is None:
                del self.open[request_id]
                rejected = kinds.get("reject_once")
                if self.broken == "V1-PERM-05" and self.turn_cancelled.is_set() and rejected:
                    return {"outcome": {"outcome": "selected", "optionId": rejected}}
                return {"outcome": {"outcome": "cancelled"}}
            del self.open[request_id]
            return {"outcome": {"outcome": "selected", "optionId": chosen}}

        return decide

    def path_of(self, params: Json) -> str:
        path = str(need(params, "path", str))
        if not os.path.isabs(path):
            raise RpcError(INVALID_PARAMS, "The path is not absolute.")
        real, root = os.path.realpath(path), os.path.realpath(self.cwd)
        if self.broken == "V1-SESS-18":
            real = os.path.join(root, os.path.relpath(os.path.normpath(path), self.cwd))
            real = os.path.normpath(real)
        below = root if self.broken == "V1-SESS-24b" else root + os.sep
        inside = real == root or real.startswith(below)
        if not inside and self.broken != "V1-SESS-24":
            raise RpcError(INVALID_PARAMS, "The path is outside of the session's folder.")
        return path

    def read(self, params: Json) -> Json:
        path = self.path_of(params)
        line, limit = params.get("line"), params.get("limit")
        for number in (line, limit):
            if number is not None and (type(number) is not int or number < 0):
                raise RpcError(INVALID_PARAMS, "`line` and `limit` are whole numbers.")
        try:
            with open(path, encoding="utf-8", errors="replace", newline="") as file:
                lines = file.read().splitlines(keepends=True)
        except OSError as error:
            raise RpcError(NOT_FOUND, "The file cannot be read.", {"uri": path}) from error
        start = 0 if line is None else line if self.broken == "V1-FS-04" else max(line, 1) - 1
        end = None if limit is None else limit if self.broken == "V1-FS-04b" else start + limit
        return {"content": "".join(lines[start:end])}

    def write(self, params: Json) -> Json:
        path, content = self.path_of(params), need(params, "content", str)
        if self.broken == "V1-FS-02b" and not content:
            raise RpcError(INVALID_PARAMS, "`content` is missing.")
        if self.broken == "V1-FS-02" and not os.path.exists(path):
            raise RpcError(NOT_FOUND, "There is no such file.", {"uri": path})
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(content)
        except OSError as error:
            raise RpcError(-32603, "The file cannot be written.") from error
        return {}

    def elicit(self, params: Json) -> Json:
        need(params, "message", str)
        if need(params, "mode", str) == "form":
            schema = need(params, "requestedSchema", dict)
            if self.broken == "V1-ELIC-23":
                _check_formats(schema)
            return {"action": "decline"}
        if self.broken == "V1-ELIC-02":
            return {"action": "cancel"}
        raise RpcError(INVALID_PARAMS, "Only forms are supported.")


def whole_logins(methods: Any, key: str) -> list[Json]:
    """The entries that name a login; malformed ones are left out."""
    listed = methods if isinstance(methods, list) else []
    named = [each for each in listed if isinstance(each, dict) and isinstance(each.get(key), str)]
    return [each for each in named if isinstance(each.get("name"), str)]


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _check_formats(schema: Json) -> None:
    for each in _object(schema.get("properties")).values():
        known = (None, "email", "uri", "date", "date-time")
        if isinstance(each, dict) and each.get("format") not in known:
            raise RpcError(INVALID_PARAMS, "There is no such format.")


def _check_texts(meta: Json) -> None:
    for key, value in meta.items():
        if not isinstance(value, str):
            raise RpcError(INVALID_PARAMS, f"`{key}` is not text.")
