"""Agents that are broken in another way than the one of their rule, or odd and right."""

import os
import threading
from typing import Any

from tests.defects.agents.v1.agent import AgentV1
from tests.defects.agents.v1.extras import AgentV1Extras
from tests.defects.agents.v2.agent import AgentV2
from tests.defects.batches import ProcessesBatches
from tests.defects.odd_peers import (
    late_agents,
    near_miss_agents,
    one_place_agents,
    open_work_agents,
    rare_occasion_agents,
    stuck_agents,
)
from tests.defects.odd_peers.registry import OddPeers
from tests.defects.stdio_jsonrpc import Json, Refused, Task, Work, bad_params

ODD = OddPeers(stuck_agents.ODD | late_agents.ODD | near_miss_agents.ODD | one_place_agents.ODD)
ODD.update(open_work_agents.ODD | rare_occasion_agents.ODD)
CANCELS = ("V1-CANCEL-04", "V1-CANCEL-05", "V1-CANCEL-06", "V1-CANCEL-09")


# Cancelling.


@ODD.judged(*CANCELS, fails="V1-CANCEL-05 V1-CANCEL-06 V1-CANCEL-09")
class AnswersACancelWithAnError(AgentV1):
    def turn(self, session: Json, blocks: list[Json]) -> Work:
        result: Json = yield from super().turn(session, blocks)
        if result["stopReason"] == "cancelled":
            raise Refused(-32603, "Internal error")
        return result


class WritesUnasked(AgentV1):
    """Never asks for permission, which it may."""

    def ask(self, session: Json, call: str) -> Work:
        yield from ()
        return True


@ODD.judged("V1-PERM-06", *CANCELS, opens="V1-PERM-06")
class NeverAsks(WritesUnasked):
    pass


@ODD.judged("V1-PERM-06", *CANCELS, opens=" ".join(("V1-PERM-06", *CANCELS)))
class NeverAsksNorTakesLong(WritesUnasked):
    """And reads its files without its client."""

    def can(self, *names: str) -> bool:
        return names[0] != "fs" and super().can(*names)

    def do_long(self, session: Json, _rest: str) -> Work:
        self.say(session, "done")
        yield from ()


@ODD.judged(
    "V2-CANCEL-03", "V2-CANCEL-06", "V2-PERM-08", "V2-SESS-16", "V2-CANCEL-14", version="2",
    opens="V2-CANCEL-03 V2-CANCEL-06 V2-PERM-08 V2-SESS-16 V2-CANCEL-14",
)  # fmt: skip
class NeverAsksNorTakesLongInV2(AgentV2):
    def ask(self, session: Json, call: str) -> Work:
        yield from ()
        return True

    def do_long(self, session: Json, _rest: str) -> Work:
        self.say(session, "done")
        yield from ()


# Refusals: the code is advice where the rule names none.


class RefusesWithAnyCode(AgentV1):
    def refuse(self, request_id: Any, error: Json) -> None:
        if error["code"] == -32602:
            error = {**error, "code": -32603}
        super().refuse(request_id, error)


ODD.judged(
    "V1-GEN-06", "V1-GEN-12", "V1-GEN-13", "V1-SESS-03", "V1-SESS-08", "V1-SESS-10", "V1-CFG-11",
    "V1-INIT-10", fails="V1-EXT-07",
)(RefusesWithAnyCode)  # fmt: skip


@ODD.judged("V2-CFG-01", "V2-GEN-07", "V2-INIT-01", version="2", fails="V1-EXT-07")
class RefusesWithAnyCodeInV2(AgentV2):
    def refuse(self, request_id: Any, error: Json) -> None:
        unnamed = ("info", "malformed content", "type of the value is missing")
        if error["code"] == -32602 and any(word in error["message"] for word in unnamed):
            error = {**error, "code": -32603}
        super().refuse(request_id, error)

    def request_session_set_config_option(self, params: Json) -> Json:
        if "type" in params and params["type"] != "id":
            raise bad_params("no such kind of value")
        return super().request_session_set_config_option(params)


@ODD.judged("V1-INIT-10")
class EndsAfterARefusedVersion(AgentV1):
    def request_initialize(self, params: Json) -> Json:
        try:
            return super().request_initialize(params)
        except Refused:
            self.ended = True
            raise


