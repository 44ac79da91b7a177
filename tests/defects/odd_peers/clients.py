"""Clients that are broken in another way than the one of their rule, or odd and right."""

import os
from pathlib import Path
from typing import Any

from tests.defects.batches import ProcessesBatches
from tests.defects.clients.terminals import Terminal
from tests.defects.clients.v1.client import IMAGE, ClientV1
from tests.defects.clients.v2.client import ClientV2
from tests.defects.odd_peers import working_clients
from tests.defects.odd_peers.registry import OddPeers
from tests.defects.stdio_jsonrpc import HOLD, Call, Json, Refused, Work, absolute, bad_params

ODD = OddPeers(working_clients.ODD)


@ODD.judged("V1-PROMPT-01", "V1-SESS-01", "V1-INIT-01", fails="V1-PROMPT-01")
class PromptsBeforeTheSessionIsOpen(ClientV1):
    """Asks for a session and prompts at once, by the id that it expects."""

    def open(self, **more: Any) -> Work:
        params = {"sessionId": "kit-1", "prompt": self.blocks()}
        self.send({"id": "new", "method": "session/new", "params": {**self.place(), **more}})
        self.session_id = "kit-1"
        yield Call("session/prompt", params)


@ODD.judged("V1-PROMPT-02", "V1-PERM-02", fails="V1-PROMPT-02 V1-CAP-01")
class AlwaysSendsAnImage(ClientV1):
    """In ordinary prompts; when it is told to attach one, it looks first."""

    def step_prompt(self) -> Work:
        yield from self.open()
        yield from self.ask([*self.blocks(), IMAGE])


@ODD.judged("V2-PROMPT-01", "V2-GEN-01", version="2", fails="V2-PROMPT-01")
class AlwaysSendsAnImageInV2(ClientV2):
    def step_prompt(self) -> Work:
        if not self.session_id:
            yield from self.open()
        yield from self.ask([*self.blocks(), IMAGE])


@ODD.judged("V1-CAP-09", "V1-CLOSE-04", fails="V1-CAP-01 V1-CAP-09 V1-CLOSE-04")
class ListsAtEveryStart(ClientV1):
    def introduce(self) -> Work:
        yield from super().introduce()
        yield Call("session/list", {})


@ODD.judged("V1-CLOSE-06", "V1-CLOSE-07", opens="V1-CLOSE-06 V1-CLOSE-07")
class ShowsOnePage(ClientV1):
    def step_list(self) -> Work:
        if self.offers("sessionCapabilities", "list"):
            yield Call("session/list", {})


@ODD.judged("V2-SESS-20", version="2", opens="V2-SESS-20")
class ShowsOnePageInV2(ClientV2):
    def step_list(self) -> Work:
        yield Call("session/list", {})


@ODD.judged("V1-GEN-13", "V1-AUTH-12", fails="V1-AUTH-12")
class NeverLogsIn(ClientV1):
    def log_in(self) -> Work:
        yield from ()
        raise Refused(0, "not logged in")


@ODD.judged("V1-CREQ-02", "V1-CREQ-05", opens="V1-CREQ-02 V1-CREQ-05")
class DoesNotListenToCancelledRequests(ClientV1):
    def notification_cancel_request(self, _params: Json) -> None:
        """It may."""


@ODD.judged("V1-CANCEL-03", "V1-PERM-05", opens="V1-CANCEL-03 V1-PERM-05")
class DecidesAtOnce(ClientV1):
    def decide(self, params: Json) -> Work:
        yield from ()
        chosen = params["options"][0]["optionId"]
        return {"outcome": {"outcome": "selected", "optionId": chosen}}


@ODD.judged("V1-CFG-02", opens="V1-CFG-02")
class SetsNothing(ClientV1):
    def step_mode(self) -> Work:
        yield from self.step_prompt()


@ODD.judged("V2-INIT-04", version="2")
class StaysWithoutAWord(ClientV2):
    """Goes on with nothing, and leaves it to its user to end it."""

    def introduce(self) -> Work:
        try:
            yield from super().introduce()
        except Refused:
            while True:
                yield HOLD


@ODD.judged("V2-INIT-09", version="2")
class SendsNothingWithoutItsImage(ClientV2):
    def step_image(self) -> Work:
        yield from self.open()
        if not self.offers("session", "prompt", "image"):
            raise Refused(0, "the agent does not accept images")
        yield from self.ask([*self.blocks(), IMAGE])


