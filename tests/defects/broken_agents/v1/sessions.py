"""Agents of v1 that break a rule about sessions: roots, servers, load, list, close."""

import os
from pathlib import Path
from typing import Any

from tests.defects.agents.v1.agent import AgentV1
from tests.defects.agents.v1.extras import AgentV1Extras
from tests.defects.catalogue import Catalogue
from tests.defects.stdio_jsonrpc import Json, Refused, Task, Work, bad_params

BROKEN = Catalogue()
breaks = BROKEN.breaks


@breaks("V1-SESS-02")
class HasOneIdForAll(AgentV1):
    def new_session_id(self) -> str:
        return "session"


@breaks("V1-SESS-03")
class WorksWhereItWasStarted(AgentV1):
    def do_terminal(self, session: Json, rest: str) -> Work:
        here = {**session, "roots": ["/usr", *session["roots"]]}
        yield from super().do_terminal(here if rest == "pwd" else session, rest)


@breaks("V1-SESS-04")
class LooksInOtherRootsFirst(AgentV1):
    def do_read(self, session: Json, rest: str) -> Work:
        yield from super().do_read(session, rest)
        for root in session["roots"][1:]:
            if not rest.startswith("/") and Path(root, rest).is_file():
                text = {"type": "text", "text": Path(root, rest).read_text()}
                self.update(session, "agent_message_chunk", content=text, messageId="other")


class Fails(AgentV1):
    """Can say no by a tool call."""

    def fail(self, session: Json, why: str) -> None:
        self.progress(session, self.open_call(session, "Read", "read"), "failed")
        self.say(session, why)


@breaks("V1-SESS-05")
class CannotReadInItsFolder(Fails):
    def do_read(self, session: Json, rest: str) -> Work:
        if rest == "notes.txt" and session["roots"][1:]:
            self.fail(session, "I cannot read it.")
            return
        yield from super().do_read(session, rest)


@breaks("V1-SESS-06")
class WritesOutside(AgentV1):
    def do_edit(self, session: Json, rest: str) -> Work:
        name, _, text = rest.partition(" ")
        if name.startswith(".."):
            Path(session["roots"][0], name).write_text(text)
        yield from super().do_edit(session, rest)


@breaks("V1-SESS-08")
class TakesServersOfNoShape(AgentV1):
    def servers(self, params: Json, *, required: bool) -> list[Json]:
        if isinstance(params.get("mcpServers"), str):
            return []
        return super().servers(params, required=required)


@breaks("V1-SESS-10")
class TakesRelativeRoots(AgentV1):
    def roots(self, params: Json) -> list[str]:
        extra = params.get("additionalDirectories")
        if isinstance(extra, list):
            extra = [one if str(one).startswith("/") else f"/{one}" for one in extra]
        return super().roots({**params, "additionalDirectories": extra})


@breaks("V1-SESS-12")
class KnowsItsFolderOnly(Fails):
    def do_read(self, session: Json, rest: str) -> Work:
        if rest.startswith("/") and not rest.startswith(session["roots"][0]):
            self.fail(session, "That is not in my folder.")
            return
        yield from super().do_read(session, rest)


@breaks("V1-SESS-13")
class FollowsLinks(AgentV1):
    def inside(self, session: Json, name: str) -> Path:
        if ".." in name:
            return super().inside(session, name)
        return Path(session["roots"][0], name)


@breaks("V1-SESS-18")
class LooksAtTheTextOfPaths(AgentV1):
    def inside(self, session: Json, name: str) -> Path:
        path = Path(session["roots"][0], name)
        if ".." in name and str(path).startswith(session["roots"][0]):
            return path
        return super().inside(session, name)


@breaks("V1-SESS-19")
class NormalizesTheFolderOnly(AgentV1):
    def listed(self, session: Json) -> Json:
        entry = super().listed(session)
        return {**entry, "cwd": os.path.normpath(entry["cwd"])}


@breaks("V1-SESS-20")
class WantsRootsAlways(AgentV1):
    seen = False

    def roots(self, params: Json) -> list[str]:
        self.seen = self.seen or "additionalDirectories" in params
        if self.seen and "additionalDirectories" not in params:
            raise bad_params("additionalDirectories is missing")
        return super().roots(params)