# Logins.


@ODD.judged(
    "V1-CAP-05", "V1-SESS-02", "V1-PROMPT-06", "V1-GEN-06", "V1-SESS-08", "V1-LOAD-03", "V1-AUTH-08"
)
class WantsALogin(AgentV1Extras):
    def __init__(self) -> None:
        super().__init__()
        self.logged_in = False


@ODD.judged(
    "V1-CAP-05", "V1-SESS-02", "V1-PROMPT-06", "V1-GEN-06", "V1-SESS-08", "V1-LOAD-03",
    opens="V1-CAP-05 V1-SESS-02 V1-PROMPT-06 V1-GEN-06 V1-SESS-08 V1-LOAD-03",
)  # fmt: skip
class WantsAnotherLogin(WantsALogin):
    auth_methods = ({"id": "browser", "name": "In a browser"},)


# Sessions.


@ODD.judged("V1-LOAD-03", "V1-LOAD-04", "V1-LOAD-08")
class AddsReminders(AgentV1):
    """Replays the user's words with some of its own, and says hello when it is loaded."""

    def remember(self, session: Json, update: Json) -> None:
        if update["sessionUpdate"] == "user_message_chunk" and "text" in update["content"]:
            text = f"{update['content']['text']}\n<reminder>Be brief.</reminder>\n"
            update = {**update, "content": {"type": "text", "text": text}}
        super().remember(session, update)

    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        super().requested(request_id, method, params)
        if method == "session/load" and params["sessionId"] in self.sessions:
            content = {"type": "text", "text": "Welcome back!"}
            update = {"sessionUpdate": "agent_message_chunk", "content": content}
            self.notify("session/update", {**params, "update": {**update, "messageId": "hi"}})

    def notify(self, method: str, params: Json) -> None:
        wanted = {"sessionId": params["sessionId"], "update": params["update"]}
        super().notify(method, wanted if method == "session/update" else params)


@ODD.judged("V1-LOAD-03", fails="V1-LOAD-03")
class ReplaysInAnotherOrder(AgentV1):
    def request_session_load(self, params: Json) -> Json:
        session = self.session(params, active=False)
        history = session["history"]
        theirs = [one for one in history if one["sessionUpdate"] == "user_message_chunk"]
        session["history"] = [one for one in history if one not in theirs] + theirs
        return super().request_session_load(params)


@ODD.judged("V1-LOAD-03", "V1-TOOL-02", "V1-TOOL-13")
class LoadsWithNull(AgentV1):
    """As the older documents have it; calls of the history are not new ones."""

    def request_session_load(self, params: Json) -> Json:
        super().request_session_load(params)
        return None  # type: ignore[return-value]


@ODD.judged("V1-LOAD-03", "V1-LOAD-04", "V1-LOAD-08")
class ForgetsWithItsProcess(AgentV1):
    def restore(self) -> None:
        """Nothing is kept."""

    def session(self, params: Json, *, active: bool = True) -> Json:
        try:
            return super().session(params, active=active)
        except Refused:
            raise Refused(-32603, "no such session") from None


@ODD.judged("V1-CLOSE-09", "V1-CLOSE-10", "V1-CLOSE-11", opens="V1-CLOSE-09 V1-CLOSE-10")
class ListsWhatWasPrompted(AgentV1):
    def request_session_list(self, params: Json) -> Json:
        page = super().request_session_list(params)
        page.pop("nextCursor", None)
        seen = [one for one in page["sessions"] if self.sessions[one["sessionId"]]["history"]]
        return {**page, "sessions": seen}


@ODD.judged("V1-SESS-05", "V1-SESS-12", "V1-SESS-03", opens="V1-SESS-05 V1-SESS-12")
class ReadsNothing(AgentV1):
    def do_read(self, session: Json, _rest: str) -> Work:
        self.say(session, "I would rather not.")
        yield from ()


# Tools, terminals, modes, options.


