"""Agents that break a rule where the occasion is rare, or keep it where there is none."""

import json
import os
from pathlib import Path
from typing import Any

from tests.conformance.draft_agent import Agent
from tests.defects.agents.v1.agent import AgentV1
from tests.defects.agents.v1.extras import AgentV1Extras
from tests.defects.agents.v2.agent import AgentV2
from tests.defects.odd_peers.open_work_agents import EndsItsBackgroundWork
from tests.defects.odd_peers.registry import OddPeers
from tests.defects.stdio_jsonrpc import Call, Json, Refused, Work, bad_params

ODD = OddPeers()
KEY: Json = {"type": "agent", "methodId": "key", "name": "Key"}


# Version 1.


@ODD.judged("V1-SESS-05", "V1-GEN-07", fails="V1-GEN-07")
class CountsLinesFromZero(AgentV1):
    """In what it reads, and nowhere else."""

    def open_call(self, session: Json, title: str, kind: str, **fields: Any) -> str:
        if kind == "read":
            fields["locations"] = [{**one, "line": 0} for one in fields["locations"]]
        return super().open_call(session, title, kind, **fields)


@ODD.judged("V1-INIT-07")
class HasNoVersionBelowOne(AgentV1):
    """As agents do that speak version 2 as well, whose rules say so."""

    def request_initialize(self, params: Json) -> Json:
        if params.get("protocolVersion") == 0:
            data = {"requested": 0, "supported": [1, 2]}
            raise Refused(-32022, "Unsupported protocol version", data)
        return super().request_initialize(params)


@ODD.judged("V1-INIT-10", "V1-EXT-06", opens="V1-EXT-06")
class TellsOfARefusedStart(AgentV1):
    """By an extension, before it could announce any."""

    def request_initialize(self, params: Json) -> Json:
        try:
            return super().request_initialize(params)
        except Refused:
            self.notify("_odd/refused", {})
            raise


@ODD.judged("V1-INIT-07", "V1-EXT-06", opens="V1-EXT-06")
class AnnouncesInTheWordsOfTwo(AgentV1):
    """It speaks version 2 too, and answers version 99 by that one, with an extension."""

    def request_initialize(self, params: Json) -> Json:
        asked = params.get("protocolVersion")
        if asked != 99:
            return super().request_initialize(params)
        self.notify("_odd/ready", {})
        info = {"name": "odd", "version": "1"}
        return {"protocolVersion": 2, "info": info, "capabilities": {"_meta": {"odd": {}}}}


@ODD.judged("V1-CFG-05", "V1-CFG-06", "V1-CFG-11", fails="V1-CFG-11")
class IsConfusedByBadValues(AgentV1):
    """It takes them, and can do nothing with the session's options afterwards."""

    def set_config(self, session: Json, name: Any, value: Any) -> None:
        try:
            super().set_config(session, name, value)
        except Refused:
            if session.get("is_confused"):
                raise
            session["is_confused"] = True
        else:
            if session.get("is_confused"):
                raise Refused(-32603, "Internal error")


@ODD.judged("V1-MCP-01", "V1-MCP-04")
class KeepsTheServersOfALiveSession(AgentV1):
    """It cannot close a session, and connects only to what a live one has not yet."""

    def capabilities(self) -> Json:
        found = super().capabilities()
        del found["sessionCapabilities"]["close"]
        return found

    def connect(self, session: Json, servers: list[Json]) -> None:
        known: set[str] = session.setdefault("known_servers", set())
        super().connect(session, [one for one in servers if one["name"] not in known])
        known.update(one["name"] for one in servers)


class FailsItsPrompts(AgentV1):
    def do_fail(self, session: Json, _rest: str) -> Work:
        self.open_call(session, "Break", "other")
        yield from ()

    def turn(self, session: Json, blocks: list[Json]) -> Work:
        result: Json = yield from super().turn(session, blocks)
        if blocks[0].get("text") == "fail":
            raise Refused(-32603, "Internal error")
        return result

    def end_turn(self, session: Json, reason: str) -> Json:
        """A call that broke stays as it is."""
        session["open"].clear()
        return super().end_turn(session, reason)


ODD.judged("V1-PROMPT-12", tries=True, fails="V1-PROMPT-12")(FailsItsPrompts)


