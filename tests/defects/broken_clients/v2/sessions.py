"""Clients of v2 that break a rule.  Where the rule is the same as in v1, so is the override."""

import json
import os
from typing import Any

from tests.defects import batches
from tests.defects.broken_clients.v1 import own_work as v1_own_work
from tests.defects.broken_clients.v1 import sessions as v1
from tests.defects.broken_clients.v1 import wire as v1_wire
from tests.defects.catalogue import Catalogue
from tests.defects.clients.v1.client import IMAGE
from tests.defects.clients.v2.client import ClientV2
from tests.defects.stdio_jsonrpc import Call, Json, Refused, Stopped, Task, Work, line_of

BROKEN = Catalogue()
breaks = BROKEN.breaks


def as_in_v1(made: type[Any]) -> type[Any]:
    return type(f"{made.__name__}V2", (made, ClientV2), {})


SAME = (
    "V1-GEN-01", "V1-GEN-02", "V1-GEN-03", "V1-GEN-04", "V1-GEN-05", "V1-GEN-08", "V1-GEN-09",
    "V1-GEN-10", "V1-EXT-02", "V1-EXT-04", "V1-EXT-05", "V1-EXT-07", "V1-CREQ-01", "TR-STDIO-02",
    "TR-STDIO-04", "TR-STDIO-08", "LIM-01", "LIM-03",
)  # fmt: skip
for _rule in SAME:
    breaks(_rule)(as_in_v1(v1_wire.BROKEN[_rule]))
breaks("V2-GEN-06")(as_in_v1(batches.IgnoresArrays))
for _rule in ("TR-BATCH-02", "TR-BATCH-04", "TR-BATCH-05", "TR-BATCH-06"):
    breaks(_rule)(as_in_v1(batches.WRONG[_rule]))
V1_TURNS = (
    "V1-PERM-02", "V1-PERM-03", "V1-ELIC-02", "V1-ELIC-17", "V1-ELIC-19", "V1-ELIC-21",
    "V1-ELIC-23", "V1-ELIC-27",
)  # fmt: skip
for _rule in V1_TURNS:
    breaks(_rule)(as_in_v1(v1.BROKEN[_rule]))
breaks("V2-INIT-04")(as_in_v1(v1_wire.SpeaksEveryVersion))
breaks("TR-STDIO-07")(as_in_v1(v1_own_work.AnswersWithItsNextMessage))


@breaks("V2-GEN-05")
class SpeaksVersion2Only(ClientV2):
    def speaks(self, version: Any) -> bool:
        return bool(version == 2)


breaks("V2-SESS-01")(as_in_v1(v1_wire.OpensASessionFirst))


@breaks("TR-BATCH-07")
class BatchesItsPrompt(ClientV2):
    def send(self, message: Json) -> None:
        if message.get("method") == "session/prompt":
            self.write(json.dumps([{"jsonrpc": "2.0", **message}]).encode() + b"\n")
        else:
            super().send(message)


@breaks("V2-GEN-01")
class TakesOddIds(ClientV2):
    def dispatch(self, message: Json) -> None:
        if message.get("id") == 1.5 and "method" in message:
            self.refuse(None, {"code": -32601, "message": "Method not found"})
        else:
            super().dispatch(message)


@breaks("V2-GEN-02")
class ReusesIds(ClientV2):
    def send(self, message: Json) -> None:
        if message.get("method") == "session/prompt":
            # In one write, so that nobody can answer the first before the second is there.
            again = {"id": message["id"], "method": "_example.org/hello", "params": {}}
            self.write(line_of(message) + line_of(again))
        else:
            super().send(message)

    def answered(self, message: Json) -> None:
        # The answer to the second one is not the prompt's.
        if message.get("error", {}).get("code") != -32601:
            super().answered(message)


@breaks("V2-GEN-03")
class AnswersWithoutAnId(ClientV2):
    def refuse(self, request_id: Any, error: Json) -> None:
        bad = error["code"] == -32602 and "subject" in error["message"]
        super().refuse(None if bad else request_id, error)


@breaks("V2-GEN-04")
class SendsWhatHasNoShape(ClientV2):
    def place(self) -> Json:
        return {**super().place(), "mcpServers": "none"}


@breaks("V1-AUTH-01")
class LogsInByItsOwnMethod(ClientV2):
    def log_in(self) -> Work:
        yield Call("auth/login", {"methodId": "mine"})


@breaks("V1-ELIC-03")
class OffersNothingAndTakesForms(ClientV2):
    def introduction(self) -> Json:
        return {**super().introduction(), "capabilities": {"elicitation": {}}}