@ODD.judged("V1-TOOL-09", "V1-TERM-07")
class ShowsTerminalsAgain(AgentV1):
    """Names the terminal in every update, also in the one behind its release."""

    def progress(self, session: Json, call: str, status: str, **fields: Any) -> None:
        if "content" in fields:
            session["shown"] = fields["content"]
        if status == "completed" and "shown" in session:
            fields["content"] = session.pop("shown")
        super().progress(session, call, status, **fields)


@ODD.judged("V1-TERM-07")
class ReleasesAfterTheTurn(AgentV1):
    late: tuple[Json, ...] = ()

    def release(self, terminal: Json) -> None:
        self.late = (*self.late, terminal)

    def finish(self, task: Task, result: Any, error: Json | None) -> None:
        super().finish(task, result, error)
        for one in self.late:
            super().release(one)
        self.late = ()


RENAMED = {"allow": "proceed_once", "reject": "no"}


class NamesOptionsItsOwnWay(AgentV1):
    """The kind of an option says what it does, not its id."""

    def send(self, message: Json) -> None:
        if message.get("method") == "session/request_permission":
            options = message["params"]["options"]
            named = [{**one, "optionId": RENAMED[one["optionId"]]} for one in options]
            message = {**message, "params": {**message["params"], "options": named}}
        super().send(message)

    def approved(self, outcome: Json) -> bool:
        return super().approved({**outcome, "optionId": "allow"}) and (
            outcome.get("optionId") == "proceed_once"
        )


ODD.judged("V1-TOOL-03", "V1-PERM-06")(NamesOptionsItsOwnWay)


@ODD.judged("V1-TOOL-03", fails="V1-TOOL-03")
class NeverSaysItBeganItsOwnWay(NamesOptionsItsOwnWay):
    def progress(self, session: Json, call: str, status: str, **fields: Any) -> None:
        if status != "in_progress":
            super().progress(session, call, status, **fields)


@ODD.judged("V1-TOOL-01", "V1-TOOL-02", "V1-TOOL-13", "V1-TOOL-14")
class ReportsCallsTwice(AgentV1):
    """A call that is not over is reported again by the same message."""

    def update(self, session: Json, what: str, **fields: Any) -> None:
        if what == "tool_call":
            super().update(session, what, **{**fields, "title": "Wait"})
        super().update(session, what, **fields)


@ODD.judged("V1-TOOL-14", fails="V1-TOOL-14")
class NeverEndsACall(AgentV1):
    """One that needs no permission; those that do end."""

    def do_tool(self, session: Json, _rest: str) -> Work:
        call = self.open_call(session, "Look around", "read")
        self.progress(session, call, "in_progress")
        session["open"].pop(call)
        self.say(session, "I looked around.")
        yield from ()


@ODD.judged("V1-MODE-03", opens="V1-MODE-03")
class KeepsItsMode(AgentV1):
    def do_mode(self, session: Json, _rest: str) -> Work:
        self.say(session, "I would rather not.")
        yield from ()


@ODD.judged("V1-CFG-05", "V1-CFG-06", "V1-CFG-03")
class HasOptionsThatBringOthers(AgentV1):
    """A large model can be told how hard to think."""

    def options(self, session: Json) -> list[Json]:
        effort = {"id": "effort", "name": "Effort", "type": "boolean", "currentValue": False}
        more = [effort] if session["config"]["model"] == "large" else []
        return [*super().options(session), *more]


@ODD.judged("V1-PROMPT-09", "V1-CAP-05")
class GreetsInNewSessions(AgentV1):
    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        super().requested(request_id, method, params)
        if method == "session/new" and self.sessions:
            self.say(self.sessions[list(self.sessions)[-1]], "Hello!")


# The wire.


@ODD.judged("TR-STDIO-03", "TR-STDIO-02", fails="TR-STDIO-03")
class LogsInBrackets(AgentV1):
    def request_initialize(self, params: Json) -> Json:
        self.write(b"[INFO] starting\n{not json}\n")
        return super().request_initialize(params)


@ODD.judged("TR-STDIO-03", "TR-STDIO-02", "V1-GEN-01")
class IsEndedInTheMiddle(AgentV1):
    """The kit ends it while it writes."""

    def end(self) -> None:
        self.write(b'{"jsonrpc": "2.0", "method": "session/up')
        os._exit(0)