@breaks("V1-SESS-23")
class LeavesOutTheSession(AgentV1):
    def notify(self, method: str, params: Json) -> None:
        if "agent_message_chunk" in str(params):
            params = {key: value for key, value in params.items() if key != "sessionId"}
        super().notify(method, params)


@breaks("V1-SESS-25")
class IgnoresSystemPrompts(AgentV1Extras):
    def cannot_apply(self, prompt: Json) -> bool:
        return False


# Servers.


@breaks("V1-MCP-01")
class ConnectsNoServer(AgentV1):
    def connect(self, session: Json, servers: list[Json]) -> None:
        dead = [one for one in servers if not Path(one["command"]).exists()]
        super().connect(session, dead)


@breaks("V1-MCP-02")
class HasNoHttp(AgentV1):
    def capabilities(self) -> Json:
        return {**super().capabilities(), "mcpCapabilities": {}}


@breaks("V1-MCP-04")
class ConnectsTheFirstServer(AgentV1):
    def connect(self, session: Json, servers: list[Json]) -> None:
        super().connect(session, servers[:1])


@breaks("V1-MCP-06")
class StartsRelativeCommands(AgentV1):
    def servers(self, params: Json, *, required: bool) -> list[Json]:
        found = params.get("mcpServers")
        if isinstance(found, list) and all(isinstance(one, dict) for one in found):
            named = [one | {"command": f"/{one['command']}"} for one in found if "command" in one]
            if len(named) == len(found):
                super().servers({**params, "mcpServers": named}, required=required)
                return found
        return super().servers(params, required=required)


# What is kept.


@breaks("V1-LOAD-03")
class ReplaysItsOwnSide(AgentV1):
    def remember(self, session: Json, update: Json) -> None:
        if update["sessionUpdate"] != "user_message_chunk":
            super().remember(session, update)


@breaks("V1-LOAD-04")
class ReplaysTooLate(AgentV1):
    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        super().requested(request_id, method, params)
        name = params.get("sessionId") if method == "session/load" else None
        if isinstance(name, str) and name in self.sessions:
            for update in self.sessions[name]["history"][-2:]:
                self.notify("session/update", {"sessionId": name, "update": update})


@breaks("V1-LOAD-06")
class RestoresRoots(AgentV1):
    def reopened(self, params: Json, *, required: bool) -> Json:
        before = self.session(params, active=False)["roots"]
        session = super().reopened(params, required=required)
        session["roots"] = before
        return session


@breaks("V1-LOAD-08")
class ReplaysOnResume(AgentV1):
    def request_session_resume(self, params: Json) -> Json:
        return self.request_session_load({"mcpServers": [], **params})


@breaks("V1-LOAD-10")
class HasNoCodeForUnknownSessions(AgentV1):
    def session(self, params: Json, *, active: bool = True) -> Json:
        try:
            return super().session(params, active=active)
        except Refused:
            raise bad_params("no such session") from None


@breaks("V1-CLOSE-02")
class KeepsClosedSessions(AgentV1):
    def request_session_close(self, params: Json) -> Json:
        self.cancel_turns(self.session(params))
        return {}


@breaks("V1-CLOSE-05")
class ListsGhosts(AgentV1):
    def request_session_list(self, params: Json) -> Json:
        page = super().request_session_list(params)
        if not page["sessions"] and params.get("cwd"):
            page["sessions"] = [{"sessionId": "ghost", "cwd": params["cwd"]}]
        return page


@breaks("V1-CLOSE-08")
class TakesAnyCursor(AgentV1):
    def request_session_list(self, params: Json) -> Json:
        if params.get("cursor") not in self.sessions:
            params = {key: value for key, value in params.items() if key != "cursor"}
        return super().request_session_list(params)


@breaks("V1-CLOSE-09")
class ListsAllAtOnce(AgentV1):
    def request_session_list(self, params: Json) -> Json:
        page = super().request_session_list(params)
        if "nextCursor" in page:
            page = {"sessions": [self.listed(one) for one in self.sessions.values()]}
        return page


