"""Agents of the 2026-02 draft that break one of its rules, made of the one that keeps them."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.conformance.draft_agent import Agent, Failure
from tests.defects.catalogue import Catalogue

Json = dict[str, Any]
BROKEN = Catalogue()
breaks = BROKEN.breaks


@breaks("V1-GEN-01")
class LeavesOutJsonrpc(Agent):
    def send(self, message: Json) -> None:
        with self.lock:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()


@breaks("V1-GEN-02")
class AnswersNobody(Agent):
    def session_new(self, params: Json) -> Json:
        self.send({"id": "nobody", "result": {}})
        return super().session_new(params)


@breaks("V1-GEN-03")
class AnswersWithBoth(Agent):
    def send(self, message: Json) -> None:
        super().send({**message, "result": None} if "error" in message else message)


@breaks("TR-STDIO-02")
class WritesOverSeveralLines(Agent):
    def initialize(self, params: Json) -> Json:
        note = {"jsonrpc": "2.0", "method": "_x/hello", "params": {}}
        with self.lock:
            sys.stdout.write(json.dumps(note, indent=1) + "\n")
        return super().initialize(params)


@breaks("TR-STDIO-03")
class TalksOnTheWire(Agent):
    def initialize(self, params: Json) -> Json:
        with self.lock:
            sys.stdout.write("starting ...\n")
        return super().initialize(params)


@breaks("D26-04")
class TakesNamelessClients(Agent):
    def initialize(self, params: Json) -> Json:
        return super().initialize({"clientInfo": {}, **params})


@breaks("D26-05")
class DoesNotSayWhetherItWorked(Agent):
    def authenticate(self, params: Json) -> Json:
        return {}


@breaks("D26-06")
class DoesNotSayWhen(Agent):
    def session_new(self, params: Json) -> Json:
        return {**super().session_new(params), "createdAt": "yesterday"}


@breaks("D26-07")
class DoesNotCount(Agent):
    def session_load(self, params: Json) -> Json:
        return {k: v for k, v in super().session_load(params).items() if k != "messageCount"}


@breaks("D26-08")
class MakesUpAReason(Agent):
    def session_prompt(self, params: Json) -> Json:
        result = super().session_prompt(params)
        return {"stopReason": "done"} if result["stopReason"] == "end_turn" else result


@breaks("D26-09")
class ForgetsTheFormerMode(Agent):
    def session_set_mode(self, params: Json) -> Json:
        return {"currentMode": super().session_set_mode(params)["currentMode"]}


@breaks("D26-13")
class SaysNothing(Agent):
    def tell(self, session: str, kind: str, **data: Any) -> None:
        if kind != "agent_message_chunk" or data["content"] != "hello":
            super().tell(session, kind, **data)


@breaks("D26-14")
class MintsUpdates(Agent):
    def session_prompt(self, params: Json) -> Json:
        self.tell(params["sessionId"], "weather", rain=True)
        return super().session_prompt(params)


@breaks("D26-15")
class LeavesCallsRunning(Agent):
    def tell(self, session: str, kind: str, **data: Any) -> None:
        if data.get("status") != "cancelled":
            super().tell(session, kind, **data)


@breaks("D26-17")
class WritesThroughAnyClient(Agent):
    def initialize(self, params: Json) -> Json:
        result = super().initialize(params)
        self.client = {"fs": {"write": True}}
        return result


@breaks("D26-18")
class NeedsFilesLater(Agent):
    def initialize(self, params: Json) -> Json:
        return {**super().initialize(params), "requiredClientCapabilities": ["fs"]}


@breaks("D26-19")
class RefusesMetadata(Agent):
    def session_new(self, params: Json) -> Json:
        if "_meta" in params:
            raise Failure(-32602, "metadata")
        return super().session_new(params)


@breaks("D26-20")
class HasNoCodeForUnknownMethods(Agent):
    def send(self, message: Json) -> None:
        if message.get("error", {}).get("code") == -32601:
            message["error"]["code"] = -32603
        super().send(message)


@breaks("D26-22")
class AsksWithoutAReason(Agent):
    def ask(self, method: str, **params: Any) -> Json:
        params.pop("reason", None)
        return super().ask(method, **params)


@breaks("D26-24")
class ReadsOutside(Agent):
    def read(self, session: Json, name: str) -> str:
        return Path(session["folder"], name).read_text()


@breaks("D26-25")
class WantsAbsoluteNames(Agent):
    def read(self, session: Json, name: str) -> str:
        if name.startswith("/"):
            return super().read(session, name)
        where = next(key for key, value in self.sessions.items() if value is session)
        self.tell(where, "tool_call", id="read", tool="read", input={}, status="pending")
        for status in ("in_progress", "failed"):
            self.tell(where, "tool_call_update", id="read", status=status)
        return "what?"


@breaks("D26-28")
class TellsLogins(Agent):
    def mcp(self, session: Json) -> str:
        return super().mcp(session) + str(session["servers"])


@breaks("D26-32")
class SkipsSteps(Agent):
    def tell(self, session: str, kind: str, **data: Any) -> None:
        if data.get("status") == "completed":
            super().tell(session, kind, **data)
            data = {**data, "status": "in_progress"}
        super().tell(session, kind, **data)


@breaks("D26-33")
class HasOfficialCodes(Agent):
    def find(self, params: Json) -> tuple[str, Json]:
        try:
            return super().find(params)
        except Failure:
            raise Failure(-32002, "no such session") from None


@breaks("D26-34")
class AsksTooLate(Agent):
    def ask(self, method: str, **params: Any) -> Json:
        if method == "session/request_permission":
            params["toolCallId"] = "another"
        return super().ask(method, **params)


@breaks("D26-35")
class ChangesModesSilently(Agent):
    def tell(self, session: str, kind: str, **data: Any) -> None:
        if kind != "current_mode_update":
            super().tell(session, kind, **data)