@ODD.judged("V2-GEN-06", "TR-BATCH-02", "TR-BATCH-04", "TR-BATCH-05", "TR-BATCH-06", version="2")
class ProcessesArrays(ProcessesBatches, ClientV2):
    pass


@ODD.judged("TR-STDIO-02", "TR-STDIO-04", "V1-GEN-01")
class IsEndedInTheMiddle(ClientV1):
    def end(self) -> None:
        self.write(b'{"jsonrpc": "2.0", "method": "session/ca')
        os._exit(0)


@ODD.judged("V1-INIT-09", fails="V1-INIT-09")
class SendsPromptsOfNoShape(ClientV1):
    def blocks(self) -> list[Json]:
        return [{"type": "text"}]


@ODD.judged("V2-GEN-01", version="2", fails="V2-AUTH-02")
class LogsOutAfterItsTurn(ClientV2):
    def step_prompt(self) -> Work:
        yield from super().step_prompt()
        yield Call("auth/logout", {})


@ODD.judged("V2-CANCEL-13", "V2-CANCEL-14", version="2", fails="V2-CANCEL-13")
class LetsTheAgentCancelItsPrompt(ClientV2):
    """As long as the prompt is open."""

    def notification_cancel_request(self, params: Json) -> None:
        if any(task.asked == params.get("requestId") for task in self.tasks.values()):
            self.notify("session/cancel", self.here())
        super().notification_cancel_request(params)


# One capability does not imply another.


@ODD.judged("V1-LOAD-07", "V1-CAP-09", "V1-CAP-01", fails="V1-LOAD-07 V1-CAP-09 V1-CAP-01")
class TakesLoadForASignOfResume(ClientV1):
    def step_resume(self) -> Work:
        if self.offers("sessionCapabilities", "resume") or self.offers("loadSession"):
            self.session_id = "kit-1"
            yield Call("session/resume", {**self.here(), **self.place()})
        yield from self.step_prompt()


@ODD.judged("V1-CLOSE-04", "V1-CAP-09", "V1-CAP-01", fails="V1-CLOSE-04 V1-CAP-09 V1-CAP-01")
class TakesDeleteForASignOfList(ClientV1):
    def step_list(self) -> Work:
        if self.offers("sessionCapabilities", "delete"):
            yield Call("session/list", {})


@ODD.judged("V1-LOAD-07", "V1-LOAD-01")
class LoadsWhatItCannotResume(ClientV1):
    def step_resume(self) -> Work:
        if self.offers("sessionCapabilities", "resume"):
            yield from super().step_resume()
        else:
            yield from self.step_load()


@ODD.judged("V1-PROMPT-02", fails="V1-PROMPT-02 V1-CAP-01")
class TakesAudioForASignOfImages(ClientV1):
    def step_image(self) -> Work:
        yield from self.open()
        image = [IMAGE] if self.offers("promptCapabilities", "audio") else []
        yield from self.ask([*self.blocks(), *image])


@ODD.judged("V1-SESS-09", fails="V1-SESS-09 V1-CAP-01")
class TakesListForASignOfRoots(ClientV1):
    def step_roots(self) -> Work:
        offered = self.offers("sessionCapabilities", "list")
        yield from self.open(**({"additionalDirectories": ["/usr"]} if offered else {}))


@ODD.judged("V2-SESS-21", version="2", fails="V2-SESS-21")
class TakesRootsForASignOfDelete(ClientV2):
    def step_delete(self) -> Work:
        if self.offers("session", "additionalDirectories"):
            yield Call("session/delete", {"sessionId": "kit-1"})


@ODD.judged("V2-SESS-23", version="2", fails="V2-SESS-23")
class TakesDeleteForASignOfRoots(ClientV2):
    def step_roots(self) -> Work:
        offered = self.offers("session", "delete")
        yield from self.open(**({"additionalDirectories": ["/usr"]} if offered else {}))


@ODD.judged("V1-CLOSE-06", fails="V1-CLOSE-06")
class ListsUntilAPageIsEmpty(ClientV1):
    def step_list(self) -> Work:
        if not self.offers("sessionCapabilities", "list"):
            return
        page = yield Call("session/list", {})
        while page["sessions"]:
            more = {"cursor": page["nextCursor"]} if page.get("nextCursor") else {}
            page = yield Call("session/list", more)


# Words of version 1 on a connection of version 2.