@ODD.judged("V1-GEN-01", fails="V1-GEN-01")
class SendsArrays(AgentV1):
    def notify(self, method: str, params: Json) -> None:
        import json

        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(json.dumps([message]).encode() + b"\n")


@ODD.judged("V2-GEN-06", "TR-BATCH-02", "TR-BATCH-04", "TR-BATCH-05", "TR-BATCH-06", version="2")
class ProcessesArrays(ProcessesBatches, AgentV2):
    pass


@ODD.judged("V1-GEN-10", fails="V1-GEN-10")
class IsStrictFromTheStart(AgentV1):
    def request_initialize(self, params: Json) -> Json:
        if "accordCheck" in params:
            raise bad_params("an unknown key")
        return super().request_initialize(params)


# Version 2.


@ODD.judged("V2-PROMPT-02", "V2-PROMPT-07", version="2", fails="V2-PROMPT-02")
class TakesImagesUnasked(AgentV2):
    def check_prompt(self, blocks: Any) -> None:
        text: Json = {"type": "text", "text": ""}
        images = [one for one in blocks if one.get("type") == "image" and len(one) == 3]
        super().check_prompt([text if one in images else one for one in blocks])


@ODD.judged("V2-PROMPT-05", "V2-PROMPT-07", "V2-SESS-27", "V2-SESS-28", "V2-SESS-10", version="2")
class AddsRemindersInV2(AgentV2):
    """To what it echoes, and as user messages of its own."""

    def echo(self, session: Json, name: str, blocks: list[Json]) -> None:
        super().echo(session, name, [*blocks, {"type": "text", "text": "\nBe brief."}])
        super().echo(session, f"reminder-{name}", [{"type": "text", "text": "Be brief."}])


@ODD.judged("V2-SESS-10", "V2-SESS-27", "V2-SESS-28", version="2")
class ReplaysWholeMessages(AgentV2):
    def replayed(self, session: Json) -> list[Json]:
        texts: dict[str, str] = {}
        for one in session["history"]:
            if one["sessionUpdate"] == "agent_message_chunk":
                name = one["messageId"]
                texts[name] = texts.get(name, "") + one["content"]["text"]
        updates: list[Json] = []
        for one in session["history"]:
            if one["sessionUpdate"] != "agent_message_chunk":
                updates.append(one)
            elif one["messageId"] in texts:
                text = {"type": "text", "text": texts.pop(one["messageId"])}
                whole = {"sessionUpdate": "agent_message", "messageId": one["messageId"]}
                updates.append({**whole, "content": [text]})
        return updates


@ODD.judged("V2-SESS-27", version="2", fails="V2-SESS-27")
class ReplaysUnderOtherNames(AgentV2):
    def replayed(self, session: Json) -> list[Json]:
        return [
            {**one, "messageId": f"again-{one['messageId']}"}
            if one["sessionUpdate"].startswith("agent_message")
            else one
            for one in super().replayed(session)
        ]


@ODD.judged("V2-CFG-06", version="2", fails="V2-CFG-06 V2-GEN-04")
class HasCommandsWithoutType(AgentV2):
    def setup(self, session: Json) -> Json:
        command = {"name": "tool", "description": "Looks around"}
        return {**super().setup(session), "availableCommands": [command]}


@ODD.judged("V2-UPS-16", version="2", opens="V2-UPS-16")
class ShowsNeitherCommandNorFolder(AgentV2):
    def show_terminal(self, session: Json, command: str) -> str:
        name = self.terminal_id()
        self.update(session, "terminal_update", terminalId=name)
        return name


@ODD.judged("V2-PROMPT-20", version="2", opens="V2-PROMPT-20")
class HoldsNoPrompts(AgentV2):
    def request_session_prompt(self, params: Json) -> Work:
        # The kit tells the ones that it sends at a time apart by their spaces.
        if str(params["prompt"][0].get("text")).endswith(" "):
            raise Refused(-32600, "busy")
        return super().request_session_prompt(params)


@ODD.judged("V2-ELIC-04", version="2")
class WordsItDifferently(AgentV2):
    count = 0

    def reply_to(self, action: Any) -> str:
        self.count += 1
        return f"{super().reply_to(action)} ({self.count})"


