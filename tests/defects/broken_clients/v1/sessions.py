"""Clients of v1 that break a rule about sessions, turns, files, terminals or forms."""

import os
import threading
from pathlib import Path
from typing import Any

from tests.defects.catalogue import Catalogue
from tests.defects.clients.terminals import Terminal
from tests.defects.clients.v1.client import HTTP_SERVER, IMAGE, ClientV1
from tests.defects.stdio_jsonrpc import Call, Json, Refused, Stopped, Work, absolute, bad_params

BROKEN = Catalogue()
breaks = BROKEN.breaks


# Gates.


@breaks("V1-CAP-01")
class TakesSilenceForConsent(ClientV1):
    def offers(self, *names: str) -> bool:
        return names[0] not in self.agent["agentCapabilities"] or super().offers(*names)


@breaks("V1-CAP-09")
class ForksUnasked(ClientV1):
    def step_prompt(self) -> Work:
        yield from super().step_prompt()
        yield Call("session/fork", {**self.here(), "cwd": os.getcwd(), "mcpServers": []})


@breaks("V1-CAP-02")
class EndsWhenTheAgentHasAudio(ClientV1):
    def open(self, **more: Any) -> Work:
        if self.offers("promptCapabilities", "audio"):
            raise Refused(0, "audio is not for us")
        yield from super().open(**more)


class Blind(ClientV1):
    """Takes a capability that is said to be off for one that is on."""

    blind_to: tuple[str, ...] = ()

    def offers(self, *names: str) -> bool:
        value: Any = self.agent.get("agentCapabilities")
        for name in names:
            if not isinstance(value, dict) or name not in value:
                return False
            value = value[name]
        return names == self.blind_to or super().offers(*names)


@breaks("V1-LOAD-01")
class LoadsUnasked(Blind):
    blind_to = ("loadSession",)


@breaks("V1-LOAD-07")
class ResumesUnasked(Blind):
    blind_to = ("sessionCapabilities", "resume")


@breaks("V1-CLOSE-04")
class ListsUnasked(Blind):
    blind_to = ("sessionCapabilities", "list")


@breaks("V1-CLOSE-01")
class ClosesUnasked(Blind):
    blind_to = ("sessionCapabilities", "close")


@breaks("V1-CLOSE-14")
class DeletesUnasked(Blind):
    blind_to = ("sessionCapabilities", "delete")


@breaks("V1-AUTH-07")
class LogsOutUnasked(Blind):
    blind_to = ("auth", "logout")


@breaks("V1-PROMPT-02")
class SendsImagesUnasked(ClientV1):
    def step_image(self) -> Work:
        yield from self.open()
        yield from self.ask([IMAGE])


@breaks("V1-SESS-09")
class SendsRootsUnasked(ClientV1):
    def step_roots(self) -> Work:
        yield from self.open(additionalDirectories=["/usr"])


@breaks("V1-SESS-26")
class SendsASystemPromptUnasked(ClientV1):
    def place(self) -> Json:
        content = [{"type": "text", "text": "Answer briefly."}]
        return {**super().place(), "systemPrompt": {"mode": "append", "content": content}}


@breaks("V1-MCP-03")
class SendsHttpServersUnasked(ClientV1):
    def step_mcp(self) -> Work:
        yield from self.open(mcpServers=[HTTP_SERVER])


# Sessions.


@breaks("V1-AUTH-12")
class GivesUpWithoutLogin(ClientV1):
    def log_in(self) -> Work:
        if self.agent["authMethods"][0] != 5:
            raise Refused(0, "not logged in")
        yield from super().log_in()


@breaks("V1-AUTH-01")
class MakesUpALogin(ClientV1):
    def log_in(self) -> Work:
        yield Call("authenticate", {"methodId": "made-up"})

    def usable(self, method: Any) -> bool:
        return False


@breaks("V1-GEN-13")
class DropsAllForOneBadEntry(ClientV1):
    def log_in(self) -> Work:
        if not all(isinstance(one, dict) for one in self.agent["authMethods"]):
            raise Refused(0, "authMethods is malformed")
        yield from super().log_in()


@breaks("V1-AUTH-03")
class AuthenticatesByTerminal(ClientV1):
    def usable(self, method: Any) -> bool:
        return isinstance(method, dict) and "id" in method


@breaks("V1-LOAD-02")
class LoadsWithoutServers(ClientV1):
    def step_load(self) -> Work:
        if self.offers("loadSession"):
            self.session_id = "kit-1"
            yield Call("session/load", {**self.here(), "cwd": os.getcwd()})
        yield from self.step_prompt()


@breaks("V1-CLOSE-06")
class ListsForEver(ClientV1):
    def step_list(self) -> Work:
        if self.offers("sessionCapabilities", "list"):
            cursor: Json = {}
            while True:
                page = yield Call("session/list", cursor)
                if "nextCursor" in page:
                    cursor = {"cursor": page["nextCursor"]}


