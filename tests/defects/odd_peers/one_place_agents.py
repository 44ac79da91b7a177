"""Agents that break a rule in one place only, which a check has to look at, or are right there."""

import os
import sys
from pathlib import Path
from typing import Any

from tests.conformance.draft_agent import Agent as DraftAgent
from tests.defects.agents.v1.agent import AgentV1
from tests.defects.agents.v1.extras import AgentV1Extras
from tests.defects.agents.v2.agent import AgentV2
from tests.defects.odd_peers.registry import OddPeers
from tests.defects.stdio_jsonrpc import Json, Refused, Work

ODD = OddPeers()
TEXT: Json = {"type": "text", "text": "hello"}


# Malformed params.


@ODD.judged("V1-GEN-13", fails="V1-GEN-13")
class DropsBadBlocks(AgentV1):
    def request_session_prompt(self, params: Json) -> Work:
        blocks = params.get("prompt")
        good = [one for one in blocks if self.is_good(one)] if isinstance(blocks, list) else []
        return super().request_session_prompt({**params, "prompt": good or blocks})

    def is_good(self, block: Any) -> bool:
        try:
            self.check_prompt([block])
        except Refused:
            return False
        return True


@ODD.judged("V1-GEN-13", fails="V1-GEN-13")
class SkipsBadServersAtAResume(AgentV1):
    def request_session_resume(self, params: Json) -> Json:
        found = params.get("mcpServers")
        whole = [one for one in found or [] if isinstance(one, dict) and "command" in one]
        if isinstance(found, list) and whole:
            params = {**params, "mcpServers": whole}
        return super().request_session_resume(params)


@ODD.judged("V1-GEN-06", fails="V1-GEN-06 V1-SESS-03")
class LoadsInRelativeFolders(AgentV1):
    def request_session_load(self, params: Json) -> Json:
        cwd = os.path.join("/", str(params.get("cwd")))
        return super().request_session_load({**params, "cwd": cwd})


@ODD.judged("V1-GEN-12", fails="V1-GEN-12")
class WantsGoodAnnotations(AgentV1):
    def check_prompt(self, blocks: Any) -> None:
        super().check_prompt(blocks)
        if any(not isinstance(one.get("annotations", {}), dict) for one in blocks):
            raise Refused(-32602, "annotations is an object")


@ODD.judged("V1-SESS-10", fails="V1-SESS-10")
class LooksAtTheFirstRootOnly(AgentV1):
    def roots(self, params: Json) -> list[str]:
        extra = params.get("additionalDirectories")
        if isinstance(extra, list):
            params = {**params, "additionalDirectories": extra[:1]}
        return super().roots(params)


@ODD.judged("V2-GEN-07", version="2", fails="V2-GEN-07 V2-GEN-04")
class TakesLinksWithoutAddress(AgentV2):
    def check_prompt(self, blocks: Any) -> None:
        links = [one for one in blocks if one.get("type") == "resource_link" and "uri" not in one]
        super().check_prompt([one for one in blocks if one not in links] or [TEXT])


@ODD.judged("V2-GEN-07", version="2", fails="V2-GEN-07")
class TakesServersWithoutCommand(AgentV2):
    def servers(self, params: Json, *, required: bool) -> list[Json]:
        found = params.get("mcpServers")
        if isinstance(found, list):
            whole = [one for one in found if one.get("type") != "stdio" or "command" in one]
            params = {**params, "mcpServers": whole}
        return super().servers(params, required=required)


@ODD.judged("V2-PROMPT-02", version="2", fails="V2-PROMPT-02")
class TakesSoundUnasked(AgentV2):
    def check_prompt(self, blocks: Any) -> None:
        sounds = [one for one in blocks if one.get("type") == "audio" and len(one) == 3]
        super().check_prompt([TEXT if one in sounds else one for one in blocks])


@ODD.judged("V1-PROMPT-03", tries=True, fails="V1-PROMPT-03")
class WantsTextInEveryPrompt(AgentV1):
    def check_prompt(self, blocks: Any) -> None:
        super().check_prompt(blocks)
        if not any(one["type"] == "text" for one in blocks):
            raise Refused(-32602, "there is no text")


