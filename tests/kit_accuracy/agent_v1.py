"""An agent of version 1 that keeps the rules, or breaks the one that it is told to break."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
import threading
from typing import Any

from tests.kit_accuracy import session_store
from tests.kit_accuracy.agent_v1_turn import Turn
from tests.kit_accuracy.bad_messages import AGENT_CHANGES, AGENT_TEXTS, as_it_is
from tests.kit_accuracy.line_peer import (
    AUTH_REQUIRED,
    CANCELLED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_FOUND,
    Json,
    Later,
    Peer,
    RpcError,
    Work,
    as_line,
    log,
    need,
)
from tests.kit_accuracy.mcp_servers import McpServer, env_of

QUEUE_MAX = 17
PAGE = 25
MODES = {"code": "Reads and changes files, and asks first", "ask": "Answers questions"}
MODELS = {"small": "Small", "large": "Large"}
COMMANDS: list[Json] = [
    {"name": "plan", "description": "Make a plan", "input": {"hint": "what for"}},
    {"name": "help", "description": "Say what this agent can do"},
]


class Session:
    """A conversation and the prompts that wait in it."""

    def __init__(self, session_id: str, cwd: str, roots: list[str], record: Json | None) -> None:
        self.id, self.cwd, self.roots = session_id, cwd, roots
        record = record or {}
        self.history: list[Json] = record.get("history", [])
        self.title: str = record.get("title", "")
        self.mode: str = record.get("mode", "code")
        self.model: str = record.get("model", "small")
        self.verbose = False
        self.turns = 0
        self.works: list[Work] = []
        self.servers: list[McpServer] = []
        self.unreachable: list[str] = []

    def save(self) -> None:
        kept = {"cwd": self.cwd, "roots": self.roots, "history": self.history}
        kept |= {"title": self.title, "mode": self.mode, "model": self.model}
        session_store.save(self.id, kept)

    def end(self) -> None:
        for server in self.servers:
            server.end()


class Agent:
    """All methods of the agent's side."""

    methods = frozenset(
        {"initialize", "authenticate", "logout", "session/new", "session/load", "session/resume"}
        | {"session/list", "session/close", "session/delete", "session/set_mode"}
        | {"session/set_config_option", "session/prompt"}
    )
    turn_type: type[Turn] = Turn

    def __init__(self, broken: str) -> None:
        self.broken = broken
        self.peer = Peer(sys.stdin.buffer, sys.stdout.buffer, self.request, self.notification)
        self.initialized = False
        self.client: Json = {}
        self.logged_in = True
        self.sessions: dict[str, Session] = {}
        self.prompts: dict[Any, Work] = {}
        if broken == "V1-GEN-14":
            self.peer.take_other = self.take_batch  # type: ignore[method-assign]
        self.peer.before_send = AGENT_CHANGES.get(broken, as_it_is)
        self.peer.to_text = AGENT_TEXTS.get(broken, as_line)

    def take_batch(self, message: Any) -> None:
        """Process an array as JSON-RPC 2.0 has it, which version 1 of ACP does not."""
        answers = []
        for each in message if isinstance(message, list) else []:
            if not isinstance(each, dict) or "id" not in each:
                continue
            try:
                result = self.request(each)
                answers.append({"jsonrpc": "2.0", "id": each["id"], "result": result})
            except RpcError as error:
                said = {"code": error.code, "message": error.message}
                answers.append({"jsonrpc": "2.0", "id": each["id"], "error": said})
        if answers:
            import json

            self.peer.writer.write(json.dumps(answers).encode() + b"\n")
            self.peer.writer.flush()
        elif not message:
            self.peer.fail(None, INVALID_REQUEST, "A batch has at least one entry.")

    def update(self, session: Session, update: Json) -> None:
        self.peer.notify("session/update", {"sessionId": session.id, "update": update})

    def request(self, message: Json) -> Json | Later:
        method, params = message["method"], message.get("params", {})
        handler = getattr(self, "on_" + method.replace("/", "_"), None)
        if self.broken == "V1-EXT-04" and method.startswith("_"):
            return Later(lambda: None)
        if method not in self.methods or handler is None:
            raise RpcError(METHOD_NOT_FOUND, "There is no such method.", {"method": method})
        if not self.initialized and method != "initialize" and self.broken != "V2-INIT-05":
            raise RpcError(INVALID_REQUEST, "The connection is not initialized.")
        if not isinstance(params, dict):
            raise RpcError(INVALID_PARAMS, "`params` is not an object.")
        result: Json | Later = handler(params, message["id"])
        return result

    def notification(self, message: Json) -> None:
        method, params = message["method"], message.get("params")
        if not self.initialized or not isinstance(params, dict):
            return
        if method == "session/cancel":
            session = self.sessions.get(str(params.get("sessionId")))
            for work in list(session.works) if session and self.broken != "V1-CAP-05" else []:
                work.cancel()
        elif method == "$/cancel_request":
            asked = params.get("requestId")
            work_of = self.prompts.get(asked) if isinstance(asked, int | str) else None
            if work_of:
                work_of.cancel()
                if self.broken == "V1-CREQ-02":
                    self.prompts.pop(asked, None)
        elif self.broken == "V1-GEN-04":
            self.peer.fail(None, METHOD_NOT_FOUND, f"There is no {method}.")

    def on_initialize(self, params: Json, _: Any) -> Json:
        version = params.get("protocolVersion", 1 if self.broken == "V1-GEN-12b" else None)
        if self.broken == "V1-INIT-10" and isinstance(version, str | float | int):
            version = 1
        if type(version) is not int or not 0 <= version <= 65535:
            raise RpcError(INVALID_PARAMS, "`protocolVersion` is an integer from 0 to 65535.")
        if self.broken == "V1-INIT-07" and version != 1:
            raise RpcError(INVALID_PARAMS, "This version is not supported.")
        if self.broken == "V1-GEN-12" and "clientInfo" in params:
            need(params, "clientInfo", dict)
        told = params.get("clientCapabilities")
        self.client = told if isinstance(told, dict) else {}
        self.initialized = True
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "stranger", "title": "Stranger", "version": "1.0"},
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
                "mcpCapabilities": {"http": False, "sse": False},
                "auth": {"logout": {}},
                "sessionCapabilities": {
                    "list": {},
                    "resume": {},
                    "close": {},
                    "delete": {},
                    "additionalDirectories": {},
                },
            },
            "authMethods": self.auth_methods(),
        }

    def auth_methods(self) -> list[Json]:
        methods: list[Json] = [{"id": "account", "name": "Stored account"}]
        told = self.client.get("auth")
        terminal = isinstance(told, dict) and told.get("terminal") is True
        if terminal or self.broken == "V1-AUTH-02":
            login = {"id": "login", "name": "Log in in a terminal", "args": ["--login"]}
            methods.append({**login, "type": "terminal"})
        return methods

    def on_authenticate(self, params: Json, _: Any) -> Json:
        if need(params, "methodId", str) != "account":
            raise RpcError(INVALID_PARAMS, "There is no such login.")
        self.logged_in = True
        return {}

    def on_logout(self, params: Json, _: Any) -> Json:
        if self.broken == "V1-AUTH-08b":
            need(params, "methodId", str)
        self.logged_in = self.broken == "V1-AUTH-08"
        return {}

    def check_login(self) -> None:
        if not self.logged_in:
            told = {"reason": "auth_required", "authMethods": self.auth_methods()}
            raise RpcError(AUTH_REQUIRED, "Log in first.", told)

    def active(self, params: Json) -> Session:
        session_id = need(params, "sessionId", str)
        if session_id not in self.sessions:
            raise RpcError(NOT_FOUND, "There is no such session.", {"sessionId": session_id})
        return self.sessions[session_id]

    def setup_of(self, params: Json, servers_needed: bool) -> tuple[str, list[str], list[Json]]:
        """The working directory, the further roots and the MCP servers, all checked."""
        cwd = need(params, "cwd", str)
        if not os.path.isabs(cwd):
            raise RpcError(INVALID_PARAMS, "`cwd` is not absolute.")
        roots = params.get("additionalDirectories")
        roots = [] if roots is None else roots
        good = isinstance(roots, list) and all(
            isinstance(each, str) and os.path.isabs(each) for each in roots
        )
        if not good and self.broken == "V1-SESS-10" and isinstance(roots, list):
            roots = [each for each in roots if isinstance(each, str) and os.path.isabs(each)]
        elif not good:
            raise RpcError(INVALID_PARAMS, "`additionalDirectories` are absolute paths.")
        if self.broken == "V1-SESS-11":
            roots = [each for each in roots if os.access(each, os.R_OK | os.X_OK)]
        if self.broken == "V1-SESS-08" and servers_needed:
            need(params, "mcpServers", list)
        if servers_needed and "mcpServers" not in params:
            raise RpcError(INVALID_PARAMS, "`mcpServers` is missing.")
        servers = params.get("mcpServers")
        servers = [] if servers is None else servers
        if not isinstance(servers, list):
            raise RpcError(INVALID_PARAMS, "`mcpServers` is not a list.")
        good_servers = []
        for each in servers:
            try:
                self.check_server(each)
                good_servers.append(each)
            except RpcError:
                if self.broken not in ("V1-GEN-13", "V2-SESS-24"):
                    raise
        return cwd, roots, good_servers

    def check_server(self, server: Any) -> None:
        if not isinstance(server, dict):
            raise RpcError(INVALID_PARAMS, "An MCP server is an object.")
        if "type" in server:
            raise RpcError(INVALID_PARAMS, "MCP servers are reached by stdio only.")
        need(server, "name", str)
        if not os.path.isabs(need(server, "command", str)):
            raise RpcError(INVALID_PARAMS, "The command of an MCP server is an absolute path.")
        for key in ("args", "env"):
            if key not in server or not isinstance(server[key], list | None):
                raise RpcError(INVALID_PARAMS, f"`{key}` of an MCP server is missing or no list.")
        for each in server["args"] or []:
            if not isinstance(each, str):
                raise RpcError(INVALID_PARAMS, "`args` are strings.")
        for each in server["env"] or []:
            if not isinstance(each, dict):
                raise RpcError(INVALID_PARAMS, "`env` has objects.")
            need(each, "name", str)
            need(each, "value", str)

    def connect(self, session: Session, servers: list[Json]) -> None:
        for each in servers if self.broken != "V1-MCP-01" else []:
            try:
                server = McpServer(
                    each["name"],
                    each["command"],
                    each.get("args") or [],
                    env_of(each.get("env")),
                    session.cwd,
                )
                session.servers.append(server)
            except (OSError, ValueError) as error:
                session.unreachable.append(each["name"])
                log(f"the MCP server {each['name']} did not start: {error}")

    def state_of(self, session: Session) -> Json:
        available = [{"id": key, "name": key.title(), "description": MODES[key]} for key in MODES]
        modes = {"currentModeId": session.mode, "availableModes": available}
        return {"modes": modes, "configOptions": self.options_of(session)}

    def options_of(self, session: Session) -> list[Json]:
        def select(key: str, name: str, value: str, values: list[str]) -> Json:
            choices = [{"value": each, "name": each.title()} for each in values]
            head = {"id": key, "name": name, "category": key, "type": "select"}
            return {**head, "currentValue": value, "options": choices}

        options = [
            select("mode", "Mode", session.mode, list(MODES)),
            select("model", "Model", session.model, list(MODELS)),
        ]
        told = self.client.get("session")
        told = told.get("configOptions") if isinstance(told, dict) else None
        shown = isinstance(told, dict) and isinstance(told.get("boolean"), dict)
        if shown or self.broken == "V1-CFG-07":
            options.append(self.flag_of(session))
        return options

    def flag_of(self, session: Session) -> Json:
        flag = {"id": "verbose", "name": "Verbose", "type": "boolean"}
        return {**flag, "currentValue": session.verbose}

    def changed_options(self, session: Session) -> list[Json]:
        """The options as they are told after a change."""
        options = self.options_of(session)
        if self.broken == "V1-CFG-07b" and options[-1]["type"] != "boolean":
            options.append(self.flag_of(session))
        return options

    def on_session_new(self, params: Json, request_id: Any) -> Later:
        self.check_login()
        cwd, roots, servers = self.setup_of(params, servers_needed=True)
        session_id = "ses-" + secrets.token_hex(8)
        if self.broken == "V1-SESS-02":
            session_id = "ses-" + hashlib.sha256(cwd.encode()).hexdigest()[:16]
        session = Session(session_id, cwd, roots, None)
        self.sessions[session_id] = session
        session.save()

        def work() -> None:
            self.connect(session, servers)
            result = {"sessionId": session.id, **self.state_of(session)}
            if self.broken == "V1-GEN-09":
                result["workspaceRoot"] = cwd
            if self.broken == "TR-STDIO-03":
                with self.peer.writing:
                    self.peer.writer.write(f"[info] opened {session.id}\n".encode())
            self.peer.send({"id": request_id, "result": result})
            told = {"sessionUpdate": "available_commands_update", "availableCommands": COMMANDS}
            self.update(session, told)

        return Later(work)

    def reopen(self, params: Json, servers_needed: bool) -> tuple[Session, list[Json]]:
        self.check_login()
        session_id = need(params, "sessionId", str)
        cwd, roots, servers = self.setup_of(params, servers_needed)
        record = session_store.load(session_id)
        if record is None:
            raise RpcError(NOT_FOUND, "There is no such session.", {"sessionId": session_id})
        session = self.sessions.get(session_id) or Session(session_id, cwd, roots, record)
        if self.broken == "V1-LOAD-06" and not roots:
            roots = record["roots"]
        unsaid = not servers_needed and params.get("additionalDirectories") is None
        if self.broken == "V1-LOAD-06b" and unsaid:
            roots = record["roots"]
        session.cwd, session.roots = cwd, roots
        self.sessions[session_id] = session
        session.save()
        return session, servers

    def on_session_load(self, params: Json, request_id: Any) -> Later:
        session, servers = self.reopen(params, servers_needed=True)
        if self.broken == "V1-SESS-12":
            session.roots = []

        def work() -> Json | None:
            self.connect(session, servers)
            if self.broken == "V1-LOAD-04":
                threading.Timer(0.2, self.replay, (session,)).start()
            elif self.broken == "V1-LOAD-04b":
                self.replay(session, messages=True)
                self.peer.send({"id": request_id, "result": self.state_of(session)})
                self.replay(session, messages=False)
                return None
            else:
                self.replay(session)
            return self.state_of(session)

        return Later(work)

    def replay(self, session: Session, messages: bool | None = None) -> None:
        """Send the history, or its messages only, or all but its messages."""
        for update in list(session.history):
            if messages not in (None, update["sessionUpdate"].endswith("_message_chunk")):
                continue
            if self.broken == "V1-LOAD-03" and update["sessionUpdate"] == "user_message_chunk":
                continue
            self.update(session, update)

    def on_session_resume(self, params: Json, request_id: Any) -> Later:
        session, servers = self.reopen(params, servers_needed=False)

        def work() -> Json:
            self.connect(session, servers)
            if self.broken == "V1-LOAD-08":
                self.replay(session)
            return self.state_of(session)

        return Later(work)

    def on_session_list(self, params: Json, _: Any) -> Json:
        wanted, cursor = params.get("cwd"), params.get("cursor")
        if wanted is not None and not (isinstance(wanted, str) and os.path.isabs(wanted)):
            raise RpcError(INVALID_PARAMS, "`cwd` is not an absolute path.")
        if self.broken == "V1-CLOSE-13":
            self.read_open_sessions_again()
        start = 0
        if cursor is not None:
            if (
                not isinstance(cursor, str)
                or not cursor.startswith("at-")
                or not cursor[3:].isdigit()
            ):
                raise RpcError(INVALID_PARAMS, "This is not a cursor of ours.")
            start = int(cursor[3:])
        found = []
        for session_id, record in session_store.listed():
            below = self.broken == "V2-SESS-19" and record["cwd"].startswith(str(wanted) + "/")
            if wanted is None or record["cwd"] == wanted or below:
                entry = {"sessionId": session_id, "cwd": record["cwd"]}
                entry |= {
                    "additionalDirectories": record["roots"],
                    "updatedAt": record["updatedAt"],
                }
                if record.get("title"):
                    entry["title"] = record["title"]
                found.append(entry)
        result: Json = {"sessions": found[start : start + PAGE]}
        if len(found) > start + PAGE:
            result["nextCursor"] = f"at-{start + PAGE}"
        return result

    def read_open_sessions_again(self) -> None:
        for session_id in list(self.sessions):
            record = session_store.load(session_id)
            if record is not None:
                session = Session(session_id, record["cwd"], record["roots"], record)
                self.sessions[session_id] = session

    def on_session_close(self, params: Json, _: Any) -> Later:
        session = self.active(params)
        del self.sessions[session.id]
        works = list(session.works)
        if self.broken != "V1-CLOSE-02":
            for each in works:
                each.cancel()

        def work() -> Json:
            if self.broken != "V1-CLOSE-02":
                for each in works:
                    each.done.wait(5)
            session.end()
            return {}

        return Later(work)

    def on_session_delete(self, params: Json, _: Any) -> Json:
        session_id = need(params, "sessionId", str)
        session = self.sessions.pop(session_id, None)
        if session:
            for work in list(session.works):
                work.cancel()
            session.end()
        kept = self.broken == "V1-CLOSE-15" or (self.broken == "V1-CLOSE-15b" and session)
        if not kept:
            session_store.delete(session_id)
        return {}

    def on_session_set_mode(self, params: Json, request_id: Any) -> Later:
        session = self.active(params)
        mode = need(params, "modeId", str)
        if mode not in MODES:
            raise RpcError(INVALID_PARAMS, "There is no such mode.")
        session.mode = mode
        session.save()

        def work() -> None:
            self.peer.send({"id": request_id, "result": {}})
            self.say_options(session)

        return Later(work)

    def say_options(self, session: Session) -> None:
        options = self.changed_options(session)
        if self.broken in ("V1-CFG-06", "V1-CFG-06b"):
            alone = self.broken == "V1-CFG-06"
            options = [each for each in options if (each["id"] == "mode") == alone]
        self.update(session, {"sessionUpdate": "config_option_update", "configOptions": options})

    def say_mode(self, session: Session) -> None:
        if self.broken != "V1-MODE-03":
            told = {"sessionUpdate": "current_mode_update", "currentModeId": session.mode}
            self.update(session, told)
        self.say_options(session)

    def on_session_set_config_option(self, params: Json, request_id: Any) -> Json | Later:
        session = self.active(params)
        key = need(params, "configId", str)
        option = next((each for each in self.options_of(session) if each["id"] == key), None)
        if option is None:
            raise RpcError(INVALID_PARAMS, "There is no such option.")
        value = params.get("value")
        if option["type"] == "boolean":
            good = params.get("type") == "boolean" and isinstance(value, bool)
        else:
            good = value in [each["value"] for each in option["options"]]
        if good:
            setattr(session, key, value)
            session.save()
        elif self.broken != "V1-CFG-11":
            raise RpcError(INVALID_PARAMS, "The option has no such value.")

        def work() -> None:
            options = self.changed_options(session)
            if self.broken == "V1-CFG-05":
                options = [each for each in options if each["id"] == key]
            self.peer.send({"id": request_id, "result": {"configOptions": options}})
            if key == "mode":
                told = {"sessionUpdate": "current_mode_update", "currentModeId": session.mode}
                self.update(session, told)

        return Later(work)

    def on_session_prompt(self, params: Json, request_id: Any) -> Later:
        self.check_login()
        session = self.active(params)
        blocks = need(params, "prompt", list)
        for block in blocks:
            self.check_block(block)
        if len(session.works) >= QUEUE_MAX:
            raise RpcError(INVALID_REQUEST, "Too many prompts wait.")
        work = Work()
        session.works.append(work)
        self.prompts[request_id] = work
        if len(session.works) == 1:
            work.started.set()
        return Later(lambda: self.run(session, work, blocks, request_id))

    def run(self, session: Session, work: Work, blocks: list[Json], request_id: Any) -> None:
        work.started.wait()
        turn = self.turn_type(self, session, work)
        reason: str | None = turn.run(blocks)
        session.works.remove(work)
        known = self.prompts.pop(request_id, None)
        session.turns += 1
        if self.broken == "V1-INIT-09" and session.turns > 1:
            self.update(session, {"sessionUpdate": "state_update", "state": "idle"})
        if session.id in self.sessions:
            session.save()
        if self.broken == "V1-CANCEL-05" and reason == "cancelled":
            reason = "end_turn"
        if self.broken == "V1-PROMPT-06b" and turn.rejected:
            reason = None
        if self.broken == "V1-CANCEL-09" and reason == "cancelled":
            self.peer.fail(request_id, -32603, "The turn was aborted.")
        elif self.broken == "V1-CANCEL-06" and turn.cut_off:
            self.peer.fail(request_id, CANCELLED, "The call of the model was aborted.")
        elif self.broken == "V1-CREQ-02" and known is None:
            log("the prompt was withdrawn")
        elif self.broken != "V1-PROMPT-06" or reason == "cancelled":
            self.peer.send({"id": request_id, "result": {"stopReason": reason}})
        for update in turn.after_result:
            self.update(session, update)
        if turn.late:
            threading.Timer(0.2, self.update, (session, turn.late)).start()
        work.done.set()
        if session.works:
            session.works[-1 if self.broken == "LIM-04" else 0].started.set()

    def check_block(self, block: Any) -> None:
        kinds = {"text": ("text",), "image": ("data", "mimeType"), "resource_link": ("name", "uri")}
        kind = block.get("type") if isinstance(block, dict) else None
        if self.broken == "V1-PROMPT-03" and kind == "resource_link":
            raise RpcError(INVALID_PARAMS, "Links are not supported; embed the resource.")
        if kind == "resource":
            resource = need(block, "resource", dict)
            need(resource, "uri", str)
            need(resource, "text" if "text" in resource else "blob", str)
        elif isinstance(kind, str) and kind in kinds:
            for key in kinds[kind]:
                need(block, key, str)
        else:
            raise RpcError(INVALID_PARAMS, "This type of content is not supported.")
