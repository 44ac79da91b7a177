"""Clients of v2 whose view of a session is not what the upserts add up to."""

import base64
from typing import Any

from tests.defects.catalogue import Catalogue
from tests.defects.clients.v2.client import ClientV2
from tests.defects.clients.v2.state import StateV2
from tests.defects.stdio_jsonrpc import Json, Work

BROKEN = Catalogue()


def breaks(rule: str) -> Any:
    """Make a client of a broken state."""

    def put(state: type[StateV2]) -> type[StateV2]:
        class Client(ClientV2):
            def __init__(self) -> None:
                super().__init__()
                self.state = state()

        BROKEN.breaks(rule)(Client)
        return state

    return put


@breaks("V2-UPS-02")
class AppendsWholeMessages(StateV2):
    def replace(self, message: Json, text: str) -> None:
        message["text"] += text


@breaks("V2-UPS-04")
class HasOneSpaceOfIds(StateV2):
    def same(self, message: Json, role: str, name: Any) -> bool:
        return bool(message["id"] == name)


@breaks("V2-UPS-05")
class JoinsWhatComesTogether(StateV2):
    def same(self, message: Json, role: str, name: Any) -> bool:
        if name == "a" and self.messages[-1]["id"] == "b":
            return False
        return super().same(message, role, name)


@breaks("V2-UPS-07")
class TakesNullForOmission(StateV2):
    def patch(self, call: Json, update: Json) -> None:
        given = {k: v for k, v in update.items() if v is not None or k == "_meta"}
        super().patch(call, given)


@breaks("V2-UPS-08")
class LosesChunks(StateV2):
    def on_tool_call_content_chunk(self, update: Json) -> None:
        """Nothing."""


@breaks("V2-UPS-10")
class KeepsUnknownWords(StateV2):
    def read(self, key: str, value: Any, default: str) -> Any:
        return default if value is None else value


@breaks("V2-GEN-12")
class MergesMetadataDeeply(StateV2):
    def patch_meta(self, call: Json, meta: Json | None) -> None:
        call["meta"] = {**call.get("meta", {}), **(meta or {})}


@breaks("V2-UPS-13")
class WantsTheTerminalFirst(StateV2):
    def on_tool_call_update(self, update: Json) -> None:
        super().on_tool_call_update(update)
        for one in update.get("content") or []:
            if one.get("terminalId"):
                self.terminals[one["terminalId"]] = {"pieces": [], "exited": True, "dead": True}

    def snapshot(self, terminal: Json, output: Json | None) -> None:
        if "dead" not in terminal:
            super().snapshot(terminal, output)


@breaks("V2-UPS-14")
class SplicesSnapshots(StateV2):
    def snapshot(self, terminal: Json, output: Json | None) -> None:
        if output:
            terminal["pieces"].append(output["data"])


@breaks("V2-UPS-15")
class DecodesAllAtOnce(StateV2):
    def decoded(self, terminal: Json) -> str:
        joined = "".join(piece.rstrip("=") for piece in terminal["pieces"])
        if len(terminal["pieces"]) < 2:
            return super().decoded(terminal)
        return base64.b64decode(joined + "=" * (-len(joined) % 4)).decode("utf-8", "replace")


@breaks("V2-UPS-17")
class WantsAnExitCode(StateV2):
    def exited(self, status: Json | None) -> bool:
        return bool(status)


@breaks("V2-PROMPT-13")
class TakesUnknownStatesForIdle(StateV2):
    def on_state_update(self, update: Json) -> None:
        unknown = update["state"].startswith("_")
        super().on_state_update({**update, "state": "idle"} if unknown else update)


@breaks("V2-PROMPT-15")
class TogglesOnRepeats(StateV2):
    def on_state_update(self, update: Json) -> None:
        again = update == self.now and update["state"] == "idle"
        super().on_state_update({**update, "state": "running"} if again else update)


@breaks("V2-PROMPT-16")
class ShowsAnyReason(StateV2):
    def reason(self, value: Any) -> Any:
        return value


@breaks("V2-PROMPT-25")
class TakesSilenceForNothing(StateV2):
    def background(self, value: Any) -> Any:
        return super().background(value) or []


@breaks("V2-CANCEL-12")
class LeavesCallsRunning(StateV2):
    def cancel(self) -> None:
        """Nothing is marked."""


@breaks("V2-CFG-09")
class HasOnePlan(StateV2):
    def on_plan_update(self, update: Json) -> None:
        self.plans.clear()
        super().on_plan_update(update)


@breaks("V2-CFG-11")
class ForgetsCosts(StateV2):
    def on_usage_update(self, update: Json) -> None:
        super().on_usage_update({"cost": None, **update})


class _IgnoresSubjects(ClientV2):
    def apply(self, subject: Any) -> None:
        if not isinstance(subject.get("toolCall"), dict):
            super().apply(subject)


class _TitlesByRequest(ClientV2):
    def apply(self, subject: Any) -> None:
        super().apply(subject)
        self.state.calls[subject["toolCall"]["toolCallId"]]["title"] = "May I?"


BROKEN.breaks("V2-PERM-04")(_IgnoresSubjects)
BROKEN.breaks("V2-PERM-05")(_TitlesByRequest)


@breaks("V2-UPS-20")
class DropsDiffsWithoutAPatch(StateV2):
    def contents(self, call: Json, items: list[Json]) -> list[Any]:
        known = [one for one in items if one["type"] != "diff" or "patch" in one]
        return super().contents(call, known)


@BROKEN.breaks("V2-SESS-04")
class ForgetsTheStateOfANewSession(ClientV2):
    def open(self, **more: Any) -> Work:
        yield from super().open(**more)
        self.state.now = {"state": "idle"}


@BROKEN.breaks("V2-PROMPT-08")
class DropsMessagesBeforeTheAnswer(ClientV2):
    def notification_session_update(self, params: Json) -> None:
        task = self.tasks.get("")
        waits = task is not None and task.asked is not None
        if not (waits and params["update"].get("sessionUpdate") == "user_message"):
            super().notification_session_update(params)
