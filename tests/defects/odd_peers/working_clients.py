"""Clients that do more than they are told, rightly or not."""

import os
import threading
from typing import Any

from tests.defects.broken_clients.v1 import own_work
from tests.defects.broken_clients.v1.sessions import AcceptsWhatIsProposed
from tests.defects.clients.v1.client import IMAGE, ClientV1
from tests.defects.clients.v1.own_work import WorksOn
from tests.defects.clients.v2.client import ClientV2
from tests.defects.odd_peers.registry import OddPeers
from tests.defects.stdio_jsonrpc import HOLD, Call, Json, Refused, Stopped, Task, Work

ODD = OddPeers()

REOPENED = (
    "V1-SESS-15", "V1-SESS-19", "V1-SESS-26", "V1-SESS-27", "V1-CLOSE-01", "V1-CLOSE-04",
    "V1-CLOSE-06", "V1-CLOSE-07", "V1-CLOSE-25", "V1-LOAD-01", "V1-LOAD-02", "V1-CAP-02",
    "V1-CAP-09",
)  # fmt: skip

ODD.judged(*REOPENED)(WorksOn)
ODD.judged("V1-CLOSE-07", "V1-CAP-09", fails="V1-CLOSE-07")(own_work.ListsFromWhereItLikes)
ODD.judged("V1-CLOSE-06", "V1-CAP-09", fails="V1-CLOSE-06")(own_work.ListsAfterTheLastPage)
ODD.judged("V1-LOAD-02", "V1-CAP-09", fails="V1-LOAD-02")(own_work.LoadsWithoutServers)
ODD.judged("V1-LOAD-01", "V1-CLOSE-04", fails="V1-LOAD-01 V1-CAP-01 V1-CAP-09")(
    own_work.LoadsWhatCanOnlyBeResumed
)
ODD.judged("TR-STDIO-07", "V1-PERM-02", fails="TR-STDIO-07", opens="V1-PERM-02")(
    own_work.SaysAllInTheEnd
)


@ODD.judged("V1-CFG-02", "V1-CAP-09", fails="V1-CFG-02")
class SetsAModeOnItsOwn(WorksOn):
    def ask(self, blocks: list[Json] | None = None) -> Work:
        if self.opened.get("modes") and self.steps in ((), ("prompt",)):
            yield Call("session/set_mode", {**self.here(), "modeId": "code"})
        yield from super().ask(blocks)


@ODD.judged("V1-CANCEL-03", "V1-PERM-05")
class CancelsInsteadOfDeciding(WorksOn):
    """Its user leaves every question open and stops the turn."""

    def decide(self, _params: Json) -> Work:
        self.notify("session/cancel", self.here())
        yield from ()
        return {"outcome": {"outcome": "cancelled"}}


@ODD.judged("V1-CANCEL-03", "V1-PERM-05", fails="V1-CANCEL-03 V1-PERM-05")
class RejectsAfterItsCancel(CancelsInsteadOfDeciding):
    def decide(self, params: Json) -> Work:
        yield from super().decide(params)
        return {"outcome": {"outcome": "selected", "optionId": params["options"][-1]["optionId"]}}


@ODD.judged("V1-EXT-04", fails="V1-EXT-04")
class IgnoresUnknownRequests(ClientV1):
    def refuse(self, request_id: Any, error: Json) -> None:
        if error["code"] != -32601:
            super().refuse(request_id, error)


@ODD.judged("V1-CLOSE-23", "V1-CLOSE-25")
class BringsBackWhatItArchived(WorksOn):
    def take_up(self) -> Work:
        if self.offers("sessionCapabilities", "archive"):
            yield Call("session/archive", self.here())
            yield Call("session/unarchive", self.here())
        yield from super().take_up()


@ODD.judged("V1-CLOSE-25", "V1-CLOSE-06")
class AsksForTheStatusOfItsOpenSession(WorksOn):
    """And prompts it again, which it may; the closed one is loaded before."""

    def list_all(self) -> Work:
        yield from super().list_all()
        yield from self.status()
        yield from self.ask()


@ODD.judged("V1-CLOSE-06", "V1-CLOSE-07")
class ListsTwice(WorksOn):
    """Its user looks again."""

    def list_all(self) -> Work:
        yield from super().list_all()
        yield from super().list_all()