@ODD.judged("V1-SESS-02", "V1-CLOSE-09", "V1-CLOSE-10")
class MakesSessionsSlowly(AgentV1):
    """As on a busy machine: a hundred would take longer than a check may."""

    def request_session_new(self, params: Json) -> Json:
        threading.Event().wait(0.6)
        return super().request_session_new(params)


# Options and modes that are told by the way, and logins of before.


@ODD.judged("V1-CFG-06", "V1-MODE-04", tries=True)
class TellsOfOptionsWithItsMode(AgentV1):
    """Which is none of them."""

    def options(self, session: Json) -> list[Json]:
        return super().options(session)[1:]

    def do_config(self, session: Json, _rest: str) -> Work:
        self.say(session, "I would rather not.")
        yield from ()


@ODD.judged("V1-MODE-04", "V1-MODE-03", tries=True, fails="V1-CFG-06")
class TellsOfItsModeAlone(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        if what == "config_option_update":
            fields["configOptions"] = fields["configOptions"][:1]
        super().update(session, what, **fields)


@ODD.judged("V1-AUTH-08")
class IsLoggedInFromTheStart(AgentV1Extras):
    pass


@ODD.judged("V1-AUTH-08", fails="V1-AUTH-08")
class StaysLoggedIn(AgentV1Extras):
    def request_logout(self, _params: Json) -> Json:
        return {}


@ODD.judged("V1-AUTH-08", opens="V1-AUTH-08")
class StaysLoggedInWithoutSaying(StaysLoggedIn):
    """A scenario with a login has nothing to tell whether one is needed."""

    def capabilities(self) -> Json:
        return super().capabilities() | {"auth": {"logout": {}}}


@ODD.judged("V1-AUTH-08", opens="V1-AUTH-08")
class WantsALoginForPrompts(AgentV1Extras):
    def capabilities(self) -> Json:
        return super().capabilities() | {"auth": {"logout": {}}}

    def demand_login(self) -> None:
        """Sessions are free."""

    def request_session_prompt(self, params: Json) -> Work:
        super().demand_login()
        return super().request_session_prompt(params)


@ODD.judged("V1-AUTH-08", opens="V1-AUTH-08")
class OffersALoginThatNothingNeeds(AgentV1Extras):
    def demand_login(self) -> None:
        """Sessions are free; a login brings more."""

    def request_auth_status(self, _params: Json) -> Json:
        return {"state": "unauthenticated"}


@ODD.judged("V1-AUTH-08", opens="V1-AUTH-08")
class NeedsNoLogin(AgentV1Extras):
    auth_methods = ()

    def demand_login(self) -> None:
        """Nothing to log in to."""

    def request_logout(self, _params: Json) -> Json:
        return {}


# Prompts.


@ODD.judged(
    "V1-CAP-05", "V1-PROMPT-06", "V1-PROMPT-03",
    tries=True, opens="V1-CAP-05 V1-PROMPT-06 V1-PROMPT-03",
)  # fmt: skip
class KnowsOtherPrompts(AgentV1):
    def check_prompt(self, blocks: Any) -> None:
        super().check_prompt(blocks)
        raise Refused(-32602, "no such command")


@ODD.judged("V1-CAP-05", "V1-PROMPT-06", fails="V1-CAP-05 V1-PROMPT-06")
class FailsItsOwnPrompt(KnowsOtherPrompts):
    pass


@ODD.judged("V1-CAP-05", "V1-PROMPT-06", tries=True, fails="V1-CAP-05 V1-PROMPT-06")
class HasNoPrompts(AgentV1):
    def check_prompt(self, blocks: Any) -> None:
        super().check_prompt(blocks)
        raise Refused(-32601, "method not found: session/prompt")


@ODD.judged(
    "V2-INIT-10", "V2-PROMPT-04", "V2-PROMPT-10", "V2-GEN-11",
    version="2", tries=True, opens="V2-INIT-10 V2-PROMPT-04 V2-PROMPT-10 V2-GEN-11",
)  # fmt: skip
class KnowsOtherPromptsV2(AgentV2):
    def check_prompt(self, blocks: Any) -> None:
        super().check_prompt(blocks)
        raise Refused(-32602, "no such command")
