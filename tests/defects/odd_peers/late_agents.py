"""Agents that do well what is tried first, and err later, elsewhere, or by saying nothing."""

import os
import threading
from pathlib import Path
from typing import Any

from tests.conformance.draft_agent import Agent, Failure
from tests.defects.agents.v1.agent import AgentV1
from tests.defects.agents.v2.agent import AgentV2
from tests.defects.odd_peers.registry import OddPeers
from tests.defects.stdio_jsonrpc import HOLD, Call, Json, Refused, Task, Work

ODD = OddPeers()
READING = ("V1-SESS-05", "V1-SESS-04", "V1-SESS-12")


# Roots.


class LooksInEachRoot(AgentV1):
    """Finds a relative name in another root when the session's folder has none."""

    def do_read(self, session: Json, rest: str) -> Work:
        here = Path(session["roots"][0], rest)
        found = next((root for root in session["roots"] if Path(root, rest).is_file()), "")
        yield from super().do_read(session, rest if here.is_file() else str(Path(found, rest)))


@ODD.judged(*READING, tries=True, fails="V1-SESS-04")
class FallsBackToOtherRoots(LooksInEachRoot):
    def open_call(self, session: Json, title: str, kind: str, **fields: Any) -> str:
        """With the whole name as its input."""
        paths = [one["path"] for one in fields.get("locations", ())]
        return super().open_call(session, title, kind, rawInput={"paths": paths}, **fields)


@ODD.judged(*READING, fails="V1-SESS-04")
class FallsBackToOtherRootsWithoutFiles(LooksInEachRoot):
    """Reads by itself, and says it word by word."""

    def can(self, *names: str) -> bool:
        return names[0] != "fs" and super().can(*names)

    def say(self, session: Json, text: str) -> None:
        for word in text.splitlines(keepends=True) or [text]:
            for half in (word[:3], word[3:]):
                super().say(session, half)


@ODD.judged(*READING, tries=True)
class SearchesForWhatIsNotThere(AgentV1):
    """Fails at the relative name first, as a model does, and then takes the whole one."""

    def do_read(self, session: Json, rest: str) -> Work:
        yield from super().do_read(session, rest)
        for root in session["roots"][1:]:
            path = Path(root, rest)
            if not Path(session["roots"][0], rest).is_file() and path.is_file():
                yield from super().do_read(session, str(path))


@ODD.judged(*READING, tries=True, fails="V1-SESS-05", opens="V1-SESS-04 V1-SESS-12")
class WorksInTheOtherRootsOnly(AgentV1):
    def inside(self, session: Json, name: str) -> Path:
        if session["roots"][1:] and not name.startswith("/"):
            raise Refused(-32602, "outside of the session's folders")
        return super().inside(session, name)


@ODD.judged(*READING)
class FailsForWhatIsNotThere(AgentV1):
    """With the whole prompt."""

    def turn(self, session: Json, blocks: list[Json]) -> Work:
        word, _, name = blocks[0]["text"].partition(" ")
        if word == "read" and not Path(session["roots"][0], name).is_file():
            raise Refused(-32603, "no such file")
        return (yield from super().turn(session, blocks))


@ODD.judged(*READING, tries=True, opens=" ".join(READING))
class ReadsNowhere(AgentV1):
    def do_read(self, session: Json, _rest: str) -> Work:
        self.say(session, "I would rather not.")
        yield from ()


class LosesRoots(AgentV1):
    method = ""

    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        super().requested(request_id, method, params)
        if method == self.method and params["sessionId"] in self.sessions:
            session = self.sessions[params["sessionId"]]
            session["roots"] = session["roots"][:1]


@ODD.judged(*READING, tries=True, fails="V1-SESS-12")
class LosesRootsAtALoad(LosesRoots):
    method = "session/load"


@ODD.judged(*READING, fails="V1-SESS-12")
class LosesRootsAtAResume(LosesRoots):
    method = "session/resume"


@ODD.judged(*READING)
class LoadsNothingThatIsOpen(AgentV1):
    def capabilities(self) -> Json:
        marks = super().capabilities()
        marks["sessionCapabilities"].pop("close")
        return marks

    def reopened(self, params: Json, *, required: bool) -> Json:
        if self.session(params, active=False)["active"]:
            raise Refused(-32603, "the session is open")
        return super().reopened(params, required=required)


# Turns that get lost.


@ODD.judged("V1-CLOSE-13", silent=True, fails="V1-CLOSE-13 V1-CANCEL-05")
class LosesTurnsWhenItLists(AgentV1):
    def request_session_list(self, params: Json) -> Json:
        for session in self.sessions.values():
            session["turns"] = []
        return super().request_session_list(params)


@ODD.judged("V1-CLOSE-13")
class TakesNothingLong(AgentV1):
    """Its lists are still compared."""

    def do_long(self, session: Json, _rest: str) -> Work:
        self.say(session, "done")
        yield from ()