@breaks("V1-CLOSE-07")
class ChangesCursors(ClientV1):
    def step_list(self) -> Work:
        if self.offers("sessionCapabilities", "list"):
            page = yield Call("session/list", {})
            while page.get("nextCursor") is not None:
                page = yield Call("session/list", {"cursor": page["nextCursor"].upper()})


@breaks("V1-MODE-02")
class SetsAModeThatIsNone(ClientV1):
    def wanted_mode(self) -> str:
        return "turbo"


@breaks("V1-CFG-02")
class PrefersModes(ClientV1):
    def step_mode(self) -> Work:
        yield from self.open()
        yield Call("session/set_mode", {**self.here(), "modeId": "code"})
        yield from self.ask()


# Turns.


@breaks("V1-PERM-02")
class KnowsNoPermissions(ClientV1):
    def handler(self, kind: str, method: str) -> Any:
        return None if method == "session/request_permission" else super().handler(kind, method)


@breaks("V1-PERM-03")
class ChoosesWhatWasNotOffered(ClientV1):
    def decide(self, params: Json) -> Work:
        answer: Json = yield from super().decide(params)
        if answer["outcome"]["outcome"] == "selected":
            answer["outcome"]["optionId"] = "always-and-for-ever"
        return answer


@breaks("V1-CANCEL-03")
class LeavesPermissionsOpen(ClientV1):
    def cancel(self) -> None:
        self.notify("session/cancel", self.here())
        self.state.cancel()


@breaks("V1-PERM-05")
class AllowsOnCancel(ClientV1):
    def decide(self, params: Json) -> Work:
        try:
            answer: Json = yield from super().decide(params)
        except Stopped:
            answer = {}
        if answer.get("outcome", {}).get("outcome") != "selected":
            answer = {"outcome": {"outcome": "selected", "optionId": "kit-yes"}}
        return answer


@breaks("V1-USAGE-08")
class StopsOnNotices(ClientV1):
    def notification_session_update(self, params: Json) -> None:
        super().notification_session_update(params)
        if params["update"].get("severity") == "error":
            self.cancel()


@breaks("V1-USAGE-14")
class EndsOnLongTitles(ClientV1):
    def notification_session_update(self, params: Json) -> None:
        super().notification_session_update(params)
        self.ended = self.ended or len(str(params["update"].get("title"))) > 1_000


# Forms.


@breaks("V1-ELIC-02")
class TakesEveryMode(ClientV1):
    def request_elicitation_create(self, params: Json) -> Json:
        return {"action": "decline"}


@breaks("V1-ELIC-03")
class OffersNothingAndTakesForms(ClientV1):
    def capabilities(self) -> Json:
        return {**super().capabilities(), "elicitation": {"form": None}}


@breaks("V1-ELIC-17")
class AnswersCompletions(ClientV1):
    def notification_elicitation_complete(self, _params: Json) -> None:
        self.refuse(None, {"code": -32602, "message": "no such elicitation"})


class FillsIn(ClientV1):
    """Answers forms after a look at their fields."""

    def request_elicitation_create(self, params: Json) -> Json:
        answer = super().request_elicitation_create(params)
        for field in params["requestedSchema"]["properties"].values():
            self.look(field)
        return answer

    def look(self, field: Json) -> None:
        """Whether this field can be filled in."""


@breaks("V1-ELIC-21")
class TriesEveryPattern(FillsIn):
    def look(self, field: Json) -> None:
        if field.get("pattern"):
            # As long as its engine would take for this one, without its heat.
            threading.Event().wait()


@breaks("V1-ELIC-23")
class RefusesUnknownFormats(FillsIn):
    def look(self, field: Json) -> None:
        if field.get("format") not in (None, "email", "uri", "date", "date-time"):
            raise bad_params("no such format")


@breaks("V1-ELIC-19")
class AcceptsWhatIsProposed(ClientV1):
    """Whether the field takes it or not."""

    def request_elicitation_create(self, params: Json) -> Json:
        super().request_elicitation_create(params)
        fields = params["requestedSchema"]["properties"]
        content = {name: one.get("default") for name, one in fields.items()}
        return self.checked({"action": "accept", "content": content}, fields)

    def checked(self, answer: Json, _fields: Json) -> Json:
        return answer


@breaks("V1-ELIC-27")
class MakesUpAnAction(ClientV1):
    def request_elicitation_create(self, params: Json) -> Json:
        super().request_elicitation_create(params)
        return {"action": "maybe"}


# Files.


@breaks("V1-FS-02")
class WritesOldFilesOnly(ClientV1):
    def request_fs_write_text_file(self, params: Json) -> Json:
        if not self.inside(params.get("path")).exists():
            raise Refused(-32002, "Resource not found")
        return super().request_fs_write_text_file(params)


