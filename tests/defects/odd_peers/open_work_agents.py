"""Agents that go on behind their turns, hold many requests, or tell things a moment too late."""

import threading
from collections import Counter
from typing import Any

from tests.conformance.draft_agent import Agent, Failure
from tests.defects.agents.v1.agent import AgentV1
from tests.defects.agents.v2.agent import AgentV2
from tests.defects.odd_peers.registry import OddPeers
from tests.defects.stdio_jsonrpc import Json, Task, Work

ODD = OddPeers()
BEHIND = ("V2-PROMPT-21", "V2-PROMPT-23", "V2-CANCEL-09")
# When work in the background is done, and when what belongs to a turn comes too late.
DONE_SECONDS = 1.5
LATE_SECONDS = 0.1


# The background.


@ODD.judged(*BEHIND, version="2")
class EndsItsBackgroundWork(AgentV2):
    """By itself, in the form of a tool call."""

    def do_background(self, session: Json, _rest: str) -> Work:
        call = self.open_call(session, "Check", "other")
        self.progress(session, call, "in_progress")
        session["open"].pop(call)
        session["background"] = [{"type": "tool_call", "toolCallId": call}]
        self.say(session, "It runs.")
        yield from ()

    def notification_session_cancel(self, params: Json) -> None:
        """Which does not touch it; some time later it is done."""
        super().notification_session_cancel(params)
        session = self.session(params)
        for one in session.get("background", []):
            name = one["toolCallId"]
            timer = threading.Timer(DONE_SECONDS, self.end_background, (session, name))
            timer.daemon = True
            timer.start()

    def end_background(self, session: Json, call: str) -> None:
        self.progress(session, call, "completed")
        session["background"] = []
        self.tell_state(session)


@ODD.judged(*BEHIND, version="2", fails="V2-PROMPT-21")
class RunsForTheEndOfItsBackgroundWork(EndsItsBackgroundWork):
    def end_background(self, session: Json, call: str) -> None:
        self.state(session, "running")
        self.progress(session, call, "completed")
        session["background"] = []
        self.state(session, "idle", stopReason="end_turn")


@ODD.judged(*BEHIND, version="2")
class WakesUpWhenItIsDone(EndsItsBackgroundWork):
    """And says so, which is work in front."""

    def end_background(self, session: Json, call: str) -> None:
        self.progress(session, call, "completed")
        session["background"] = []
        self.state(session, "running")
        self.say(session, "The check is done.")
        self.state(session, "idle", stopReason="end_turn")


@ODD.judged(*BEHIND, version="2", fails="V2-CANCEL-09")
class CancelsItsBackgroundCalls(EndsItsBackgroundWork):
    def notification_session_cancel(self, params: Json) -> None:
        super().notification_session_cancel(params)
        session = self.session(params)
        for one in session.get("background", []):
            self.progress(session, one["toolCallId"], "cancelled")

    def end_background(self, session: Json, call: str) -> None:
        session["background"] = []
        self.tell_state(session)


# Children.


@ODD.judged("V1-PROXY-08", version="2")
class HasAChild(AgentV2):
    """That its parent tells of, before the child says anything."""

    def say(self, session: Json, text: str) -> None:
        self.update(session, "subagent_update", sessionId="child", title="Child")
        super().say({**session, "id": "child"}, text)
        super().say(session, text)


@ODD.judged("V1-SESS-02", "V1-PROXY-08", opens="V1-PROXY-08")
class TalksBeforeItsSessionIsMade(AgentV1):
    """In updates that come before the answer to `session/new`."""

    def setup(self, session: Json) -> Json:
        self.update(session, "session_info_update", title="New")
        return super().setup(session)


# Requests that are open.


@ODD.judged("V2-GEN-02", version="2", fails="V2-GEN-02")
class CountsItsRequestsBySession(AgentV2):
    def send(self, message: Json) -> None:
        if message.get("method") == "session/request_permission":
            message = {**message, "id": f"{self.counted(message['params']['sessionId'])}"}
        super().send(message)

    def counted(self, session: str) -> int:
        counter: Counter[str] = self.__dict__.setdefault("counter", Counter())
        counter[session] += 1
        return counter[session]

    def answered(self, message: Json) -> None:
        waiting = next(iter(self.asked), None)
        super().answered({**message, "id": waiting} if isinstance(message["id"], str) else message)


@ODD.judged("V2-GEN-02", version="2", opens="V2-GEN-02")
class AsksForNothing(AgentV2):
    def ask(self, session: Json, call: str) -> Work:
        yield from ()
        return True


@ODD.judged("V2-CANCEL-13", version="2", fails="V2-CANCEL-13")
class LetsItsOwnRequestsBeWithdrawn(AgentV2):
    def notification_cancel_request(self, params: Json) -> None:
        task = self.asked.get(params.get("requestId", ""))
        if task is not None:
            self.stop(task)
        super().notification_cancel_request(params)


@ODD.judged("LIM-02")
class HoldsAThousandRequests(AgentV1):
    pass


@ODD.judged("LIM-02", opens="LIM-02")
class HoldsFewPrompts(AgentV1):
    """So that the limit cannot be reached."""

    def ask(self, session: Json, call: str) -> Work:
        yield from ()
        return True


# What comes too late.


@ODD.judged("V1-LOAD-03", "V1-PROMPT-09", fails="V1-PROMPT-09", opens="V1-LOAD-03")
class EndsItsAnswersLate(AgentV1):
    """The last word comes a moment after the result, and is replayed where it belongs."""

    word: tuple[Json, ...] = ()

    def say(self, session: Json, text: str) -> None:
        super().say(session, text)
        update = session["history"][-1]
        self.word = ({"sessionId": session["id"], "update": update},)

    def notify(self, method: str, params: Json) -> None:
        if params.get("update", {}).get("content", {}) != {"type": "text", "text": "hello."}:
            super().notify(method, params)

    def do_say(self, session: Json, _rest: str) -> Work:
        self.say(session, "Well, hello.")
        yield from ()

    do_hello = do_say

    def finish(self, task: Task, result: Any, error: Json | None) -> None:
        super().finish(task, result, error)
        threading.Timer(LATE_SECONDS, self.end_answer).start()

    def act(self, session: Json, text: str) -> Work:
        self.end_answer()
        return (yield from super().act(session, text))

    def end_answer(self) -> None:
        words, self.word = self.word, ()
        for params in words:
            super().notify("session/update", params)

    def request_session_load(self, params: Json) -> Json:
        for update in self.reopened(params, required=True)["history"]:
            told = {"sessionId": params["sessionId"], "update": update}
            super().notify("session/update", told)
        return self.setup(self.session(params))


@ODD.judged("V1-LOAD-04", "V1-TOOL-02", "V1-TOOL-13", fails="V1-LOAD-03 V1-LOAD-04")
class ReplaysAfterTheResult(AgentV1):
    def request_session_load(self, params: Json) -> Json:
        return self.setup(self.reopened(params, required=True))

    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        super().requested(request_id, method, params)
        session = self.sessions.get(params.get("sessionId", ""))
        if method == "session/load" and session is not None:
            for update in session["history"]:
                self.notify("session/update", {"sessionId": session["id"], "update": update})


# The draft.


@ODD.judged("D26-24", "D26-18", version="draft")
class NeedsFilesOfItsClient(Agent):
    def initialize(self, params: Json) -> Json:
        capabilities = params.get("capabilities")
        files = capabilities.get("fs") if isinstance(capabilities, dict) else None
        if isinstance(capabilities, dict) and not (files or {}).get("read"):
            raise Failure(-32007, "this agent needs a client that reads files")
        return super().initialize(params)
