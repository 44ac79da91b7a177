"""Clients of v1 that break a rule of the wire: envelopes, ids, lines, order."""

import json
import os
from typing import Any

from tests.defects.catalogue import Catalogue
from tests.defects.clients.v1.client import ClientV1
from tests.defects.stdio_jsonrpc import HOLD, Call, Json, Refused, Work, line_of

BROKEN = Catalogue()
breaks = BROKEN.breaks


@breaks("V1-GEN-01")
class LeavesOutJsonrpc(ClientV1):
    def send(self, message: Json) -> None:
        self.write(json.dumps(message).encode() + b"\n")


@breaks("V1-GEN-02")
class AnswersWithAnotherIdType(ClientV1):
    def refuse(self, request_id: Any, error: Json) -> None:
        if isinstance(request_id, str) and request_id.isdigit():
            request_id = int(request_id)
        super().refuse(request_id, error)


@breaks("V1-GEN-03")
class AnswersWithBoth(ClientV1):
    def refuse(self, request_id: Any, error: Json) -> None:
        self.send({"id": request_id, "error": error, "result": None})


@breaks("V1-GEN-04")
class AnswersMalformedNotifications(ClientV1):
    def notified(self, method: str, params: Any) -> None:
        if method == "session/update" and not isinstance(params.get("update"), dict):
            self.refuse(None, {"code": -32602, "message": "Invalid params"})
        super().notified(method, params)


@breaks("V1-EXT-05")
class AnswersUnknownNotifications(ClientV1):
    def notified(self, method: str, params: Any) -> None:
        if method.startswith("_"):
            self.refuse(None, {"code": -32601, "message": "Method not found"})
        super().notified(method, params)


@breaks("V1-CREQ-01")
class AnswersDollarNotifications(ClientV1):
    def notified(self, method: str, params: Any) -> None:
        if method.startswith("$/") and method != "$/cancel_request":
            self.refuse(None, {"code": -32601, "message": "Method not found"})
        super().notified(method, params)


@breaks("V1-GEN-05")
class HasFractionsAsIds(ClientV1):
    def new_id(self) -> Any:
        self.last_id += 1
        return self.last_id + 0.5


@breaks("V1-GEN-06")
class WorksInARelativeFolder(ClientV1):
    def place(self) -> Json:
        return {**super().place(), "cwd": "."}


@breaks("V1-GEN-08")
class WritesSnakeCase(ClientV1):
    def here(self) -> Json:
        return {**super().here(), "session_id": self.session_id}


@breaks("V1-GEN-09")
class AddsKeysOfItsOwn(ClientV1):
    def here(self) -> Json:
        return {**super().here(), "colour": "blue"}


@breaks("V1-GEN-10")
class EndsOnUnknownUpdates(ClientV1):
    def notification_session_update(self, params: Json) -> None:
        kind = params["update"]["sessionUpdate"]
        self.ended = self.ended or (not hasattr(self.state, f"on_{kind}") and kind != "notice")
        super().notification_session_update(params)


@breaks("V1-EXT-02")
class EndsOnForeignMetadata(ClientV1):
    def notification_session_update(self, params: Json) -> None:
        self.ended = self.ended or "accord.check" in params["update"].get("_meta", {})
        super().notification_session_update(params)


@breaks("V1-GEN-11")
class CrashesOnUnknownCodes(ClientV1):
    def failed(self, refused: Refused) -> None:
        if refused.error["code"] == -32077:
            os.abort()


@breaks("V1-GEN-12")
class InsistsOnTheAgentsName(ClientV1):
    def introduce(self) -> Work:
        yield from super().introduce()
        if not isinstance(self.agent.get("agentInfo", {}), dict):
            raise Refused(0, "agentInfo is malformed")


@breaks("V1-GEN-14")
class ProcessesArrays(ClientV1):
    def batch(self, entries: list[Any]) -> None:
        for entry in entries:
            if isinstance(entry, dict):
                self.dispatch(entry)


@breaks("V1-EXT-04")
class AnswersUnknownMethodsKindly(ClientV1):
    def refuse(self, request_id: Any, error: Json) -> None:
        if error["code"] == -32601:
            self.answer(request_id, {})
        else:
            super().refuse(request_id, error)


@breaks("V1-EXT-07")
class ShowsItsStack(ClientV1):
    def refuse(self, request_id: Any, error: Json) -> None:
        if error["code"] == -32602 and "missing" in error["message"]:
            error = {"code": -32603, "message": "Traceback (most recent call last): KeyError"}
        super().refuse(request_id, error)


@breaks("V1-CREQ-02")
class DropsCancelledRequests(ClientV1):
    def notification_cancel_request(self, params: Json) -> None:
        self.tasks.pop(params["requestId"], None)


@breaks("V1-CREQ-05")
class AnswersEveryCancel(ClientV1):
    def notification_cancel_request(self, params: Json) -> None:
        if params["requestId"] in self.tasks:
            super().notification_cancel_request(params)
        else:
            self.refuse(params["requestId"], {"code": -32800, "message": "Request cancelled"})


