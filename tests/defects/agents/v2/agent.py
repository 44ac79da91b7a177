"""A small agent that keeps every rule of v2 which the kit can see.

It is the one of v1 with v2's words and order: a prompt is answered when it is in the conversation,
and work goes on after that, told by states.  The first word of a prompt says what it does.
"""

from typing import Any

from tests.defects.agents.v1.agent import REQUIRED, AgentV1, is_resource
from tests.defects.agents.v2.turns import TurnsV2
from tests.defects.stdio_jsonrpc import (
    HOLD,
    Json,
    Refused,
    Stopped,
    Task,
    Work,
    bad_params,
    new_name,
)

GONE = {
    "session/load", "session/set_mode", "authenticate", "logout", "_accord.dev/state",
}  # fmt: skip
COMMANDS = [{"type": "command", "name": "tool", "description": "Looks around"}]


class AgentV2(TurnsV2, AgentV1):
    """Serves one client."""

    def __init__(self) -> None:
        super().__init__()
        self.later: list[Any] = []
        self.served = False

    def handler(self, kind: str, method: str) -> Any:
        return None if method in GONE else super().handler(kind, method)

    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        super().requested(request_id, method, params)
        self.served = self.served or (method != "initialize" and self.client is not None)
        while self.later:
            self.later.pop(0)()

    # Initialization.

    def request_initialize(self, params: Json) -> Json:
        version = params.get("protocolVersion")
        if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version <= 65535:
            raise bad_params("protocolVersion is an integer from 0 to 65535")
        if version < 1:
            self.refuse_version(version)
        if version == 1:
            self.client = {}
            return {"protocolVersion": 1, "agentCapabilities": {}}
        if version == 2 and not isinstance(params.get("info"), dict):
            raise bad_params("info is missing")
        if self.served:
            raise Refused(-32600, "initialize must come first")
        capabilities = params.get("capabilities")
        self.client = capabilities if isinstance(capabilities, dict) else {}
        return self.introduction()

    def refuse_version(self, version: int) -> None:
        data = {"requested": version, "supported": [1, 2]}
        raise Refused(-32022, "Unsupported protocol version", data)

    def introduction(self) -> Json:
        methods = [one for one in self.auth_methods if self.may_list(one)]
        return {
            "protocolVersion": 2,
            "info": {"name": "correct-v2", "version": "1"},
            "capabilities": self.capabilities(),
            **({"authMethods": methods} if methods else {}),
        }

    def can(self, *names: str) -> bool:
        value: Any = self.client
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return isinstance(value, dict)

    def capabilities(self) -> Json:
        session: Json = {
            "prompt": {"embeddedContext": {}},
            "mcp": {"stdio": {}, "http": {}},
            "delete": {},
            "additionalDirectories": {},
        }
        return {"session": session}

    def request_auth_login(self, params: Json) -> Json:
        known = [one["methodId"] for one in self.auth_methods if one["type"] != "terminal"]
        if params.get("methodId") not in known:
            raise bad_params("no such method")
        return {}

    def request_auth_logout(self, _params: Json) -> Json:
        if not self.auth_methods:
            raise Refused(-32601, "Method not found")
        return {}

    # Sessions.

    def servers(self, params: Json, *, required: bool) -> list[Json]:
        found = params.get("mcpServers")
        for server in found if isinstance(found, list) else []:
            if not isinstance(server, dict) or server.get("type") not in ("stdio", "http"):
                raise bad_params("servers of this type are not supported")
        plain = [{k: v for k, v in one.items() if k != "type"} for one in found or []]
        local = [one for one in plain if "url" not in one]
        return super().servers({"mcpServers": local}, required=False)

    def request_session_new(self, params: Json) -> Json:
        roots = self.roots(params)
        servers = self.servers(params, required=False)
        session = self.new_session(self.new_session_id(), roots)
        self.connect(session, servers)
        self.keep()
        return {"sessionId": session["id"], **self.setup(session)}

    def new_session(self, name: str, roots: list[str]) -> Json:
        session = super().new_session(name, roots)
        session.update(held=[], work=None, state={"state": "idle"}, able=set())
        return session

    def setup(self, session: Json) -> Json:
        return {"configOptions": self.options(session), "availableCommands": COMMANDS}

    def options(self, session: Json) -> list[Json]:
        return [
            {"configId": one["id"], **{key: value for key, value in one.items() if key != "id"}}
            for one in super().options(session)
        ]

    def request_session_set_config_option(self, params: Json) -> Json:
        session = self.session(params)
        if params.get("type") != "id":
            raise bad_params("the type of the value is missing or not supported")
        self.set_config(session, params.get("configId"), params.get("value"))
        return {"configOptions": self.options(session)}

    def set_mode(self, session: Json, mode: str) -> None:
        session["config"]["mode"] = mode
        self.update(session, "config_option_update", configOptions=self.options(session))

    def request_session_resume(self, params: Json) -> Json:
        session = self.reopened(params, required=False)
        start = params.get("replayFrom")
        if start is not None and (not isinstance(start, dict) or start.get("type") != "start"):
            raise bad_params("no such place to replay from")
        if start is not None:
            for update in self.replayed(session):
                self.notify("session/update", {"sessionId": session["id"], "update": update})
        self.tell_state(session)
        return self.setup(session)

    def replayed(self, session: Json) -> list[Json]:
        """The history, each message set to nothing before its pieces."""
        updates: list[Json] = []
        begun: set[str] = set()
        for update in session["history"]:
            name = update.get("messageId", "")
            if update["sessionUpdate"] == "agent_message_chunk" and name not in begun:
                whole = {"sessionUpdate": "agent_message", "messageId": name, "content": []}
                updates.append(whole)
                begun.add(name)
            updates.append(update)
        return updates

    def request_session_close(self, params: Json) -> Json:
        name = params.get("sessionId")
        session = self.sessions.get(name) if isinstance(name, str) else None
        if session is not None:
            self.cancel_turns(session)
            session["active"] = False
        return {}

    # Prompts.

    def check_prompt(self, blocks: Any) -> None:
        if not isinstance(blocks, list) or not blocks:
            raise bad_params("prompt is a list of blocks")
        for block in blocks:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind not in ("text", "resource_link", "resource"):
                raise bad_params("this type of block is not supported")
            if not all(isinstance(block.get(key), (str, dict)) for key in REQUIRED[kind]):
                raise bad_params("a malformed content block")
            if kind == "resource" and not is_resource(block["resource"]):
                raise bad_params("a malformed resource")

    def request_session_prompt(self, params: Json) -> Work:
        session = self.session(params)
        self.check_prompt(params.get("prompt"))
        return self.insertion(session, params["prompt"])

    def insertion(self, session: Json, blocks: list[Json]) -> Work:
        while session["work"] is not None:
            yield HOLD
        name = new_name()
        session["work"] = Task(f"work-{name}", "work", {}, self.work(session, blocks))
        self.echo(session, name, blocks)
        return {"messageId": name}

    def echo(self, session: Json, name: str, blocks: list[Json]) -> None:
        self.update(session, "user_message", messageId=name, content=blocks)

    def started(self, task: Task) -> None:
        if task.method == "session/prompt":
            self.sessions[task.params["sessionId"]]["held"].append(task)
        self.step(task)

    def finish(self, task: Task, result: Any, error: Json | None) -> None:
        if task.method == "work":
            self.worked(task)
            return
        session = self.sessions.get(task.params.get("sessionId", ""))
        if task.method == "session/prompt" and session is not None:
            session["held"].remove(task)
        self.answer_task(task, result, error)
        if task.method == "session/prompt" and error is None and session is not None:
            self.step(session["work"])

    def answer_task(self, task: Task, result: Any, error: Json | None) -> None:
        self.tasks.pop(task.id, None)
        if error is not None:
            self.refuse(task.id, error)
        else:
            self.answer(task.id, result)

    def worked(self, task: Task) -> None:
        session = next(one for one in self.sessions.values() if one["work"] is task)
        session["work"] = None
        self.keep()
        if session["held"]:
            self.step(self.next_held(session))

    def next_held(self, session: Json) -> Task:
        task: Task = session["held"][0]
        return task

    def work(self, session: Json, blocks: list[Json]) -> Work:
        self.state(session, "running")
        more: Json = {}
        try:
            text = next((block["text"] for block in blocks if block["type"] == "text"), "")
            reason = yield from self.act(session, text)
        except Stopped:
            reason = "cancelled"
        except Refused as refused:
            reason, more = "error", {"error": refused.error}
        self.settle(session, "cancelled" if reason == "cancelled" else "failed")
        self.state(session, "idle", stopReason=reason, **more)

    def notification_cancel_request(self, params: Json) -> None:
        task = self.tasks.get(params.get("requestId", ""))
        if task is not None:
            self.stop(task)

    def cancel_turns(self, session: Json) -> None:
        for task in list(session["held"]):
            self.stop(task)
        if session["work"] is not None:
            self.stop(session["work"])

    def stop(self, task: Task) -> None:
        if task.asked is not None:
            self.notify("$/cancel_request", {"requestId": task.asked})
        super().stop(task)

    def request_tool_call_cancel(self, params: Json) -> Json:
        session = self.session(params)
        name = params.get("toolCallId")
        if name not in session["able"]:
            raise bad_params("it cannot be cancelled")
        self.later.append(lambda: self.cancel_call(session, str(name)))
        return {}

    def request_terminal_cancel(self, params: Json) -> Json:
        self.session(params)
        raise bad_params("it cannot be cancelled")

    def cancel_call(self, session: Json, name: str) -> None:
        self.progress(session, name, "cancelled")
        if session["work"] is not None:
            self.step(session["work"])