@ODD.judged("V2-GEN-04", version="2", fails="V2-GEN-04")
class LogsInAsInV1(ClientV2):
    def log_in(self) -> Work:
        yield Call("authenticate", {"methodId": "key"})


@ODD.judged("V2-GEN-04", version="2", fails="V2-GEN-04")
class SetsModesAsInV1(ClientV2):
    def step_mode(self) -> Work:
        yield from self.open()
        yield Call("session/set_mode", {**self.here(), "modeId": "code"})
        yield from self.ask()


@ODD.judged("V2-GEN-04", "V1-AUTH-01", version="2", opens="V1-AUTH-01")
class NeverLogsInInV2(ClientV2):
    def log_in(self) -> Work:
        yield from ()
        raise Refused(0, "log in by yourself, please")


@ODD.judged(
    "V1-ELIC-23", "V1-ELIC-27", "V2-GEN-08", version="2", fails="V1-ELIC-27 V2-GEN-08"
)  # fmt: skip
class DismissesForms(ClientV2):
    def request_elicitation_create(self, params: Json) -> Json:
        super().request_elicitation_create(params)
        return {"action": "dismissed"}


# Sessions that are opened with what was not offered, or before their time.


@ODD.judged("V1-SESS-09", "V1-CAP-01", fails="V1-SESS-09 V1-CAP-01")
class AlwaysSendsAListOfRoots(ClientV1):
    """Even an empty list is one."""

    def place(self) -> Json:
        return {**super().place(), "additionalDirectories": []}


@ODD.judged("V1-SESS-09", fails="V1-SESS-09 V1-GEN-06")
class SendsRelativeRoots(ClientV1):
    def step_roots(self) -> Work:
        offered = self.offers("sessionCapabilities", "additionalDirectories")
        yield from self.open(**({"additionalDirectories": ["lib"]} if offered else {}))


@ODD.judged("V2-SESS-23", version="2", fails="V2-SESS-23")
class AlwaysSendsAListOfRootsInV2(ClientV2):
    def place(self) -> Json:
        return {**super().place(), "additionalDirectories": []}


@ODD.judged("V1-SESS-26", "V1-CAP-02", "V1-CAP-01")
class SendsASystemPromptWhereItIsTaken(ClientV1):
    mode = "append"

    def place(self) -> Json:
        if not self.offers("sessionCapabilities", "systemPrompt"):
            return super().place()
        content = [{"type": "text", "text": "Answer briefly."}]
        return {**super().place(), "systemPrompt": {"mode": self.mode, "content": content}}


@ODD.judged("V1-SESS-26", "V1-CAP-02", fails="V1-SESS-26 V1-CAP-01")
class ReplacesTheSystemPromptWhereItCanBeAddedTo(SendsASystemPromptWhereItIsTaken):
    mode = "override"


class GoesOnWhenRefused(ClientV1):
    def introduce(self) -> Work:
        try:
            yield from super().introduce()
        except Refused:
            self.agent = {"capabilities": {"session": {}}}


@ODD.judged("V1-SESS-01", "V1-INIT-01", fails="V1-SESS-01")
class OpensASessionWhenRefused(GoesOnWhenRefused):
    pass


@ODD.judged("V2-SESS-01", version="2", fails="V2-SESS-01")
class OpensASessionWhenRefusedInV2(GoesOnWhenRefused, ClientV2):
    pass


@ODD.judged("V1-SESS-01")
class IntroducesItselfAgainWhenRefused(ClientV1):
    def introduce(self) -> Work:
        try:
            yield from super().introduce()
        except Refused:
            yield from super().introduce()


@ODD.judged("V2-INIT-09", version="2", fails="V2-INIT-09")
class TakesTrueForSessions(ClientV2):
    def offers(self, *names: str) -> bool:
        told = self.agent.get("capabilities", {}).get("session")
        return (told is True and names == ("session",)) or super().offers(*names)


@ODD.judged("V2-INIT-11", version="2", fails="V2-INIT-11")
class ListsWhereThereAreNoSessions(ClientV2):
    def step_list(self) -> Work:
        yield Call("session/list", {})


# Sessions that are resumed as they were listed, or not.


@ODD.judged("V2-SESS-06", version="2")
class ResumesAsListed(ClientV2):
    def step_resume(self) -> Work:
        if not self.offers("session"):
            return
        page = yield Call("session/list", {})
        listed = page["sessions"][0] if page["sessions"] else {"sessionId": "kit-1"}
        self.session_id = listed["sessionId"]
        yield Call("session/resume", {**self.here(), **self.place(), **self.known(listed)})
        yield from self.step_prompt()

    def known(self, listed: Json) -> Json:
        return {key: listed[key] for key in ("cwd", "additionalDirectories") if key in listed}


