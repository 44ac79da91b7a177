"""Agents that go on, hang or end in the middle of something, or that leave something unanswered."""

import os
import threading
from typing import Any

from tests.conformance.draft_agent import Agent
from tests.defects.agents.v1.agent import AgentV1
from tests.defects.agents.v2.agent import AgentV2
from tests.defects.odd_peers.registry import OddPeers
from tests.defects.stdio_jsonrpc import HOLD, Json, Refused, Task, Work

ODD = OddPeers()


class WorksFor(AgentV1):
    """Works for this long, whatever it is told."""

    seconds = 0.0

    def do_long(self, session: Json, _rest: str) -> Work:
        call = self.open_call(session, "Long work", "execute")
        self.progress(session, call, "in_progress")
        over = threading.Event()
        task = session["turns"][0]

        def end() -> None:
            over.set()
            self.step(task)

        threading.Timer(self.seconds, end).start()
        while not over.is_set():
            yield HOLD

    def request_session_close(self, params: Json) -> Json:
        self.session(params)["active"] = False
        return {}


@ODD.judged("V1-CLOSE-02", tries=True, fails="V1-CLOSE-02")
class WorksOnInAClosedSession(WorksFor):
    seconds = 6.0


@ODD.judged("V1-CLOSE-02", tries=True, opens="V1-CLOSE-02")
class IsDoneWhenItIsClosed(WorksFor):
    seconds = 1.0


class AfterARejection(AgentV1):
    def ask(self, session: Json, call: str) -> Work:
        if not (yield from super().ask(session, call)):
            yield from self.rejected(session)
        return True

    def rejected(self, _session: Json) -> Work:
        yield HOLD


@ODD.judged(
    "V1-PERM-06", "V1-PROMPT-06", tries=True, silent=True, fails="V1-PROMPT-06", opens="V1-PERM-06"
)
class HangsAfterARejection(AfterARejection):
    pass


@ODD.judged("V1-PERM-06", "V1-PROMPT-06", tries=True, silent=True, opens="V1-PERM-06")
class WorksForLongAfterARejection(AfterARejection):
    def rejected(self, session: Json) -> Work:
        call = self.open_call(session, "Look for another way", "search")
        self.progress(session, call, "in_progress")
        yield HOLD


@ODD.judged("V1-PROMPT-12", "V1-PROMPT-06", tries=True, fails="V1-PROMPT-06", opens="V1-PROMPT-12")
class EndsWithItsTool(AgentV1):
    def do_fail(self, session: Json, _rest: str) -> Work:
        os._exit(1)


@ODD.judged(
    "V2-PROMPT-10", "V2-UPS-21", version="2", tries=True, fails="V2-PROMPT-10", opens="V2-UPS-21"
)
class EndsWithItsToolInV2(AgentV2):
    def do_rename(self, session: Json, _rest: str) -> Work:
        os._exit(1)


@ODD.judged("V1-GEN-11", "V1-PERM-06", fails="V1-GEN-11 V1-PROMPT-06")
class EndsAtAnUnknownCode(AgentV1):
    def answered(self, message: Json) -> None:
        if message.get("error", {}).get("code") == -32077:
            os._exit(1)
        super().answered(message)


@ODD.judged("V1-ELIC-19", tries=True, fails="V1-ELIC-19 V1-PROMPT-06")
class EndsAtABadForm(AgentV1):
    def answered(self, message: Json) -> None:
        result = message.get("result")
        content = result.get("content") if isinstance(result, dict) else None
        if isinstance(content, dict) and "accord-check-no-field" in content:
            os._exit(1)
        super().answered(message)


@ODD.judged("V2-CANCEL-06", version="2", tries=True, silent=True, fails="V2-CANCEL-06")
class WaitsForItsPermission(AgentV2):
    def stop(self, task: Task) -> None:
        if task.asked is None:
            super().stop(task)