@ODD.judged("V1-PROMPT-12", tries=True, opens="V1-PROMPT-12")
class RefusesWhatItDoesNotKnow(AgentV1):
    """With an error, whatever it is."""

    def check_prompt(self, blocks: Any) -> None:
        super().check_prompt(blocks)
        if blocks[0].get("text") in ("fail", "tool"):
            raise Refused(-32602, "no such command")


class HasAnotherCommand(AgentV1):
    """The prompt of the scenario is none of its commands."""

    def update(self, session: Json, what: str, **fields: Any) -> None:
        if what == "available_commands_update":
            fields["availableCommands"] = [
                {"name": "change", "description": "Changes", "input": {"hint": "what"}},
                {"name": "about", "description": "Tells about itself"},
            ]
        super().update(session, what, **fields)

    def do_about(self, session: Json, _rest: str) -> Work:
        self.say(session, "I am a small agent.")
        yield from ()


ODD.judged("V1-CMD-03", tries=True)(HasAnotherCommand)


@ODD.judged("V1-CMD-03", tries=True, fails="V1-CMD-03")
class RefusesItsCommands(HasAnotherCommand):
    def act(self, session: Json, text: str) -> Work:
        reason = yield from super().act(session, text)
        return "refusal" if text.startswith("/about") else reason


@ODD.judged("V1-EXT-01", "V1-TOOL-03", fails="V1-EXT-01")
class KeepsItsTurnInTheTraceState(AgentV1):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        super().update(session, what, _meta={"tracestate": 7}, **fields)


@ODD.judged("V1-CFG-07", opens="V1-CFG-07")
class HasNoOptions(AgentV1):
    def setup(self, session: Json) -> Json:
        return {key: one for key, one in super().setup(session).items() if key == "modes"}

    def update(self, session: Json, what: str, **fields: Any) -> None:
        if what != "config_option_update":
            super().update(session, what, **fields)


@ODD.judged("V1-PROV-06", fails="V1-PROV-06")
class KeepsProvidersOnDisk(AgentV1Extras):
    def __init__(self) -> None:
        super().__init__()
        if self.file.exists():
            self.providers = json.loads(self.file.read_text())

    @property
    def file(self) -> Path:
        return Path(os.environ["ACCORD_STATE_DIR"], "providers.json")

    def request_providers_set(self, params: Json) -> Json:
        answer = super().request_providers_set(params)
        self.file.write_text(json.dumps(self.providers))
        return answer


@ODD.judged("V1-PROV-06", "V1-PROV-09")
class ForgetsProvidersWithItsProcess(AgentV1Extras):
    pass


@ODD.judged("TR-STDIO-08", fails="TR-STDIO-08")
class DropsALineWithoutItsEnd(AgentV1):
    def receive(self, line: bytes) -> None:
        if line.endswith(b"\n"):
            super().receive(line)


@ODD.judged(
    "V1-SESS-04", "V1-SESS-05", "V1-SESS-12",
    tries=True, fails="V1-SESS-04", opens="V1-SESS-05 V1-SESS-12",
)  # fmt: skip
class LooksForNamesWhereItWasStarted(AgentV1):
    def do_read(self, session: Json, rest: str) -> Work:
        yield from super().do_read(session, str(Path.cwd() / rest))


@ODD.judged("V1-SESS-04", "V1-SESS-05", "V1-SESS-12", tries=True, fails="V1-SESS-12")
class RefusesItsOtherRoots(AgentV1):
    def inside(self, session: Json, name: str) -> Path:
        return super().inside({**session, "roots": session["roots"][:1]}, name)


class AsksForConsent(AgentV1):
    """By a form with a yes or no, before it changes a file."""

    def do_elicit(self, session: Json, _rest: str) -> Work:
        fields = {"go": {"type": "boolean", "title": "Go on?"}}
        schema = {"type": "object", "properties": fields}
        asking = {"sessionId": session["id"], "mode": "form", "message": "May I?"}
        try:
            answer = yield Call("elicitation/create", {**asking, "requestedSchema": schema})
        except Refused:
            answer = {}
        if self.consents(answer):
            call = self.open_call(session, "Change it", "edit")
            self.progress(session, call, "in_progress")
            self.progress(session, call, "completed")
        self.say(session, "Done.")

    def consents(self, answer: Json) -> bool:
        return answer.get("action") == "accept" and answer["content"]["go"] is True


