"""Agents of v2 that break a rule about sessions, options and cancelling."""

import json
import os
import threading
from pathlib import Path
from typing import Any

from tests.defects.agents.v2.agent import AgentV2
from tests.defects.broken_agents.v1.turns import LATE_SECONDS
from tests.defects.catalogue import Catalogue
from tests.defects.stdio_jsonrpc import Call, Json, Refused, Task, Work, bad_params

BROKEN = Catalogue()
breaks = BROKEN.breaks


@breaks("V2-SESS-02")
class HasOneIdForAll(AgentV2):
    def new_session_id(self) -> str:
        return "session"


@breaks("V2-SESS-03")
class HasNullForNoCommands(AgentV2):
    def setup(self, session: Json) -> Json:
        return {**super().setup(session), "availableCommands": None}


@breaks("V2-SESS-05")
class HasNoCodeForUnknownSessions(AgentV2):
    def session(self, params: Json, *, active: bool = True) -> Json:
        try:
            return super().session(params, active=active)
        except Refused:
            raise bad_params("no such session") from None


@breaks("V2-SESS-08")
class ConnectsOldServers(AgentV2):
    def connect(self, session: Json, servers: list[Json]) -> None:
        kept = Path(os.environ["ACCORD_STATE_DIR"], "servers.json")
        if servers:
            kept.write_text(json.dumps(servers))
        elif kept.exists():
            servers = json.loads(kept.read_text())
        super().connect(session, servers)


@breaks("V2-SESS-09")
class ReplaysUnasked(AgentV2):
    def request_session_resume(self, params: Json) -> Json:
        if "replayFrom" not in params:
            params = {**params, "replayFrom": {"type": "start"}}
        return super().request_session_resume(params)


@breaks("V2-SESS-10")
class ReplaysItsOwnSide(AgentV2):
    def remember(self, session: Json, update: Json) -> None:
        if update["sessionUpdate"] != "user_message":
            super().remember(session, update)


@breaks("V2-SESS-11")
class ResumesWithoutAState(AgentV2):
    def request_session_resume(self, params: Json) -> Json:
        self.silent = True
        try:
            return super().request_session_resume(params)
        finally:
            self.silent = False

    silent = False

    def tell_state(self, session: Json) -> None:
        if not self.silent:
            super().tell_state(session)


@breaks("V2-SESS-12")
class TakesAnyCursor(AgentV2):
    def request_session_resume(self, params: Json) -> Json:
        start = params.get("replayFrom")
        if start is not None and start != {"type": "start"}:
            params = {**params, "replayFrom": None}
        return super().request_session_resume(params)


@breaks("V2-SESS-15")
class SpeaksAfterTheClose(AgentV2):
    def request_session_close(self, params: Json) -> Json:
        session = self.sessions.get(params["sessionId"])
        busy = session is not None and session["work"] is not None
        result = super().request_session_close(params)
        if busy and session is not None:
            self.later.append(lambda: self.say(session, "still here"))
        return result


@breaks("V2-SESS-16")
class ClosesWithoutAWord(AgentV2):
    closing = False

    def request_session_close(self, params: Json) -> Json:
        self.closing = True
        try:
            return super().request_session_close(params)
        finally:
            self.closing = False

    def tell_state(self, session: Json) -> None:
        if not self.closing:
            super().tell_state(session)


@breaks("V2-SESS-17")
class FailsHeldPromptsOnClose(AgentV2):
    closing = False

    def request_session_close(self, params: Json) -> Json:
        self.closing = True
        try:
            return super().request_session_close(params)
        finally:
            self.closing = False

    def answer_task(self, task: Task, result: Any, error: Json | None) -> None:
        if self.closing and error is not None:
            error = {"code": -32603, "message": "closed"}
        super().answer_task(task, result, error)


@breaks("V2-SESS-18")
class ClosesOnlyOnce(AgentV2):
    def request_session_close(self, params: Json) -> Json:
        self.session(params)
        return super().request_session_close(params)


@breaks("V2-SESS-19")
class ListsFoldersBelow(AgentV2):
    def request_session_list(self, params: Json) -> Json:
        cwd = params.get("cwd")
        page = super().request_session_list({})
        page["sessions"] = [
            one for one in page["sessions"] if cwd is None or one["cwd"].startswith(cwd)
        ]
        return page


@breaks("V2-SESS-22")
class DeletesOnlyOnce(AgentV2):
    def request_session_delete(self, params: Json) -> Json:
        self.session(params, active=False)
        return super().request_session_delete(params)