@ODD.judged("V1-GEN-02", fails="V1-GEN-02")
class AnswersPromptsByNumber(AgentV1):
    def send(self, message: Json) -> None:
        if isinstance(message.get("id"), str) and message["id"].isdigit() and "result" in message:
            message = {**message, "id": int(message["id"])}
        super().send(message)


@ODD.judged("V1-PROMPT-03")
class KnowsTheTextsOfItsAuthor(WantsTextInEveryPrompt):
    pass


# Versions and ids.


@ODD.judged("V1-INIT-07", fails="V1-INIT-07")
class AnswersZeroWithZero(AgentV1):
    def request_initialize(self, params: Json) -> Json:
        result = super().request_initialize(params)
        return result | {"protocolVersion": min(params["protocolVersion"], 1)}


@ODD.judged("V1-INIT-10", fails="V1-INIT-10")
class TakesTrueForOne(AgentV1):
    def request_initialize(self, params: Json) -> Json:
        version = params.get("protocolVersion")
        return super().request_initialize(
            params | {"protocolVersion": 1 if version is True else version}
        )


@ODD.judged("V1-SESS-02", fails="V1-SESS-02")
class CountsSessionsInEveryProcess(AgentV1):
    made = 0

    def new_session_id(self) -> str:
        self.made += 1
        return f"session-{self.made}"

    def keep(self) -> None:
        """Nothing."""


@ODD.judged("V1-MODE-02", fails="V1-MODE-02")
class TakesNullForAMode(AgentV1):
    def request_session_set_mode(self, params: Json) -> Json:
        return super().request_session_set_mode(params) if params.get("modeId") is not None else {}


@ODD.judged("V1-CFG-03", "V1-MODE-04", fails="V1-CFG-03")
class TellsOptionsOfNoMode(AgentV1):
    def request_session_set_mode(self, params: Json) -> Json:
        session = self.session(params)
        if params.get("modeId") not in ("ask", "code"):
            raise Refused(-32602, "no such mode")
        session["config"]["mode"] = params["modeId"]
        self.update(session, "current_mode_update", currentModeId=params["modeId"])
        return {}


# Folders.


@ODD.judged("V1-SESS-03", fails="V1-SESS-03")
class StaysInItsFirstFolder(AgentV1):
    first = ""

    def new_session(self, name: str, roots: list[str]) -> Json:
        self.first = self.first or roots[0]
        return super().new_session(name, roots)

    def do_terminal(self, session: Json, rest: str) -> Work:
        yield from super().do_terminal({**session, "roots": [self.first]}, rest)


@ODD.judged("V1-SESS-03")
class LeavesTheFolderToTheClient(AgentV1):
    """Names no folder for its commands, which are those of the session."""

    def send(self, message: Json) -> None:
        if message.get("method") == "terminal/create":
            params = {key: value for key, value in message["params"].items() if key != "cwd"}
            message = {**message, "params": params}
        super().send(message)


@ODD.judged("V1-SESS-05", "V1-SESS-12", fails="V1-SESS-05")
class AsksInLinkedFolders(AgentV1):
    def do_read(self, session: Json, rest: str) -> Work:
        if os.path.realpath(session["roots"][0]) != session["roots"][0]:
            call = self.open_call(session, "Read outside", "read")
            yield from self.ask(session, call)
            self.progress(session, call, "in_progress")
            self.progress(session, call, "completed")
        yield from super().do_read(session, rest)


@ODD.judged("V1-SESS-05", "V1-SESS-12", fails="V1-SESS-05")
class RefusesLinkedFolders(AgentV1):
    def inside(self, session: Json, name: str) -> Path:
        path = super().inside(session, name)
        roots = [os.path.normpath(one) for one in session["roots"]]
        real = os.path.realpath(path)
        if not any(real == one or real.startswith(one + "/") for one in roots):
            raise Refused(-32602, "outside of the session's folders")
        return path


