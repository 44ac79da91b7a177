"""An agent of version 2 that keeps the rules, or breaks the one that it is told to break."""

from __future__ import annotations

import os
import secrets
import threading
from dataclasses import dataclass
from typing import Any

from tests.kit_accuracy import session_store
from tests.kit_accuracy.agent_v1 import COMMANDS, Agent, Session
from tests.kit_accuracy.agent_v2_turn import TurnV2
from tests.kit_accuracy.line_peer import (
    CANCELLED,
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

UNSUPPORTED_VERSION = -32022


@dataclass
class Held:
    """A prompt that waits until it is inserted."""

    request_id: Any
    blocks: list[Json]
    work: Work
    message_id: str


class SessionV2(Session):
    """A conversation with its foreground state."""

    def __init__(self, session_id: str, cwd: str, roots: list[str], record: Json | None) -> None:
        super().__init__(session_id, cwd, roots, record)
        self.state: Json = {"state": "idle"}
        self.held: list[Held] = []
        self.muted = False
        self.lock = threading.Lock()


class AgentV2(Agent):
    """All methods of version 2."""

    methods = frozenset(
        {"initialize", "auth/login", "auth/logout", "session/new", "session/resume"}
        | {"session/list", "session/close", "session/delete", "session/prompt"}
        | {"session/set_config_option", "tool_call/cancel", "terminal/cancel"}
    )
    turn_type: type[TurnV2] = TurnV2

    def __init__(self, broken: str) -> None:
        super().__init__(broken)
        self.others_seen = False
        self.peer.null_ids = broken == "V2-GEN-01"
        self.peer.bad_runs_end = broken != "TR-STDIO-08"
        self.answered: set[Any] = set()

    def update(self, session: Session, update: Json) -> None:
        assert isinstance(session, SessionV2)
        if not session.muted:
            super().update(session, update)

    def say_state(self, session: SessionV2, state: Json | None = None) -> None:
        session.state = state or session.state
        self.update(session, {"sessionUpdate": "state_update", **session.state})

    def request(self, message: Json) -> Json | Later:
        result = super().request(message)
        self.others_seen = self.others_seen or message["method"] != "initialize"
        return result

    def notification(self, message: Json) -> None:
        method, params = message["method"], message.get("params")
        if not self.initialized or not isinstance(params, dict):
            return
        if method == "session/cancel":
            session = self.sessions.get(str(params.get("sessionId")))
            if isinstance(session, SessionV2):
                self.cancel(session)
        elif method == "$/cancel_request":
            if self.broken == "V2-CANCEL-15" and params.get("requestId") in self.answered:
                self.peer.fail(params["requestId"], CANCELLED, "The prompt was withdrawn.")
            for session in list(self.sessions.values()):
                assert isinstance(session, SessionV2)
                for held in list(session.held):
                    asked = params.get("requestId")
                    if held.request_id == asked and type(held.request_id) is type(asked):
                        session.held.remove(held)
                        self.peer.fail(held.request_id, CANCELLED, "The prompt was withdrawn.")

    def cancel(self, session: SessionV2, code: int = CANCELLED) -> None:
        """Stop the work, and refuse what waits for its insertion."""
        waiting = [] if self.broken == "V2-CANCEL-05" else list(session.held)
        for held in waiting:
            session.held.remove(held)
            self.peer.fail(held.request_id, code, "The prompt was cancelled.")
        if self.broken == "V2-CANCEL-03b" and session.works:
            self.say_state(session, {"state": "idle", "stopReason": "cancelled"})
        for work in list(session.works) if self.broken != "V2-CANCEL-03" else []:
            work.cancel()

    def on_initialize(self, params: Json, _: Any) -> Json:
        version = params.get("protocolVersion")
        if type(version) is not int or not 0 <= version <= 65535:
            raise RpcError(INVALID_PARAMS, "`protocolVersion` is an integer from 0 to 65535.")
        if version < 2 and self.broken != "V2-INIT-03":
            data = {"requested": version, "supported": [2]}
            raise RpcError(UNSUPPORTED_VERSION, "Version 2 is the only one here.", data)
        if self.others_seen:
            raise RpcError(INVALID_REQUEST, "The connection is in use already.")
        if version == 2:
            info = need(params, "info", dict)
            need(info, "name", str)
            need(info, "version", str)
        told = params.get("capabilities")
        if self.broken != "V2-INIT-06" or not self.initialized:
            self.client = told if isinstance(told, dict) else {}
        self.initialized = True
        session: Json = {
            "prompt": {"image": {}, "embeddedContext": {}},
            "mcp": {"stdio": {}},
            "delete": {},
            "additionalDirectories": {},
        }
        return {
            "protocolVersion": 2,
            "info": {"name": "stranger", "title": "Stranger", "version": "2.0"},
            "capabilities": {"session": session},
            "authMethods": self.auth_methods(),
        }

    def auth_methods(self) -> list[Json]:
        methods: list[Json] = [{"type": "agent", "methodId": "account", "name": "Stored account"}]
        if self.broken == "V2-AUTH-03":
            del methods[0]["type"]
        told = self.client.get("auth")
        told = told.get("terminal") if isinstance(told, dict) else None
        if isinstance(told, dict) or (told is True and self.broken == "V2-INIT-09"):
            login = {"methodId": "login", "name": "Log in in a terminal", "args": ["--login"]}
            methods.append({"type": "terminal", **login})
        return methods

    def on_auth_login(self, params: Json, request_id: Any) -> Json:
        return self.on_authenticate(params, request_id)

    def on_auth_logout(self, params: Json, request_id: Any) -> Json:
        if self.broken == "V2-AUTH-01":
            raise RpcError(METHOD_NOT_FOUND, "There is no such method.")
        return self.on_logout(params, request_id)

    def active(self, params: Json) -> Session:
        if self.broken == "V2-SESS-05" and params.get("sessionId") not in self.sessions:
            raise RpcError(INVALID_PARAMS, "There is no such session.")
        return super().active(params)

    def check_server(self, server: Any) -> None:
        if not isinstance(server, dict) or server.get("type") != "stdio":
            raise RpcError(INVALID_PARAMS, "MCP servers are reached by stdio only.")
        plain = {key: value for key, value in server.items() if key != "type"}
        super().check_server({"args": [], "env": [], **plain})

    def state_of(self, session: Session) -> Json:
        commands: list[Json] = [{"type": "command", **each} for each in COMMANDS]
        commands[0]["input"] = {"type": "text", "hint": "what for"}
        if self.broken == "V2-CFG-06":
            commands = [{**each, "name": "/" + each["name"]} for each in commands]
        return {"configOptions": self.options_of(session), "availableCommands": commands}

    def options_of(self, session: Session) -> list[Json]:
        options = super().options_of(session)
        flag = {"id": "verbose", "name": "Verbose", "type": "boolean"}
        options.append({**flag, "currentValue": session.verbose})
        return [
            {"configId": each["id"], **{key: each[key] for key in each if key != "id"}}
            for each in options
        ]

    def say_mode(self, session: Session) -> None:
        if self.broken != "V2-CFG-04":
            self.say_options(session)
            return
        changed = [each for each in self.options_of(session) if each["configId"] == "mode"]
        self.update(session, {"sessionUpdate": "config_option_update", "configOptions": changed})

    def on_session_new(self, params: Json, request_id: Any) -> Later:
        self.check_login()
        cwd, roots, servers = self.setup_of(params, servers_needed=False)
        session = SessionV2("ses-" + secrets.token_hex(8), cwd, roots, None)
        self.sessions[session.id] = session
        session.save()

        def work() -> Json:
            self.connect(session, servers)
            return {"sessionId": session.id, **self.state_of(session)}

        return Later(work)

    def on_session_resume(self, params: Json, request_id: Any) -> Later:
        self.check_login()
        session_id = need(params, "sessionId", str)
        cwd, roots, servers = self.setup_of(params, servers_needed=False)
        start = params.get("replayFrom")
        odd = start is not None and not (isinstance(start, dict) and start.get("type") == "start")
        if odd and self.broken != "V2-SESS-12":
            raise RpcError(INVALID_PARAMS, "A replay begins at the start.")
        record = session_store.load(session_id)
        if record is None:
            raise RpcError(NOT_FOUND, "There is no such session.", {"sessionId": session_id})
        if self.broken == "V2-SESS-28b":
            record["history"] = [_with_new_id(each) for each in record["history"]]
        session = self.sessions.get(session_id) or SessionV2(session_id, cwd, roots, record)
        assert isinstance(session, SessionV2)
        session.cwd, session.roots = cwd, roots
        self.sessions[session_id] = session

        def work() -> Json:
            self.connect(session, servers)
            if start is not None or self.broken == "V2-SESS-09":
                for update in list(session.history):
                    self.replay_one(session, update)
            if start is not None or self.broken != "V2-SESS-11":
                self.say_state(session)
            return self.state_of(session)

        return Later(work)

    def replay_one(self, session: SessionV2, update: Json) -> None:
        if self.broken == "V2-SESS-27" and update["sessionUpdate"] == "agent_message":
            for block in update["content"]:
                kept = {"messageId": update["messageId"], "content": block}
                self.update(session, {"sessionUpdate": "agent_message_chunk", **kept})
        elif self.broken == "V2-SESS-28" and update["sessionUpdate"] == "user_message":
            self.update(session, {**update, "messageId": "msg-" + secrets.token_hex(6)})
        else:
            self.update(session, update)

    def on_session_close(self, params: Json, _: Any) -> Later:
        session = self.sessions.pop(need(params, "sessionId", str), None)
        if isinstance(session, SessionV2):
            session.muted = self.broken == "V2-SESS-16"
            works = list(session.works) if self.broken != "V2-SESS-15" else []
            if self.broken != "V2-SESS-15":
                self.cancel(session, -32603 if self.broken == "V2-SESS-17" else CANCELLED)

        def work() -> Json:
            if isinstance(session, SessionV2):
                for each in works:
                    each.done.wait(5)
                session.muted = self.broken != "V2-SESS-15"
                session.end()
            return {}

        return Later(work)

    def on_tool_call_cancel(self, params: Json, _: Any) -> Json:
        self.active(params)
        if self.broken == "V2-CANCEL-18":
            raise RpcError(METHOD_NOT_FOUND, "There is no such method.")
        code = NOT_FOUND if self.broken == "V2-CANCEL-18b" else INVALID_PARAMS
        raise RpcError(code, "This tool call cannot be cancelled by itself.")

    def on_terminal_cancel(self, params: Json, _: Any) -> Json:
        self.active(params)
        code = NOT_FOUND if self.broken == "V2-CANCEL-18b" else INVALID_PARAMS
        raise RpcError(code, "This terminal cannot be cancelled by itself.")

    def on_session_set_config_option(self, params: Json, _: Any) -> Json | Later:
        session = self.active(params)
        key, kind = need(params, "configId", str), need(params, "type", str)
        option = next((each for each in self.options_of(session) if each["configId"] == key), None)
        value = params.get("value")
        if option is None:
            good = False
        elif option["type"] == "boolean":
            good = kind == "boolean" and isinstance(value, bool)
        else:
            good = kind == "id" and value in [each["value"] for each in option["options"]]
        if good:
            setattr(session, key, value)
            session.save()
        elif self.broken != "V2-CFG-02":
            raise RpcError(INVALID_PARAMS, "There is no such option, or not with this value.")
        options = self.options_of(session)
        if self.broken == "V2-CFG-03":
            for each in options:
                others = [one for one in each.get("options", []) if one["value"] != value]
                each |= {"options": others} if each["configId"] == key and others else {}
        return {"configOptions": options}

    def check_block(self, block: Any) -> None:
        if isinstance(block, dict) and block.get("type") == "resource_link":
            need(block, "name", str)
            need(block, "uri", str)
        elif self.broken != "V2-PROMPT-02" or not _has_unknown_type(block):
            super().check_block(block)

    def on_session_prompt(self, params: Json, request_id: Any) -> Later:
        self.check_login()
        session = self.active(params)
        assert isinstance(session, SessionV2)
        blocks = need(params, "prompt", list)
        if not blocks:
            raise RpcError(INVALID_PARAMS, "A prompt has at least one block.")
        message_id = "msg-" + secrets.token_hex(6)
        if self.broken == "V2-PROMPT-07":
            said = {"sessionUpdate": "user_message", "messageId": message_id}
            self.update(session, {**said, "content": blocks})
        for block in blocks:
            self.check_block(block)
        held = Held(request_id, blocks, Work(), message_id)
        with session.lock:
            if session.works:
                session.held.append(held)
                return Later(lambda: None)
            session.works.append(held.work)
        return Later(lambda: self.run_all(session, held))

    def run_all(self, session: SessionV2, held: Held) -> None:
        """Run one prompt, and then those that were held meanwhile."""
        following: Held | None = held
        while following is not None:
            self.run_one(session, following)
            with session.lock:
                session.works.remove(following.work)
                done = following.work.done
                following = session.held.pop(0) if session.held else None
                if following is not None:
                    session.works.append(following.work)
            done.set()

    def run_one(self, session: SessionV2, held: Held) -> None:
        message_id = held.message_id
        turn = self.turn_type(self, session, held.work)
        turn.message_id = message_id
        answer = {"id": held.request_id, "result": {"messageId": message_id}}
        self.say_state(session, {"state": "running"})
        if self.broken != "V2-PROMPT-07":
            turn.echo(held.blocks)
        if self.broken == "V2-PROMPT-06" and (missing := turn.missing_file(held.blocks)):
            error = {"code": NOT_FOUND, "message": "The file cannot be read."}
            self.peer.send({"id": held.request_id, "error": {**error, "data": {"uri": missing}}})
            self.say_state(session, {"state": "idle", "stopReason": "error", "error": error})
            return
        if self.broken != "V2-PROMPT-04":
            self.peer.send(answer)
        self.answered.add(held.request_id)
        reason = turn.run(held.blocks)
        if os.path.exists(os.path.join(session_store.folder(), session.id + ".json")):
            session.save()
        if self.broken == "V2-CANCEL-03b" and reason == "cancelled":
            return
        if self.broken != "V2-PROMPT-10" or reason == "cancelled":
            self.say_state(session, {"state": "idle", "stopReason": reason})
        if self.broken == "V2-PROMPT-04":
            self.peer.send(answer)


def _has_unknown_type(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    return isinstance(kind, str) and kind not in ("text", "image", "audio", "resource")


def _with_new_id(update: Json) -> Json:
    if update["sessionUpdate"] != "user_message":
        return update
    return {**update, "messageId": "msg-" + secrets.token_hex(6)}