@breaks("V1-CLOSE-10")
class HasNumbersAsCursors(AgentV1):
    def request_session_list(self, params: Json) -> Json:
        cursor = params.get("cursor")
        if type(cursor) is int and 0 <= cursor < len(self.sessions):
            params = {**params, "cursor": list(self.sessions)[cursor]}
        page = super().request_session_list(params)
        if "nextCursor" in page:
            page["nextCursor"] = list(self.sessions).index(page["nextCursor"])
        return page


@breaks("V1-CLOSE-11")
class ForgetsCursors(AgentV1):
    used = False

    def request_session_list(self, params: Json) -> Json:
        page = super().request_session_list(params)
        if params.get("cursor"):
            self.used = not self.used
            page["sessions"] = page["sessions"][self.used :]
        return page


@breaks("V1-CLOSE-13")
class ShufflesOnList(AgentV1):
    turns_round = False

    def request_session_list(self, params: Json) -> Json:
        page = super().request_session_list(params)
        worked = any(one["history"] for one in self.sessions.values())
        self.turns_round = worked and not self.turns_round
        extra = [{"sessionId": "passing", "cwd": "/"}] if self.turns_round else []
        return {**page, "sessions": page["sessions"] + extra}


@breaks("V1-CLOSE-15")
class KeepsDeletedSessions(AgentV1):
    def request_session_delete(self, params: Json) -> Json:
        return {}


@breaks("V1-CLOSE-16")
class DeletesOnlyOnce(AgentV1):
    def request_session_delete(self, params: Json) -> Json:
        self.session(params, active=False)
        return super().request_session_delete(params)


@breaks("V1-CLOSE-17")
class ForksIntoTheSource(AgentV1Extras):
    def fork_id(self, source: Json) -> str:
        name: str = source["id"]
        return name


@breaks("V1-CLOSE-18")
class ForksIntoSleep(AgentV1Extras):
    def request_session_prompt(self, params: Json) -> Work:
        if self.session(params).get("forked"):
            raise Refused(-32602, "load it first")
        return super().request_session_prompt(params)

    def request_session_fork(self, params: Json) -> Json:
        made = super().request_session_fork(params)
        self.sessions[made["sessionId"]]["forked"] = True
        return made


@breaks("V1-CLOSE-19")
class ForksWithRoots(AgentV1Extras):
    def fork_roots(self, source: Json, params: Json) -> list[str]:
        return [*super().fork_roots(source, params), "/usr"]


@breaks("V1-CLOSE-20")
class ShowsArchivedSessions(AgentV1Extras):
    def fits(self, entry: Json, wanted: str) -> bool:
        return wanted == "exclude" or super().fits(entry, wanted)


@breaks("V1-CLOSE-21")
class DoesNotSayArchived(AgentV1Extras):
    def listed(self, session: Json) -> Json:
        return {key: value for key, value in super().listed(session).items() if key != "archived"}


@breaks("V1-CLOSE-22")
class TakesAnyFilter(AgentV1Extras):
    def request_session_list(self, params: Json) -> Json:
        if params.get("archived") not in (None, "exclude", "include", "only"):
            params = {**params, "archived": "include"}
        return super().request_session_list(params)


@breaks("V1-CLOSE-24")
class HasAStatusForAll(AgentV1Extras):
    def request_session_status(self, params: Json) -> Json:
        return {"status": "saved"}


@breaks("V1-CLOSE-26")
class TakesEmptyTitles(AgentV1Extras):
    def request_session_set_title(self, params: Json) -> Json:
        if not str(params.get("title")).strip():
            return {"title": self.known(params).get("title", "")}
        return super().request_session_set_title(params)


@breaks("V1-CLOSE-27")
class MakesItsOwnTitle(AgentV1Extras):
    def finish(self, task: Task, result: Any, error: Json | None) -> None:
        super().finish(task, result, error)
        if session := self.sessions.get(task.params.get("sessionId", "")):
            session["title"] = "A conversation"