# Old sessions.


@ODD.judged("V1-CLOSE-13", fails="V1-CLOSE-13")
class ClosesEmptySessionsAtAList(AgentV1):
    def request_session_list(self, params: Json) -> Json:
        page = super().request_session_list(params)
        for session in self.sessions.values():
            session["active"] = session["active"] and bool(session["history"])
        return page


@ODD.judged("V1-CLOSE-17", fails="V1-CLOSE-17")
class SharesItsHistoryWithAFork(AgentV1Extras):
    def fork_history(self, source: Json) -> list[Json]:
        history: list[Json] = source["history"]
        return history


@ODD.judged("V1-CLOSE-17", "V1-CLOSE-18")
class LoadsNoOpenSession(AgentV1Extras):
    """And forgets all with its process."""

    def request_session_load(self, params: Json) -> Json:
        if self.session(params, active=False)["active"]:
            raise Refused(-32600, "it is open already")
        return super().request_session_load(params)

    def keep(self) -> None:
        """Nothing."""


@ODD.judged("V1-CLOSE-15", fails="V1-CLOSE-15")
class DeletesForThisProcessOnly(AgentV1):
    deleting = False

    def request_session_delete(self, params: Json) -> Json:
        self.deleting = True
        result = super().request_session_delete(params)
        self.deleting = False
        return result

    def keep(self) -> None:
        if not self.deleting:
            super().keep()


@ODD.judged("V1-CLOSE-19", fails="V1-CLOSE-19")
class ForksWithTheRootsOfItsSource(AgentV1Extras):
    def fork_roots(self, source: Json, params: Json) -> list[str]:
        return [*super().fork_roots(source, params), *source["roots"][1:]]


@ODD.judged("V1-LOAD-08", fails="V1-LOAD-08")
class ReplaysCallsAtAResume(AgentV1):
    def request_session_resume(self, params: Json) -> Json:
        session = self.reopened(params, required=False)
        for update in session["history"]:
            if update["sessionUpdate"] == "tool_call":
                self.notify("session/update", {"sessionId": session["id"], "update": update})
        return self.setup(session)


@ODD.judged("V1-LOAD-10", fails="V1-LOAD-10")
class ResumesNothingWithAnotherCode(AgentV1):
    def request_session_resume(self, params: Json) -> Json:
        if params.get("sessionId") not in self.sessions:
            raise Refused(-32602, "no such session")
        return super().request_session_resume(params)


@ODD.judged("V1-CLOSE-20", fails="V1-CLOSE-20")
class LeavesArchivedSessionsOpen(AgentV1Extras):
    def request_session_archive(self, params: Json) -> Json:
        session = self.known(params)
        session["archived"] = True
        return {}


@ODD.judged("V2-SESS-05", version="2", fails="V2-SESS-05")
class TakesPromptsForClosedSessions(AgentV2):
    def request_session_prompt(self, params: Json) -> Work:
        session = self.sessions.get(str(params.get("sessionId")))
        if session is not None:
            session["active"] = True
        return super().request_session_prompt(params)


# Turns.


@ODD.judged("V1-CANCEL-05", "V1-GEN-11", fails="V1-CANCEL-05")
class ReadsToItsEnd(AgentV1):
    """A cancel is not heard while a file is read."""

    def cancel_task(self, task: Any) -> None:
        if task.begun and "read" in str(task.params):
            return
        super().cancel_task(task)


@ODD.judged("V1-GEN-11", fails="V1-GEN-11")
class EndsAtAnUnknownError(AgentV1):
    def say(self, session: Json, text: str) -> None:
        if "an unknown error" in text:
            session["active"] = False
        super().say(session, text)


# Servers.


class ConnectsLess(AgentV1):
    """Connects to no server in requests of one kind."""

    ignoring = ""

    def requested(self, request_id: int | str, method: str, params: Any) -> None:
        self.now = method
        super().requested(request_id, method, params)

    def connect(self, session: Json, servers: list[Json]) -> None:
        super().connect(session, [] if self.now == self.ignoring else servers)