@ODD.judged("V1-CLOSE-04", "V1-PROMPT-01", fails="V1-PROMPT-01")
class PromptsWhatItClosed(WorksOn):
    def take_up(self) -> Work:
        yield from self.ask()


@ODD.judged("V1-PROMPT-02", "V1-CAP-01")
class SendsAnImageWhereItIsTaken(ClientV1):
    def blocks(self) -> list[Json]:
        image = [IMAGE] if self.offers("promptCapabilities", "image") else []
        return [*super().blocks(), *image]


@ODD.judged("V1-CREQ-02", fails="V1-CREQ-02")
class FailsWhatIsCancelled(ClientV1):
    """With an error that does not say so."""

    def decide(self, params: Json) -> Work:
        answer: Json = yield from super().decide(params)
        if answer["outcome"]["outcome"] == "cancelled" and self.waits_for_cancel:
            raise Refused(-32603, "Internal error")
        return answer


@ODD.judged("V1-EXT-04", "V1-EXT-07", fails="V1-EXT-04 V1-EXT-07")
class ShowsItsStackForUnknownMethods(ClientV1):
    def refuse(self, request_id: Any, error: Json) -> None:
        if error["code"] == -32601:
            data = "Traceback (most recent call last):\n  File x\nKeyError: 'x'\n"
            error = {"code": -32603, "message": "Internal error", "data": data}
        super().refuse(request_id, error)


@ODD.judged("V1-GEN-11", fails="V1-GEN-11")
class CrashesInPython(ClientV1):
    def failed(self, refused: Refused) -> None:
        if refused.error["code"] == -32077:
            raise KeyError(-32077)


@ODD.judged("V1-GEN-08", "V1-PERM-02", fails="V1-GEN-08 V1-GEN-09")
class AnswersInSnakeCase(ClientV1):
    def request_session_request_permission(self, params: Json) -> Work:
        answer: Json = yield from super().request_session_request_permission(params)
        return {**answer, "decided_by": "nobody"}


@ODD.judged("V1-PROV-02", "V1-INIT-01", fails="V1-PROV-02 V1-CAP-01 V1-CAP-09")
class ListsProvidersBeforeItIsAnswered(ClientV1):
    def send(self, message: Json) -> None:
        super().send(message)
        if message.get("method") == "initialize":
            super().send({"id": "early", "method": "providers/list", "params": {}})


@ODD.judged("V1-TERM-04", "V1-TERM-03", fails="V1-TERM-04")
class NeverWaitsForTheExit(ClientV1):
    def wait_for_exit(self, request_id: int | str, params: Json) -> None:
        self.answer(request_id, {"exitCode": None})


@ODD.judged("V1-ELIC-19", "V1-ELIC-23", "V1-ELIC-27")
class AcceptsWhatFits(AcceptsWhatIsProposed):
    def checked(self, answer: Json, fields: Json) -> Json:
        for name, field in fields.items():
            if "maximum" in field and answer["content"][name] > field["maximum"]:
                return {"action": "decline"}
        return answer


@ODD.judged("V1-AUTH-12", "V1-GEN-13", fails="V1-AUTH-12")
class TriesAgainWithoutALogin(ClientV1):
    def log_in(self) -> Work:
        yield from ()


@ODD.judged("V1-CAP-02", fails="V1-CAP-02")
class CrashesWhereItCannotLoad(WorksOn):
    def take_up(self) -> Work:
        if not self.offers("loadSession"):
            raise KeyError("loadSession")
        yield from super().take_up()


@ODD.judged("V1-GEN-12", fails="V1-GEN-12")
class CountsOnWordsForStates(ClientV1):
    def notification_session_update(self, params: Json) -> None:
        status = params["update"].get("status")
        self.ended = self.ended or not isinstance(status, str | None)
        super().notification_session_update(params)


SILENCE = ("TR-STDIO-07", "V1-GEN-02", "V1-GEN-14", "V1-PERM-02", "V1-FS-02", "V1-TERM-02")