@ODD.judged("V1-CREQ-02", "V1-CREQ-05", silent=True, fails="V1-CREQ-02", opens="V1-CREQ-05")
class ForgetsWithdrawnPrompts(AgentV1):
    def notification_cancel_request(self, params: Json) -> None:
        task = self.tasks.pop(params.get("requestId", ""), None)
        for session in self.sessions.values():
            session["turns"] = [one for one in session["turns"] if one is not task]


@ODD.judged("V1-CREQ-02", "V1-CREQ-05", opens="V1-CREQ-02")
class KnowsNoWithdrawal(AgentV1):
    def notification_cancel_request(self, params: Json) -> None:
        """It need not listen."""


@ODD.judged("V1-CREQ-02", silent=True, fails="V1-CANCEL-05", opens="V1-CREQ-02")
class NeverCancels(AgentV1):
    """Withdrawn or not: another rule is about that."""

    def cancel_task(self, task: Task) -> None:
        """The turn goes on."""


# Requests without any answer.


class Silent(AgentV1):
    silent_about: tuple[str, ...] = ()

    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        if method not in self.silent_about or self.client is None:
            super().requested(request_id, method, params)


@ODD.judged("V1-LOAD-06", silent=True, fails="V1-GEN-03", opens="V1-LOAD-06")
class NeverAnswersALoadOnTheWay(Silent):
    silent_about = ("session/load",)


@ODD.judged("V1-LOAD-06", fails="V1-GEN-03", opens="V1-LOAD-06")
class EndsAtALoad(AgentV1):
    def request_session_load(self, params: Json) -> Json:
        os._exit(1)


@ODD.judged("V2-SESS-27", version="2", silent=True, fails="V1-GEN-03", opens="V2-SESS-27")
class NeverAnswersAClose(AgentV2):
    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        if method == "session/resume" and self.client is not None:
            session = self.sessions.get(params["sessionId"])
            if session is not None and session["active"]:
                self.refuse(request_id, {"code": -32603, "message": "it is open"})
                return
        if method != "session/close":
            super().requested(request_id, method, params)


@ODD.judged(
    "V1-CMD-03", "V1-PROMPT-06", tries=True, silent=True, fails="V1-PROMPT-06", opens="V1-CMD-03"
)
class HangsInItsCommand(AgentV1):
    def act(self, session: Json, text: str) -> Work:
        if text.startswith("/"):
            yield HOLD
        return (yield from super().act(session, text))


@ODD.judged(
    "D26-07", version="draft", silent=True, fails="V1-GEN-03", opens="D26-07"
)  # fmt: skip
class NeverAnswersALoadInTheDraft(Agent):
    def handle(self, message: Json) -> None:
        if message.get("method") != "session/load":
            super().handle(message)


# Ids that come back with a new process.


@ODD.judged("V1-TOOL-02", "V1-TOOL-13", fails="V1-TOOL-02")
class CountsItsCallsFromOne(AgentV1):
    counted = 0

    def open_call(self, session: Json, title: str, kind: str, **fields: Any) -> str:
        self.counted += 1
        name = f"call-{self.counted}"
        session["open"][name] = kind
        self.update(
            session,
            "tool_call",
            toolCallId=name,
            title=title,
            kind=kind,
            status="pending",
            **fields,
        )
        return name


@ODD.judged("V2-UPS-12", version="2", fails="V2-UPS-12")
class CountsItsTerminalsFromOne(AgentV2):
    counted = 0

    def terminal_id(self) -> str:
        self.counted += 1
        return f"term-{self.counted}"


@ODD.judged("V2-SESS-05", version="2", fails="V2-SESS-05")
class KnowsNoSessionsOfOptions(AgentV2):
    def request_session_set_config_option(self, params: Json) -> Json:
        try:
            return super().request_session_set_config_option(params)
        except Refused as refused:
            if refused.error["code"] == -32002:
                raise Refused(-32602, "no such session") from None
            raise


# Prompts that wait.


class Streams(AgentV1):
    """For a while."""

    def do_stream(self, session: Json, rest: str) -> Work:
        task = session["turns"][0]
        threading.Timer(0.3, lambda: self.step(task)).start()
        yield HOLD
        yield from super().do_stream(session, rest)


ODD.judged("LIM-04", tries=True)(Streams)


@ODD.judged("LIM-04", tries=True, fails="LIM-04")
class WorksOnWhatCameLast(Streams):
    def finish(self, task: Task, result: Any, error: Json | None) -> None:
        session = self.sessions.get(task.params.get("sessionId", ""))
        if session is not None and session["turns"][:1] == [task]:
            session["turns"][1:] = reversed(session["turns"][1:])
        super().finish(task, result, error)


@ODD.judged("LIM-04", tries=True, fails="LIM-04")
class TakesOnePromptAtATime(Streams):
    def request_session_prompt(self, params: Json) -> Work:
        if self.session(params)["turns"]:
            raise Refused(-32600, "a turn is going on")
        return super().request_session_prompt(params)


