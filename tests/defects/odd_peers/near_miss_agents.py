"""Agents that break a rule in a second way, or come near it and keep it."""

from pathlib import Path
from typing import Any

from tests.conformance.draft_agent import Agent as DraftAgent
from tests.conformance.draft_agent import Failure
from tests.defects.agents.v1.agent import AgentV1
from tests.defects.agents.v2.agent import AgentV2
from tests.defects.odd_peers.registry import OddPeers
from tests.defects.stdio_jsonrpc import Call, Json, Refused, Task, Work

ODD = OddPeers()


# Old sessions.


@ODD.judged("V1-LOAD-06", fails="V1-LOAD-06")
class RestoresRootsAtAResume(AgentV1):
    def request_session_resume(self, params: Json) -> Json:
        before = self.session(params, active=False)["roots"]
        result = super().request_session_resume(params)
        self.session(params)["roots"] = before
        return result


@ODD.judged("V1-LOAD-06", fails="V1-LOAD-06")
class StillReadsInRootsOfBefore(AgentV1):
    def reopened(self, params: Json, *, required: bool) -> Json:
        before = self.session(params, active=False)["roots"]
        session = super().reopened(params, required=required)
        session["former"] = before
        return session

    def inside(self, session: Json, name: str) -> Path:
        roots = session.get("former", session["roots"])
        return super().inside({**session, "roots": roots}, name)


@ODD.judged("V1-LOAD-06")
class ReadsEverywhere(AgentV1):
    """Roots bound nothing here, which another rule is about."""

    def inside(self, session: Json, name: str) -> Path:
        return Path(session["roots"][0], name)


class SplitsTheReplay(AgentV1):
    """Replays updates of one kind behind the result."""

    late = ""

    def request_session_load(self, params: Json) -> Json:
        session = self.session(params, active=False)
        kept = session["history"]
        session["history"] = [one for one in kept if one["sessionUpdate"] not in self.late]
        result = super().request_session_load(params)
        session["history"] = kept
        return result

    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        super().requested(request_id, method, params)
        if method == "session/load" and params.get("sessionId") in self.sessions:
            session = self.sessions[params["sessionId"]]
            for update in session["history"]:
                if update["sessionUpdate"] in self.late:
                    self.notify("session/update", {"sessionId": session["id"], "update": update})


@ODD.judged("V1-LOAD-03", "V1-LOAD-04", fails="V1-LOAD-03 V1-LOAD-04")
class ReplaysCallsTooLate(SplitsTheReplay):
    late = "tool_call_update"


@ODD.judged("V1-LOAD-03", "V1-LOAD-04", fails="V1-LOAD-04")
class ReplaysPlansTooLate(SplitsTheReplay):
    late = "plan"


@ODD.judged("V1-LOAD-03", fails="V1-LOAD-03")
class ReplaysNoCalls(AgentV1):
    def remember(self, session: Json, update: Json) -> None:
        if not update["sessionUpdate"].startswith("tool_call"):
            super().remember(session, update)


@ODD.judged("V1-LOAD-03", "V1-LOAD-04")
class ShowsItsPlanAgain(AgentV1):
    """What it is at, when it is loaded."""

    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        super().requested(request_id, method, params)
        if method == "session/load" and params.get("sessionId") in self.sessions:
            history = self.sessions[params["sessionId"]]["history"]
            plan = [one for one in history if one["sessionUpdate"] == "plan"][-1:]
            for update in plan:
                self.notify("session/update", {"sessionId": params["sessionId"], "update": update})


# Turns.


@ODD.judged("V1-PROMPT-06", "V1-PERM-06", fails="V1-PROMPT-06 V1-PROMPT-08")
class StopsForNoReasonWhenRefused(AgentV1):
    def end_turn(self, session: Json, reason: str) -> Json:
        result = super().end_turn(session, reason)
        return {"stopReason": None} if session.pop("refused", False) else result

    def ask(self, session: Json, call: str) -> Work:
        allowed = yield from super().ask(session, call)
        session["refused"] = not allowed
        return allowed


@ODD.judged("V1-CAP-05", "V1-CANCEL-05", fails="V1-CAP-05 V1-CANCEL-04 V1-CANCEL-05", silent=True)
class HearsNoCancel(AgentV1):
    def notification_session_cancel(self, params: Json) -> None:
        """Not heard while it works."""