@ODD.judged("V2-SESS-06", version="2", fails="V2-SESS-06")
class ResumesInItsOwnFolder(ResumesAsListed):
    def known(self, listed: Json) -> Json:
        return {**super().known(listed), "cwd": os.getcwd()}


@ODD.judged("V2-SESS-06", version="2", fails="V2-SESS-06")
class ResumesWithoutTheRoots(ResumesAsListed):
    def known(self, listed: Json) -> Json:
        return {"cwd": listed.get("cwd", os.getcwd())}


# Logins.


@ODD.judged("V1-AUTH-12", "V1-AUTH-07", fails="V1-AUTH-07 V1-CAP-09 V1-CAP-01")
class LogsOutAfterItsLogin(ClientV1):
    def step_login(self) -> Work:
        yield from self.step_prompt()
        yield Call("logout", {})


@ODD.judged("V1-AUTH-01", "V1-PERM-02", fails="V1-AUTH-01")
class LogsInAtEveryStart(ClientV1):
    def introduce(self) -> Work:
        yield from super().introduce()
        yield Call("authenticate", {"methodId": "default"})


# Turns.


@ODD.judged("V1-PERM-02", "V1-PERM-03", fails="V1-PERM-02")
class WantsATitle(ClientV1):
    def decide(self, params: Json) -> Work:
        if "title" not in params["toolCall"]:
            raise bad_params("title is missing")
        yield from ()
        return (yield from super().decide(params))


@ODD.judged("V1-PERM-02", "V1-PERM-03", fails="V1-PERM-03")
class AllowsWhereItCannot(ClientV1):
    def decide(self, params: Json) -> Work:
        kinds = {one["kind"]: one["optionId"] for one in params["options"]}
        yield from ()
        chosen = kinds.get("allow_once", "allow")
        return {"outcome": {"outcome": "selected", "optionId": chosen}}


@ODD.judged("V1-PERM-02", "V2-GEN-08", version="2", fails="V1-PERM-03 V2-GEN-08")
class SaysAllowed(ClientV2):
    def decide(self, params: Json) -> Work:
        yield from ()
        return {"outcome": {"outcome": "allowed", "optionId": params["options"][0]["optionId"]}}


@ODD.judged("V2-GEN-07", version="2", fails="V2-GEN-07")
class TakesCommandsWithoutOne(ClientV2):
    def apply(self, subject: Any) -> None:
        if not isinstance(subject, dict) or subject.get("type") != "command":
            super().apply(subject)


@ODD.judged("V1-SESS-23", "V1-CANCEL-03", fails="V1-SESS-23")
class CancelsAnotherSession(ClientV1):
    def notify(self, method: str, params: Json) -> None:
        other = {"sessionId": "another"} if method == "session/cancel" else {}
        super().notify(method, {**params, **other})


@ODD.judged("V1-EXT-02", "V1-GEN-10", fails="V1-EXT-02")
class WantsTextsInMetadata(ClientV1):
    def request_fs_read_text_file(self, params: Json) -> Json:
        if not all(isinstance(one, str) for one in params.get("_meta", {}).values()):
            raise bad_params("_meta has texts only")
        return super().request_fs_read_text_file(params)


# Files and terminals.


@ODD.judged("V1-FS-02", fails="V1-FS-02")
class RefusesEmptyFiles(ClientV1):
    def request_fs_write_text_file(self, params: Json) -> Json:
        if not params["content"]:
            raise bad_params("content is missing")
        return super().request_fs_write_text_file(params)


@ODD.judged("V1-FS-04", "V1-GEN-07", fails="V1-FS-04")
class NeedsALineForTheLimit(ClientV1):
    def request_fs_read_text_file(self, params: Json) -> Json:
        limit = params.get("limit") if "line" in params else None
        return super().request_fs_read_text_file({**params, "limit": limit})


@ODD.judged("V1-SESS-24", "V1-SESS-18", fails="V1-SESS-24")
class ComparesTheBeginningOfPaths(ClientV1):
    def inside(self, path: Any) -> Path:
        real = os.path.realpath(absolute(path, "path"))
        if not real.startswith(os.path.realpath(os.getcwd())):
            raise Refused(-32602, "outside of the session's folders")
        return Path(real)


