"""A client of version 2 that sends one prompt and waits for its end."""

from __future__ import annotations

import threading
from typing import Any

from tests.kit_accuracy.client_v1 import PIXEL, Client, whole_logins
from tests.kit_accuracy.line_peer import (
    AUTH_REQUIRED,
    CANCELLED,
    INVALID_PARAMS,
    Json,
    RpcError,
    Withdrawn,
    Work,
    log,
    need,
)

END_SECONDS = 60.0


class ClientV2(Client):
    """One agent, one session, one prompt, in the words of version 2."""

    def __init__(self, command: list[str], broken: str, purpose: str) -> None:
        super().__init__(command, broken, purpose)
        self.peer.null_ids = False
        self.idle = threading.Event()
        self.answered: set[Any] = set()
        self.running: set[str] = set()

    def introduction(self) -> Json:
        info = {"name": "stranger-client", "version": "2.0"}
        told: Json = {"protocolVersion": 2, "capabilities": {"elicitation": {"form": {}}}}
        return told if self.broken == "V2-INIT-01" else {**told, "info": info}

    def talk(self) -> int:
        answer = self.initialize()
        if answer.get("protocolVersion") != 2 and self.broken != "V2-INIT-04":
            log("the agent speaks another version")
            return 1
        told = answer.get("capabilities")
        self.offers = told if isinstance(told, dict) else {}
        if not isinstance(self.offers.get("session"), dict) and self.broken != "V2-INIT-11":
            log("the agent has no sessions")
            return 1
        if self.purpose == "list":
            return self.list_all()
        if self.purpose == "delete":
            return self.delete()
        if self.purpose == "resume":
            return self.resume(self.offers["session"])
        methods = answer.get("authMethods")
        self.open_session(methods)
        self.prompt()
        if self.broken == "V2-AUTH-02" and not methods:
            self.peer.call("auth/logout", {})
        if self.broken == "TR-STDIO-04":
            assert self.agent.stdin is not None
            self.agent.stdin.write(b"exit\n")
        return 0

    def open_session(self, methods: Any) -> None:
        params: Json = {"cwd": self.cwd}
        if self.broken == "V2-SESS-23":
            params["additionalDirectories"] = ["/usr/share"]
        if self.broken == "V2-AUTH-02b" and not methods:
            try:
                self.peer.call("auth/login", {"methodId": "default"})
            except RpcError:
                log("the agent needs no login")
        try:
            answer = self.peer.call("session/new", params)
        except RpcError as error:
            usable = self.usable_logins(methods)
            if error.code != AUTH_REQUIRED or not usable:
                raise
            login = "authenticate" if self.broken == "V2-GEN-04" else "auth/login"
            self.peer.call(login, {"methodId": usable[0]["methodId"]})
            answer = self.peer.call("session/new", params)
        self.session_id = str(answer.get("sessionId"))

    def usable_logins(self, methods: Any) -> list[Json]:
        whole = whole_logins(methods, "methodId")
        return [each for each in whole if each.get("type") == "agent"]

    def blocks(self) -> list[Json]:
        blocks: list[Json] = [{"type": "text", "text": "hello"}]
        if self.broken == "V2-PROMPT-01":
            blocks.append({"type": "image", "data": PIXEL, "mimeType": "image/png"})
        return blocks

    def prompt(self) -> None:
        params = {"sessionId": self.session_id, "prompt": self.blocks()}
        self.idle.clear()
        self.listen_for_interrupts()
        threading.Thread(target=self.cancel_when_told, daemon=True).start()
        self.peer.call("session/prompt", params, Work())
        self.idle.wait(END_SECONDS)

    def cancel_when_told(self) -> None:
        self.cancel_wanted.wait()
        for tool_call in sorted(self.running) if self.broken == "V2-CANCEL-16" else []:
            named = {"sessionId": self.session_id, "toolCallId": tool_call}
            try:
                self.peer.call("tool_call/cancel", named, seconds=1)
            except (RpcError, Withdrawn):
                log("the tool call could not be cancelled")
        super().cancel_when_told()

    def list_all(self) -> int:
        params: Json = {}
        for _ in range(100):
            cursor = self.peer.call("session/list", params).get("nextCursor")
            if cursor is None or (cursor == "" and self.broken == "V2-SESS-20"):
                return 0
            params = {"cursor": cursor}
        return 1

    def resume(self, offered: Json) -> int:
        """Take up the first session that the agent lists, with the setup that it is listed with."""
        listed = self.peer.call("session/list", {}).get("sessions")
        first = listed[0] if isinstance(listed, list) and listed else {}
        self.session_id = str(first.get("sessionId", "kit-1"))
        params: Json = {"sessionId": self.session_id, "cwd": first.get("cwd", self.cwd)}
        if isinstance(offered.get("additionalDirectories"), dict):
            params["additionalDirectories"] = first.get("additionalDirectories") or []
        if self.broken == "V2-SESS-06":
            params = {"sessionId": self.session_id, "cwd": self.cwd}
        self.peer.call("session/resume", params)
        self.prompt()
        return 0

    def delete(self) -> int:
        marker = self.offers["session"].get("delete")
        if not isinstance(marker, dict) and self.broken != "V2-SESS-21":
            log("the agent does not delete sessions")
            return 1
        self.peer.call("session/delete", {"sessionId": "kit-1"})
        return 0

    def notification(self, message: Json) -> None:
        super().notification(message)
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        update = params.get("update")
        if message["method"] == "session/update" and isinstance(update, dict):
            kind, state = update.get("sessionUpdate"), update.get("state")
            if kind == "state_update" and state == "idle":
                self.idle.set()
            elif kind == "state_update":
                self.idle.clear()
            elif kind == "tool_call_update" and update.get("status") == "in_progress":
                self.running.add(str(update.get("toolCallId")))
            elif kind == "tool_call_update" and "status" in update:
                self.running.discard(str(update.get("toolCallId")))
        elif message["method"] == "$/cancel_request":
            if self.broken == "V2-CANCEL-13" and params.get("requestId") in self.peer.open:
                self.cancel_wanted.set()
            again = self.broken == "V2-CANCEL-15" and params.get("requestId") in self.answered
            if again:
                self.peer.fail(params["requestId"], CANCELLED, "The request was cancelled.")

    def handlers(self) -> dict[str, Any]:
        return {
            "session/request_permission": self.ask,
            "elicitation/create": lambda params, _: self.elicit(params),
        }

    def ask(self, params: Json, request_id: Any) -> Any:
        need(params, "title", str)
        subject = params.get("subject")
        if subject is not None and self.broken != "V2-GEN-07":
            kind = need(need(params, "subject", dict), "type", str)
            if kind == "tool_call":
                need(need(subject, "toolCall", dict), "toolCallId", str)
            elif kind == "command":
                need(subject, "command", str)
                need(subject, "cwd", str)
        decide = super().ask(params, request_id)

        def answer() -> Json | None:
            result: Json = decide()
            self.answered.add(request_id)
            withdrawn = result["outcome"]["outcome"] == "cancelled"
            if withdrawn and self.broken == "V2-CANCEL-14":
                return None
            if withdrawn and self.broken == "V2-CANCEL-10":
                raise RpcError(CANCELLED, "The request was cancelled.")
            if self.broken == "V2-GEN-08b" and not withdrawn:
                return {"outcome": {**result["outcome"], "outcome": "allowed"}}
            return result

        return answer

    def elicit(self, params: Json) -> Json:
        if ("sessionId" in params) == ("requestId" in params):
            raise RpcError(INVALID_PARAMS, "A form belongs to one session or to one request.")
        result = super().elicit(params)
        schema = params["requestedSchema"]
        if schema.get("type") != "object":
            raise RpcError(INVALID_PARAMS, "The form is not an object.")
        need(schema, "properties", dict)
        return {"action": "dismissed"} if self.broken == "V2-GEN-08" else result