@ODD.judged("V1-CMD-03", fails="V1-CMD-03")
class RunsCommandsAlone(AgentV1):
    def turn(self, session: Json, blocks: list[Json]) -> Work:
        if len(blocks) > 1:
            session["company"] = True
        return (yield from super().turn(session, blocks))

    def act(self, session: Json, text: str) -> Work:
        if session.pop("company", False) and text.startswith("/"):
            self.say(session, f"You said: {text}")
            return "end_turn"
        if text.startswith("/") and text != "/tool":
            self.say(session, f"You said: {text}")
            return "end_turn"
        return (yield from super().act(session, text))


@ODD.judged("V1-CMD-03", fails="V1-CMD-03")
class RunsCommandsInFront(RunsCommandsAlone):
    def turn(self, session: Json, blocks: list[Json]) -> Work:
        session["company"] = blocks[0]["type"] != "text"
        return (yield from AgentV1.turn(self, session, blocks))


@ODD.judged("V1-CMD-03", fails="V1-CMD-03")
class RunsCommandsWithoutWords(AgentV1):
    def act(self, session: Json, text: str) -> Work:
        if text.startswith("/") and text != "/tool":
            self.say(session, f"You said: {text}")
            return "end_turn"
        return (yield from super().act(session, text))


@ODD.judged("V1-CMD-03")
class SaysTheSameToAll(AgentV1):
    """What a command does need not be said."""

    def say(self, session: Json, text: str) -> None:
        super().say(session, "Done.")


# Modes, options and forms.


@ODD.judged("V1-MODE-03", fails="V1-MODE-03")
class AnnouncesTheFormerMode(AgentV1):
    def set_mode(self, session: Json, mode: str) -> None:
        before = session["config"]["mode"]
        super().set_mode(session, mode)
        session["former"] = before

    def update(self, session: Json, what: str, **fields: Any) -> None:
        if what == "current_mode_update":
            fields["currentModeId"] = session.get("former", "ask")
        super().update(session, what, **fields)


