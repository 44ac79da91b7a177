"""Agents of v2 that break a rule about turns: insertion, states, tools, terminals, questions."""

from typing import Any

from tests.defects.agents.v2.agent import AgentV2
from tests.defects.catalogue import Catalogue
from tests.defects.stdio_jsonrpc import HOLD, Call, Json, Refused, Task, Work

BROKEN = Catalogue()
breaks = BROKEN.breaks


@breaks("V2-PROMPT-02")
class TakesAnyBlock(AgentV2):
    def check_prompt(self, blocks: Any) -> None:
        if any(one.get("type") == "_accord_check" for one in blocks):
            raise Refused(-32603, "Internal error")
        super().check_prompt(blocks)


@breaks("V2-PROMPT-04")
class NamesNoMessage(AgentV2):
    def answer_task(self, task: Task, result: Any, error: Json | None) -> None:
        if task.method == "session/prompt" and error is None:
            result = {"messageId": 5}
        super().answer_task(task, result, error)


@breaks("V2-PROMPT-05")
class EchoesSomethingElse(AgentV2):
    def echo(self, session: Json, name: str, blocks: list[Json]) -> None:
        super().echo(session, name, [{"type": "text", "text": "something else"}])


@breaks("V2-PROMPT-06")
class FailsAfterInsertion(AgentV2):
    def answer_task(self, task: Task, result: Any, error: Json | None) -> None:
        if "crash" in str(task.params):
            error = {"code": -32603, "message": "Internal error"}
        super().answer_task(task, result, error)


@breaks("V2-PROMPT-07")
class EchoesWhatItRefuses(AgentV2):
    def request_session_prompt(self, params: Json) -> Work:
        try:
            return super().request_session_prompt(params)
        except Refused:
            self.echo(self.session(params), "refused", [{"type": "text", "text": "x"}])
            raise


@breaks("V2-PROMPT-09")
class NeverSaysItRuns(AgentV2):
    def state(self, session: Json, name: str, **fields: Any) -> None:
        if name != "running":
            super().state(session, name, **fields)


@breaks("V2-PROMPT-10")
class NeverSaysItIsIdle(AgentV2):
    def state(self, session: Json, name: str, **fields: Any) -> None:
        asked = [one for one in session["history"] if one["sessionUpdate"] == "user_message"]
        if name != "idle" or asked[-1]["content"][0].get("text") != "hello":
            super().state(session, name, **fields)


@breaks("V2-PROMPT-11")
class StopsForNoReason(AgentV2):
    def state(self, session: Json, name: str, **fields: Any) -> None:
        if fields.get("stopReason") == "end_turn" and not session["able"]:
            del fields["stopReason"]
        super().state(session, name, **fields)


@breaks("V2-PROMPT-12")
class WaitsUnseen(AgentV2):
    def permit(self, session: Json, subject: Json) -> Work:
        self.unseen = True
        try:
            return (yield from super().permit(session, subject))
        finally:
            self.unseen = False

    unseen = False

    def state(self, session: Json, name: str, **fields: Any) -> None:
        if not (self.unseen and name == "requires_action"):
            super().state(session, name, **fields)


@breaks("V2-PROMPT-17")
class CallsACancelAnEnd(AgentV2):
    def state(self, session: Json, name: str, **fields: Any) -> None:
        if fields.get("stopReason") == "cancelled" and not session.get("asked"):
            fields["stopReason"] = "refusal"
        super().state(session, name, **fields)

    def request_session_close(self, params: Json) -> Json:
        session = self.sessions.get(params["sessionId"], {})
        session["asked"] = True
        return super().request_session_close(params)

    def waiting(self, session: Json, call: Call) -> Work:
        session["asked"] = True
        answer = yield from super().waiting(session, call)
        session["asked"] = False
        return answer


@breaks("V2-PROMPT-18")
class StopsWithoutItsError(AgentV2):
    def state(self, session: Json, name: str, **fields: Any) -> None:
        fields.pop("error", None)
        super().state(session, name, **fields)


@breaks("V2-PROMPT-20")
class TakesTheLastFirst(AgentV2):
    """Holds what ends in a space until three are there."""

    def insertion(self, session: Json, blocks: list[Json]) -> Work:
        if blocks[0].get("text", "").endswith(" "):
            yield HOLD
        return (yield from super().insertion(session, blocks))

    def started(self, task: Task) -> None:
        super().started(task)
        held = [one for one in self.sessions[task.params["sessionId"]]["held"] if spaced(one)]
        if len(held) == 3:
            for one in reversed(held):
                self.step(one)


def spaced(task: Task) -> bool:
    return str(task.params["prompt"][0].get("text")).endswith(" ")


@breaks("V2-PROMPT-21")
class RunsBehindIdle(AgentV2):
    def notification_session_cancel(self, params: Json) -> None:
        super().notification_session_cancel(params)
        session = self.session(params)
        if "background" in session:
            self.state(session, "running")
            self.state(session, "idle", stopReason="end_turn")


@breaks("V2-PROMPT-22")
class TellsBackgroundOnce(AgentV2):
    def tell_state(self, session: Json) -> None:
        told = session.get("told", False)
        listed = session.pop("background", None) if told else None
        super().tell_state(session)
        session["told"] = told or "background" in session
        if listed is not None:
            session["background"] = listed


@breaks("V2-PROMPT-23")
class ListsWhatNobodyKnows(AgentV2):
    def do_background(self, session: Json, rest: str) -> Work:
        yield from super().do_background(session, rest)
        session["background"] = [{"type": "terminal", "terminalId": "unknown"}]