@breaks("TR-STDIO-02")
class WritesOverSeveralLines(ClientV1):
    def introduce(self) -> Work:
        note = {"jsonrpc": "2.0", "method": "_example.org/hello", "params": {}}
        self.write(json.dumps(note, indent=1).encode() + b"\n")
        yield from super().introduce()


@breaks("TR-STDIO-04")
class TalksOnTheWire(ClientV1):
    def introduce(self) -> Work:
        self.write(b"starting the agent ...\n")
        yield from super().introduce()


@breaks("TR-STDIO-08")
class IgnoresBadLines(ClientV1):
    def bad_line(self, code: int, message: str) -> None:
        """Not a word."""


@breaks("LIM-01")
class IgnoresDeepMessages(ClientV1):
    def too_deep(self, line: bytes) -> None:
        """Not a word."""


@breaks("LIM-03")
class ReadsEndlessLines(ClientV1):
    def too_long(self) -> None:
        while not self.reader.readline(65_536).endswith(b"\n"):
            pass
        self.run_on()


@breaks("V1-INIT-01")
class OpensASessionFirst(ClientV1):
    def introduce(self) -> Work:
        self.send({"id": "early", "method": "session/new", "params": self.place()})
        yield from super().introduce()


@breaks("V1-SESS-01")
class DoesNotWaitForTheAgent(ClientV1):
    early: Json | None = None
    refused = False

    def send(self, message: Json) -> None:
        if message.get("method") == "initialize":
            early = {"id": "early", "method": "session/new", "params": self.place()}
            self.write(line_of(message) + line_of(early))
        else:
            super().send(message)

    def answered(self, message: Json) -> None:
        if message.get("id") != "early":
            super().answered(message)
            return
        self.early, self.refused = message.get("result"), "error" in message
        task = self.tasks.get("")
        if task is not None and task.asked is None:
            self.step(task)

    def open(self, **more: Any) -> Work:
        while self.early is None and not self.refused:
            yield HOLD
        if self.early is None:
            if "login" in self.steps:
                yield from self.log_in()
            yield from super().open(**more)
        else:
            self.opened = self.early
            self.session_id = self.early["sessionId"]


@breaks("V1-PROMPT-01")
class PromptsWithoutASession(ClientV1):
    def introduce(self) -> Work:
        yield from super().introduce()
        params = {"sessionId": "none", "prompt": self.blocks()}
        self.send({"id": "early", "method": "session/prompt", "params": params})


@breaks("V1-INIT-02")
class NamesNoVersion(ClientV1):
    def introduction(self) -> Json:
        whole = super().introduction()
        del whole["protocolVersion"]
        return whole


@breaks("V1-INIT-03")
class NamesNotItself(ClientV1):
    def introduction(self) -> Json:
        whole = super().introduction()
        del whole["clientInfo"]
        return whole


@breaks("V1-INIT-10")
class WritesTheVersionAsText(ClientV1):
    def introduction(self) -> Json:
        return {**super().introduction(), "protocolVersion": "1"}


@breaks("V1-CAP-03")
class NamesNoCapabilities(ClientV1):
    def introduction(self) -> Json:
        whole = super().introduction()
        del whole["clientCapabilities"]
        return whole

    def handler(self, kind: str, method: str) -> Any:
        return None if method == "elicitation/create" else super().handler(kind, method)


@breaks("V1-INIT-08")
class SpeaksEveryVersion(ClientV1):
    def speaks(self, version: Any) -> bool:
        return True


@breaks("V1-INIT-09")
class CallsWhatIsOfV2(ClientV1):
    def introduce(self) -> Work:
        yield from super().introduce()
        self.send({"id": "early", "method": "auth/login", "params": {"methodId": "key"}})


@breaks("V1-SESS-07")
class LeavesOutTheServers(ClientV1):
    def place(self) -> Json:
        return {"cwd": super().place()["cwd"]}

    def step_load(self) -> Work:
        yield from self.step_prompt()


@breaks("V1-SESS-23")
class LeavesOutTheSession(ClientV1):
    def here(self) -> Json:
        return {}

    def step_load(self) -> Work:
        if self.offers("loadSession"):
            self.session_id = "kit-1"
            yield Call("session/load", {"sessionId": self.session_id, **self.place()})
        yield from self.step_prompt()


@breaks("V1-EXT-01")
class TakesTraceparentForItsOwn(ClientV1):
    def here(self) -> Json:
        return {**super().here(), "_meta": {"traceparent": "mine"}}


@breaks("V1-EXT-06")
class HasHiddenExtensions(ClientV1):
    def introduce(self) -> Work:
        yield from super().introduce()
        self.notify("_example.org/hello", {})


@breaks("V1-EXT-08")
class DeniesWithoutAReason(ClientV1):
    def refuse(self, request_id: Any, error: Json) -> None:
        if "outside" in error["message"]:
            error = {"code": -32052, "message": "denied"}
        super().refuse(request_id, error)