@breaks("V2-GEN-07")
class TakesBadSubjects(ClientV2):
    def apply(self, subject: Any) -> None:
        if isinstance(subject.get("toolCall"), dict):
            super().apply(subject)


@breaks("V2-GEN-08")
class MintsOutcomes(ClientV2):
    def decide(self, params: Json) -> Work:
        answer: Json = yield from super().decide(params)
        chosen = answer["outcome"]["outcome"] == "selected"
        return {"outcome": {"outcome": "maybe"}} if chosen else answer


@breaks("V2-INIT-01")
class NamesNotItself(ClientV2):
    def introduction(self) -> Json:
        return {**super().introduction(), "info": {"name": "", "version": ""}}


@breaks("V2-INIT-09")
class TakesTrueForAMarker(ClientV2):
    def step_image(self) -> Work:
        yield from self.open()
        yield from self.ask([*self.blocks(), IMAGE])


@breaks("V2-PROMPT-01")
class SendsEmptyPrompts(ClientV2):
    def step_image(self) -> Work:
        yield from self.open()
        yield Call("session/prompt", {**self.here(), "prompt": []})


@breaks("V2-INIT-11")
class OpensSessionsAnywhere(ClientV2):
    def offers(self, *names: str) -> bool:
        return names == ("session",) or super().offers(*names)


@breaks("V2-AUTH-02")
class LogsOutUnasked(ClientV2):
    def step_logout(self) -> Work:
        yield Call("auth/logout", {})


@breaks("V2-AUTH-05")
class LogsInByTerminal(ClientV2):
    def usable(self, method: Any) -> bool:
        return isinstance(method, dict)


@breaks("V2-SESS-06")
class ResumesElsewhere(ClientV2):
    def step_resume(self) -> Work:
        self.session_id = "kit-1"
        yield Call("session/resume", {**self.here(), "cwd": os.path.dirname(os.getcwd())})


@breaks("V2-SESS-20")
class StopsAtEmptyCursors(ClientV2):
    def step_list(self) -> Work:
        page = yield Call("session/list", {})
        while page.get("nextCursor"):
            page = yield Call("session/list", {"cursor": page["nextCursor"]})


@breaks("V2-SESS-21")
class DeletesUnasked(ClientV2):
    def step_delete(self) -> Work:
        yield Call("session/delete", {"sessionId": "kit-1"})


@breaks("V2-SESS-23")
class SendsRootsUnasked(ClientV2):
    def step_roots(self) -> Work:
        yield from self.open(additionalDirectories=["/usr"])


@breaks("V2-SESS-25")
class MintsServers(ClientV2):
    def place(self) -> Json:
        return {**super().place(), "mcpServers": [{"type": "pigeon", "name": "far"}]}


@breaks("V2-CANCEL-10")
class FailsCancelledQuestions(ClientV2):
    def decide(self, params: Json) -> Work:
        work = super(ClientV2, self).decide(params)
        try:
            call = next(work)
        except StopIteration as end:
            return end.value
        try:
            yield call
        except Stopped:
            raise Refused(-32800, "Request cancelled") from None
        return {"outcome": {"outcome": "cancelled"}}


@breaks("V2-CANCEL-13")
class TakesItsOwnIds(ClientV2):
    def notification_cancel_request(self, params: Json) -> None:
        if params.get("requestId") not in self.tasks:
            self.notify("session/cancel", self.here())
        super().notification_cancel_request(params)


@breaks("V2-CANCEL-14")
class DropsCancelledRequests(ClientV2):
    def notification_cancel_request(self, params: Json) -> None:
        self.tasks.pop(params["requestId"], None)


@breaks("V2-CANCEL-15")
class AnswersTwice(ClientV2):
    def finish(self, task: Task, result: Any, error: Json | None) -> None:
        super().finish(task, result, error)
        if task.method == "session/request_permission" and "cancelled" in str(result):
            self.answer(task.id, result)


@breaks("V2-CANCEL-16")
class CancelsCallsUnasked(ClientV2):
    def cancel(self) -> None:
        super().cancel()
        params = {**self.here(), "toolCallId": "call-1"}
        self.send({"id": "stop", "method": "tool_call/cancel", "params": params})


@breaks("V2-AUTH-07")
class TriesAgainOnTheSameConnection(ClientV2):
    def introduction(self) -> Json:
        whole = super().introduction()
        return whole | {"capabilities": whole["capabilities"] | {"auth": {"terminal": {}}}}

    def log_in(self) -> Work:
        if any(self.usable(one) for one in self.agent.get("authMethods", [])):
            yield from super().log_in()
