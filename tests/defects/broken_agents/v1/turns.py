"""Agents of v1 that break a rule about turns: cancelling, tools, permissions, options, forms."""

import os
import threading
from typing import Any

from tests.defects.agents.v1.agent import AgentV1
from tests.defects.catalogue import Catalogue
from tests.defects.stdio_jsonrpc import Json, Refused, Stopped, Task, Work, bad_params

BROKEN = Catalogue()
breaks = BROKEN.breaks
# Later than the kit finds fast on any machine, and sooner than it gives up.
LATE_SECONDS = 13.0


@breaks("V1-CANCEL-04")
class TakesItsTime(AgentV1):
    def notification_session_cancel(self, params: Json) -> None:
        if any(task.asked is not None for task in self.session(params)["turns"]):
            super().notification_session_cancel(params)
        else:
            later = super().notification_session_cancel
            threading.Timer(LATE_SECONDS, later, (params,)).start()


@breaks("V1-CANCEL-05")
class EndsAsIfNothingWas(AgentV1):
    def notification_session_cancel(self, params: Json) -> None:
        self.session(params)["told"] = True
        super().notification_session_cancel(params)

    def end_turn(self, session: Json, reason: str) -> Json:
        result = super().end_turn(session, reason)
        return {"stopReason": "end_turn"} if session.pop("told", False) else result


@breaks("V1-CANCEL-06")
class FailsOnCancel(AgentV1):
    def notification_session_cancel(self, params: Json) -> None:
        self.session(params)["told"] = True
        super().notification_session_cancel(params)

    def end_turn(self, session: Json, reason: str) -> Json:
        result = super().end_turn(session, reason)
        if session.pop("told", False) and reason == "cancelled":
            raise Refused(-32603, "AbortError")
        return result


@breaks("V1-CREQ-02")
class FailsCancelledRequests(AgentV1):
    def notification_cancel_request(self, params: Json) -> None:
        task = self.tasks.get(params.get("requestId", ""))
        if task is not None:
            task.work.close()
            self.finish(task, None, {"code": -32603, "message": "Internal error"})


@breaks("V1-CREQ-05")
class AnswersEveryCancel(AgentV1):
    def notification_cancel_request(self, params: Json) -> None:
        name = params.get("requestId")
        if name in self.tasks:
            super().notification_cancel_request(params)
        elif isinstance(name, int):
            self.refuse(name, {"code": -32800, "message": "Request cancelled"})


@breaks("V1-PROMPT-03")
class TakesNoLinks(AgentV1):
    def check_prompt(self, blocks: Any) -> None:
        super().check_prompt(blocks)
        if any(one["type"] == "resource_link" for one in blocks) and "/" not in str(blocks[0]):
            raise bad_params("no links")


@breaks("V1-PROMPT-06")
class StopsForNoReason(AgentV1):
    def end_turn(self, session: Json, reason: str) -> Json:
        result = super().end_turn(session, reason)
        return {} if reason == "end_turn" else result


@breaks("V1-PROMPT-08")
class MakesUpAReason(AgentV1):
    def end_turn(self, session: Json, reason: str) -> Json:
        result = super().end_turn(session, reason)
        first = not session.get("ended")
        session["ended"] = True
        return {"stopReason": "all_done"} if reason == "end_turn" and first else result


@breaks("V1-PROMPT-09")
class SpeaksAfterTheEnd(AgentV1):
    def finish(self, task: Task, result: Any, error: Json | None) -> None:
        super().finish(task, result, error)
        session = self.sessions.get(task.params.get("sessionId", ""))
        if "edit" in str(task.params.get("prompt")) and session is not None:
            self.say(session, "By the way ...")


@breaks("V1-PROMPT-11")
class SpeaksInOneBreath(AgentV1):
    def say(self, session: Json, text: str) -> None:
        super().say(session, text.replace(" ", "\u00a0"))


@breaks("V1-PROMPT-12")
class FailsWithItsTool(AgentV1):
    def do_fail(self, session: Json, rest: str) -> Work:
        yield from super().do_fail(session, rest)
        session["broken"] = True

    def end_turn(self, session: Json, reason: str) -> Json:
        if session.pop("broken", False):
            raise Refused(-32603, "the tool failed")
        return super().end_turn(session, reason)


