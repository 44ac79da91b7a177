"""Agents of v1 that break a rule about plans, usage, notices, compactions or forms."""

import os
from typing import Any

from tests.defects.agents.v1.agent import AgentV1
from tests.defects.catalogue import Catalogue
from tests.defects.stdio_jsonrpc import Json, Refused, Work

BROKEN = Catalogue()
breaks = BROKEN.breaks


# Plans and reports.


@breaks("V1-PLAN-02")
class PlansWithoutStatus(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        if what == "plan":
            fields["entries"] = [{"content": "x", "priority": "low"}]
        super().update(session, what, **fields)


@breaks("V1-PLAN-05")
class UpdatesPlansForAll(AgentV1):
    def do_plan(self, session: Json, rest: str) -> Work:
        entry = {"content": "Look", "priority": "high", "status": "pending"}
        plan = {"type": "items", "planId": "main", "entries": [entry]}
        self.update(session, "plan_update", plan=plan)
        yield from super().do_plan(session, rest)


@breaks("V1-PROXY-08")
class LetsChildrenTalkFirst(AgentV1):
    def say(self, session: Json, text: str) -> None:
        super().say({**session, "id": "child"}, text)
        super().say(session, text)


@breaks("V1-PROXY-09")
class HasChildrenForAll(AgentV1):
    def do_tool(self, session: Json, rest: str) -> Work:
        self.update(session, "subagent_update", sessionId="child", title="Child")
        yield from super().do_tool(session, rest)


@breaks("V1-USAGE-02")
class HasNoWindow(AgentV1):
    def do_usage(self, session: Json, _rest: str) -> Work:
        self.update(session, "usage_update", used=0, size=0)
        yield from ()


@breaks("V1-USAGE-04")
class CountsWithoutCurrency(AgentV1):
    def do_usage(self, session: Json, _rest: str) -> Work:
        self.update(session, "usage_update", used=1, size=9, cost={"amount": 1.0})
        yield from ()


@breaks("V1-USAGE-05")
class NoticesForAll(AgentV1):
    def can(self, *names: str) -> bool:
        return names == ("session", "notices") or super().can(*names)


@breaks("V1-USAGE-06")
class NoticesWithoutTitle(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        super().update(session, what, **({**fields, "title": ""} if what == "notice" else fields))


@breaks("V1-USAGE-09")
class CompactsForAll(AgentV1):
    def can(self, *names: str) -> bool:
        return names == ("session", "compaction") or super().can(*names)


@breaks("V1-USAGE-10")
class SummarizesTooLate(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        super().update(session, what, **fields)
        if what == "compaction_update" and fields["status"] == "completed":
            late = {"type": "text", "text": "late"}
            name = fields["compactionId"]
            super().update(session, "compaction_summary_chunk", compactionId=name, content=late)


@breaks("V1-USAGE-11")
class SummarizesTooEarly(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        if what == "compaction_update" and fields["status"] == "in_progress":
            fields["summary"] = [{"type": "text", "text": "early"}]
        super().update(session, what, **fields)


@breaks("V1-USAGE-15")
class NeverEndsCompacting(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        if fields.get("status") != "completed" or what != "compaction_update":
            super().update(session, what, **fields)


# Questions.


class Asks(AgentV1):
    """Changes what it asks with."""

    def send(self, message: Json) -> None:
        if message.get("method") == "elicitation/create":
            self.question(message["params"])
        super().send(message)

    def question(self, params: Json) -> None:
        """Change it in place."""


@breaks("V1-ELIC-04")
class NeedsForms(AgentV1):
    def do_elicit(self, session: Json, rest: str) -> Work:
        session["stuck"] = not self.can("elicitation", "form")
        yield from super().do_elicit(session, rest)

    def end_turn(self, session: Json, reason: str) -> Json:
        result = super().end_turn(session, reason)
        if session.pop("stuck", False):
            raise Refused(-32603, "no forms")
        return result


@breaks("V1-ELIC-10")
class AsksForSecrets(Asks):
    def question(self, params: Json) -> None:
        if "requestedSchema" in params:
            params["requestedSchema"]["properties"] = {"password": {"type": "string"}}


@breaks("V1-ELIC-12")
class PutsTokensIntoUrls(Asks):
    def question(self, params: Json) -> None:
        if "url" in params:
            params["url"] += "?token=abc"


@breaks("V1-ELIC-16")
class CompletesWhatIsNotOpen(AgentV1):
    def notify(self, method: str, params: Json) -> None:
        if method == "elicitation/complete":
            params = {"elicitationId": "nobody"}
        super().notify(method, params)


@breaks("V1-ELIC-18")
class ExpectsSuccess(AgentV1):
    def answered(self, message: Json) -> None:
        result = message.get("result")
        if isinstance(result, dict) and result.get("action") == "decline":
            os._exit(1)
        super().answered(message)


@breaks("V1-ELIC-20")
class HasSchemasWithoutType(Asks):
    def question(self, params: Json) -> None:
        params.get("requestedSchema", {}).pop("type", None)


@breaks("V1-ELIC-24")
class HasNoUrl(Asks):
    def question(self, params: Json) -> None:
        if "url" in params:
            params["url"] = "nowhere"


@breaks("V1-ELIC-27")
class MakesUpAMode(Asks):
    def question(self, params: Json) -> None:
        if params["mode"] == "form":
            params["mode"] = "fancy"