@ODD.judged("LIM-04", tries=True)
class EndsItsTurnsBeforeTheQueueIsFull(AgentV1):
    """As a slow machine may: then nobody can tell how long the queue would become."""

    def do_stream(self, session: Json, rest: str) -> Work:
        yield HOLD
        yield from super().do_stream(session, rest)

    def request_session_prompt(self, params: Json) -> Work:
        waiting = self.session(params)["turns"]
        if len(waiting) == 8:
            self.step(waiting[0])
        return super().request_session_prompt(params)


# Version 2.


@ODD.judged(
    "V2-INIT-05", "V2-GEN-03", version="2", silent=True, fails="V2-INIT-05 V2-GEN-03"
)  # fmt: skip
class LosesTheIdsOfSomeErrors(AgentV2):
    def refuse(self, request_id: Any, error: Json) -> None:
        super().refuse(None if error["code"] == -32600 else request_id, error)


@ODD.judged("V2-INIT-06", version="2", fails="V2-INIT-06 V1-ELIC-01")
class KeepsItsFirstCapabilities(AgentV2):
    auth_methods = (
        {"type": "agent", "methodId": "key", "name": "Key"},
        {"type": "terminal", "methodId": "tty", "name": "In a terminal"},
    )

    def request_initialize(self, params: Json) -> Json:
        first = self.client
        result = super().request_initialize(params)
        if first is not None:
            self.client = first
            result = self.introduction()
        return result


@ODD.judged("V2-INIT-06", "V2-INIT-09", "V2-AUTH-04", version="2")
class ListsLoginsForWhomItConcerns(AgentV2):
    auth_methods = KeepsItsFirstCapabilities.auth_methods


@ODD.judged("V2-INIT-06", version="2", opens="V2-INIT-06")
class InitializesOnce(AgentV2):
    def request_initialize(self, params: Json) -> Json:
        if self.client is not None:
            raise Refused(-32600, "once is enough")
        return super().request_initialize(params)


@ODD.judged("V2-INIT-09", "V2-AUTH-04", version="2", fails="V2-INIT-09")
class TakesTrueForATerminal(AgentV2):
    auth_methods = KeepsItsFirstCapabilities.auth_methods

    def may_list(self, method: Json) -> bool:
        auth = (self.client or {}).get("auth")
        marker = auth.get("terminal") if isinstance(auth, dict) else None
        return method["type"] != "terminal" or marker is True or isinstance(marker, dict)


@ODD.judged("V2-PROMPT-09", "V2-PERM-06", version="2", fails="V2-PROMPT-09")
class DoesNotRunAgain(AgentV2):
    """After an answer of the user."""

    def waiting(self, session: Json, call: Call) -> Work:
        self.state(session, "requires_action")
        return (yield call)


@ODD.judged("V2-PERM-08", "V2-PROMPT-12", version="2")
class IsIdleAfterARejection(AgentV2):
    """Which it may: nothing is worked on."""

    def permit(self, session: Json, subject: Json) -> Work:
        params = {"sessionId": session["id"], "title": "May I?", "subject": subject}
        options = [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]
        options.append({"optionId": "reject", "name": "Reject", "kind": "reject_once"})
        self.state(session, "requires_action")
        answer = yield Call("session/request_permission", {**params, "options": options})
        if not self.approved(answer.get("outcome", {})):
            return False
        self.state(session, "running")
        return True


@ODD.judged("V2-UPS-12", version="2", fails="V2-UPS-12")
class CallsEveryTerminalTheSame(AgentV2):
    def terminal_id(self) -> str:
        return "term-1"


@ODD.judged("V2-UPS-12", "V2-UPS-16", version="2")
class TellsOfTerminalsTwice(AgentV2):
    """The same facts once more."""

    def update(self, session: Json, what: str, **fields: Any) -> None:
        super().update(session, what, **fields)
        if what == "terminal_update":
            super().update(session, what, **fields)


# The draft.


@ODD.judged("D26-33", version="draft", fails="D26-33")
class HasAnOfficialCodeForLoads(Agent):
    def session_load(self, params: Json) -> Json:
        try:
            return super().session_load(params)
        except Failure:
            raise Failure(-32002, "no such session") from None


@ODD.judged("D26-35", "D26-09", version="draft", fails="D26-35")
class ChangesItsModelSilently(Agent):
    def tell(self, session: str, kind: str, **data: Any) -> None:
        if data.get("key") != "model":
            super().tell(session, kind, **data)


@ODD.judged("D26-35", "D26-09", version="draft")
class HasOneModelOnly(Agent):
    def session_set_config_option(self, params: Json) -> Json:
        if params["key"] == "model" and params["value"] != "small":
            raise Failure(-32602, "no such model")
        return super().session_set_config_option(params)
