"""Agents of v1 that break a rule of the wire, of initialization or of capabilities."""

import json
from typing import Any

from tests.defects.agents.v1.agent import AgentV1
from tests.defects.agents.v1.extras import AgentV1Extras
from tests.defects.catalogue import Catalogue
from tests.defects.stdio_jsonrpc import Call, Json, Refused, Work, bad_params, line_of

BROKEN = Catalogue()
breaks = BROKEN.breaks
TRACE = 'Traceback (most recent call last):\n  File "agent.py", line 1, in <module>\nKeyError'


@breaks("V1-GEN-01")
class LeavesOutJsonrpc(AgentV1):
    def send(self, message: Json) -> None:
        self.write(json.dumps(message).encode() + b"\n")


@breaks("V1-GEN-02")
class AnswersWithAnotherIdType(AgentV1):
    def refuse(self, request_id: Any, error: Json) -> None:
        if isinstance(request_id, str) and request_id.isdigit():
            request_id = int(request_id)
        super().refuse(request_id, error)


@breaks("V1-GEN-03")
class AnswersWithBoth(AgentV1):
    def refuse(self, request_id: Any, error: Json) -> None:
        self.send({"id": request_id, "error": error, "result": None})


@breaks("V1-GEN-04")
class AnswersMalformedNotifications(AgentV1):
    def idle_session(self, params: Any) -> bool:
        """Well-formed, and of a session that has done something."""
        name = params.get("sessionId") if isinstance(params, dict) else None
        return isinstance(name, str) and bool(self.sessions.get(name, {}).get("history"))

    def notified(self, method: str, params: Any) -> None:
        if method == "session/cancel" and not self.idle_session(params):
            self.refuse(None, {"code": -32602, "message": "Invalid params"})
        super().notified(method, params)


@breaks("V1-EXT-05")
class AnswersUnknownNotifications(AgentV1):
    def notified(self, method: str, params: Any) -> None:
        if method.startswith("_"):
            self.refuse(None, {"code": -32601, "message": "Method not found"})
        super().notified(method, params)


@breaks("V1-CREQ-01")
class AnswersDollarNotifications(AgentV1):
    def notified(self, method: str, params: Any) -> None:
        if method == "$/accord_check":
            self.refuse(None, {"code": -32601, "message": "Method not found"})
        super().notified(method, params)


@breaks("V1-GEN-05")
class HasFractionsAsIds(AgentV1):
    def new_id(self) -> Any:
        self.last_id += 1
        return self.last_id + 0.5


@breaks("V1-GEN-06")
class TakesRelativeFolders(AgentV1):
    def roots(self, params: Json) -> list[str]:
        cwd = str(params.get("cwd"))
        return super().roots({**params, "cwd": cwd if cwd.startswith("/") else f"/{cwd}"})


@breaks("V1-GEN-08")
class WritesSnakeCase(AgentV1):
    def introduction(self) -> Json:
        return {**super().introduction(), "agent_info": {"name": "x", "version": "1"}}


@breaks("V1-GEN-09")
class AddsKeysOfItsOwn(AgentV1):
    def introduction(self) -> Json:
        return {**super().introduction(), "colour": "blue"}


@breaks("V1-GEN-10")
class RefusesUnknownKeys(AgentV1):
    def request_session_prompt(self, params: Json) -> Work:
        if params.keys() - {"sessionId", "prompt", "_meta"}:
            raise bad_params("an unknown key")
        return super().request_session_prompt(params)


@breaks("V1-EXT-02")
class RefusesForeignMetadata(AgentV1):
    def request_session_prompt(self, params: Json) -> Work:
        if "_meta" in params:
            raise bad_params("foreign metadata")
        return super().request_session_prompt(params)


@breaks("V1-GEN-12")
class InsistsOnTheClientsName(AgentV1):
    def request_initialize(self, params: Json) -> Json:
        if not isinstance(params.get("clientInfo", {}), dict):
            raise bad_params("clientInfo is malformed")
        return super().request_initialize(params)


@breaks("V1-GEN-13")
class SkipsBadServers(AgentV1):
    def servers(self, params: Json, *, required: bool) -> list[Json]:
        found = params.get("mcpServers")
        if isinstance(found, list) and len(found) > 1:
            params = {**params, "mcpServers": [one for one in found if "command" in one]}
        return super().servers(params, required=required)


@breaks("V1-GEN-14")
class ProcessesArrays(AgentV1):
    def batch(self, entries: list[Any]) -> None:
        for entry in entries:
            if isinstance(entry, dict):
                self.dispatch(entry)
        if not entries:
            super().batch(entries)


@breaks("V1-EXT-04")
class AnswersUnknownMethodsKindly(AgentV1):
    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        if method == "_accord_check/none" and self.client is not None:
            self.answer(request_id, {})
        else:
            super().requested(request_id, method, params)


@breaks("V1-EXT-07")
class ShowsItsStack(AgentV1):
    def refuse(self, request_id: Any, error: Json) -> None:
        if error["code"] == -32601 and "no_such" in str(error):
            error = {**error, "message": TRACE}
        super().refuse(request_id, error)


@breaks("TR-STDIO-02")
class WritesOverSeveralLines(AgentV1):
    def request_initialize(self, params: Json) -> Json:
        note = {"jsonrpc": "2.0", "method": "_example.org/hello", "params": {}}
        self.write(json.dumps(note, indent=1).encode() + b"\n")
        return super().request_initialize(params)