@ODD.judged(
    *SILENCE, "V1-EXT-04", fails="V1-EXT-04", silent=True,
    opens="V1-GEN-02 V1-GEN-14 V1-PERM-02 V1-FS-02 V1-TERM-02",
)  # fmt: skip
class AnswersNothing(ClientV1):
    """One rule is about that, and not each one that has to ask something."""

    def send(self, message: Json) -> None:
        if "method" in message:
            super().send(message)


class WorksOnInV2(ClientV2):
    """Lists, closes and resumes its session without being told."""

    worked_on = False

    def place(self) -> Json:
        offered = self.offers("session", "additionalDirectories")
        return {**super().place(), **({"additionalDirectories": ["/usr"]} if offered else {})}

    def place_again(self) -> Json:
        return self.place()

    def blocks(self) -> list[Json]:
        image = [IMAGE] if self.offers("session", "prompt", "image") else []
        return [*super().blocks(), *image]

    def step_prompt(self) -> Work:
        yield from super().step_prompt()
        if self.steps in ((), ("prompt",)) and not self.worked_on and not self.old:
            self.worked_on = True
            page = yield Call("session/list", {"cwd": os.getcwd()})
            while self.is_more(page):
                more = {"cwd": os.getcwd(), "cursor": page["nextCursor"]}
                page = yield Call("session/list", more)
            yield Call("session/close", self.here())
            yield Call("session/resume", {**self.here(), **self.place_again()})
            yield from self.ask()

    def is_more(self, page: Json) -> bool:
        return page.get("nextCursor") is not None


IN_V2 = ("V2-SESS-06", "V2-SESS-20", "V2-SESS-23", "V2-INIT-09", "V2-PROMPT-01", "V2-GEN-05")
ODD.judged(*IN_V2, version="2")(WorksOnInV2)


@ODD.judged("V2-SESS-23", "V2-SESS-06", version="2", fails="V2-SESS-06")
class ForgetsTheRootsInV2(WorksOnInV2):
    def place_again(self) -> Json:
        return {"cwd": os.getcwd()}


@ODD.judged("V2-SESS-20", version="2", fails="V2-SESS-20")
class StopsAtAnEmptyCursor(WorksOnInV2):
    def is_more(self, page: Json) -> bool:
        return bool(page.get("nextCursor"))


@ODD.judged("V2-INIT-09", version="2", fails="V2-INIT-09 V2-PROMPT-01")
class TakesTrueForImages(WorksOnInV2):
    def offers(self, *names: str) -> bool:
        prompt = (self.agent.get("capabilities", {}).get("session") or {}).get("prompt") or {}
        return (names[-1] == "image" and prompt.get("image") is True) or super().offers(*names)


@ODD.judged("V2-GEN-02", "V2-GEN-01", version="2", opens="V2-GEN-02")
class AsksOneThingAtATime(ClientV2):
    pass


@ODD.judged("V2-CANCEL-13", version="2", fails="V2-CANCEL-13")
class GivesItsPromptUpForTheAgent(ClientV2):
    """Takes `$/cancel_request` with the id of its prompt for the answer to it."""

    def notification_cancel_request(self, params: Json) -> None:
        task = self.tasks.get("")
        if task is not None and task.asked == params.get("requestId"):
            self.asked.pop(task.asked, None)
            task.asked = None
            self.step(task, Refused(-32800, "cancelled"))
        else:
            super().notification_cancel_request(params)


@ODD.judged("V2-CANCEL-10", "V2-CANCEL-14", version="2")
class DecidesSlowly(ClientV2):
    """Takes a while for each decision, as if it had to look something up."""

    def decide(self, params: Json) -> Work:
        task = list(self.tasks.values())[-1]
        threading.Timer(0.5, self.go_on, (task,)).start()
        try:
            yield HOLD
        except Stopped:
            return {"outcome": {"outcome": "cancelled"}}
        chosen = params["options"][0]["optionId"]
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    def go_on(self, task: Task) -> None:
        if task.id in self.tasks:
            self.step(task)


@ODD.judged("V2-CANCEL-10", "V2-CANCEL-14", version="2", fails="V2-CANCEL-10")
class AllowsWhatIsCancelled(DecidesSlowly):
    def notification_cancel_request(self, _params: Json) -> None:
        """It looks on."""
