"""A small agent that keeps every rule of v1 which the kit can see.

The broken ones are made of it by overriding one thing.  The first word of a prompt says what the
agent does (`do_*` of turns.py); scenario.toml tells the kit these words.
"""

import json
import os
from pathlib import Path
from typing import Any

from tests.defects.agents.v1.turns import Turns
from tests.defects.stdio_jsonrpc import (
    Json,
    Refused,
    Stopped,
    Task,
    Work,
    absolute,
    bad_params,
    new_name,
)

QUEUE_MAX = 16
PAGE = 20
BLOCKS = ("text", "image", "audio", "resource_link", "resource")
REQUIRED = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("name", "uri"),
    "resource": ("resource",),
}


class AgentV1(Turns):
    """Serves one client."""

    auth_methods: tuple[Json, ...] = ()
    needs_login = False

    # Initialization.

    def before(self, method: str, params: Any) -> None:
        if method != "initialize" and self.client is None:
            raise Refused(-32600, "initialize must come first")

    def notified(self, method: str, params: Any) -> None:
        if self.client is not None:
            super().notified(method, params)

    def request_initialize(self, params: Json) -> Json:
        version = params.get("protocolVersion")
        if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version <= 65535:
            raise bad_params("protocolVersion is an integer from 0 to 65535")
        capabilities = params.get("clientCapabilities")
        self.client = capabilities if isinstance(capabilities, dict) else {}
        return self.introduction()

    def introduction(self) -> Json:
        return {
            "protocolVersion": 1,
            "agentCapabilities": self.capabilities(),
            "authMethods": [m for m in self.auth_methods if self.may_list(m)],
            "agentInfo": {"name": "correct-v1", "version": "1"},
        }

    def may_list(self, method: Json) -> bool:
        return method.get("type") != "terminal" or self.can("auth", "terminal")

    def capabilities(self) -> Json:
        marks: Json = {
            name: {} for name in ("list", "resume", "close", "delete", "additionalDirectories")
        }
        return {
            "loadSession": True,
            "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
            "mcpCapabilities": {"http": True, "sse": False},
            "sessionCapabilities": marks,
            **({"auth": {"logout": {}}} if self.auth_methods else {}),
        }

    # Login.

    def request_authenticate(self, params: Json) -> Json:
        known = [one["id"] for one in self.auth_methods if one.get("type") != "terminal"]
        if params.get("methodId") not in known:
            raise bad_params("no such method")
        self.logged_in = True
        return {}

    def request_logout(self, _params: Json) -> Json:
        if not self.auth_methods:
            raise Refused(-32601, "Method not found")
        self.logged_in = False
        return {}

    def demand_login(self) -> None:
        if self.needs_login and not self.logged_in:
            data = {"reason": "auth_required", "authMethods": list(self.auth_methods)}
            raise Refused(-32000, "Authentication required", data)

    # Sessions.

    def roots(self, params: Json) -> list[str]:
        extra = params.get("additionalDirectories")
        if extra is None:
            extra = []
        if not isinstance(extra, list):
            raise bad_params("additionalDirectories is a list")
        return [absolute(params.get("cwd"), "cwd"), *(absolute(one, "a root") for one in extra)]

    def servers(self, params: Json, *, required: bool) -> list[Json]:
        if "mcpServers" not in params and required:
            raise bad_params("mcpServers is missing")
        servers = params.get("mcpServers")
        if servers is None:
            return []
        if not isinstance(servers, list):
            raise bad_params("mcpServers is a list")
        for server in servers:
            if not isinstance(server, dict) or not isinstance(server.get("name"), str):
                raise bad_params("a server has a name")
            if server.get("type", "stdio") == "http":
                continue
            if "type" in server:
                raise bad_params("servers of this type are not supported")
            absolute(server.get("command"), "command")
            args, env = server.get("args"), server.get("env")
            if not isinstance(args or [], list) or not isinstance(env or [], list):
                raise bad_params("args and env are lists")
            if not all(
                isinstance(one, dict) and {"name", "value"} <= set(one) for one in env or []
            ):
                raise bad_params("a variable has a name and a value")
        return servers

    def request_session_new(self, params: Json) -> Json:
        roots = self.roots(params)
        servers = self.servers(params, required=True)
        self.demand_login()
        name = self.new_session_id()
        session = self.new_session(name, roots)
        self.connect(session, servers)
        self.keep()
        commands = [{"name": "tool", "description": "Looks around"}]
        self.update(session, "available_commands_update", availableCommands=commands)
        return {"sessionId": name, **self.setup(session)}

    def request_session_load(self, params: Json) -> Json:
        session = self.reopened(params, required=True)
        for update in session["history"]:
            self.notify("session/update", {"sessionId": session["id"], "update": update})
        return self.setup(session)

    def request_session_resume(self, params: Json) -> Json:
        return self.setup(self.reopened(params, required=False))

    def reopened(self, params: Json, *, required: bool) -> Json:
        self.demand_login()
        session = self.session(params, active=False)
        roots = self.roots(params)
        servers = self.servers(params, required=required)
        session["roots"] = roots
        session["active"] = True
        self.connect(session, servers)
        return session

    def session(self, params: Json, *, active: bool = True) -> Json:
        name = params.get("sessionId")
        if not isinstance(name, str):
            raise bad_params("sessionId is a string")
        session = self.sessions.get(name)
        if session is None or (active and not session["active"]):
            raise Refused(-32002, "Resource not found", {"sessionId": name})
        return session

    def request_session_list(self, params: Json) -> Json:
        cwd, cursor = params.get("cwd"), params.get("cursor")
        if cwd is not None:
            absolute(cwd, "cwd")
        if cursor is not None and (not isinstance(cursor, str) or cursor not in self.sessions):
            raise bad_params("no such cursor")
        names = list(self.sessions)
        names = names[names.index(cursor) :] if cursor is not None else names
        fitting = [name for name in names if cwd in (None, self.sessions[name]["roots"][0])]
        page: Json = {"sessions": [self.listed(self.sessions[name]) for name in fitting[:PAGE]]}
        if len(fitting) > PAGE:
            page["nextCursor"] = fitting[PAGE]
        return page

    def listed(self, session: Json) -> Json:
        more = {"additionalDirectories": session["roots"][1:]} if session["roots"][1:] else {}
        return {"sessionId": session["id"], "cwd": session["roots"][0], **more}

    def request_session_close(self, params: Json) -> Json:
        session = self.session(params)
        self.cancel_turns(session)
        session["active"] = False
        return {}

    def request_session_delete(self, params: Json) -> Json:
        name = params.get("sessionId")
        if not isinstance(name, str):
            raise bad_params("sessionId is a string")
        if session := self.sessions.get(name):
            self.cancel_turns(session)
            del self.sessions[name]
            self.keep()
        return {}

    def request_session_set_mode(self, params: Json) -> Json:
        session = self.session(params)
        if params.get("modeId") not in ("ask", "code"):
            raise bad_params("no such mode")
        self.set_mode(session, params["modeId"])
        return {}

    def request_session_set_config_option(self, params: Json) -> Json:
        session = self.session(params)
        self.set_config(session, params.get("configId"), params.get("value"))
        return {"configOptions": self.options(session)}

    # Prompts.

    def check_prompt(self, blocks: Any) -> None:
        if not isinstance(blocks, list):
            raise bad_params("prompt is a list")
        allowed = self.capabilities()["promptCapabilities"]
        gates = {"image": "image", "audio": "audio", "resource": "embeddedContext"}
        for block in blocks:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind not in BLOCKS or not all(key in block for key in REQUIRED[kind]):
                raise bad_params("not a content block")
            if not all(isinstance(block[key], (str, dict)) for key in REQUIRED[kind]):
                raise bad_params("a malformed content block")
            if kind == "resource" and not is_resource(block["resource"]):
                raise bad_params("a malformed resource")
            if kind in gates and not allowed[gates[kind]]:
                raise bad_params(f"{kind} is not supported")

    def request_session_prompt(self, params: Json) -> Work:
        session = self.session(params)
        self.check_prompt(params.get("prompt"))
        if len(session["turns"]) > QUEUE_MAX:
            raise Refused(-32600, "too many prompts are queued")
        return self.turn(session, params["prompt"])

    def started(self, task: Task) -> None:
        if task.method != "session/prompt":
            self.step(task)
            return
        turns = self.sessions[task.params["sessionId"]]["turns"]
        turns.append(task)
        if len(turns) == 1:
            self.step(task)

    def finish(self, task: Task, result: Any, error: Json | None) -> None:
        super().finish(task, result, error)
        session = self.sessions.get(task.params.get("sessionId", ""))
        if task.method == "session/prompt" and session is not None and task in session["turns"]:
            session["turns"].remove(task)
            self.keep()
            if session["turns"]:
                self.step(session["turns"][0])

    def turn(self, session: Json, blocks: list[Json]) -> Work:
        try:
            for block in blocks:
                chunk = {"sessionUpdate": "user_message_chunk", "content": block}
                self.remember(session, {**chunk, "messageId": new_name()})
            text = next((block["text"] for block in blocks if block["type"] == "text"), "")
            reason = yield from self.act(session, text)
        except Stopped:
            return self.end_turn(session, "cancelled")
        except Refused as refused:
            self.say(session, f"That did not work: {refused}")
            reason = "end_turn"
        return self.end_turn(session, reason)

    def end_turn(self, session: Json, reason: str) -> Json:
        self.settle(session)
        return {"stopReason": reason}

    def notification_session_cancel(self, params: Json) -> None:
        self.cancel_turns(self.session(params))

    def notification_cancel_request(self, params: Json) -> None:
        task = self.tasks.get(params.get("requestId", ""))
        if task is not None:
            self.cancel_task(task)

    def cancel_turns(self, session: Json) -> None:
        for task in list(session["turns"]):
            self.cancel_task(task)

    def cancel_task(self, task: Task) -> None:
        """End a turn, also one that has not begun."""
        if not task.begun:
            task.work.close()
            self.finish(task, {"stopReason": "cancelled"}, None)
        elif task.id in self.tasks:
            self.stop(task)

    # What outlives the process.

    def keep(self) -> None:
        if path := state_file():
            kept = {
                name: {"roots": one["roots"], "history": one["history"], "config": one["config"]}
                for name, one in self.sessions.items()
            }
            path.write_text(json.dumps(kept))

    def restore(self) -> None:
        path = state_file()
        if path is not None and path.is_file():
            for name, kept in json.loads(path.read_text()).items():
                self.new_session(name, kept["roots"]).update(kept, active=False)


def is_resource(resource: Any) -> bool:
    """Whether this is a resource with its content."""
    return (
        isinstance(resource, dict) and "uri" in resource and bool({"text", "blob"} & set(resource))
    )


def state_file() -> Path | None:
    """Where sessions outlive the process; the kit gives each check a folder for it."""
    folder = os.environ.get("ACCORD_STATE_DIR")
    return Path(folder, "defects.json") if folder else None