ODD.judged("V1-ELIC-18", "V1-ELIC-20")(AsksForConsent)


@ODD.judged("V1-ELIC-18", "V1-ELIC-20", fails="V1-ELIC-18")
class TakesADeclineForAYes(AsksForConsent):
    def consents(self, answer: Json) -> bool:
        return answer.get("content", {}).get("go", True) is True


@ODD.judged("V1-ELIC-18", "V1-ELIC-20")
class AsksByTheWay(AsksForConsent):
    """Whatever the answer is, it goes on."""

    def consents(self, answer: Json) -> bool:
        return True


class StartsNoServer(AgentV1):
    def connect(self, session: Json, servers: list[Json]) -> None:
        """Not a word."""


ODD.judged(
    "V1-MCP-01", tries=True, silent=True, fails="V1-MCP-01 V1-MCP-04",
)(StartsNoServer)  # fmt: skip


@ODD.judged("V1-MCP-01", tries=True, silent=True, opens="V1-MCP-01")
class HasNoUseForServers(StartsNoServer):
    """For it has no tools at all."""

    def act(self, session: Json, _text: str) -> Work:
        self.say(session, "I only talk.")
        yield from ()
        return "end_turn"


# Version 2.


@ODD.judged("V2-CANCEL-18", version="2", fails="V2-CANCEL-18")
class CancelsNoTerminals(AgentV2):
    def handler(self, kind: str, method: str) -> Any:
        return None if method == "terminal/cancel" else super().handler(kind, method)


@ODD.judged("V2-CANCEL-19", version="2", opens="V2-CANCEL-19")
class OffersNoCancels(AgentV2):
    def update(self, session: Json, what: str, **fields: Any) -> None:
        fields.pop("capabilities", None)
        super().update(session, what, **fields)

    def request_tool_call_cancel(self, _params: Json) -> Json:
        raise bad_params("it cannot be cancelled")


@ODD.judged(
    "V2-PROMPT-22", "V2-PROMPT-23", "V2-PROMPT-24", version="2", opens="V2-PROMPT-23 V2-PROMPT-24"
)
class HasNothingInTheBackground(AgentV2):
    def tell_state(self, session: Json) -> None:
        session["background"] = []
        super().tell_state(session)


@ODD.judged("V2-SESS-08", version="2", opens="V2-SESS-08", silent=True)
class StartsNoServers(AgentV2):
    def connect(self, session: Json, servers: list[Json]) -> None:
        """Not before one is used."""


@ODD.judged("V2-SESS-15", version="2", fails="V2-SESS-15")
class GoesOnBehindAClosedSession(EndsItsBackgroundWork):
    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        super().requested(request_id, method, params)
        session = self.sessions.get(params.get("sessionId", ""))
        if method == "session/close" and session is not None:
            for one in session.get("background", []):
                self.progress(session, one["toolCallId"], "completed")


@ODD.judged("V2-AUTH-01", version="2", fails="V2-AUTH-01")
class BreaksAtALogout(AgentV2):
    auth_methods = (KEY,)

    def request_auth_logout(self, _params: Json) -> Json:
        raise Refused(-32603, "Internal error")


@ODD.judged("V2-PROMPT-05", version="2", fails="V2-PROMPT-05")
class EchoesTwice(AgentV2):
    def echo(self, session: Json, name: str, blocks: list[Json]) -> None:
        super().echo(session, name, blocks)
        super().echo(session, f"{name}-again", blocks)


# The draft.


@ODD.judged("D26-25", version="draft", tries=True, fails="D26-25")
class KnowsWholeNamesOnly(Agent):
    def read(self, session: Json, name: str) -> str:
        return super().read(session, name) if name.startswith("/") else "there is no such file"


@ODD.judged("D26-25", version="draft", tries=True, opens="D26-25")
class ReadsNothingAtAll(Agent):
    def read(self, session: Json, name: str) -> str:
        return "I would rather not"


@ODD.judged("D26-22", "D26-20", version="draft", fails="D26-20")
class CallsMethodsOfItsOwn(Agent):
    def tell(self, session: str, kind: str, **data: Any) -> None:
        super().tell(session, kind, **data)
        self.send({"method": "session/progress", "params": {"sessionId": session}})