@ODD.judged("V1-MCP-01", fails="V1-MCP-01", silent=True)
class ConnectsNoServerAtALoad(ConnectsLess):
    ignoring = "session/load"


@ODD.judged("V1-MCP-01", fails="V1-MCP-01", silent=True)
class ConnectsNoServerAtAResume(ConnectsLess):
    ignoring = "session/resume"


@ODD.judged("V2-SESS-26", version="2", fails="V2-SESS-26", silent=True)
class ConnectsNoServerAtAResumeInV2(AgentV2):
    def reopened(self, params: Json, *, required: bool) -> Json:
        return super().reopened({**params, "mcpServers": []}, required=required)


class TakesRelativeCommands(AgentV1):
    """Takes servers whose commands are relative."""

    def servers(self, params: Json, *, required: bool) -> list[Json]:
        found = params.get("mcpServers")
        entries = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        relative = [one for one in entries if not str(one.get("command", "/")).startswith("/")]
        if not relative:
            return super().servers(params, required=required)
        return self.taken(relative)

    def taken(self, servers: list[Json]) -> list[Json]:
        return servers


@ODD.judged("V1-MCP-06")
class WarnsOfRelativeCommands(TakesRelativeCommands):
    def taken(self, servers: list[Json]) -> list[Json]:
        for one in servers:
            print(
                f"the server {one['name']} is looked for by its name", file=sys.stderr, flush=True
            )
        return servers


@ODD.judged("V1-MCP-06", fails="V1-MCP-06", silent=True)
class DropsRelativeCommands(TakesRelativeCommands):
    def taken(self, servers: list[Json]) -> list[Json]:
        return []


# Capabilities.


@ODD.judged("V1-CAP-02", tries=True, fails="V1-CAP-02")
class FailsWhereItMayOnlyRead(AgentV1):
    def request_session_prompt(self, params: Json) -> Work:
        reads = self.can("fs", "readTextFile") and not self.can("fs", "writeTextFile")
        if reads and "edit" in str(params):
            raise Refused(-32603, "the client does not write")
        return super().request_session_prompt(params)


@ODD.judged("V1-CAP-02", tries=True, opens="V1-CAP-02")
class RefusesToEditAtAll(AgentV1):
    def request_session_prompt(self, params: Json) -> Work:
        if "edit" in str(params) or "tool" in str(params):
            raise Refused(-32603, "not by me")
        return super().request_session_prompt(params)


@ODD.judged("V2-GEN-04", version="2", fails="V2-GEN-04 V2-INIT-09")
class TellsItsMarkersByTrue(AgentV2):
    def capabilities(self) -> Json:
        whole = super().capabilities()
        whole["session"]["delete"] = True
        return whole


# Echoes.


@ODD.judged("V2-PROMPT-05", "V2-PROMPT-04", version="2", fails="V2-PROMPT-05")
class EchoesTextOnly(AgentV2):
    def capabilities(self) -> Json:
        whole = super().capabilities()
        whole["session"]["prompt"]["image"] = {}
        return whole

    def check_prompt(self, blocks: Any) -> None:
        text = [one for one in blocks if one.get("type") != "image" or "data" not in one]
        super().check_prompt(text)

    def echo(self, session: Json, name: str, blocks: list[Json]) -> None:
        super().echo(session, name, [one for one in blocks if one["type"] == "text"])


# The draft.


@ODD.judged("D26-32", "D26-08", version="draft", fails="D26-32")
class CancelsACallThatWaits(DraftAgent):
    def tell(self, session: str, kind: str, **data: Any) -> None:
        if data.get("status") == "denied" and self.cancelled.is_set():
            data["status"] = "cancelled"
        super().tell(session, kind, **data)


@ODD.judged("D26-32", "D26-08", version="draft", fails="D26-08")
class EndsACancelledQuestionAsUsual(DraftAgent):
    def work(self, name: str, session: Json, verb: str) -> str:
        reason = super().work(name, session, verb)
        return "end_turn" if verb == "edit" else reason