@breaks("TR-STDIO-03")
class TalksOnTheWire(AgentV1):
    def request_initialize(self, params: Json) -> Json:
        self.write(b"starting up ...\n")
        return super().request_initialize(params)


@breaks("TR-STDIO-07")
class SendsLate(AgentV1):
    late = b""
    held: Any = None

    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        self.held = 4 if method == "session/new" and params == {} else None
        super().requested(request_id, method, params)

    def refuse(self, request_id: Any, error: Json) -> None:
        if request_id == self.held:
            self.late = line_of({"id": request_id, "error": error})
        else:
            super().refuse(request_id, error)

    def write(self, line: bytes) -> None:
        line, self.late = self.late + line, b""
        super().write(line)


@breaks("TR-STDIO-08")
class IgnoresBadLines(AgentV1):
    def bad_line(self, code: int, message: str) -> None:
        """Not a word."""


@breaks("LIM-01")
class IgnoresDeepMessages(AgentV1):
    def too_deep(self, line: bytes) -> None:
        """Not a word."""


@breaks("LIM-02")
class HoldsAnyNumberOfRequests(AgentV1):
    open_max = 1_000_000


@breaks("LIM-04")
class QueuesForEver(AgentV1):
    def request_session_prompt(self, params: Json) -> Work:
        self.check_prompt(params.get("prompt"))
        return self.turn(self.session(params), params["prompt"])


# Initialization.


@breaks("V1-INIT-04")
class HasLoginsOfNoShape(AgentV1):
    def introduction(self) -> Json:
        return {**super().introduction(), "authMethods": "none"}


@breaks("V1-INIT-05")
class NamesNotItself(AgentV1):
    def introduction(self) -> Json:
        whole = super().introduction()
        del whole["agentInfo"]
        return whole


@breaks("V1-INIT-06")
class AnswersANewerVersion(AgentV1):
    def introduction(self) -> Json:
        return {**super().introduction(), "protocolVersion": 2}


@breaks("V1-INIT-07")
class RefusesNewerVersions(AgentV1):
    def request_initialize(self, params: Json) -> Json:
        if params.get("protocolVersion") == 99:
            raise Refused(-32603, "no such version")
        return super().request_initialize(params)


@breaks("V1-INIT-09")
class SendsWhatIsOfV2(AgentV1):
    def end_turn(self, session: Json, reason: str) -> Json:
        self.update(session, "state_update", state="idle")
        return super().end_turn(session, reason)


@breaks("V1-INIT-10")
class TakesVersionsAsText(AgentV1):
    def request_initialize(self, params: Json) -> Json:
        if params.get("protocolVersion") == "1":
            params = {**params, "protocolVersion": 1}
        return super().request_initialize(params)


@breaks("V1-INIT-11")
class ServesBeforeInitialize(AgentV1):
    def before(self, method: str, params: Any) -> None:
        """Whatever comes."""


@breaks("V1-CAP-04")
class NamesNoCapabilities(AgentV1):
    def introduction(self) -> Json:
        whole = super().introduction()
        del whole["agentCapabilities"]
        return whole


@breaks("V1-CAP-05")
class IsLostAfterAnIdleCancel(AgentV1):
    lost = False

    def notification_session_cancel(self, params: Json) -> None:
        self.lost = self.lost or not self.session(params)["turns"]
        super().notification_session_cancel(params)

    def request_session_prompt(self, params: Json) -> Work:
        if self.lost:
            raise Refused(-32603, "Internal error")
        return super().request_session_prompt(params)


@breaks("V1-CAP-02")
class NeedsFilesBesideTerminals(AgentV1):
    def do_terminal(self, session: Json, rest: str) -> Work:
        if self.can("terminal") and not self.can("fs"):
            yield from self.do_refuse(session, rest)
            raise Refused(-32603, "no files")
        yield from super().do_terminal(session, rest)

    def turn(self, session: Json, blocks: list[Json]) -> Work:
        result: Json = yield from super().turn(session, blocks)
        if self.can("terminal") and not self.can("fs") and "terminal" in str(blocks):
            return {**result, "stopReason": "refusal"}
        return result


@breaks("V1-CAP-07")
class ArchivesWithoutAList(AgentV1Extras):
    def capabilities(self) -> Json:
        whole = super().capabilities()
        del whole["sessionCapabilities"]["list"]
        return whole


@breaks("V1-FS-01")
class WritesThroughAnyClient(AgentV1):
    def can(self, *names: str) -> bool:
        return names[0] == "fs" or super().can(*names)


@breaks("V1-TERM-01")
class RunsInAnyClient(AgentV1):
    def can(self, *names: str) -> bool:
        return names[0] == "terminal" or super().can(*names)


@breaks("V1-ELIC-01")
class AsksAnyClient(AgentV1):
    def can(self, *names: str) -> bool:
        return names == ("elicitation", "form") or super().can(*names)


@breaks("V1-PROMPT-10")
class WorksBeforeItSaysSo(AgentV1):
    def do_tool(self, session: Json, rest: str) -> Work:
        if self.can("fs", "writeTextFile"):
            place = {"sessionId": session["id"], "path": f"{session['roots'][0]}/early.txt"}
            yield Call("fs/write_text_file", {**place, "content": "early"})
        yield from super().do_tool(session, rest)