@ODD.judged("V1-TERM-06", fails="V1-TERM-06")
class LetsCommandsRunOn(ClientV1):
    def __init__(self) -> None:
        super().__init__()
        self.left: list[Terminal] = []

    def request_terminal_release(self, params: Json) -> Json:
        self.left.append(self.terminal(params))
        del self.terminals[params["terminalId"]]
        return {}

    def end(self) -> None:
        super().end()
        for terminal in self.left:
            terminal.kill()


@ODD.judged("V1-TERM-06", fails="V1-TERM-06")
class KillsWhatWasReleased(ClientV1):
    def request_terminal_kill(self, params: Json) -> Json:
        if params["terminalId"] in self.terminals:
            super().request_terminal_kill(params)
        return {}


# One version, mode, list or login only.


@ODD.judged("V1-INIT-02", fails="V1-INIT-02")
class AsksForAnOldVersion(ClientV1):
    def introduction(self) -> Json:
        return {**super().introduction(), "protocolVersion": 0}


@ODD.judged("V1-INIT-08", fails="V1-INIT-08")
class GoesOnWithTheNextVersion(ClientV1):
    def speaks(self, version: Any) -> bool:
        return version in (1, 2)


@ODD.judged("V1-PERM-02", fails="V1-MODE-02")
class SetsItsOwnModeUnasked(ClientV1):
    def step_prompt(self) -> Work:
        yield from self.open()
        try:
            yield Call("session/set_mode", {**self.here(), "modeId": "auto"})
        except Refused:
            pass
        yield from self.ask()


@ODD.judged("V1-GEN-13", fails="V1-MODE-02 V1-CFG-02")
class SetsTheModeOfAnotherAgent(ClientV1):
    """Which some agents have."""

    def step_prompt(self) -> Work:
        yield from self.open()
        if self.opened.get("modes"):
            yield Call("session/set_mode", {**self.here(), "modeId": "code"})
        yield from self.ask()


@ODD.judged("V1-PROV-09", "V1-CAP-09")
class ListsProvidersWhereOffered(ClientV1):
    def open(self, **more: Any) -> Work:
        if self.offers("providers"):
            yield Call("providers/list", {})
        yield from super().open(**more)


@ODD.judged("V1-PERM-02", "V1-CAP-09", fails="V1-CAP-01 V1-CAP-09 V1-PROV-02")
class ListsProvidersUnasked(ClientV1):
    def step_prompt(self) -> Work:
        yield from self.open()
        try:
            yield Call("providers/list", {})
        except Refused:
            pass
        yield from self.ask()


@ODD.judged("V1-AUTH-03", "V1-AUTH-06", opens="V1-AUTH-06")
class GivesUpWhereATerminalIsNeeded(ClientV1):
    def capabilities(self) -> Json:
        return {**super().capabilities(), "auth": {"terminal": True}}


@ODD.judged("V1-GEN-13", fails="V1-GEN-13")
class ChokesOnABadOption(ClientV1):
    def open(self, **more: Any) -> Work:
        yield from super().open(**more)
        for one in self.opened.get("configOptions") or []:
            if not isinstance(one, dict):
                raise Refused(0, "a malformed option")


@ODD.judged("V1-GEN-13", fails="V1-GEN-13")
class DropsABadChoice(ClientV1):
    def request_session_request_permission(self, params: Json) -> Work:
        options = params.get("options")
        if isinstance(options, list):
            whole = [one for one in options if isinstance(one, dict) and "optionId" in one]
            params = {**params, "options": whole}
        return super().request_session_request_permission(params)


@ODD.judged("V1-GEN-12", fails="V1-GEN-12")
class AsksWithoutOptions(ClientV1):
    """Allows what it is asked without any option."""

    def request_session_request_permission(self, params: Json) -> Work:
        chosen = {"optionId": "allow", "name": "Allow", "kind": "allow_once"}
        return super().request_session_request_permission({"options": [chosen], **params})


@ODD.judged("V1-CAP-02", fails="V1-CAP-02", silent=True)
class WantsSessionsWithPrompts(ClientV1):
    def introduce(self) -> Work:
        yield from super().introduce()
        can = self.agent.get("agentCapabilities", {})
        if "promptCapabilities" in can and "sessionCapabilities" not in can:
            raise Refused(0, "this agent is of no use")