@breaks("V2-SESS-24")
class TakesAnyServer(AgentV2):
    def servers(self, params: Json, *, required: bool) -> list[Json]:
        found = params.get("mcpServers") or []
        known = [one for one in found if one.get("type") in ("stdio", "http")]
        return super().servers({**params, "mcpServers": known}, required=required)


@breaks("V2-SESS-26")
class ConnectsTheFirstServer(AgentV2):
    def connect(self, session: Json, servers: list[Json]) -> None:
        super().connect(session, servers[:1])


@breaks("V2-SESS-27")
class ReplaysPiecesOnly(AgentV2):
    def replayed(self, session: Json) -> list[Json]:
        return list(session["history"])


@breaks("V2-SESS-28")
class NamesUserMessagesAnew(AgentV2):
    def replayed(self, session: Json) -> list[Json]:
        return [
            {**one, "messageId": f"again-{one['messageId']}"}
            if one["sessionUpdate"] == "user_message"
            else one
            for one in super().replayed(session)
        ]


@breaks("V2-CFG-01")
class NeedsNoType(AgentV2):
    def request_session_set_config_option(self, params: Json) -> Json:
        return super().request_session_set_config_option({"type": "id", **params})


@breaks("V2-CFG-02")
class TakesAnyValue(AgentV2):
    def set_config(self, session: Json, key: Any, value: Any) -> None:
        try:
            super().set_config(session, key, value)
        except Refused:
            return


@breaks("V2-CFG-03")
class RepeatsValues(AgentV2):
    def options(self, session: Json) -> list[Json]:
        return [{**one, "options": one["options"] * 2} for one in super().options(session)]


@breaks("V2-CFG-04")
class AnswersWithOneOption(AgentV2):
    def request_session_set_config_option(self, params: Json) -> Json:
        whole = super().request_session_set_config_option(params)["configOptions"]
        return {"configOptions": [one for one in whole if one["configId"] == params["configId"]]}


@breaks("V2-CFG-06")
class HasSlashesInNames(AgentV2):
    def setup(self, session: Json) -> Json:
        command = {"type": "command", "name": "/tool", "description": "Looks around"}
        return {**super().setup(session), "availableCommands": [command]}


@breaks("V2-CFG-08")
class HasNamelessPlans(AgentV2):
    def plan(self, entries: list[Json]) -> Json:
        return {"type": "items", "entries": entries}


@breaks("V2-CANCEL-02")
class TakesItsTime(AgentV2):
    def notification_session_cancel(self, params: Json) -> None:
        work = self.session(params)["work"]
        if work is not None and work.asked is not None:
            super().notification_session_cancel(params)
        else:
            later = super().notification_session_cancel
            threading.Timer(LATE_SECONDS, later, (params,)).start()


class Cancelled(AgentV2):
    """Knows that a turn was ended by `session/cancel`."""

    cancelling = False

    def notification_session_cancel(self, params: Json) -> None:
        self.cancelling = True
        try:
            super().notification_session_cancel(params)
        finally:
            self.cancelling = False


@breaks("V2-CANCEL-03")
class SpeaksAfterACancel(AgentV2):
    def notification_session_cancel(self, params: Json) -> None:
        session = self.session(params)
        busy = session["work"] is not None
        super().notification_session_cancel(params)
        if busy:
            self.say(session, "One more thing")


@breaks("V2-CANCEL-04")
class FailsOnCancel(Cancelled):
    def state(self, session: Json, name: str, **fields: Any) -> None:
        if self.cancelling and fields.get("stopReason") == "cancelled" and session["open"] == {}:
            if session.get("asking"):
                super().state(session, name, **fields)
                return
            error = {"code": -32603, "message": "AbortError"}
            fields = {"stopReason": "error", "error": error}
        super().state(session, name, **fields)

    def waiting(self, session: Json, call: Call) -> Work:
        session["asking"] = True
        answer = yield from super().waiting(session, call)
        session["asking"] = False
        return answer


@breaks("V2-CANCEL-05")
class FailsHeldPrompts(Cancelled):
    def answer_task(self, task: Task, result: Any, error: Json | None) -> None:
        if self.cancelling and error is not None:
            error = {"code": -32603, "message": "Internal error"}
        super().answer_task(task, result, error)