@ODD.judged(
    "D26-08", "D26-15", version="draft", tries=True, silent=True, fails="D26-08", opens="D26-15"
)
class WorksOnInTheDraft(Agent):
    """Whatever is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.cancelled = NeverSet()


class NeverSet(threading.Event):
    def set(self) -> None:
        """Stays as it is."""


@ODD.judged("V1-GEN-04", "V1-CAP-05", fails="V1-CAP-05", opens="V1-GEN-04")
class EndsAtACancel(AgentV1):
    def notification_session_cancel(self, params: Json) -> None:
        os._exit(1)


@ODD.judged(
    "V1-LOAD-03", "V1-LOAD-04", "V1-LOAD-06", silent=True, fails="V1-LOAD-04", opens="V1-LOAD-06"
)
class NeverAnswersALoad(AgentV1):
    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        if method == "session/load" and self.client is not None:
            self.request_session_load(params)
        else:
            super().requested(request_id, method, params)


# Unknown methods.

UNKNOWN = ("V1-EXT-04", "V1-GEN-02", "V1-GEN-04", "TR-STDIO-02", "TR-STDIO-07")


@ODD.judged(*UNKNOWN, "V1-GEN-14", silent=True, fails="V1-EXT-04")
class IgnoresWhatItDoesNotKnow(AgentV1):
    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        if not method.startswith("_"):
            super().requested(request_id, method, params)


@ODD.judged("V1-EXT-04", "V1-GEN-02", "V1-GEN-04", version="2", silent=True, fails="V1-EXT-04")
class IgnoresWhatItDoesNotKnowInV2(AgentV2):
    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        if not method.startswith("_"):
            super().requested(request_id, method, params)


class OffersNoSingleCancel(AgentV2):
    def do_long(self, session: Json, _rest: str) -> Work:
        self.say(session, "working on it")
        yield HOLD


ODD.judged("V2-CANCEL-18", "V2-CANCEL-17", version="2", tries=True, opens="V2-CANCEL-17")(
    OffersNoSingleCancel
)


@ODD.judged(
    "V2-CANCEL-18", "V2-CANCEL-17", version="2", tries=True,
    fails="V2-CANCEL-18", opens="V2-CANCEL-17",
)  # fmt: skip
class HasNoSingleCancel(OffersNoSingleCancel):
    def request_tool_call_cancel(self, params: Json) -> Json:
        raise Refused(-32601, "Method not found")


@ODD.judged(
    "V2-SESS-15", "V2-SESS-16", "V2-SESS-17", version="2", tries=True, silent=True,
    fails="V2-SESS-15 V2-SESS-16 V2-SESS-17",
)  # fmt: skip
class IsIdleAfterItsClose(AgentV2):
    """Closes at once, ends the turn a moment later, and forgets the prompt that it held."""

    def request_session_close(self, params: Json) -> Json:
        session = self.sessions.get(params["sessionId"])
        if session is not None and session["work"] is not None:
            session["held"].clear()
            threading.Timer(0.05, lambda: self.stop(session["work"])).start()
        return {}


@ODD.judged(
    "V1-CAP-01", "V1-PROMPT-06", tries=True, silent=True, fails="V1-PROMPT-06", opens="V1-CAP-01"
)
class HangsWhereItReads(AgentV1):
    """The prompt stays without an answer; no method was called that is not advertised."""

    def do_read(self, _session: Json, _rest: str) -> Work:
        yield HOLD


@ODD.judged(
    "V1-GEN-02", "V1-GEN-04", "V1-GEN-06", "V1-GEN-14", "V1-INIT-10", "V1-PROV-01", "TR-STDIO-02",
    fails="V1-GEN-02", opens="V1-GEN-06 V1-INIT-10 V1-PROV-01",
)  # fmt: skip
class RefusesWithTextsForIds(AgentV1):
    def refuse(self, request_id: Any, error: Json) -> None:
        super().refuse(request_id if request_id is None else str(request_id), error)


@ODD.judged(
    "V2-SESS-09", "V2-SESS-10", "V2-SESS-11", "V2-INIT-10", version="2",
    fails="V2-INIT-10", opens="V2-SESS-09 V2-SESS-10 V2-SESS-11",
)  # fmt: skip
class KeepsNothingThatIsClosed(AgentV2):
    """Not even in its memory."""

    def keep(self) -> None: ...

    def request_session_close(self, params: Json) -> Json:
        super().request_session_close(params)
        self.sessions.pop(params["sessionId"], None)
        return {}


@ODD.judged("V1-GEN-06", "V1-SESS-03", "V1-EXT-07", fails="V1-EXT-07 V1-AUTH-11")
class RefusesRelativeNamesAsIfALoginWereNeeded(AgentV1):
    def roots(self, params: Json) -> list[str]:
        if not str(params.get("cwd")).startswith("/"):
            raise Refused(-32000, "not here")
        return super().roots(params)