@breaks("V2-PROMPT-24")
class ListsTwice(AgentV2):
    def do_background(self, session: Json, rest: str) -> Work:
        yield from super().do_background(session, rest)
        session["background"] = session["background"] * 2


# Tools and terminals.


@breaks("V1-TOOL-13")
class GoesBack(AgentV2):
    def do_edit(self, session: Json, rest: str) -> Work:
        yield from super().do_edit(session, rest)
        calls = [one["toolCallId"] for one in session["history"] if "toolCallId" in one]
        if session["history"][-1]["sessionUpdate"] == "agent_message_chunk":
            self.update(session, "tool_call_update", toolCallId=calls[-1], status="in_progress")


@breaks("V2-UPS-01")
class NamesNoMessages(AgentV2):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        if what == "agent_message_chunk":
            fields.pop("messageId", None)
        super().update(session, what, **fields)


@breaks("V2-UPS-06")
class HasCallsWithoutTitle(AgentV2):
    def open_call(self, session: Json, title: str, kind: str, **fields: Any) -> str:
        return super().open_call(session, "", kind, **fields)


@breaks("V2-UPS-11")
class MintsKinds(AgentV2):
    def open_call(self, session: Json, title: str, kind: str, **fields: Any) -> str:
        return super().open_call(session, title, "wonder" if kind == "edit" else kind, **fields)


@breaks("V2-UPS-12")
class ReusesTerminals(AgentV2):
    count = 0

    def terminal_id(self) -> str:
        return "terminal"

    def show_terminal(self, session: Json, command: str) -> str:
        self.count += 1
        return super().show_terminal(session, f"{command} # {self.count}")


@breaks("V2-UPS-16")
class ShowsARelativeFolder(AgentV2):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        if what == "terminal_update" and "cwd" in fields:
            fields["cwd"] = "here"
        super().update(session, what, **fields)


@breaks("V2-UPS-18")
class HasAnotherPatch(AgentV2):
    def diff(self, path: str, old: str, new: str) -> Json:
        whole = super().diff(path, old, new)
        text = whole["patch"]["text"].replace(f"--- {path}", f"--- a{path}")
        return {**whole, "patch": {"format": "git_patch", "text": text}}


@breaks("V2-UPS-19")
class HasNoPatch(AgentV2):
    def diff(self, path: str, old: str, new: str) -> Json:
        whole = super().diff(path, old, new)
        del whole["patch"]
        return whole


@breaks("V2-UPS-21")
class MovesFromNowhere(AgentV2):
    def move(self, old: str, new: str) -> Json:
        return {"operation": "move", "path": new}


@breaks("V2-UPS-22")
class CountsLinesFromZero(AgentV2):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        for one in fields.get("locations", []):
            if "line" in one:
                one["line"] = 0
        super().update(session, what, **fields)


# Permissions and forms.


class Asks(AgentV2):
    """Changes what it asks with."""

    def send(self, message: Json) -> None:
        if message.get("method") in ("session/request_permission", "elicitation/create"):
            self.change(message["params"])
        super().send(message)

    def change(self, params: Json) -> None:
        """In place."""


@breaks("V2-PERM-02")
class RepeatsOptions(Asks):
    def change(self, params: Json) -> None:
        if "options" in params:
            params["options"] = [*params["options"], params["options"][0]]


@breaks("V2-PERM-06")
class HidesTheCommand(Asks):
    def change(self, params: Json) -> None:
        if params.get("subject", {}).get("type") == "command":
            params["subject"] = {**params["subject"], "command": ""}


@breaks("V2-PERM-08")
class TakesAnyAnswer(AgentV2):
    def approved(self, outcome: Json) -> bool:
        return outcome.get("optionId") != "reject"


@breaks("V1-ELIC-01")
class AsksAnyClient(AgentV2):
    def do_elicit(self, session: Json, rest: str) -> Work:
        if not self.can("elicitation", "form"):
            self.send(
                {
                    "id": self.new_id(),
                    "method": "elicitation/create",
                    "params": self.asking(session, "form"),
                }
            )
            return
        yield from super().do_elicit(session, rest)


@breaks("V1-ELIC-27")
class MakesUpAMode(Asks):
    def change(self, params: Json) -> None:
        if params.get("mode") == "form":
            params["mode"] = "fancy"


@breaks("V2-ELIC-01")
class HasTwoScopes(Asks):
    def change(self, params: Json) -> None:
        if "mode" in params:
            params["requestId"] = "x"


@breaks("V2-ELIC-02")
class AsksForAClosedRequest(Asks):
    def change(self, params: Json) -> None:
        if "mode" in params:
            del params["sessionId"]
            params["requestId"] = "long-gone"


@breaks("V2-ELIC-03")
class HasFormsWithoutFields(Asks):
    def change(self, params: Json) -> None:
        if "requestedSchema" in params:
            del params["requestedSchema"]["properties"]


@breaks("V2-ELIC-04")
class TakesUnknownActionsForYes(AgentV2):
    def reply_to(self, action: Any) -> str:
        return "Hello." if str(action).startswith("_") else super().reply_to(action)


@breaks("V2-ELIC-05")
class AsksUnseen(AgentV2):
    def do_elicit(self, session: Json, rest: str) -> Work:
        self.unseen = True
        try:
            yield from super().do_elicit(session, rest)
        finally:
            self.unseen = False

    unseen = False

    def state(self, session: Json, name: str, **fields: Any) -> None:
        if not (self.unseen and name == "requires_action"):
            super().state(session, name, **fields)