@breaks("V1-PROMPT-17")
class NamesNoMessages(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        fields.pop("messageId", None)
        super().update(session, what, **fields)


# Tools.


@breaks("V1-TOOL-01")
class ReportsByUpdateOnly(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        super().update(session, "tool_call_update" if what == "tool_call" else what, **fields)


@breaks("V1-TOOL-02")
class HasOneIdForAllCalls(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        if "toolCallId" in fields:
            fields["toolCallId"] = "call"
        super().update(session, what, **fields)

    def ask(self, session: Json, call: str) -> Work:
        return super().ask(session, "call")


@breaks("V1-TOOL-03")
class NeverSaysItBegan(AgentV1):
    def progress(self, session: Json, call: str, status: str, **fields: Any) -> None:
        if status != "in_progress":
            super().progress(session, call, status, **fields)


@breaks("V1-TOOL-09")
class ShowsTerminalsTooLate(AgentV1):
    def progress(self, session: Json, call: str, status: str, **fields: Any) -> None:
        if "content" in fields and fields["content"][0]["type"] == "terminal":
            session["late"] = fields.pop("content")
        if status == "completed" and "late" in session:
            fields["content"] = session.pop("late")
        super().progress(session, call, status, **fields)


@breaks("V1-TOOL-10")
class HasRelativePaths(AgentV1):
    def open_call(self, session: Json, title: str, kind: str, **fields: Any) -> str:
        for one in fields.get("content", []):
            one["path"] = os.path.basename(one["path"])
        return super().open_call(session, title, kind, **fields)


@breaks("V1-TOOL-11")
class NamesToolsLate(AgentV1):
    def progress(self, session: Json, call: str, status: str, **fields: Any) -> None:
        super().progress(session, call, status, name="look", **fields)


@breaks("V1-TOOL-13")
class GoesBack(AgentV1):
    def do_tool(self, session: Json, rest: str) -> Work:
        yield from super().do_tool(session, rest)
        calls = [one["toolCallId"] for one in session["history"] if "toolCallId" in one]
        for status in ("in_progress", "completed"):
            self.progress(session, calls[-1], status)


@breaks("V1-TOOL-14")
class LeavesCallsOpen(AgentV1):
    def progress(self, session: Json, call: str, status: str, **fields: Any) -> None:
        if status != "completed" or "content" not in fields:
            super().progress(session, call, status, **fields)

    def settle(self, session: Json) -> None:
        session["open"].clear()


@breaks("V1-GEN-07")
class CountsLinesFromZero(AgentV1):
    def open_call(self, session: Json, title: str, kind: str, **fields: Any) -> str:
        if kind == "edit":
            fields["locations"] = [{"path": fields["content"][0]["path"], "line": 0}]
        return super().open_call(session, title, kind, **fields)


@breaks("V1-GEN-11")
class RefusesAllAfterAnUnknownCode(AgentV1):
    spoilt = False

    def answered(self, message: Json) -> None:
        self.spoilt = self.spoilt or message.get("error", {}).get("code") == -32077
        super().answered(message)

    def act(self, session: Json, text: str) -> Work:
        reason = yield from super().act(session, text)
        return "refusal" if self.spoilt else reason


@breaks("V1-PERM-06")
class DoesNotWaitForPermission(AgentV1):
    def approved(self, outcome: Json) -> bool:
        return True


@breaks("V1-TERM-07")
class ReleasesNoTerminals(AgentV1):
    def release(self, terminal: Json) -> None:
        """They are left to the client."""


# Modes and options.


@breaks("V1-MODE-02")
class TakesAnyMode(AgentV1):
    def request_session_set_mode(self, params: Json) -> Json:
        if params.get("modeId") not in ("ask", "code"):
            return {}
        return super().request_session_set_mode(params)


@breaks("V1-MODE-03")
class ChangesModesSilently(AgentV1):
    def do_mode(self, session: Json, rest: str) -> Work:
        session["config"]["mode"] = rest
        self.say(session, "switched")
        yield from ()


@breaks("V1-MODE-04")
class ChangesModesWhenIdle(AgentV1):
    def request_session_set_mode(self, params: Json) -> Json:
        if self.session(params)["turns"]:
            raise Refused(-32600, "busy")
        return super().request_session_set_mode(params)


@breaks("V1-CFG-03")
class KeepsModesAndOptionsApart(AgentV1):
    def set_config(self, session: Json, key: Any, value: Any) -> None:
        if key == "mode" and value in ("ask", "code"):
            session["config"]["mode"] = value
        else:
            super().set_config(session, key, value)


@breaks("V1-CFG-04")
class HasOptionsWithoutValue(AgentV1):
    def options(self, session: Json) -> list[Json]:
        first, *rest = super().options(session)
        return [first, *({k: v for k, v in one.items() if k != "currentValue"} for one in rest)]


@breaks("V1-CFG-05")
class AnswersWithOneOption(AgentV1):
    def request_session_set_config_option(self, params: Json) -> Json:
        whole = super().request_session_set_config_option(params)["configOptions"]
        return {"configOptions": [one for one in whole if one["id"] == params["configId"]]}


@breaks("V1-CFG-06")
class TellsOneOption(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        if what == "config_option_update":
            fields["configOptions"] = fields["configOptions"][:1]
        super().update(session, what, **fields)


@breaks("V1-CFG-07")
class HasFlagsForAll(AgentV1):
    def options(self, session: Json) -> list[Json]:
        flag = {"id": "loud", "name": "Loud", "type": "boolean", "currentValue": False}
        return [*super().options(session), flag]


@breaks("V1-CFG-11")
class TakesAnyOption(AgentV1):
    def set_config(self, session: Json, key: Any, value: Any) -> None:
        try:
            super().set_config(session, key, value)
        except Refused:
            return


@breaks("V1-CMD-03")
class RunsNoCommands(AgentV1):
    def act(self, session: Json, text: str) -> Work:
        if text.startswith("/"):
            self.say(session, "What?")
            return "refusal"
        return (yield from super().act(session, text))


@breaks("V1-CANCEL-09")
class FailsOnCancelWithinQuestions(AgentV1):
    def ask(self, session: Json, call: str) -> Work:
        try:
            return (yield from super().ask(session, call))
        except Stopped:
            session["told"] = True
            raise

    def end_turn(self, session: Json, reason: str) -> Json:
        result = super().end_turn(session, reason)
        if session.pop("told", False):
            raise Refused(-32603, "AbortError")
        return result