@ODD.judged("V1-MODE-03")
class AnnouncesItsModeTwice(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        super().update(session, what, **fields)
        if what == "current_mode_update":
            super().update(session, what, **fields)


@ODD.judged("V1-MODE-03")
class BeginsInItsFirstMode(AgentV1):
    """Also in a session that is taken up."""

    def reopened(self, params: Json, *, required: bool) -> Json:
        session = super().reopened(params, required=required)
        session["config"]["mode"] = "ask"
        return session


class HasAFlag(AgentV1):
    """A switch, which is shown to clients that can show it."""

    def flag(self) -> Json:
        return {"id": "loud", "name": "Loud", "type": "boolean", "currentValue": False}

    def shows_flags(self) -> bool:
        return self.can("session", "configOptions", "boolean")

    def options(self, session: Json) -> list[Json]:
        return super().options(session) + [self.flag()] * self.shows_flags()


ODD.judged("V1-CFG-05", "V1-CFG-06", "V1-CFG-07", "V1-CAP-02")(HasAFlag)


@ODD.judged("V1-CFG-07", fails="V1-CFG-07")
class ShowsFlagsAfterAChange(HasAFlag):
    def request_session_set_config_option(self, params: Json) -> Json:
        result = super().request_session_set_config_option(params)
        more = [] if self.shows_flags() else [self.flag()]
        return {"configOptions": [*result["configOptions"], *more]}


@ODD.judged("V1-CFG-07", fails="V1-CFG-07")
class ShowsFlagsInOldSessions(HasAFlag):
    def request_session_resume(self, params: Json) -> Json:
        result = super().request_session_resume(params)
        more = [] if self.shows_flags() else [self.flag()]
        return {**result, "configOptions": [*result["configOptions"], *more]}


@ODD.judged("V1-CFG-07", fails="V1-CFG-07")
class ShowsFlagsWithItsMode(HasAFlag):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        if what == "config_option_update" and not self.shows_flags():
            fields["configOptions"] = [*fields["configOptions"], self.flag()]
        super().update(session, what, **fields)


@ODD.judged("V1-SESS-06", fails="V1-SESS-06")
class WritesByAbsoluteNames(AgentV1):
    def do_edit(self, session: Json, rest: str) -> Work:
        name, _, text = rest.partition(" ")
        if name.startswith("/"):
            Path(name).write_text(text)
        yield from super().do_edit(session, rest)


@ODD.judged("V1-CFG-07", "V1-CAP-02", fails="V1-CFG-07")
class TakesOptionsForFlags(HasAFlag):
    def shows_flags(self) -> bool:
        return self.can("session", "configOptions")


class AsksFor(AgentV1):
    """A form with one field."""

    field: tuple[str, Json] = ("name", {"type": "string"})
    message = "Say"

    def do_elicit(self, session: Json, _rest: str) -> Work:
        if not self.can("elicitation", "form"):
            self.say(session, "I would ask, but you have no forms.")
            return
        name, kind = self.field
        wanted = {"type": "object", "properties": {name: kind}}
        params = {"sessionId": session["id"], "mode": "form", "message": self.message}
        try:
            yield Call("elicitation/create", {**params, "requestedSchema": wanted})
        except Refused:
            pass
        self.say(session, "Thank you.")


@ODD.judged("V1-ELIC-27", fails="V1-ELIC-27")
class AsksForADate(AsksFor):
    field = ("due", {"type": "date", "title": "Due"})


@ODD.judged("V1-ELIC-27", "V1-ELIC-20")
class AsksForSomethingOfItsOwn(AsksFor):
    field = ("due", {"type": "_date", "title": "Due"})


@ODD.judged("V1-ELIC-10", fails="V1-ELIC-10 V1-ELIC-11")
class AsksForAToken(AsksFor):
    field = ("github", {"type": "string", "title": "GitHub token"})


@ODD.judged("V1-ELIC-10", fails="V1-ELIC-10 V1-ELIC-11")
class AsksForAPasswordAndWhoseItIs(AsksFor):
    field = ("login", {"type": "string", "title": "Password for example.org"})


@ODD.judged("V1-ELIC-10", fails="V1-ELIC-10 V1-ELIC-11")
class AsksForAPasswordInItsMessage(AsksFor):
    field = ("value", {"type": "string"})
    message = "Please enter your account password to go on."


@ODD.judged("V1-ELIC-10")
class AsksAboutSecrets(AsksFor):
    field = ("maxTokens", {"type": "string", "title": "Token limit"})
    message = "What is the name of the API key, and the password policy? Enter the API key name."


# Version 2.


@ODD.judged("V1-ELIC-27", version="2", fails="V1-ELIC-27 V2-GEN-08")
class AsksForADateInV2(AgentV2):
    kind = "date"

    def asking(self, session: Json, mode: str) -> Json:
        params = super().asking(session, mode)
        if mode == "form":
            params["requestedSchema"]["properties"] = {"due": {"type": self.kind}}
        return params


@ODD.judged("V1-ELIC-27", version="2")
class AsksForSomethingOfItsOwnInV2(AsksForADateInV2):
    kind = "_date"


@ODD.judged("V2-CANCEL-15", version="2", fails="V2-CANCEL-15 V1-GEN-02")
class AnswersPromptsAgain(AgentV2):
    prompts: tuple[Any, ...] = ()

    def answer_task(self, task: Task, result: Any, error: Json | None) -> None:
        super().answer_task(task, result, error)
        if task.method == "session/prompt":
            self.prompts = (*self.prompts, task.id)

    def notification_cancel_request(self, params: Json) -> None:
        if params.get("requestId") in self.prompts:
            self.refuse(params["requestId"], {"code": -32800, "message": "Request cancelled"})
        super().notification_cancel_request(params)


@ODD.judged("V2-CANCEL-15", version="2", fails="V2-CANCEL-15")
class StopsTheTurnOfAnAnsweredPrompt(AgentV2):
    prompts: tuple[Any, ...] = ()

    def finish(self, task: Task, result: Any, error: Json | None) -> None:
        super().finish(task, result, error)
        if task.method == "session/prompt":
            self.prompts = (*self.prompts, (task.id, task.params["sessionId"]))

    def notification_cancel_request(self, params: Json) -> None:
        for request_id, session in self.prompts:
            if request_id == params.get("requestId") and self.sessions[session]["work"]:
                self.stop(self.sessions[session]["work"])
        super().notification_cancel_request(params)


@ODD.judged("V2-CFG-04", version="2", fails="V2-CFG-04")
class TellsOfOneOption(AgentV2):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        if what == "config_option_update":
            fields["configOptions"] = fields["configOptions"][:1]
        super().update(session, what, **fields)


@ODD.judged("V2-CFG-04", version="2")
class HasOptionsThatBringOthersInV2(AgentV2):
    def options(self, session: Json) -> list[Json]:
        effort = {"configId": "effort", "name": "Effort", "type": "boolean", "currentValue": False}
        more = [effort] if session["config"]["model"] == "large" else []
        return [*super().options(session), *more]


@ODD.judged("V2-CFG-04", version="2")
class HasOptionsThatTakeOthersInV2(AgentV2):
    """While it is asked to use the large model, nothing else can be chosen."""

    def request_session_set_config_option(self, params: Json) -> Json:
        result = super().request_session_set_config_option(params)
        alone = [one for one in result["configOptions"] if one["configId"] == params["configId"]]
        return {"configOptions": alone} if params["value"] == "large" else result


@ODD.judged("V2-CFG-08", version="2", fails="V2-CFG-08 V2-GEN-04")
class NamesPlansAsTheFirstDrafts(AgentV2):
    def plan(self, entries: list[Json]) -> Json:
        return {"type": "items", "id": "main", "entries": entries}


@ODD.judged("V2-CFG-08", version="2", fails="V2-CFG-08")
class TellsOfOneStepAtATime(AgentV2):
    def do_plan(self, session: Json, _rest: str) -> Work:
        for step in ("Look", "Write", "Look"):
            entry = {"content": step, "priority": "high", "status": "in_progress"}
            self.update(session, "plan_update", plan=self.plan([entry]))
        yield from ()


@ODD.judged("V2-PROMPT-06", version="2", fails="V2-PROMPT-06")
class FailsForAMissingFile(AgentV2):
    def answer_task(self, task: Task, result: Any, error: Json | None) -> None:
        links = [one for one in task.params.get("prompt", []) if one["type"] == "resource_link"]
        if any(not Path(one["uri"].removeprefix("file://")).exists() for one in links):
            error = {"code": -32002, "message": "Resource not found"}
        super().answer_task(task, result, error)


# The draft.


@ODD.judged("D26-08", "D26-13", version="draft", fails="D26-08")
class FailsForAMissingFileInTheDraft(DraftAgent):
    def read(self, session: Json, name: str) -> str:
        where = next(key for key, value in self.sessions.items() if value is session)
        self.tell(where, "agent_message_chunk", content="I look.")
        if not Path(session["folder"], name).exists():
            raise Failure(-32004, "no such file")
        return super().read(session, name)


@ODD.judged("D26-08", "D26-13", version="draft")
class RefusesAMissingFileAtOnce(DraftAgent):
    """With an error before the turn begins; a list of commands is none of it."""

    def read(self, session: Json, name: str) -> str:
        where = next(key for key, value in self.sessions.items() if value is session)
        self.tell(where, "available_commands", commands=[])
        if not Path(session["folder"], name).exists():
            raise Failure(-32004, "no such file")
        return super().read(session, name)


@ODD.judged("D26-19", version="draft", fails="D26-19")
class HasNullForMetadata(DraftAgent):
    def session_prompt(self, params: Json) -> Json:
        return {**super().session_prompt(params), "_meta": None}


@ODD.judged("D26-19", version="draft", fails="D26-19")
class RefusesPromptsWithMetadata(DraftAgent):
    def session_prompt(self, params: Json) -> Json:
        if "_meta" in params:
            raise Failure(-32602, "metadata")
        return super().session_prompt(params)


@ODD.judged("D26-24", version="draft", fails="D26-24")
class ReadsByAbsoluteNames(DraftAgent):
    def read(self, session: Json, name: str) -> str:
        return Path(name).read_text() if name.startswith("/") else super().read(session, name)


@ODD.judged("D26-24", version="draft", fails="D26-24")
class LooksAtTheBeginningOfNames(DraftAgent):
    def read(self, session: Json, name: str) -> str:
        path = Path(session["folder"], name).resolve()
        ok = str(path).startswith(session["folder"])
        return path.read_text() if ok else super().read(session, name)


@ODD.judged("V1-CLOSE-09", "V1-CLOSE-10", fails="V1-CLOSE-09", opens="V1-CLOSE-10")
class ListsAllAtOnce(AgentV1):
    """However many there are, without a cursor."""

    def request_session_list(self, params: Json) -> Json:
        entries: list[Json] = []
        more: Json = {}
        while True:
            page = super().request_session_list({**params, **more})
            entries += page["sessions"]
            if page.get("nextCursor") is None:
                return {"sessions": entries}
            more = {"cursor": page["nextCursor"]}


@ODD.judged("V1-CLOSE-02", "V1-CLOSE-13", opens="V1-CLOSE-02 V1-CLOSE-13")
class OffersNothing(AgentV1):
    def capabilities(self) -> Json:
        return {"mcpCapabilities": {"http": True}}
