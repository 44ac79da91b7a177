"""Clients of v1 whose view of a session is not what the updates add up to."""

from typing import Any

from tests.defects.catalogue import Catalogue
from tests.defects.clients.v1.client import ClientV1
from tests.defects.clients.v1.state import State
from tests.defects.stdio_jsonrpc import Json

BROKEN = Catalogue()


def breaks(rule: str) -> Any:
    """Make a client of a broken state."""

    def put(state: type[State]) -> type[State]:
        class Client(ClientV1):
            def __init__(self) -> None:
                super().__init__()
                self.state = state()

        BROKEN.breaks(rule)(Client)
        return state

    return put


@breaks("V1-PROMPT-18")
class NormalizesIds(State):
    def same(self, message: Json, role: str, name: Any) -> bool:
        plain = str(name).strip().lower()
        return message["role"] == role and str(message["id"]).strip().lower() == plain


@breaks("V1-PROMPT-19")
class MakesAMessageOfEachChunk(State):
    def same(self, message: Json, role: str, name: Any) -> bool:
        return False


@breaks("V1-TOOL-05")
class HasNoDefaults(State):
    def new_call(self, name: str) -> Json:
        return {**super().new_call(name), "kind": "read"}


@breaks("V1-TOOL-06")
class AppendsContent(State):
    def contents(self, call: Json, content: list[Json]) -> list[str]:
        before: list[str] = call["content"]
        return before + super().contents(call, content)


@breaks("V1-TOOL-07")
class ClearsOnNull(State):
    def patch(self, call: Json, update: Json) -> None:
        super().patch(call, update)
        if "title" in update:
            call["title"] = update["title"]


@breaks("V1-TOOL-08")
class IgnoresUnseenCalls(State):
    def on_tool_call_update(self, update: Json) -> None:
        if update["toolCallId"] in self.calls:
            super().on_tool_call_update(update)


@breaks("V1-TOOL-13")
class GoesBack(State):
    def may_become(self, _before: str, _after: str) -> bool:
        return True


@breaks("V1-PLAN-03")
class AddsToThePlan(State):
    def on_plan(self, update: Json) -> None:
        before = self.plans.get("main", [])
        super().on_plan(update)
        self.plans["main"] = before + self.plans["main"]


@breaks("V1-CMD-02")
class AddsCommands(State):
    def on_available_commands_update(self, update: Json) -> None:
        before = self.commands
        super().on_available_commands_update(update)
        self.commands = before + self.commands


@breaks("V1-USAGE-13")
class ForgetsTheTitle(State):
    def on_session_info_update(self, update: Json) -> None:
        self.title = update.get("title")


@breaks("V1-USAGE-12")
class KeepsTheSummary(State):
    def on_compaction_update(self, update: Json) -> None:
        if update.get("summary", []) is None:
            del update["summary"]
        super().on_compaction_update(update)


@breaks("V1-CANCEL-02")
class LeavesCallsRunning(State):
    def cancel(self) -> None:
        """Nothing is marked."""


@breaks("V1-CANCEL-08")
class IsDoneWithCancelledCalls(State):
    def patch(self, call: Json, update: Json) -> None:
        if call["status"] != "cancelled":
            super().patch(call, update)