@breaks("V1-FS-04")
class IgnoresTheLimit(ClientV1):
    def request_fs_read_text_file(self, params: Json) -> Json:
        return super().request_fs_read_text_file({**params, "limit": None})


@breaks("V1-GEN-07")
class CountsLinesFromZero(ClientV1):
    def first_line(self, params: Json) -> int:
        return params.get("line") or 0


@breaks("V1-FS-05")
class HasNoCodeForMissingFiles(ClientV1):
    def request_fs_read_text_file(self, params: Json) -> Json:
        if not self.inside(params.get("path")).is_file():
            raise Refused(-32603, "Internal error")
        return super().request_fs_read_text_file(params)


@breaks("V1-SESS-24")
class ReadsEverywhere(ClientV1):
    def inside(self, path: Any) -> Path:
        return Path(absolute(path, "path"))


@breaks("V1-SESS-18")
class LooksAtTheTextOfPaths(ClientV1):
    def inside(self, path: Any) -> Path:
        plain = os.path.normpath(absolute(path, "path"))
        if not plain.startswith(os.getcwd() + "/"):
            raise Refused(-32602, "outside of the session's folders")
        return Path(plain)


# Terminals.


@breaks("V1-TERM-02")
class WaitsInCreate(ClientV1):
    def request_terminal_create(self, params: Json) -> Json:
        made = super().request_terminal_create(params)
        if "begun; exec sleep" in str(params.get("args")):
            self.terminals[made["terminalId"]].wait()
        return made


class Endless(Terminal):
    def cut(self, data: bytes) -> bytes:
        self.truncated = False
        return data


@breaks("V1-TERM-03")
class KeepsAllOutput(ClientV1):
    def request_terminal_create(self, params: Json) -> Json:
        self.terminals["endless"] = Endless(params)
        return {"terminalId": "endless"}


@breaks("V1-TERM-04")
class AnswersBeforeTheExit(ClientV1):
    def wait_for_exit(self, request_id: int | str, params: Json) -> None:
        found = self.terminals.get(str(params.get("terminalId")))
        if found is not None and found.status() is None:
            self.answer(request_id, {"exitCode": 0})
        else:
            super().wait_for_exit(request_id, params)


@breaks("LIM-02")
class HoldsAnyNumberOfRequests(ClientV1):
    waits_max = 1_000_000


@breaks("V1-TERM-05")
class ForgetsWhatItKilled(ClientV1):
    def request_terminal_kill(self, params: Json) -> Json:
        super().request_terminal_kill(params)
        del self.terminals[params["terminalId"]]
        return {}


@breaks("V1-TERM-06")
class KeepsWhatWasReleased(ClientV1):
    def request_terminal_release(self, params: Json) -> Json:
        return super().request_terminal_kill(params)


@breaks("V1-TERM-09")
class HasAStatusTooEarly(ClientV1):
    def request_terminal_output(self, params: Json) -> Json:
        return {"exitStatus": {}, **super().request_terminal_output(params)}


@breaks("V1-AUTH-06")
class TriesAgainOnTheSameConnection(ClientV1):
    def capabilities(self) -> Json:
        return {**super().capabilities(), "auth": {"terminal": True}}

    def log_in(self) -> Work:
        methods = [one for one in self.agent.get("authMethods", []) if isinstance(one, dict)]
        if not any(one.get("type") == "terminal" for one in methods):
            yield from super().log_in()


class UsesProviders(ClientV1):
    """Looks at the providers of the agent before it opens a session."""

    def open(self, **more: Any) -> Work:
        if self.offers("providers"):
            try:
                listed = yield Call("providers/list", {})
            except Refused:
                listed = {"providers": []}
            for one in listed["providers"]:
                yield from self.seen(one)
        yield from super().open(**more)

    def seen(self, _provider: Json) -> Work:
        yield from ()


@breaks("V1-PROV-09")
class KnowsAllProtocols(UsesProviders):
    def seen(self, provider: Json) -> Work:
        if not set(provider["supported"]) <= {"anthropic", "openai"}:
            raise Refused(0, "there is no such protocol")
        yield from ()


@breaks("V1-PROV-02")
class AsksForProvidersUnasked(UsesProviders):
    def offers(self, *names: str) -> bool:
        return names == ("providers",) or super().offers(*names)


@breaks("V1-PROV-08")
class DisablesRequiredProviders(UsesProviders):
    def seen(self, provider: Json) -> Work:
        if provider["required"]:
            yield Call("providers/disable", {"providerId": provider["providerId"]})


@breaks("V1-SESS-16")
class SendsRootsTwice(ClientV1):
    def step_roots(self) -> Work:
        offered = self.offers("sessionCapabilities", "additionalDirectories")
        roots = {"additionalDirectories": ["/usr", "/usr", os.getcwd()]} if offered else {}
        yield from self.open(**roots)
        yield from self.ask()