@breaks("V1-CANCEL-09")
class FailsTheWholePrompt(AgentV2):
    """Answers a prompt with its end, and so a cancelled one with an error."""

    def answer_task(self, task: Task, result: Any, error: Json | None) -> None:
        session = self.sessions.get(task.params.get("sessionId", ""), {})
        if task.method == "session/prompt" and error is None and "long" in str(task.params):
            session["first"], session["named"] = task, result
            self.tasks.pop(task.id, None)
        else:
            super().answer_task(task, result, error)

    def notification_session_cancel(self, params: Json) -> None:
        super().notification_session_cancel(params)
        if first := self.session(params).pop("first", None):
            self.refuse(first.id, {"code": -32800, "message": "Request cancelled"})

    def request_session_close(self, params: Json) -> Json:
        session = self.sessions.get(params["sessionId"], {})
        if first := session.pop("first", None):
            self.answer(first.id, session["named"])
        return super().request_session_close(params)


@breaks("V2-CANCEL-06")
class WaitsForPermission(Cancelled):
    permitting = False

    def permit(self, session: Json, subject: Json) -> Work:
        self.permitting = True
        try:
            return (yield from super().permit(session, subject))
        finally:
            self.permitting = False

    def stop(self, task: Task) -> None:
        if self.cancelling and self.permitting and task.method == "work":
            return
        super().stop(task)


@breaks("V2-PROMPT-26")
class TakesLatePermissions(AgentV2):
    late: dict[Any, Json]

    def __init__(self) -> None:
        super().__init__()
        self.late = {}

    def stop(self, task: Task) -> None:
        if task.asked is not None:
            self.late[task.asked] = {}
        super().stop(task)

    def answered(self, message: Json) -> None:
        if message.get("id") in self.late and "result" in message:
            for session in self.sessions.values():
                Path(session["roots"][0], "notes.txt").write_text("late")
        super().answered(message)


@breaks("V2-CANCEL-09")
class EndsBackgroundWork(AgentV2):
    def notification_session_cancel(self, params: Json) -> None:
        session = self.session(params)
        super().notification_session_cancel(params)
        for one in session.get("background", []):
            done = {"terminalId": one["terminalId"], "exitStatus": {"signal": "SIGTERM"}}
            self.update(session, "terminal_update", **done)


@breaks("V2-CANCEL-13")
class TakesItsOwnIds(AgentV2):
    def notification_cancel_request(self, params: Json) -> None:
        if params.get("requestId") == 1 and self.last_id >= 1 and self.worked_long():
            self.refuse(1, {"code": -32800, "message": "Request cancelled"})
        super().notification_cancel_request(params)

    def worked_long(self) -> bool:
        return any(session["history"] for session in self.sessions.values())


@breaks("V2-CANCEL-14")
class FailsCancelledRequests(AgentV2):
    def notification_cancel_request(self, params: Json) -> None:
        task = self.tasks.get(params.get("requestId", ""))
        if task is not None:
            task.work.close()
            self.finish(task, None, {"code": -32603, "message": "Internal error"})


@breaks("V2-CANCEL-15")
class AnswersEveryCancel(AgentV2):
    def notification_cancel_request(self, params: Json) -> None:
        name = params.get("requestId")
        if name == "nobody-asked-this":
            self.refuse(name, {"code": -32800, "message": "Request cancelled"})
        super().notification_cancel_request(params)


@breaks("V2-CANCEL-17")
class NeverEndsCancelledCalls(AgentV2):
    def cancel_call(self, session: Json, name: str) -> None:
        """Forgotten."""


@breaks("V2-CANCEL-18")
class CancelsAnything(AgentV2):
    def request_tool_call_cancel(self, params: Json) -> Json:
        if params.get("toolCallId") not in self.session(params)["able"]:
            return {}
        return super().request_tool_call_cancel(params)


@breaks("V2-CANCEL-19")
class OffersCancelForEver(AgentV2):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        if fields.get("capabilities", "") is None:
            fields["capabilities"] = {"cancel": {}}
        super().update(session, what, **fields)


@breaks("V2-CANCEL-20")
class RunsToCancelInTheBackground(AgentV2):
    def do_background(self, session: Json, _rest: str) -> Work:
        able: Json = {"capabilities": {"cancel": {}}}
        call = self.open_call(session, "Watch", "execute", **able)
        session["able"].add(call)
        self.progress(session, call, "in_progress")
        session["open"].pop(call)
        session["background"] = [{"type": "tool_call", "toolCallId": call}]
        self.say(session, "It runs.")
        yield from ()

    def cancel_call(self, session: Json, name: str) -> None:
        self.state(session, "running")
        super().cancel_call(session, name)
        session["background"] = []
        self.say(session, "It is over.")
        self.state(session, "idle", stopReason="end_turn")


@breaks("V2-CANCEL-21")
class LeavesFormsOpen(AgentV2):
    def notify(self, method: str, params: Json) -> None:
        if method != "$/cancel_request":
            super().notify(method, params)
